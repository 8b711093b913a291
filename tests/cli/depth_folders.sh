#!/bin/sh
# Folders as people have them: lists that name files which are not there, empty folders, dangling links, images beside
# poses and colour, files that cannot be read.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

asterism sample --scene hallway --frames 6 --size 64x48 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'this build has no libpng'; }
images=hall/depth
camera=$(tr -d '{}\n ' <hall/camera.json | tr ',' '\n' | awk -F: '/"f[xy]"|"c[xy]"/ { printf "%s%s", (n++ ? "," : ""), $2 }')

# run INPUT OPTION...: stream, whose lines without times and names are in lines, and what it says in ../err.
run() {
    asterism stream "$@" --intrinsics "$camera" --depth-scale 1000 --angle 60 >../out 2>../err || broken "$(cat ../err)"
    timeless ../out | sed 's/"source": "[^"]*", //' >lines
}

# says SENTENCE: the one line on stderr.
says() {
    grep -qE "$1" ../err || broken "'$1' is not in: $(cat ../err)"
    equal 'lines on stderr' 1 "$(wc -l <../err | tr -d ' ')"
}

# refused SENTENCE INPUT OPTION...
refused() {
    sentence=$1
    shift
    fails 1 "$sentence" asterism stream "$@" --intrinsics "$camera" --angle 60
}

# ---- A list that names files which are not there ----
mkdir tum tum/depth
for i in 0 2 3 5; do cp $images/00000$i.png tum/depth/; done
ln -s nowhere.png tum/depth/000004.png
awk 'BEGIN { for (i = 0; i < 6; i++) printf "%.3f depth/00000%d.png\n", 100 + i / 30, i }' >tum/depth.txt
run $images/000000.png $images/000002.png $images/000003.png $images/000005.png
mv lines expected
run tum
same expected lines
says 'warning: a depth.txt names 2 files that are not there, such as tum/depth/000001.png; the other 4 are used'
refused 'tum/depth.txt: names 2 files that are not there, such as tum/depth/000001.png' tum --strict

# Its poses are those of all six, and go by time.
awk '{ $1 = 100 + (NR - 1) / 30; print }' CONVFMT=%.9g hall/poses.txt >all.txt
sed -n '1p;3p;4p;6p' hall/poses.txt >four.txt
run $images/000000.png $images/000002.png $images/000003.png $images/000005.png --poses four.txt
mv lines expected
run tum --poses all.txt
same expected lines
mkdir gone
echo '1 depth/a.png' >gone/depth.txt
refused 'gone/depth.txt: names 1 file, such as gone/depth/a.png, and none is there' gone

# ---- Folders with nothing in them ----
mkdir empty hollow hollow/depth linked
refused 'empty: the folder is empty' empty
refused 'hollow/depth: the folder is empty' hollow
ln -s nowhere linked/000000.png
ln -s nowhere linked/000001.png
refused 'linked: holds nothing but 2 links to files that are not there' linked
fails 1 'linked: holds nothing but 2 links' asterism segment linked --intrinsics "$camera" --angle 60 --output pictures
ln -s nowhere hollow/depth/000000.png
refused 'hollow/depth: holds nothing but 1 link to files that are not there' hollow

# ---- Other files beside the images ----
mkdir scene
for i in 0 1 2 3 4 5; do
    cp $images/00000$i.png scene/frame-00000$i.depth.png
    echo 'no image' >scene/frame-00000$i.color.jpg
    echo 'no image' >scene/frame-00000$i.color.png
    awk -v row=$((i + 1)) 'NR == row { x = $5; y = $6; z = $7; w = $8
        print 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), $2
        print 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), $3
        print 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), $4
        print 0, 0, 0, 1 }' OFMT=%.17g hall/poses.txt >scene/frame-00000$i.pose.txt
done
run $images
mv lines expected
run scene
same expected lines
run $images --poses hall/poses.txt --labels by_row
run scene --poses scene --labels by_name
for i in 0 1 2 3 4 5; do same by_row/00000$i.npy by_name/frame-00000$i.depth.npy; done
run scene/frame-000004.depth.png scene/frame-000002.depth.png --poses scene --smooth planes-only # a late pixel may be at the angle, but for rounding
mv lines expected
{ sed -n 5p hall/poses.txt && sed -n 3p hall/poses.txt; } >two.txt
run $images/000004.png $images/000002.png --poses two.txt --smooth planes-only
grep -o '"count": [0-9]*' expected >a
grep -o '"count": [0-9]*' lines >b
same a b
rm scene/frame-000003.pose.txt
refused 'scene holds 5 poses for 6 frames, and none has the name of scene/frame-000003.depth.png' scene --poses scene

# Texts of the same names in a folder of as many images: what --poses is, is no table of points.
mkdir both
for i in 0 1 2; do
    cp $images/00000$i.png both/
    echo '1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1' >both/00000$i.txt
    echo 'no image' >both/rgb$i.png
done
run both --poses both
mv lines expected
run $images/000000.png $images/000001.png $images/000002.png
sed 's/"rotation": .*"rotation_deviation": \[[^]]*\], //' lines >unposed # which is found where no poses are given
same expected unposed

# ---- Files that cannot be read ----
mkdir broken
cp $images/* broken
head -c 300 $images/000002.png >broken/000002.png
sed -n '1p;2p;4,6p' hall/poses.txt >five.txt
rm -r tum
mkdir tum
for i in 0 1 3 4 5; do cp $images/00000$i.png tum/; done
run tum --poses five.txt
mv lines expected
run broken --poses hall/poses.txt
same expected lines
says 'warning: a frame is left out: broken/000002.png: '
asterism stream broken --strict --intrinsics "$camera" --angle 60 >../out 2>../err && broken '--strict has no effect'
says 'asterism: broken/000002.png: '
equal 'the frames before it' 2 "$(wc -l <../out | tr -d ' ')"
for i in 0 1 3 4; do : >broken/00000$i.png; done
run broken
equal 'lines on stderr' 4 "$(wc -l <../err | tr -d ' ')"
grep -q 'warning: 5 of 6 frames could not be read and were left out' ../err || broken "$(cat ../err)"
equal 'frames' 1 "$(wc -l <../out | tr -d ' ')"
: >broken/000005.png
asterism stream broken --intrinsics "$camera" --angle 60 >../out 2>../err && broken 'nothing to read is a failure'
equal 'the last sentence' 1 "$(grep -c '^asterism: broken/000005.png: ' ../err)"
