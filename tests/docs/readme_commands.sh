#!/bin/sh
# The commands of the README run.
. "$(dirname "$0")/common.sh"

run_page README.md
grep -q '^30 clusters by dp at 25 degrees, converged' out || broken 'the README does not find its 30 clusters'
for file in points.npy truth.npy labels.npy; do
    [ -s $file ] || broken "the README did not write $file"
done
