#!/bin/sh
# What can be wrong with depth images, cameras and poses: one sentence each, and nothing is left behind.
# shellcheck disable=SC2086 # options in variables
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/depth_common.sh"
rm hall/camera.json # which would be read
frame=hall/depth/000000.png
camera="--intrinsics $intrinsics"
pgm wall.pgm 32 24 2000

# The camera.
for command in 'cluster' 'stream' 'segment --output out' 'normals --output n.npy'; do
    angle='--angle 60'
    [ "${command%% *}" = normals ] && angle=
    fails 2 'depth images need --intrinsics fx,fy,cx,cy or --camera NAME; known cameras are .*kinect.*tum-fr1.*xtion' \
        asterism $command $frame $angle
    fails 2 "there is no 'kinekt'; known cameras are .*kinect" asterism $command $frame $angle --camera kinekt
    fails 2 '--intrinsics cannot be combined with --camera' asterism $command $frame $angle --camera kinect $camera
    for text in 525 525,525,319.5 525,525,319.5,239.5,0 525,525,319.5,b 0,525,319.5,239.5 -525,525,319.5,239.5 \
        nan,525,319.5,239.5 525,525,inf,239.5 '525, 525' 525,525,,239.5; do
        fails 2 "intrinsics (must be 4 numbers FX,FY,CX,CY, not '|FX,FY,CX,CY: the focal lengths .* must be above 0)" asterism $command $frame $angle --intrinsics "$text"
    done
    fails 2 "distortion must be 5 numbers K1,K2,P1,P2,K3, not '1,2'" asterism $command $frame $angle $camera --distortion 1,2
    fails 2 'distortion coefficients .* must be between -1000 and 1000' asterism $command $frame $angle $camera --distortion 0,0,0,0,1e9
    fails 1 'distortion: half or more of the pixels of an image of 320 x 240 have no ray' \
        asterism $command $frame $angle $camera --distortion -900,0,0,0,0
    fails 2 'depth-scale must be a number' asterism $command $frame $angle $camera --depth-scale 0
    fails 2 "smooth must be guided, tv, none, planes or planes-only, not 'much'" asterism $command $frame $angle $camera --smooth much
    fails 2 'filter-radius must be a whole number' asterism $command $frame $angle $camera --filter-radius -1
    fails 2 "raw must be WIDTHxHEIGHT in pixels, such as 640x480, not '640'" asterism $command - $angle $camera --raw 640
    fails 2 'raw must be WIDTHxHEIGHT' asterism $command - $angle $camera --raw 0x480
    fails 2 'raw must be WIDTHxHEIGHT' asterism $command - $angle $camera --raw 640x480x3
    fails 2 'raw must be WIDTHxHEIGHT' asterism $command - $angle $camera --raw 100000x100000
    fails 2 'raw is for depth frames on standard input' asterism $command $frame $angle $camera --raw 320x240
    fails 1 '000000.png is 320 x 240 pixels, but --camera kinect stands for images of 640 x 480; give --intrinsics' \
        asterism $command $frame $angle --camera kinect
done
fails 2 'nearest' asterism normals $frame $camera --output n.npy --nearest 3 --farthest 2

# Options for one kind of input with the other kind.
three_axes >x.txt
fails 2 'camera is for depth images \(.png, .pgm, .tiff, .pfm, .npy, .pcd, .mat, or a folder of images\), and x.txt is a table of points' \
    asterism cluster x.txt --angle 20 --camera kinect
fails 2 'smooth is for depth images' asterism stream x.txt --angle 20 --smooth tv
fails 2 'columns is for tables of points.* and .*000000.png is a depth image' \
    asterism cluster $frame --angle 20 $camera --columns 1-3
fails 2 'transpose is for tables' asterism stream $frame --angle 20 $camera --transpose
fails 2 'dimension is for tables' asterism stream $frame --angle 20 $camera --dimension 3
fails 2 '--intrinsics is for depth images .*, and x.txt is a table of points' asterism stream $frame x.txt --angle 20 $camera
fails 2 'segment takes depth images .* and x.txt is a table of points' asterism segment x.txt --angle 20 --output out
fails 2 'segment needs --angle DEG' asterism segment $frame $camera --output out
fails 2 'segment needs --output DIR' asterism segment $frame $camera --angle 20
fails 2 '--output needs a name' asterism segment $frame $camera --angle 20 --output -
fails 2 'normals needs --output FILE' asterism normals $frame $camera
fails 2 'no option --state' asterism segment $frame $camera --angle 20 --output out --state s
fails 2 'no option --angle' asterism normals $frame $camera --angle 20 --output n.npy

