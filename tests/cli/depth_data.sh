#!/bin/sh
# Frames of real depth cameras, where they are at hand: a few of each collection, so that it stays quick.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data
[ -d "$data/icsl_hallway" ] || { echo 'skipped: there is no ../shared/data beside the project'; exit 77; }

# directions LINE FILE: the means of the clusters with at least 2% of a frame, one a line.
directions() {
    sed -n "$1p" "$2" | tool json clusters | tr '{' '\n' |
        sed -n 's/.*"share":\([^,]*\),"mean":\[\([^]]*\)\].*/\1 \2/p' | awk '$1 >= 0.02 { print $2 }'
}

# A corridor: floor, ceiling, two walls and its end keep their ids through ten frames.
set -- "$data"/icsl_hallway/depth/000000012[1-9].png
works asterism stream "$@" --intrinsics 537.6,539.033,316.149,245.519 --angle 75 --labels out
equal 'frames' 9 "$(find out -type f | wc -l | tr -d ' ')"
grep -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": 0.[0-9]*' ../out |
    awk '{ gsub(",", ""); if ($6 >= 0.02) seen[$2]++ } END { for (id in seen) { n++; if (seen[id] != 9) exit 1 } exit n != 5 }' ||
    broken 'the corridor is not five directions in all frames'

# A cabinet seen from around it, in the world: the floor and the cabinet's sides, within 8 degrees of the axes.
mkdir frames
i=0
for image in "$data"/tum_fr3_cabinet/depth/*.png; do
    i=$((i + 1))
    [ $((i % 10)) -eq 1 ] || continue
    ln -s "$image" "frames/$(basename "$image")"
    sed -n "${i}p" "$data/tum_fr3_cabinet/truth_cam_poses.txt" >>poses.txt
done
works asterism stream frames --camera tum-fr3 --angle 60 --beta 100000 --poses poses.txt
for line in 1 2 3 4 5 6; do directions $line ../out; done >means
awk -F, '{ for (i = 1; i <= 3; i++) { if ($i > 0.9903) seen["+" i] = 1; if ($i < -0.9903) seen["-" i] = 1 } }
    END { exit !(seen["+3"] && seen["+1"] && seen["-1"] && seen["+2"] && seen["-2"]) }' means ||
    broken "not the five axes, within 8 degrees: $(cat means)"

# The authors' own hallway frames over their colour pictures, and PGM frames.
singles=$data/depth_singles
works asterism segment "$singles/MIT_hallway_0_d.png" --intrinsics 540,540,319.5,239.5 --angle 75 \
    --overlay "$singles/MIT_hallway_0_rgb.png" --output mit --json
[ "$(directions 1 ../out | wc -l)" -ge 4 ] || broken 'fewer than four directions in the hallway'
[ -s mit/MIT_hallway_0_d.png ] || broken 'no picture'
for image in "$singles"/slambook2_ch5/*.pgm; do
    works asterism cluster "$image" --intrinsics 518,519,325.5,253.5 --angle 60 --json
    equal "pixels of $image" 307200 "$(json points ../out)"
    [ "$(json missing ../out)" -lt 200000 ] || broken "$(json missing ../out) normals of $image are missing"
done
