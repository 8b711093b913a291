#!/bin/sh
# Real clouds and meshes as they are, where they are at hand.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"
data=$SOURCE/../shared/data
[ -d "$data/pcl_clouds" ] || skip 'there is no ../shared/data beside the project'

# reads POINTS FILE OPTIONS...
reads() {
    points=$1
    file=$2
    shift 2
    works asterism cluster "$data/$file" "$@" --json --labels labels.npy --colored coloured.ply
    equal "points of $file" "$points" "$(json points ../out)"
    [ "$(json clusters ../out)" -gt 1 ] || broken "one cluster in $file"
    cp labels.npy before.npy
    cp ../out result.json
    works asterism cluster coloured.ply "$@" --quiet --labels labels.npy # what was written reads back
    same before.npy labels.npy
}

# A room: floor, ceiling and four walls, which meet near 90 degrees.
reads 112586 pcl_clouds/room_scan1.pcd --angle 70 --frame-axes
equal 'directions of a room' 6 "$(json clusters result.json)"
for k in 0 1 2 3 4 5; do
    json angles.$k result.json | tr -d '[]' | tr ',' '\n' |
        awk '{ d = $1 > 135 ? 180 - $1 : $1 > 45 ? $1 - 90 : $1; if (d > 8 || d < -8) exit 1 }' ||
        broken "walls of a room: $(json angles.$k result.json)"
done
near 'the room is level' 1 "$(json frame_axes.rotation.2.2 result.json)" 0.01

reads 108104 pcl_clouds/region_growing_tutorial.pcd --angle 30
reads 1771 pcl_clouds/lamppost.pcd --angle 30
reads 5750 trimesh_meshes/fandisk.obj --angle 15
reads 66 trimesh_meshes/wallhole.obj --angle 30
reads 3476 trimesh_meshes/featuretype.STL --angle 15
reads 4520 trimesh_meshes/1002_tray_bottom.STL --angle 15
reads 3262 trimesh_meshes/octagonal_pocket.stl --angle 15
