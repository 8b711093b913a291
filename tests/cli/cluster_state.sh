#!/bin/sh
# asterism cluster --state: runs that are killed at any moment and come to the same end, and states that are refused.
. "$(dirname "$0")/common.sh"
points=8000
[ -z "$SANITIZE" ] || points=800
asterism sample --points $points --dimension 40 --clusters 30 --kappa 5 --seed 1 --output wide.npy
asterism sample --points $((5 * points)) --dimension 3 --clusters 30 --kappa 20 --noise 0.05 --seed 2 --output x.npy
awk -v n=$points 'BEGIN { for (i = 0; i < n; i++) print 1 + i % 4 }' >weights.txt

# printed FILE: what does not depend on the clock.
printed() {
    sed 's/"seconds": [^,]*,//' "$1"
}

# whole INPUT OPTIONS...: what an undisturbed run says.
whole() {
    asterism cluster "$@" --labels whole.npy --means whole-means.npy --json >whole.json
    printed whole.json >whole.text
}

# arrived: the run that just ended says the same.
arrived() {
    printed ../out >seen.text
    same whole.npy z.npy
    same whole-means.npy m.npy
    same whole.text seen.text
    # What a kill left behind of the state, the next run takes away.
    equal 'temporary files' '' "$(find . -name '.state*.tmp')"
}

# ---- Killed at random moments, on other threads each time ----
kills=0
killed() {
    rm -f state
    done='' round=0
    while [ -z "$done" ]; do
        round=$((round + 1))
        "$ASTERISM" cluster "$@" --threads $((kills % 3 + 1)) --labels z.npy --means m.npy --json --state state \
            >../out 2>../err &
        job=$!
        # Later and later, so that slow builds come to an end too.
        sleep "$(awk -v round=$round -v seed="$kills$$" 'BEGIN { srand(seed); print rand() * (200 + 50 * round) / 1000 }')"
        if kill -KILL $job 2>/dev/null; then
            kills=$((kills + 1))
        fi
        status=0
        wait $job 2>/dev/null || status=$?
        case $status in
            0) done=1 ;;
            137) [ $round -lt 200 ] || broken "$round kills, and no end" ;;
            *) broken "exit code $status: $(cat ../err)" ;;
        esac
    done
    arrived
}
whole wide.npy --method spkm --clusters 200 --weights weights.txt
killed wide.npy --method spkm --clusters 200 --weights weights.txt
whole x.npy --angle 12 --restarts 3
killed x.npy --angle 12 --restarts 3
echo "$kills kills"

# ---- A run that is over is there at once, and its state stays as it is ----
cp state kept
works asterism cluster x.npy --angle 12 --restarts 3 --labels z.npy --means m.npy --json --state state --durable
arrived
same state kept

# ---- Stopped politely ----
rm state z.npy m.npy
"$ASTERISM" cluster x.npy --angle 12 --restarts 100000 --labels z.npy --state state >../out 2>../err &
job=$!
until [ -e state ]; do
    kill -0 $job 2>/dev/null || broken "it ended without a state: $(cat ../err)"
    sleep 0.05
done
kill -s TERM $job
status=0
wait $job || status=$?
equal 'exit code after TERM' 143 $status
grep -Eq '^asterism: stopped after pass [0-9]*; the same command goes on from state$' ../err ||
    broken "it said: $(cat ../err)"
[ ! -e z.npy ] || broken 'it wrote labels'

# ---- A limit that may rise ----
rm state
works asterism cluster x.npy --angle 12 --max-iterations 2 --state state --quiet
whole x.npy --angle 12
works asterism cluster x.npy --angle 12 --labels z.npy --means m.npy --json --state state
arrived
fails 1 'state: the state is that of pass [0-9]*, and the limit of iterations is 2$' \
    asterism cluster x.npy --angle 12 --max-iterations 2 --state state

# ---- What is refused, and not touched ----
options='--method spkm --clusters 9'
rm state
# shellcheck disable=SC2086
{
    works asterism cluster wide.npy $options --state state --quiet
    fails 1 'state: the state was made with .* points' asterism cluster x.npy $options --state state
    asterism sample --points $points --dimension 40 --clusters 30 --kappa 5 --seed 3 --output other.npy
    fails 1 'state: the state was made with other points or weights' asterism cluster other.npy $options --state state
    fails 1 'other points or weights' asterism cluster wide.npy $options --weights weights.txt --state state
    fails 1 'another number of clusters' asterism cluster wide.npy --method spkm --clusters 8 --state state
    fails 1 'another method' asterism cluster wide.npy --angle 80 --state state
    fails 1 'another seed' asterism cluster wide.npy $options --seed 2 --state state
    fails 1 'another start' asterism cluster wide.npy $options --init random --state state
    fails 1 'axial' asterism cluster wide.npy $options --axial --state state
    fails 1 'wide.npy: this is no state' asterism cluster x.npy --angle 12 --state wide.npy
    head -c 3000 state >short
    fails 1 'short: the state ' asterism cluster wide.npy $options --labels z.txt --state short
    : >empty
    fails 1 'empty: the state ends early: it has only 0 bytes' asterism cluster wide.npy $options --state empty
    size=$(wc -c <state)
    for at in 100 2000 $((size / 2)) $((size - 1)); do
        { head -c "$at" state && printf '\377\001' && tail -c +$((at + 3)) state; } | head -c "$size" >damaged
        fails 1 'damaged: the state ' asterism cluster wide.npy $options --state damaged
    done
    fails 1 'nowhere/state' asterism cluster wide.npy $options --state nowhere/state
    mkdir folder
    fails 1 'folder' asterism cluster wide.npy $options --state folder
    mkfifo pipe
    fails 1 'pipe: is no regular file' asterism cluster wide.npy $options --state pipe
    # a disk that is full: the state there is stays
    rm state
    works asterism cluster wide.npy $options --max-iterations 1 --state state --quiet
    fails 1 'state: cannot be written' sh -c 'ulimit -f 8; exec "$@"' sh "$ASTERISM" cluster wide.npy $options \
        --state state
}
fails 2 'state is for --method dp and spkm' asterism cluster wide.npy --method movmf --clusters 3 --state state
fails 2 'state needs a name' asterism cluster wide.npy --angle 80 --state -
fails 2 'durable needs --state FILE' asterism cluster wide.npy --angle 80 --durable
fails 2 'trace' asterism cluster wide.npy --angle 80 --trace t.csv --state state
fails 2 'both write to z.npy' asterism cluster wide.npy --angle 80 --labels z.npy --state z.npy
fails 2 'overwrite the input wide.npy' asterism cluster wide.npy --angle 80 --state wide.npy
fails 2 'overwrite the input weights.txt' asterism cluster wide.npy --angle 80 --weights weights.txt --state weights.txt
