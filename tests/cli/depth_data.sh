#!/bin/sh
# Frames of real depth cameras, where they are at hand: a few of each collection, so that it stays quick.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data
[ -d "$data/icsl_hallway" ] || { echo 'skipped: there is no ../shared/data beside the project'; exit 77; }
asterism normals "$data/depth_singles/MIT_hallway_0_d.png" --camera kinect --output probe.npy >../out 2>../err ||
    { grep -q 'libpng' ../err && echo 'skipped: this build has no libpng' && exit 77; }

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

# Through its turn, every other frame, with the defaults of segment: the same five to the end.
i=0
mkdir walk
for image in "$data"/icsl_hallway/depth/*.png; do
    i=$((i + 1))
    [ $((i % 2)) -eq 0 ] || ln -s "$image" "walk/$(basename "$image")"
done
works asterism segment walk --intrinsics 537.6,539.033,316.149,245.519 --angle 75 --output turn --json
grep -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": [^,]*' ../out |
    awk '{ gsub(",", ""); share[$2] += $6 } END { for (id in share) n += share[id] >= 0.002 * 55; exit n != 5 }' ||
    broken 'the turn in the corridor makes directions that are not there'
tail -n 1 ../out | grep -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": [^,]*' |
    awk '{ gsub(",", ""); n += $6 >= 0.05 } END { exit n != 5 }' || broken 'a direction is lost in the turn'

# A cabinet seen from around it, in the world: the floor and four sides have nearly all of the normals, each within 8
# degrees of an axis. (What is left are edges.)
mkdir frames
i=0
for image in "$data"/tum_fr3_cabinet/depth/*.png; do
    i=$((i + 1))
    [ $((i % 5)) -eq 1 ] || continue
    ln -s "$image" "frames/$(basename "$image")"
    sed -n "${i}p" "$data/tum_fr3_cabinet/truth_cam_poses.txt" >>poses.txt
done
works asterism segment frames --camera tum-fr3 --angle 60 --poses poses.txt --output cabinet --json
grep -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": [^,]*, "mean": [^]]*' ../out | tr -d ',[' | awk '
    { share[$2] += $6; for (d = 1; d <= 3; d++) mean[$2, d] = $(7 + d) }
    END { for (id in share) {
              if (share[id] < 0.01 * frames) continue
              many++; sum += share[id]
              for (d = 1; d <= 3; d++) { if (mean[id, d] > 0.9903) axis["+" d]++; if (mean[id, d] < -0.9903) axis["-" d]++ } }
          exit !(many == 5 && sum > 0.97 * frames && axis["+3"] == 1 && axis["+1"] == 1 && axis["-1"] == 1 &&
              axis["+2"] == 1 && axis["-2"] == 1) }' frames="$(wc -l <poses.txt)" || broken 'the cabinet is not five directions'

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
