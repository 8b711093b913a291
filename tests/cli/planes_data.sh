#!/bin/sh
# Planes of real cameras that come again: a sequence that is played back and forth has the ids that it had the first time.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data
[ -d "$data/tum_fr3_cabinet" ] || skip 'there is no ../shared/data beside the project'
asterism normals "$data/depth_singles/MIT_hallway_0_d.png" --camera kinect --output probe.npy >../out 2>../err ||
    { grep -q 'libpng' ../err && skip 'this build has no libpng'; }

# play NAME IMAGES POSES OPTION...: the images, named in a file, forth, back, forth and back; prints the number of ids
# of planes in each pass from the first on.
play() {
    name=$1 images=$2 poses=$3
    shift 3
    count=$(wc -l <"$images" | tr -d ' ')
    mkdir "$name"
    pass=0
    : >"$name.poses"
    while [ $pass -lt 4 ]; do
        order='cat'
        [ $((pass % 2)) = 0 ] || order='tac'
        $order "$images" >turn
        $order "$poses" >>"$name.poses"
        i=$((pass * count))
        while read -r image; do
            ln -s "$image" "$name/$(printf %06d $i).png"
            i=$((i + 1))
        done <turn
        pass=$((pass + 1))
    done
    works asterism stream "$name" "$@" --poses "$name.poses" --angle 60 --planes "$name.planes"
    i=0
    for file in "$name.planes"/*.json; do
        grep -o '"id": *[0-9]*' "$file" | tr -dc '0-9\n' | sed '/^$/d' >>"$name.ids"
        i=$((i + 1))
        [ $((i % count)) != 0 ] || sort -u "$name.ids" | wc -l | tr -d ' '
    done >"$name.counts"
    awk 'NR == 1 { first = $1 } $1 > first + 1 { exit 1 }' "$name.counts" ||
        broken "$name: the ids of planes from pass to pass: $(tr '\n' ' ' <"$name.counts")"
}

find "$data/tum_fr3_cabinet/depth" -name '*.png' | sort >cabinet.list
grep -v '^#' "$data/tum_fr3_cabinet/truth_cam_poses.txt" >cabinet.rows
play cabinet cabinet.list cabinet.rows --intrinsics 535.4,539.2,320.1,247.6 --depth-scale 5000