# Files that are no depth images.
asterism segment hall $camera --angle 75 --output pictures --quiet
fails 1 'pictures/000000.png: .*8' asterism normals pictures/000000.png $camera --output n.npy
fails 1 'pictures/000000.png: .*8' asterism stream pictures/000000.png $camera --angle 75
head -c 700 $frame >cut.png
fails 1 'cut.png: ' asterism normals cut.png $camera --output n.npy
echo 'no picture at all' >text.png
fails 1 'text.png: ' asterism cluster text.png $camera --angle 60
fails 1 'text.png: ' asterism segment text.png $camera --angle 60 --output out
rm -rf out
fails 1 'nowhere.png' asterism cluster nowhere.png $camera --angle 60
: >empty.png
fails 1 'empty.png: ' asterism stream empty.png $camera --angle 60
fails 1 'normals takes one depth image, and hall/depth has 6' asterism normals hall/depth $camera --output n.npy
fails 1 'cluster takes one depth image, and hall has 6' asterism cluster hall $camera --angle 60
fails 1 'cut short' sh -c 'head -c 100 wall.pgm | "$0" stream - --raw 32x24 --intrinsics 30,30,15.5,11.5 --angle 70' "$ASTERISM"
fails 1 'holds no depth image' asterism normals - --raw 32x24 $camera --output n.npy
fails 1 'has no usable row|no usable' sh -c 'head -c 1536 /dev/zero |
    "$0" cluster - --raw 32x24 --intrinsics 30,30,15.5,11.5 --angle 70 --labels z.npy' "$ASTERISM"

# Frames of different sizes: what came before the odd one stays.
status=0
asterism stream $frame wall.pgm $camera --angle 60 >../out 2>../err || status=$?
equal 'mixed sizes' 1 "$status"
grep -q 'wall.pgm is 32 x 24 pixels, but the frames before it are 320 x 240' ../err || broken "$(cat ../err)"
equal 'the frame before' 1 "$(wc -l <../out | tr -d ' ')"

# Poses.
head -n 5 hall/poses.txt >five.txt
fails 1 'five.txt has 5 rows, but there are 6 frames; it needs one row a frame' \
    asterism stream hall $camera --angle 60 --poses five.txt --labels labels
cat hall/poses.txt five.txt >eleven.txt
fails 1 'eleven.txt has 11 rows, but there are 6 frames' \
    asterism segment hall $camera --angle 60 --poses eleven.txt --output out
fails 1 'nowhere.txt: cannot be opened' asterism segment hall $camera --angle 60 --poses nowhere.txt --output out

# Nothing that is read is overwritten, and no two frames get one file.
fails 1 'would overwrite the input hall/depth/000000.png' asterism segment hall $camera --angle 60 --output hall/depth
fails 1 'would both be out/000000.png' asterism segment $frame hall/depth/../depth/000000.png $camera --angle 60 --output out
cp $frame contact-sheet.png
fails 1 'name of the contact sheet' asterism segment $frame contact-sheet.png $camera --angle 60 --output out
fails 1 '--weights is for tables of points, and hall is a depth image' asterism segment hall $camera --angle 60 --output out --weights w
fails 2 'labels.txt: this is the name of a folder' asterism segment $frame $camera --angle 60 --output out --labels labels.txt
[ ! -e out ] || broken 'wrong usage left a folder'
fails 2 '--filter-epsilon must be a number from 1e-06' asterism cluster $frame $camera --angle 60 --filter-epsilon 0
fails 2 '--edge-jump must be a number from 1e-09' asterism cluster $frame $camera --angle 60 --edge-jump 0
fails 2 '--tv-weight must be a number from 1e-06' asterism cluster $frame $camera --angle 60 --smooth tv --tv-weight 0
fails 1 'x.txt is no folder|cannot be made' asterism segment $frame $camera --angle 60 --output x.txt

if [ -d /proc/self ]; then
    fails 1 'the folder /proc/none cannot be made' asterism segment $frame $camera --angle 60 --output /proc/none/deep/er
fi

# A full disk: one sentence, no half of a picture. The limit on the size of a file stands for it.
status=0
(ulimit -f 1; asterism segment hall $camera --angle 60 --output full) >../out 2>../err || status=$?
equal 'a full disk' 1 "$status"
equal 'one line' 1 "$(wc -l <../err | tr -d ' ')"
grep -q 'cannot be written' ../err || broken "$(cat ../err)"
equal 'what is left' '' "$(find full -type f)"
status=0
(ulimit -f 1; asterism normals $frame $camera --output full.npy) >../out 2>../err || status=$?
equal 'a full disk' 1 "$status"
[ ! -e full.npy ] || broken 'half of an array is left'
