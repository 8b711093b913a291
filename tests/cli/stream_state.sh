#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands it
# The state file of asterism stream: resumed runs, kills at any moment, and states that are refused.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

# ---- 200 small frames in a folder, and as one array ----
mkdir frames
: >all.txt
for number in $(seq 0 199); do
    case $((number / 20 % 3)) in
        0) directions='px ny pz' ;;
        1) directions='px pz' ;;
        *) directions='ny pz py' ;;
    esac
    # shellcheck disable=SC2086
    points "$number" 6 $directions | head -n 12 >text
    cat text >>all.txt
    tool npy f4 c <text >"frames/$number.npy"
done
tool npy f4 c '(200, 12, 3)' <all.txt >all.npy
options='--angle 50 --lifetime 25 --threads 1'
# shellcheck disable=SC2086
{
    works asterism stream frames $options --labels whole
    cp ../out whole.json
    works asterism stream all.npy $options --labels whole_array
}

# ---- Killed at random moments ----
# killed INPUT EXPECTED: runs it to the end in spite of kills; adds to the number of kills.
kills=0
killed() {
    rm -rf state labels lines
    done=
    while [ -z "$done" ]; do
        # shellcheck disable=SC2086
        "$ASTERISM" stream "$1" $options --labels labels --state state >>lines 2>../err &
        job=$!
        # Later and later, so that slow builds come to an end too.
        sleep "$(awk -v kills="$kills" -v seed="$kills$$" \
            'BEGIN { srand(seed); print rand() * (25 + kills / 4) / 1000 }')"
        if kill -KILL $job 2>/dev/null; then
            kills=$((kills + 1))
        fi
        status=0
        wait $job 2>/dev/null || status=$?
        case $status in
            0) done=1 ;;
            137) [ $kills -lt 2000 ] || done=1 ;;
            *) broken "exit code $status: $(cat ../err)" ;;
        esac
    done
    same_folder "$2" labels
    # What a kill left behind, the next run takes away.
    equal 'temporary files' '' "$(find . -name '.?*.tmp')"
}
rounds=0
least=50
[ -z "${AST_TEST_LONG:-}" ] || least=200
while [ $kills -lt $least ] && [ $rounds -lt 80 ]; do
    rounds=$((rounds + 1))
    killed frames whole
    timeless lines | uniq >seen
    timeless whole.json >expected
    same seen expected
done
killed all.npy whole_array
echo "$kills kills, $rounds rounds"

# A kill may cut a line at the end of a page: the run that goes on removes that half, and nothing else.
# shellcheck disable=SC2086
for kept in 0 1 10 300; do
    rm -f state
    works asterism stream frames/0.npy $options --state state
    { printf 'other text\n'; cat ../out; head -n 2 whole.json | tail -n 1 | head -c $kept; } >lines
    "$ASTERISM" stream frames $options --state state >>lines
    { printf 'other text\n'; timeless whole.json; } >expected
    timeless lines >seen
    same seen expected
done
printf 'foreign' >lines
# shellcheck disable=SC2086
"$ASTERISM" stream frames/7.npy $options --state state >>lines
equal 'what is not ours' 1 "$(grep -c '^foreign{' lines)"

# ---- Resumed by hand ----
# shellcheck disable=SC2086
{
    rm -rf state labels
    # The same files again: nothing is new.
    works asterism stream frames $options --state state
    cp state kept
    works asterism stream frames $options --state state
    equal 'nothing new' 0 "$(wc -c <../out)"
    same state kept
    # Other files: all are new, and frames go on counting.
    works asterism stream frames/3.npy $options --state state
    equal 'the number of a new frame' 200 "$(tool json frame <../out)"
    # From another folder, by another name
    rm -f state
    works asterism stream frames/0.npy frames/1.npy $options --state state
    works sh -c "cd frames && \"\$ASTERISM\" stream . $options --state ../state"
    equal 'it goes on' '"./2.npy"' "$(head -n 1 ../out | tool json source)"
    # Standard input is new always.
    rm -f state
    works sh -c "cat frames/0.npy | \"\$ASTERISM\" stream - $options --state state --durable"
    works sh -c "cat frames/1.npy | \"\$ASTERISM\" stream - $options --state state --labels more"
    equal 'frames of standard input go on' 1 "$(json frame ../out)"
    same more/000001.npy whole/1.npy
}

# ---- Refused ----
rm -f state
# shellcheck disable=SC2086
works asterism stream frames/0.npy $options --state state

# refuses PATTERN OPTIONS...: does not take the state, and does not touch it.
refuses() {
    pattern=$1
    shift
    fails 1 "$pattern" asterism stream frames --state state "$@"
}
refuses 'angle' --angle 51 --lifetime 25
refuses 'lifetime' --angle 50 --lifetime 26
refuses 'drift' --angle 50 --lifetime 25 --drift 2
refuses 'beta' --angle 50 --lifetime 25 --beta 2
refuses 'method' --angle 50 --method sdp
refuses 'weight update' --angle 50 --lifetime 25 --weight-update paper
refuses 'max_iterations' --angle 50 --lifetime 25 --max-iterations 99
refuses 'max_clusters' --angle 50 --lifetime 25 --max-clusters 7
refuses 'dimension' --angle 50 --lifetime 25 --dimension 4
printf '0 0 0 1\n0 0 0 1\n' >poses.txt
refuses 'poses' --angle 50 --lifetime 25 --poses poses.txt
echo 1 0 0 0 >four.txt
fails 1 'four.txt.*4 dimensions' asterism stream four.txt --angle 50 --lifetime 25 --state state

