#!/bin/sh
# The rotation of the camera and the axes of a building: in lines of JSON, as a file, the same for any number of threads;
# what cannot be.
. "$(dirname "$0")/common.sh"

# The first twelve frames of a walk of 120.
asterism sample --scene hallway --frames 120 --size 320x240 --output hallway >/dev/null
find hallway/depth -name '*.png' | sort | tail -n +13 | xargs rm
awk '!/^#/' hallway/poses.txt | head -n 12 >poses.txt

works asterism stream hallway/depth --angle 60 --frame-axes --rotations found.txt --threads 1
cp ../out lines
equal 'lines' 12 "$(wc -l <lines)"
equal 'rows and a comment' 13 "$(wc -l <found.txt)"
grep -q '^# time tx ty tz qx qy qz qw' found.txt || broken "$(head -n 1 found.txt)"
awk '!/^#/ { n = $5 * $5 + $6 * $6 + $7 * $7 + $8 * $8
             if (NF != 8 || $1 != NR - 2 || $2 != 0 || $3 != 0 || $4 != 0 || n < 0.999999 || n > 1.000001) exit 1 }' found.txt ||
    broken "$(cat found.txt)"
head -n 1 lines | grep -q '"rotation": \[0, 0, 0, 1\], "rotation_rank": 3, "rotation_deviation": \[0, 0, 0\]' ||
    broken "the first frame: $(head -n 1 lines)"
equal 'axes' 12 "$(grep -c '"axes": {"kind": "manhattan", "directions": \[\[' lines)"
equal 'ranks' 12 "$(grep -c '"rotation_rank": 3' lines)"
equal 'no axes unless asked for' 0 "$(asterism stream hallway/depth --angle 60 | grep -c '"axes"')"

# The truth: rows of the same form, camera to world. Relative to the first row the angle between both is small.
# off_by POSES ROTATIONS FROM: the largest angle in degrees, from a row on.
off_by() {
    awk '!/^#/' "$1" >true.rows
    awk '!/^#/' "$2" | paste -d ' ' true.rows - | awk -v from="$3" '
        function times(a, b, c) {
            c[4] = a[4] * b[4] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
            c[1] = a[4] * b[1] + a[1] * b[4] + a[2] * b[3] - a[3] * b[2]
            c[2] = a[4] * b[2] - a[1] * b[3] + a[2] * b[4] + a[3] * b[1]
            c[3] = a[4] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[4] }
        { for (i = 1; i <= 4; i++) { t[i] = $(4 + i); f[i] = (i == 4 ? 1 : -1) * $(12 + i) }
          if (NR == 1) for (i = 1; i <= 4; i++) first[i] = (i == 4 ? 1 : -1) * t[i]
          times(first, t, relative); times(relative, f, off)
          s = sqrt(off[1] * off[1] + off[2] * off[2] + off[3] * off[3])
          if (NR >= from && 2 * s * 57.3 > worst) worst = 2 * s * 57.3 }
        END { printf "%.2f %d\n", worst, NR }'
}
off_by poses.txt found.txt 1 >../worst
awk '$1 > 0.7 || $2 != 12 { exit 1 }' ../worst || broken "off by $(cat ../worst)"

# Around the corner in ten frames, with the noise of small images: the rotation is right again behind it.
for frames in 30 35 40 60; do
    asterism sample --scene hallway --frames $frames --size 160x120 --seed $frames --output fast$frames >/dev/null
    works asterism stream fast$frames/depth --angle 60 --rotations fast.txt
    off_by fast$frames/poses.txt fast.txt $((frames * 3 / 4)) >../worst
    awk '$1 > 4 { exit 1 }' ../worst || broken "$frames frames: off by $(cat ../worst)"
done

works asterism stream hallway/depth --angle 60 --frame-axes --rotations other.txt --threads 3
same found.txt other.txt
works asterism segment hallway/depth --angle 60 --frame-axes --rotations third.txt --output pictures --json
same found.txt third.txt
equal 'axes of segment' 12 "$(grep -c '"kind": "manhattan"' ../out)"

# A state goes on: the same rotations, relative to the first frame of all.
mkdir half
mv hallway/depth/00000[6-9].png hallway/depth/00001?.png half
works asterism stream hallway/depth --angle 60 --state state
mv half/* hallway/depth
works asterism stream hallway/depth --angle 60 --state state --rotations later.txt
awk '!/^#/ { $1 = ""; print }' later.txt >later
awk '!/^#/ && $1 > 5 { $1 = ""; print }' found.txt >expected
same expected later

# Tables: one direction; none; not of three dimensions.
mkdir one
for i in 1 2 3; do
    awk 'BEGIN { for (k = 0; k < 50; k++) print 0.01 * (k % 7), 0.01 * (k % 5), 1 }' >one/$i.txt
done
: >one/4.txt
works asterism stream one --angle 60 --frame-axes --dimension 3
equal 'one direction' 3 "$(grep -c '"rotation_rank": 2,.*"kind": "none", "directions": \[\], "shares": \[\]' ../out)"
equal 'no direction' 1 "$(grep -c '"rotation_rank": 0' ../out)"
printf '1 0\n0 1\n' >flat.txt
works asterism stream flat.txt --angle 30
grep -q rotation ../out && broken 'two dimensions have a rotation'
fails 1 'flat.txt has points of 2 dimensions, and --rotations is for 3' asterism stream flat.txt --angle 30 --rotations r.txt
fails 1 'flat.txt has points of 2 dimensions, and --frame-axes is for 3' asterism stream flat.txt --angle 30 --frame-axes
fails 2 '--rotations .*--poses' asterism stream hallway/depth --angle 60 --rotations r.txt --poses poses.txt
fails 2 '--rotations .*--axial' asterism stream one --angle 60 --rotations r.txt --axial
fails 1 'absent/r.txt' asterism stream one --angle 60 --dimension 3 --rotations absent/r.txt
equal 'with poses the rotation is known' 0 \
    "$(asterism stream hallway/depth --angle 60 --poses poses.txt --frame-axes | grep -c '"rotation"')"
