#!/bin/sh
# asterism sample --scene: a folder of depth frames with a known answer; the same seed makes the same files.
. "$(dirname "$0")/common.sh"

# scene OPTIONS...: four small frames.
scene() {
    asterism sample --scene hallway --frames 4 --size 64x48 "$@"
}
asterism sample --scene hallway --frames 1 --size 4x3 --output probe 2>../err ||
    { grep -q 'no libpng' ../err && skip 'this build has no libpng'; }
rm -rf probe

# checksums FOLDER: of its files, by their names within it.
checksums() {
    (cd "$1" && find . -type f -exec cksum {} + | sort -k 3)
}

works scene --output a
equal 'what it prints' '' "$(cat ../out)"
equal files './camera.json ./depth/000000.png ./depth/000001.png ./depth/000002.png ./depth/000003.png ./poses.txt
./truth/000000.npy ./truth/000001.npy ./truth/000002.npy ./truth/000003.npy' \
    "$(cd a && find . -type f | sort | paste -sd' ' - | sed 's| ./truth/000000|\n./truth/000000|')"
works scene --output deep/er/b --threads 1 --json
checksums a >sums
checksums deep/er/b | cmp - sums || broken 'another number of threads makes other files'
works scene --output a # over what is there
checksums a | cmp - sums || broken 'the second run makes other files'
works scene --output c --seed 2
checksums c | cmp -s - sums && broken 'another seed makes the same files'

# The summary.
works scene --output c --json
equal keys 'scene frames width height camera fx fy cx cy noise output' \
    "$(grep -o '"[a-z]*":' ../out | tr -d '":' | paste -sd' ' -)"
equal scene '"hallway"' "$(json scene ../out)"
equal frames 4 "$(json frames ../out)"
equal width 64 "$(json width ../out)"
equal fx 52.5 "$(json camera.fx ../out)"
equal noise true "$(json noise ../out)"
equal output '"c"' "$(json output ../out)"

# The camera: intrinsics and what the truth's numbers stand for.
equal cx 31.5 "$(json cx a/camera.json)"
equal cy 23.5 "$(json cy a/camera.json)"
equal fy 52.5 "$(json fy a/camera.json)"
equal height 48 "$(json height a/camera.json)"
equal depth_scale 1000 "$(json depth_scale a/camera.json)"
equal 'the fourth direction' '[0.0,-1.0,0.0]' "$(json directions.3 a/camera.json)"

# It is read by the commands for depth images, unless a camera is given; its size must be that of the images.
works asterism stream a --intrinsics 52.5,52.5,31.5,23.5 --depth-scale 1000 --angle 60 --labels typed --quiet
for input in a a/depth; do
    works asterism stream $input --angle 60 --labels found --quiet
    diff -r typed found || broken "the camera of $input is another one"
done
rm -r typed found
cp -r a small
sed -i 's/"width": 64/"width": 32/' small/camera.json
fails 1 'is 64 x 48 pixels, but the camera.json beside it is for 32 x 48; give --intrinsics' asterism stream small --angle 60
echo '{"fx": 1}' >small/camera.json
fails 2 'depth images need --intrinsics' asterism stream small --angle 60
rm -r small

# A row a frame: time, place, quaternion.
equal rows 4 "$(wc -l <a/poses.txt | tr -d ' ')"
awk 'NF != 8 || $4 < 1.5 || $4 > 1.6 { exit 1 }
     { q = $5 * $5 + $6 * $6 + $7 * $7 + $8 * $8; if (q < 0.999999 || q > 1.000001) exit 1 }
     NR == 3 && $1 != "0.066667" { exit 1 }' a/poses.txt || broken "poses: $(cat a/poses.txt)"

# Depth images are 16-bit greyscale; the truth has the shape of the image.
head -c 29 a/depth/000002.png | od -An -t u1 | tr -s ' \n' ' ' >header
grep -q ' 73 72 68 82 0 0 0 64 0 0 0 48 16 0 0 0 0' header || broken "not such a PNG: $(cat header)"
head -c 128 a/truth/000002.npy | grep -aq "'descr': '<i4', 'fortran_order': False, 'shape': (48, 64)" ||
    broken 'the truth is not 48 x 64 numbers'
equal 'bytes of the truth' $((128 + 4 * 48 * 64)) "$(wc -c <a/truth/000002.npy | tr -d ' ')"

