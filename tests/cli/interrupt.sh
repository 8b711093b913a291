#!/bin/sh
# Ctrl-C, a polite kill and a terminal that closes: the run stops, says so in one line, and leaves nothing behind.
. "$(dirname "$0")/common.sh"
can_interrupt || skip 'this env has no --default-signal'
asterism sample --points 20000 --dimension 3 --clusters 30 --kappa 20 --output x.npy

# started PATTERN COMMAND...: begins it in the background as $job and returns once it says the pattern.
started() {
    pattern=$1
    shift
    : >../err
    env "$@" --progress >../out 2>../err &
    job=$!
    until said | grep -q "$pattern"; do
        kill -0 $job 2>/dev/null || said | grep -q "$pattern" || broken "it never said $pattern: $(cat ../err)"
        sleep 0.1
    done
}

# stopped SIGNAL CODE: sends it, and sees the run end in order.
stopped() {
    kill -s "$1" $job
    status=0
    wait $job || status=$?
    equal "exit code after $1" "$2" "$status"
    equal 'its sentence' 'asterism: stopped; nothing was written' \
        "$(said | grep -v '^pass\|starts\|points' | grep '[a-z]')"
    equal 'what it printed' '' "$(cat ../out)"
    equal 'files' x.npy "$(find . -type f | sed 's|^\./||')"
}

for signal in INT:130 TERM:143 HUP:129; do
    started '^pass 1,' --default-signal=INT,HUP "$ASTERISM" \
        cluster x.npy --angle 20 --restarts 1000000 --labels z.npy --means m.npy
    stopped "${signal%:*}" "${signal#*:}"
done

# A chain has no best pass: what it has drawn so far is not written either.
for method in 'fsd --clusters 50' crp; do
    # shellcheck disable=SC2086
    started '^pass ' --default-signal=INT "$ASTERISM" cluster x.npy --method $method --max-iterations 1000000 \
        --labels z.npy --samples s.npy --trace t.csv
    stopped INT 130
done

# While k-means++ draws its starts, which takes longer than all passes together
started 'starts drawn' --default-signal=INT "$ASTERISM" cluster x.npy --method spkm --clusters 20000 \
    --restarts 1000000 --labels z.npy
stopped INT 130

# While points are drawn
started 'of 40.000.000 points' --default-signal=INT "$ASTERISM" sample --points 40000000 --dimension 3 --clusters 5 \
    --kappa 9 --output y.npy
stopped INT 130

# In the middle of one pass that would take minutes to hours; the state of no pass is written either.
asterism sample --points 200000 --dimension 64 --clusters 10 --kappa 5 --output big.npy
asterism sample --points 1000000 --dimension 3 --clusters 10 --kappa 5 --output frame.npy

# cancelled_in_a_pass ARGUMENTS...: interrupts it after half a second, and sees it end soon and leave no file.
cancelled_in_a_pass() {
    env --default-signal=INT "$ASTERISM" "$@" >../out 2>../err &
    job=$!
    sleep 0.5
    before=$(date +%s)
    kill -s INT $job 2>/dev/null || broken "it was over before it was stopped: $* $(cat ../err)"
    status=0
    wait $job || status=$?
    equal "exit code of $*" 130 "$status"
    [ $(($(date +%s) - before)) -le 3 ] || broken "it went on after the signal: $*"
    equal "files of $*" 'big.npy frame.npy x.npy' "$(find . -type f | sed 's|^\./||' | sort | paste -sd' ' -)"
}

for how in '--parallel ordered' '--parallel serial' '--parallel oir' --axial '--method dpmeans' '--state s.state'; do
    # shellcheck disable=SC2086
    cancelled_in_a_pass cluster big.npy --angle 1e-12 $how --labels z.npy
done
for method in 'crp --concentration 1000' 'movmf --clusters 500 --max-iterations 100000' 'ospkm --clusters 500'; do
    # shellcheck disable=SC2086
    cancelled_in_a_pass cluster big.npy --method $method --labels z.npy
done
cancelled_in_a_pass stream frame.npy --angle 1e-12 --labels frames
cancelled_in_a_pass stream frame.npy --angle 1e-12 --parallel serial --labels frames
rmdir frames
rm big.npy frame.npy

# Ctrl-C that is ignored stays ignored.
started '^pass 1,' --ignore-signal=INT "$ASTERISM" cluster x.npy --angle 20 --restarts 5 --labels z.npy
kill -s INT $job 2>/dev/null || : # it may be done already
wait $job || broken 'it did not ignore what it was told to ignore'
[ -s z.npy ] || broken 'it wrote no labels'

# While standard input says nothing, in any format: it stops at once.
rm -f z.npy
mkfifo idle
for format in csv csv.gz npy npy.gz; do
    env --default-signal=INT "$ASTERISM" stream - --format $format --angle 40 --labels ids --state state \
        <idle >../out 2>../err &
    job=$!
    exec 3>idle
    until [ -d ids ]; do
        kill -0 $job 2>/dev/null || broken "it did not wait: $(cat ../err)"
        sleep 0.1
    done
    sleep 0.1
    begin=$(date +%s%N)
    kill -s INT $job
    status=0
    wait $job || status=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    exec 3>&-
    equal 'exit code after INT' 130 "$status"
    equal 'its sentence' 'asterism: stopped after 0 frames of this run' "$(cat ../err)"
    [ $took -lt 500 ] || [ "$SANITIZE" ] || broken "it took $took ms to stop waiting for $format"
    equal 'files' x.npy "$(find . -type f | sed 's|^\./||')"
    rmdir ids
done
rm idle

# While frames come from a camera that says nothing more: what was finished stays, with no half of a file.
mkdir frames
mkfifo camera
env --default-signal=INT "$ASTERISM" segment - --raw 32x24 --intrinsics 30,30,15.5,11.5 --angle 60 --output frames --json \
    <camera >../out 2>../err &
job=$!
exec 3>camera
head -c 1536 /dev/zero >&3
until [ -s ../out ]; do
    kill -0 $job 2>/dev/null || { grep -q 'no libpng' ../err && skip 'pictures: this build has no libpng'; } || broken "it took no frame: $(cat ../err)"
    sleep 0.1
done
kill -s INT $job
status=0
wait $job || status=$?
exec 3>&-
equal 'exit code after INT' 130 "$status"
equal 'its sentence' 'asterism: stopped after 1 frame of this run' "$(cat ../err)"
equal 'the pictures' 000000.png "$(find frames -type f | sed 's|frames/||')"
