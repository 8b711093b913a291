#!/bin/sh
# The walk through the hallway, where the truth is known: every frame that shows three directions or more is segmented
# nearly as it should be, and directions that come back after the turn have their old ids, which sdp loses.
. "$(dirname "$0")/common.sh"
asterism sample --scene hallway --frames 40 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'this build has no libpng'; }

# walk OPTIONS...: labels in the folder `labels`; the ids of each direction, in order of appearance, in `ids`.
walk() {
    rm -rf labels
    works asterism stream hall --camera kinect --angle 60 --poses hall/poses.txt --labels labels "$@"
    for truth in hall/truth/*.npy; do
        tool ids "labels/${truth##*/}" "$truth" 307200
    done | awk '!seen[$0]++' >ids
}

walk --smooth guided
equal 'directions of pixels' '0 1 2 3 4 5' "$(sort -n ids | cut -d' ' -f 1 | paste -sd' ' -)"
walk
equal 'directions' '0 1 2 3 4 5' "$(sort -n ids | cut -d' ' -f 1 | paste -sd' ' -)" # one id for each
for truth in hall/truth/*.npy; do
    works asterism measure --labels "labels/${truth##*/}" --truth "$truth" --json --threads 1
    awk -v nmi="$(json nmi ../out)" -v truths="$(json truths ../out)" 'BEGIN { exit !(truths < 3 || nmi >= 0.975) }' ||
        broken "${truth##*/}: NMI $(json nmi ../out)"
done

walk --method sdp
[ "$(wc -l <ids)" -gt 6 ] || broken "sdp loses no id: $(cat ids)"