# Without noise there are no holes, so that every pixel of a flat surface has a truth.
works scene --output exact --no-noise --json
equal noise false "$(json noise ../out)"
for frame in 000000 000001; do
    od -An -v -t d4 -j 128 exact/truth/$frame.npy | tr -s ' ' '\n' | grep -c -e '^-1$' >holes || :
    [ "$(cat holes)" -lt 300 ] || broken "$(cat holes) pixels of the exact frame $frame have no direction"
done

# A folder of more frames is not mixed with.
fails 1 'a/depth/000003.png is of a longer walk' asterism sample --scene hallway --frames 3 --size 64x48 --output a

# Wrong usage.
fails 2 "--scene must be hallway, not 'kitchen'" asterism sample --scene kitchen --output x
fails 2 '--frames must be a whole number from 1' asterism sample --scene hallway --frames 0 --output x
fails 2 'needs --output DIR' asterism sample --scene hallway
fails 2 'standard output' asterism sample --scene hallway --output -
for size in 640 640x x480 640x480x3 0x480 64,48 -64x48 '64 x48' 64X48 1000000000x1 100000x100000 99999999999x9; do
    fails 2 '--size' asterism sample --scene hallway --output x --size="$size"
done
for option in '--points 9' '--dimension 3' '--clusters 2' '--kappa 9' '--separation 9' '--noise 0' '--labels z.npy' \
    '--means m.npy'; do
    # shellcheck disable=SC2086
    fails 2 "${option%% *} cannot be combined with --scene" asterism sample --scene hallway --output x $option
done
for option in '--frames 3' '--size 64x48' --no-noise; do
    # shellcheck disable=SC2086
    fails 2 "${option%% *} needs --scene NAME" asterism sample $option --points 9 --dimension 3 --clusters 2 \
        --kappa 9 --output x.npy
done

# Folders that cannot be, and a disk that is full.
: >file
fails 1 '--output: .*file' scene --output file
fails 1 '--output: .*file' scene --output file/below
mkdir blocked
: >blocked/truth
fails 1 'blocked/truth is no folder' scene --output blocked
mkdir -p taken/depth/000000.png
fails 1 'taken/depth/000000.png' scene --output taken
[ "$(id -u)" = 0 ] || {
    mkdir closed
    chmod 500 closed
    fails 1 'closed' scene --output closed
}
# shellcheck disable=SC2016
fails 1 'full/depth/000000.png: cannot be written' sh -c 'ulimit -f 1; exec "$0" "$@"' "$ASTERISM" \
    sample --scene hallway --frames 2 --size 320x240 --output full
equal 'files on the full disk' '' "$(find full -type f)"
if [ -w /dev/full ]; then
    # shellcheck disable=SC2016
    fails 1 'standard output' sh -c '"$0" sample --scene hallway --frames 4 --size 64x48 --output a --json >/dev/full' \
        "$ASTERISM"
fi

# Progress where it is asked for, erased in the end; none where it is not.
scene --output c --progress >../out 2>../err
tr '\r' '\n' <../err | grep -q '^1 of 4 frames, ' || broken "progress: $(cat ../err)"
equal 'the progress line is erased' '' "$(tr '\r' '\n' <../err | tail -n 1 | tr -d ' ')"
scene --output c --progress --quiet 2>../err
[ ! -s ../err ] || broken 'progress in spite of --quiet'

# Ctrl-C: what is there is whole, and nothing else is.
can_interrupt || skip 'Ctrl-C: this env has no --default-signal'
env --default-signal=INT "$ASTERISM" sample --scene hallway --frames 100000 --size 64x48 --output long --progress \
    >../out 2>../err &
job=$!
until [ -e long/truth/000009.npy ]; do
    kill -0 $job 2>/dev/null || broken "it has ended: $(cat ../err)"
    sleep 0.1
done
kill -s INT $job
status=0
wait $job || status=$?
equal 'exit code after Ctrl-C' 130 "$status"
tr '\r' '\n' <../err | grep -q '^asterism: stopped after [0-9]* of 100000 frames$' || broken "Ctrl-C: $(cat ../err)"
equal 'files that are not frames' '' \
    "$(find long -type f ! -path 'long/depth/??????.png' ! -path 'long/truth/??????.npy')"
equal 'depth and truth' "$(find long/depth -type f | wc -l)" "$(find long/truth -type f | wc -l)"
[ -z "$(find long/truth -type f ! -size 12416c)" ] || broken 'a file is not whole'
