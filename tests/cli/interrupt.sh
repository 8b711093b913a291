#!/bin/sh
# Ctrl-C and a polite kill: the run stops, says so in one line, and leaves nothing behind.
. "$(dirname "$0")/common.sh"
command -v timeout >/dev/null || { echo 'skipped: there is no timeout'; exit 77; }

asterism sample --points 20000 --dimension 3 --clusters 30 --kappa 20 --output x.npy
for signal in INT:130 TERM:143; do
    fails "${signal#*:}" 'stopped; nothing was written' timeout --preserve-status --kill-after 60 -s "${signal%:*}" 1 \
        "$ASTERISM" cluster x.npy --angle 20 --restarts 1000000 --no-bounds --labels z.npy --means m.npy
done

# A background job whose Ctrl-C is ignored stays alone.
(
    trap '' INT
    exec "$ASTERISM" cluster x.npy --angle 20 --restarts 20 --no-bounds --labels z.npy --quiet
) &
job=$!
sleep 0.3
kill -INT $job 2>/dev/null || : # it may be done already
wait $job || broken 'it did not ignore what it was told to ignore'
[ -s z.npy ] || broken 'it wrote no labels'
