#!/bin/sh
# The commands in the README that are marked with <!-- run --> run, one block after the other in one folder; those marked
# with <!-- run with npm --> where the build had it.
. "$(dirname "$0")/common.sh"

awk -v viewer="$VIEWER" '/^<!-- run -->$/ { marked = 1; next }
     /^<!-- run with npm -->$/ { marked = viewer == "ON"; next }
     /^```sh$/ && marked { inside = 1; marked = 0; blocks++; next }
     /^```$/ { inside = 0 }
     inside { print }
     END { exit blocks < 3 }' "$SOURCE/README.md" >commands.sh ||
    broken 'the README has fewer marked blocks than it had'
PATH=$(dirname "$ASTERISM"):$PATH
export PATH
sh -eu commands.sh >out 2>err || broken "the commands of the README fail: $(cat err)"
[ ! -s err ] || broken "the commands of the README complain: $(cat err)"
grep -q '^30 clusters by dp at 25 degrees, converged' out || broken 'the README does not find its 30 clusters'
for file in points.npy truth.npy means.npy labels.npy new.csv new_labels.txt cosine.txt; do
    [ -s $file ] || broken "the README did not write $file"
done
