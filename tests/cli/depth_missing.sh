#!/bin/sh
# A picture that is mostly black gets a word, and says why; what lies on no plane is not missing, but for planes-only.
. "$(dirname "$0")/common.sh"
asterism sample --scene hallway --frames 3 --size 320x240 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'this build has no libpng'; }
camera='--intrinsics 262.5,262.5,159.5,119.5'

# missing OPTIONS...: how many pixels of the last frame have no label.
missing() {
    works asterism stream hall/depth $camera --angle 60 "$@"
    tail -n 1 ../out | tool json missing
}
lost=$(missing --smooth planes) strict=$(missing --smooth planes-only)
[ "$lost" -lt "$strict" ] || broken "planes miss $lost pixels, planes-only $strict"
grep -q warning ../err && broken "a warning for nothing: $(cat ../err)"

# Too large a tolerance leaves no plane whose direction is certain.
for command in 'segment hall/depth --output out --quiet' 'stream hall/depth' 'cluster hall/depth/000000.png --smooth planes'; do
    asterism $command $camera --angle 60 --filter-epsilon 0.5 >../out 2>../err || broken "$(cat ../err)"
    grep -q 'of the pixels with depth have no label: .*--filter-epsilon 0.5' ../err || broken "$command: $(cat ../err)"
done
asterism stream hall/depth $camera --angle 60 --filter-epsilon 0.5 >../out 2>../err
grep -q 'warning: in 3 of 3 frames more than half of the pixels with depth have no label' ../err || broken "$(cat ../err)"
