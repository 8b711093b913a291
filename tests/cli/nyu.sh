#!/bin/sh
# The NYU v2 data set: its scenes, wherever depth images are taken, are not twisted and come one by one.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

# scene FILE SEED: 48 x 36 pixels of two slanted planes and a hole, in units of 1/5000 m; nothing is symmetric.
scene() {
    awk -v seed="$2" 'BEGIN {
        print "P2\n48 36\n65535"
        for (v = 0; v < 36; v++) {
            for (u = 0; u < 48; u++)
                printf "%d ", u == 5 && v < 3 ? 0 : u < 20 + 2 * seed ? 9000 + 220 * u + 7 * v : 7000 + (200 + 40 * seed) * v
            print ""
        }
    }' >"$1"
}
for i in 0 1 2; do scene $i.pgm $i; done
status=0
tool nyu rooms.mat 0.pgm 1.pgm 2.pgm || status=$?
if [ $status = 77 ]; then
    fails 1 'rooms.mat: this build cannot read HDF5' asterism cluster rooms.mat --frame 0 --intrinsics 40,40,23.5,17.5 --angle 60
    skip 'the scenes: this build has no libhdf5'
fi
camera='--intrinsics 40,40,23.5,17.5 --edge-jump 0.3 --normal-window 2'
scale='--depth-scale 5000'

# A scene is what the image of the same depth is.
for i in 0 1 2; do
    works asterism normals rooms.mat --frame $i $camera --output scene.npy --json
    equal 'the frame' $i "$(json frame ../out)"
    equal 'the size' '48 36' "$(json width ../out) $(json height ../out)"
    works asterism normals $i.pgm $camera $scale --output image.npy
    same scene.npy image.npy
    works asterism cluster rooms.mat --frame $i $camera --angle 30 --labels scene.npy --json
    equal 'the frame of the clusters' $i "$(json frame ../out)"
    works asterism cluster $i.pgm $camera $scale --angle 30 --labels image$i.npy
    same scene.npy image$i.npy
done
[ "$(cksum <image0.npy)" != "$(cksum <image2.npy)" ] || broken 'the scenes are all alike'
works asterism cluster rooms.mat --frame 1 $camera --angle 30
grep -q '^scene 1 of the data set, 48 x 36 pixels$' ../out || broken "$(cat ../out)"

# Normals and the image that they make: the same clusters.
works asterism normals rooms.mat --frame 1 $camera --output normals.npy
works asterism cluster normals.npy --angle 30 --labels again.npy
same image1.npy again.npy
works asterism cluster rooms.mat --frame 1 $camera --angle 30 --means means.npy --quiet
works asterism assign rooms.mat --frame 1 $camera --means means.npy --labels assigned.npy
same image1.npy assigned.npy
works asterism measure --labels image1.npy --points rooms.mat --frame 1 $camera --json
works asterism tune rooms.mat --frame 1 $camera --json

# Streams and pictures: the same as of the images.
works asterism stream rooms.mat $camera --angle 30 --labels ids
sed 's/"source": "[^"]*"/"source": ""/' ../out >scenes
equal sources 'rooms.mat#0 rooms.mat#1 rooms.mat#2' "$(grep -o 'rooms.mat#.' ../out | paste -sd' ' -)"
works asterism stream 0.pgm 1.pgm 2.pgm $camera $scale --angle 30 --labels image_ids
sed 's/"source": "[^"]*"/"source": ""/' ../out >images
timeless scenes >a
timeless images | cmp - a || broken 'a stream of scenes is not that of the images'
for i in 0 1 2; do same ids/00000$i.npy image_ids/$i.npy; done
works asterism stream rooms.mat --frame 2 $camera --angle 30
equal 'one frame' 'rooms.mat#2' "$(grep -o 'rooms.mat#.' ../out)"
works asterism stream rooms.mat --method dp $camera --angle 30 --labels each
for i in 0 1 2; do # ids are never used again, so that only the partition is the same
    works asterism measure --labels each/00000$i.npy --truth image$i.npy --json
    equal 'a scene by itself' 1.0 "$(json ari ../out)"
done
works asterism stream rooms.mat $camera --angle 30 --state state
works asterism stream rooms.mat $camera --angle 30 --state state
equal 'frames that are known already' '' "$(cat ../out)"
if asterism segment rooms.mat $camera --angle 30 --output pictures --quiet 2>../err; then
    works asterism segment 0.pgm 1.pgm 2.pgm $camera $scale --angle 30 --output image_pictures --quiet
    for i in 0 1 2; do same pictures/00000$i.png image_pictures/$i.png; done
else
    grep -q libpng ../err || broken "$(cat ../err)"
fi

# The camera is known, and so is its size.
fails 1 'rooms.mat#0 is 48 x 36 pixels, but --camera nyu stands for images of 640 x 480' \
    asterism cluster rooms.mat --frame 0 --angle 30
fails 1 'cluster takes one scene, and rooms.mat has 3; --frame N picks one' asterism cluster rooms.mat $camera --angle 30
fails 1 'rooms.mat: has 3 scenes, counted from 0, and scene 3 is asked for' \
    asterism cluster rooms.mat --frame 3 $camera --angle 30
fails 2 '--frame must be the number of a scene' asterism cluster rooms.mat --frame one $camera --angle 30
fails 2 '--frame is for scenes of the NYU v2 data set .*0.pgm is a depth image' \
    asterism cluster 0.pgm --frame 0 $camera --angle 30
fails 2 '--depth-scale is for depth images .*, and rooms.mat is a data set of scenes' asterism cluster rooms.mat --frame 0 $camera $scale --angle 30
fails 1 'rooms.mat: must be the only input' asterism stream rooms.mat 0.pgm $camera --angle 30
fails 1 'absent.mat: No such file or directory' asterism cluster absent.mat --frame 0 $camera --angle 30
head -c 3000 rooms.mat >cut.mat
fails 1 'cut.mat: ' asterism cluster cut.mat --frame 0 $camera --angle 30
echo 'MATLAB 5.0' >old.mat
fails 1 'old.mat: cannot be opened as an HDF5 file' asterism normals old.mat --frame 0 $camera --output n.npy
