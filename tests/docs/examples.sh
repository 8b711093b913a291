#!/bin/sh
# The examples run and find what is there to be found.
. "$(dirname "$0")/common.sh"

"$EXAMPLES/mesh_directions" >out
[ "$(wc -l <out)" -eq 7 ] || broken "a house faces 7 ways, not: $(cat out)"
grep -Eq 'faces \( *-?0.000, *-?0.000, -1.000\)' out || broken "the floor is missing: $(cat out)"
grep -Eq 'faces \( *-?0.000, -0.555, *0.832\)' out || broken "the front of the roof is missing: $(cat out)"
awk '{ total += $1 } END { exit !(total > 99.5 && total < 100.5) }' out || broken 'the areas do not add up'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf -1 -2 -3\n' >two_sides.obj
[ "$("$EXAMPLES/mesh_directions" two_sides.obj 90 | wc -l)" -eq 2 ] || broken 'a sheet has two sides'
"$EXAMPLES/mesh_directions" absent.obj 2>/dev/null && broken 'a file that is not there'

"$EXAMPLES/known_truth" >out
grep -q '^learned 12 clusters from 15000 points' out || broken "known_truth: $(cat out)"
awk '/NMI/ { for (i = 1; i <= NF; i++) if ($i ~ /^[01]\.[0-9]/ && $i + 0 < 0.99) exit 1 }' out || broken "$(cat out)"

"$EXAMPLES/stream" >out
grep -q '^frame 0: .*born' out || broken "stream: $(cat out)"
grep -q 'revived' out || broken "nobody returns: $(cat out)"
[ "$(tail -n 1 out)" = '5 directions, 5 ids' ] || broken "stream: $(tail -n 1 out)"

"$EXAMPLES/planes" >out || broken "planes: $(cat out)"
[ "$(wc -l <out)" -eq 7 ] || broken "a room with a cupboard has 7 planes, not: $(cat out)"
[ "$(grep -c 'faces ( *-\?0.00, -1.00' out)" -eq 2 ] || broken "two planes face the front: $(cat out)"
awk '{ total += $3 } END { exit !(total > 85 && total < 89) }' out || broken "the areas do not add up: $(cat out)"

"$EXAMPLES/live" >out || broken "live: $(cat out)"
[ "$(grep -c 'plane 0 (direction 0) -2.00 m' out)" -ge 4 ] || broken "the far wall of the room: $(cat out)"

"$EXAMPLES/depth" labels absent.pgm 2>/dev/null && broken 'an image that is not there' # cli/c_defaults runs it on images

"$EXAMPLES/tally" >out || broken "tally: $(cat out)"
grep -q 'as in one place, to the bit' out || broken "tally: $(cat out)"

"$EXAMPLES/backbone" absent.pdb 2>/dev/null && broken 'a protein that is not there'
proteins=$SOURCE/../shared/data/proteins
[ -d "$proteins" ] || skip 'the proteins: there is no ../shared/data beside the project'
# Myoglobin is nearly all helix, an amyloid fibril nearly all sheet, and triose phosphate isomerase has both.
"$EXAMPLES/backbone" "$proteins/d1mbaa_.pdb" >out
sed -n 2p out | awk '{ exit !($1 + 0 > 75 && $3 < -55 && $3 > -75 && $5 < -30 && $5 > -50 && $6 == "helix") }' ||
    broken "myoglobin: $(cat out)"
"$EXAMPLES/backbone" "$proteins/2BEG.pdb" >out
sed -n 2p out | awk '{ exit !($1 + 0 > 75 && $6 == "sheet") }' || broken "a fibril: $(cat out)"
"$EXAMPLES/backbone" "$proteins/1tim.pdb" >out
awk '$6 == "helix" { helix += $1 } $6 == "sheet" { sheet += $1 } END { exit !(helix > 40 && sheet > 25) }' out ||
    broken "a barrel: $(cat out)"
