#!/bin/sh
# cluster and stream on depth images: the labels are those of their normals, in the shape of the image.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"
. "$(dirname "$0")/depth_common.sh"

# The same labels as from the normals as text.
works asterism normals hall/depth/000000.png --intrinsics $intrinsics --output n.txt
works asterism cluster n.txt --angle 60 --labels from_text.txt
works asterism cluster hall/depth/000000.png --intrinsics $intrinsics --angle 60 --labels z.npy --means m.txt --json
equal points 76800 "$(json points ../out)"
equal 'the shape' 'i4 (240, 320)' "$(shape z.npy)"
numbers z.npy 76800 >from_depth.txt
same from_text.txt from_depth.txt
works asterism cluster hall/depth/000000.png --intrinsics $intrinsics --angle 60 --smooth planes --labels planes.npy
cmp -s z.npy planes.npy && broken 'the normals are not those of planes'
works asterism stream hall/depth/000000.png --intrinsics $intrinsics --angle 60 --labels frames
same frames/000000.npy planes.npy # what stream takes by itself
works asterism stream hall/depth/000000.png --intrinsics $intrinsics --angle 60 --normal-window 6 --labels frames
same frames/000000.npy z.npy # who gives the window of pixels' normals wants those
works asterism cluster hall/depth/000000.png --intrinsics $intrinsics --angle 60 --labels z.csv
equal 'rows of the image' 240 "$(wc -l <z.csv | tr -d ' ')"
works asterism measure --labels z.npy --truth hall/truth/000000.npy --json
awk -v nmi="$(json nmi ../out)" 'BEGIN { exit !(nmi > 0.85) }' || broken "nmi $(json nmi ../out)"
works sh -c '"$0" cluster - --intrinsics $1 --angle 60 --labels piped.npy <hall/depth/000000.png' "$ASTERISM" $intrinsics
same z.npy piped.npy

# A folder, the folder above it, its files, and a TUM folder are the same stream.
stream() {
    asterism stream "$@" --intrinsics $intrinsics --angle 70
}
works stream hall/depth --labels labels
timeless ../out >lines
equal 'lines' 6 "$(wc -l <lines | tr -d ' ')"
equal 'a source' '"hall/depth/000003.png"' "$(sed -n 4p lines | tool json source)"
equal 'files' '000000.npy 000001.npy 000002.npy 000003.npy 000004.npy 000005.npy' "$(cd labels && echo *)"
equal 'the shape' 'i4 (240, 320)' "$(shape labels/000003.npy)"
works stream hall --labels whole
timeless ../out | cmp - lines
same_folder labels whole
works stream hall/depth/00000?.png --labels one_by_one --threads 1
timeless ../out | cmp - lines
same_folder labels one_by_one
mkdir tum
ln -s ../hall/depth tum/pictures
{ echo '# depth maps'; for i in 0 1 2 3 4 5; do echo "1305031102.16$i pictures/00000$i.png"; done; } >tum/depth.txt
works stream tum --depth-scale 1000 --labels tum_labels
same_folder labels tum_labels
works stream tum --labels scaled # 5000 by default: everything five times nearer, the noise too
cmp -s labels/000000.npy scaled/000000.npy && broken 'a TUM folder is not read with 5000 units a metre'

# Raw frames from a pipe, numbered.
pgm wall.pgm 32 24 2000
tail -c $((2 * 32 * 24)) wall.pgm | dd conv=swab 2>/dev/null >raw
works sh -c 'cat raw raw raw | "$0" stream - --raw 32x24 --intrinsics 30,30,15.5,11.5 --angle 70 --labels walls' "$ASTERISM"
equal 'raw frames' '"-#2"' "$(sed -n 3p ../out | tool json source)"
equal 'their files' '000000.npy 000001.npy 000002.npy' "$(cd walls && echo *)"
equal 'one wall, one cluster' 1 "$(sed -n 3p ../out | tool json clusters | grep -o '"id"' | wc -l | tr -d ' ')"

# Poses turn the normals into the world: floor and ceiling look up and down there.
works stream hall --poses hall/poses.txt --drift 0.05
sed -n 1p ../out | tool json clusters | tr '{' '\n' | sed -n 's/.*"mean":\[\([^]]*\)\].*/\1/p' >means
awk -F, '$3 > 0.98 { up = 1 } $3 < -0.98 { down = 1 } END { exit !(up && down) }' means ||
    broken "no floor and ceiling in $(cat means)"

# A run that stops and goes on ends as one that does not.
mkdir part
cp hall/depth/00000[012].png part
works stream part --state state --labels resumed
cp hall/depth/00000[345].png part
works stream part --state state --labels resumed
same_folder labels resumed
timeless ../out | sed 's|part/|hall/depth/|' >rest
sed -n '4,6p' lines | cmp - rest || broken 'the second half of the lines'