cp state good
size=$(wc -c <good)
for bytes in 0 1 7 8 63 70 100 $((size - 8)) $((size - 1)); do
    head -c "$bytes" good >state
    refuses 'state' --angle 50 --lifetime 25
done
{ cat good; printf x; } >state
refuses 'damaged' --angle 50 --lifetime 25

# With frames behind the state. A kill that cuts off the last one leaves the state of the frame before; all else is damage.
cp good state
# shellcheck disable=SC2086
works asterism stream frames/0.npy frames/1.npy $options --state state
cp state two
# shellcheck disable=SC2086
works asterism stream frames/0.npy frames/1.npy frames/2.npy $options --state state
cp state three
first=$(wc -c <good) second=$(wc -c <two) all=$(wc -c <three)
same three state
head -c "$second" three | cmp -s - two || broken 'a frame is not added behind the frames before'
for bytes in $((second + 1)) $((second + 7)) $((second + 47)) $((second + 48)) $((second + 90)) $((all - 1)); do
    head -c "$bytes" three >state
    works asterism stream --state state --status
    equal "frames of $bytes bytes" 2 "$(json frames ../out)"
    # shellcheck disable=SC2086
    works asterism stream frames/0.npy frames/1.npy frames/2.npy $options --state state
    same three state
done
for place in $(seq "$first" 47 $((all - 1))); do
    { head -c "$place" three; tail -c +$((place + 1)) three | head -c 1 | tr '\000-\377' '\001-\377\000'
        tail -c +$((place + 2)) three; } >state
    refuses 'state' --angle 50 --lifetime 25
done
{ head -c "$first" three; tail -c +$((second + 1)) three; } >state # without the second frame
refuses 'damaged' --angle 50 --lifetime 25
# A flipped bit anywhere
for place in $(seq 8 41 $((size - 1))); do
    { head -c "$place" good; tail -c +$((place + 1)) good | head -c 1 | tr '\000-\377' '\001-\377\000'
        tail -c +$((place + 2)) good; } >state
    refuses 'state' --angle 50 --lifetime 25
done
three_axes >state
refuses 'is no state' --angle 50 --lifetime 25
rm state
mkdir state
refuses 'state' --angle 50 --lifetime 25
rmdir state
fails 1 'absent/state' asterism stream frames --angle 50 --state absent/state
fails 2 'given twice' asterism stream frames/0.npy frames/0.npy --angle 50 --state state
fails 2 '--state needs a name' asterism stream frames --angle 50 --state -

# ---- Growth ----
# Frames are added until they are as large as the state, which is then written anew; and it goes on from both.
awk 'BEGIN { srand(3); for (i = 0; i < 400; i++) { for (d = 0; d < 24; d++) printf "%.3f ", rand() - .5; print "" } }' \
    >crowd.txt
mkdir few
for number in $(seq 1 100); do sed -n "$((number * 3)),$((number * 3 + 8))p" crowd.txt >few/"$number".txt; done
list() { # the first frames
    echo crowd.txt
    seq -f 'few/%g.txt' 1 "$1"
}
rm -rf state labels
# shellcheck disable=SC2046
works asterism stream $(list 100) --angle 40 --labels whole_few
works asterism stream crowd.txt --angle 40 --state state --labels labels
whole=$(wc -c <state)
for number in 30 70 100; do
    # shellcheck disable=SC2046
    works asterism stream $(list $number) --angle 40 --state state --labels labels
    [ "$(wc -c <state)" -le $((3 * whole + 300000)) ] || broken "the state of $number frames is large: $(wc -c <state) bytes"
done
same_folder whole_few labels
works asterism stream --state state --status
equal 'frames' 101 "$(json frames ../out)"

# ---- A full disk ----
# The state grows with the clusters, and the limit of the process is soon reached.
cp good state
points 5 50 px nx py ny pz nz |
    awk '{ printf "%s", $0; for (d = 0; d < 200; d++) printf " %d", (d == NR); print "" }' >many.txt
rm -f state
head -n 3 many.txt >few.txt
works asterism stream few.txt --angle 20 --state state
cp state kept
status=0
(ulimit -f 8 && exec "$ASTERISM" stream many.txt --angle 20 --state state >/dev/null 2>../err) || status=$?
equal 'exit code on a full disk' 1 "$status"
grep -q 'state: cannot be written' ../err || broken "the sentence on a full disk: $(cat ../err)"
same state kept
equal 'temporary files' '' "$(find . -name '.?*.tmp')"
