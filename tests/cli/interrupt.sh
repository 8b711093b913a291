#!/bin/sh
# Ctrl-C, a polite kill and a terminal that closes: the run stops, says so in one line, and leaves nothing behind.
. "$(dirname "$0")/common.sh"
# Shells ignore Ctrl-C for background jobs; env can undo that.
env --default-signal=INT true 2>/dev/null || { echo 'skipped: this env has no --default-signal'; exit 77; }
asterism sample --points 20000 --dimension 3 --clusters 30 --kappa 20 --output x.npy

# passes: what was said so far, a line each.
passes() {
    tr '\r' '\n' <../err
}

# started COMMAND...: begins it in the background as $job and returns once the first pass is done.
started() {
    : >../err
    env "$@" --progress >../out 2>../err &
    job=$!
    until passes | grep -q '^pass 1,'; do
        kill -0 $job 2>/dev/null || passes | grep -q "^pass 1," || broken "it made no pass: $(cat ../err)"
        sleep 0.1
    done
}

for signal in INT:130 TERM:143 HUP:129; do
    started --default-signal=INT,HUP "$ASTERISM" \
        cluster x.npy --angle 20 --restarts 1000000 --labels z.npy --means m.npy
    kill -s "${signal%:*}" $job
    status=0
    wait $job || status=$?
    equal "exit code after ${signal%:*}" "${signal#*:}" "$status"
    equal 'its sentence' 'asterism: stopped; nothing was written' "$(passes | grep -v '^pass' | grep '[a-z]')"
    equal 'what it printed' '' "$(cat ../out)"
    equal 'files' x.npy "$(find . -type f | sed 's|^\./||')"
done

# Ctrl-C that is ignored stays ignored.
started --ignore-signal=INT "$ASTERISM" cluster x.npy --angle 20 --restarts 5 --labels z.npy
kill -s INT $job 2>/dev/null || : # it may be done already
wait $job || broken 'it did not ignore what it was told to ignore'
[ -s z.npy ] || broken 'it wrote no labels'
