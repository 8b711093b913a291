#!/bin/sh
# Frames of real depth cameras, where they are at hand: a few of each collection, so that it stays quick.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data
[ -d "$data/icsl_hallway" ] || skip 'there is no ../shared/data beside the project'
asterism normals "$data/depth_singles/MIT_hallway_0_d.png" --camera kinect --output probe.npy >../out 2>../err ||
    { grep -q 'libpng' ../err && skip 'this build has no libpng'; }

# directions LINE FILE: the means of the clusters with at least 2% of a frame, one a line.
directions() {
    sed -n "$1p" "$2" | tool json clusters | tr '{' '\n' |
        sed -n 's/.*"share":\([^,]*\),"mean":\[\([^]]*\)\].*/\1 \2/p' | awk '$1 >= 0.02 { print $2 }'
}

# A corridor with a turn, all of it: who is nearly where somebody was in the frame before has that one's id, no two
# directions share a wall, and the floor is there from the first frame to the last.
works asterism stream "$data/icsl_hallway/depth" --intrinsics 537.6,539.033,316.149,245.519 --angle 60 --labels out
equal 'frames' 110 "$(find out -type f | wc -l | tr -d ' ')"
grep -n -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": [^,]*, "mean": [^]]*' ../out | tr -d ',[' | sed 's/:/ /' |
    awk '$7 >= 0.05 { print $1, $3, $9, $10, $11 }' >seen # frame, id, mean; shares count late pixels too
awk 'function cosine(a, b) { return x[a] * x[b] + y[a] * y[b] + z[a] * z[b] }
    { n++; frame[n] = $1; id[n] = $2; x[n] = $3; y[n] = $4; z[n] = $5; seen[$2]++ }
    END { for (a = 1; a <= n; a++) {
              near = 0
              for (b = 1; b < a; b++) {
                  if (frame[b] == frame[a] && cosine(a, b) > 0.7) { print "one wall, two ids:", frame[a], id[a], id[b]; bad = 1 }
                  if (frame[b] == frame[a] - 1 && (!near || cosine(a, b) > cosine(a, near))) near = b
              }
              if (near && cosine(a, near) > 0.94 && id[near] != id[a]) { print "not its id:", frame[a], id[near], id[a]; bad = 1 }
          }
          for (i in seen) { ids++; always += seen[i] == 110 }
          exit !(!bad && ids >= 5 && ids <= 6 && always >= 1) }' seen >wrong || broken "the corridor: $(head -n 3 wrong)"

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
works asterism stream frames --camera tum-fr3 --angle 60 --poses poses.txt
grep -o '"id": [0-9]*, "count": [1-9][0-9]*, "share": [^,]*, "mean": [^]]*' ../out | tr -d ',[' | awk '
    { share[$2] += $6; for (d = 1; d <= 3; d++) mean[$2, d] = $(7 + d) }
    END { for (id in share) {
              if (share[id] < 0.01 * frames) continue
              many++; sum += share[id]
              for (d = 1; d <= 3; d++) { if (mean[id, d] > 0.9903) axis["+" d]++; if (mean[id, d] < -0.9903) axis["-" d]++ } }
          exit !(many == 5 && sum > 0.97 * frames && axis["+3"] == 1 && axis["+1"] == 1 && axis["-1"] == 1 &&
              axis["+2"] == 1 && axis["-2"] == 1) }' frames="$(wc -l <poses.txt)" || broken 'the cabinet is not five directions'

# The same camera without poses: it learns how it turns, and the five directions have one id each. Without that knowledge
# sides that come back have new ones.
for image in "$data"/tum_fr3_cabinet/depth/*.png; do ln -sf "$image" "frames/$(basename "$image")"; done
works asterism stream frames --camera tum-fr3 --angle 60 --rigid
equal 'ids of the cabinet' '0 1 2 3 4' "$(grep -o '"id": [0-9]*' ../out | cut -d' ' -f 2 | sort -nu | paste -sd ' ' -)"

# The authors' own hallway frames, and PGM frames.
singles=$data/depth_singles
works asterism segment "$singles/MIT_hallway_0_d.png" --intrinsics 540,540,319.5,239.5 --angle 75 \
    --output mit --json
[ "$(directions 1 ../out | wc -l)" -ge 4 ] || broken 'fewer than four directions in the hallway'
[ -s mit/MIT_hallway_0_d.png ] || broken 'no picture'
for image in "$singles"/slambook2_ch5/*.pgm; do
    works asterism cluster "$image" --intrinsics 518,519,325.5,253.5 --angle 60 --json
    equal "pixels of $image" 307200 "$(json points ../out)"
    [ "$(json missing ../out)" -lt 250000 ] || broken "$(json missing ../out) normals of $image are missing"
done
