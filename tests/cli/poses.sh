#!/bin/sh
# Poses as people have them: rows matched by number and by time, 4 x 4 matrices, a left-handed world. The reference turns
# every point by q p q* with awk.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

# Five frames at 1000.1 s and so on, a camera that turns by 25 degrees about a slanted axis from one to the next, and a
# tracker that is faster than the camera and a few milliseconds beside it.
mkdir camera
for i in 1 2 3 4 5; do
    points $i 30 px py pz >camera/100$i.1.txt
done
awk 'BEGIN { for (i = 1; i <= 5; i++) for (k = -1; k <= 1; k++) {
                 half = (25 * i + 12 * k) * 3.14159265358979 / 360
                 printf "%.3f 1 2 3 %.12f %.12f %.12f %.12f\n", 1000 + i + 0.1 + 0.3 * k + 0.007, sin(half) * 0.6,
                     sin(half) * 0.48, sin(half) * 0.64, cos(half) } }' >tracker.txt
awk 'NR % 3 == 2' tracker.txt >rows.txt

# turned SIGN FOLDER: the points of every frame in the world, y times SIGN first.
turned() {
    mkdir "$2"
    for i in 1 2 3 4 5; do
        sed -n "${i}p" rows.txt | cat - camera/100$i.1.txt | awk -v sign="$1" '
            NR == 1 { x = $5; y = $6; z = $7; w = $8; next }
            { a = $1; b = sign * $2; c = $3
              pw = -x * a - y * b - z * c; px = w * a + y * c - z * b; py = w * b + z * a - x * c; pz = w * c + x * b - y * a
              printf "%.12f %.12f %.12f\n", -pw * x + px * w - py * z + pz * y, -pw * y + py * w - pz * x + px * z,
                  -pw * z + pz * w - px * y + py * x }' >"$2/100$i.1.txt"
    done
}

# told_all: the clusters of every frame with their means.
told_all() {
    grep -o '"id": [0-9]*\|"count": [0-9]*\|"mean": \[[^]]*\]\|"event": "[a-z]*"' "$1" | tr -d '[],"'
}

# near FILE FILE: the same words, and numbers up to 0.00001.
near() {
    paste -d ' ' "$1" "$2" | awk '{ n = NF / 2; for (i = 1; i <= n; i++) {
        off = $i - $(i + n); if (i == 1 && $i != $(i + n) || off < -1e-5 || off > 1e-5) { print; bad = 1 } }
        if ($1 == "event:" && $2 != $4) bad = 1 } END { exit bad || NR < 10 }' >differences ||
        broken "$1 and $2 differ: $(head -n 3 differences)"
}

# as_expected REFERENCE OPTION...: the poses give what the turned points give.
as_expected() {
    reference=$1
    shift
    works asterism stream "$reference" --angle 50
    told_all ../out >expected
    works asterism stream camera --angle 50 "$@"
    told_all ../out >found
    near expected found
}

turned 1 world
turned -1 mirrored
as_expected world --poses rows.txt
as_expected world --poses tracker.txt
as_expected world --poses rows.txt --pose-times row
as_expected world --poses rows.txt --pose-times nearest
sort -r tracker.txt >backwards.txt
as_expected world --poses backwards.txt
as_expected mirrored --poses tracker.txt --flip-y
awk '{ print $5, $6, $7, $8 }' rows.txt >quaternions.txt
as_expected world --poses quaternions.txt

# Names that are whole numbers are times only if asked for.
mkdir whole
for i in 1 2 3 4 5; do cp camera/100$i.1.txt whole/$i.txt; done
awk '{ $1 -= 1000.107; print }' tracker.txt >counted.txt
works asterism stream whole --angle 50 --poses counted.txt --pose-times nearest
told_all ../out >found
works asterism stream world --angle 50
told_all ../out >expected
near expected found

# 4 x 4 matrices: 16 numbers a row, a file per frame, and files beside the frames.
awk '{ x = $5; y = $6; z = $7; w = $8
       print 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), $2, 2 * (x * y + z * w),
           1 - 2 * (x * x + z * z), 2 * (y * z - x * w), $3, 2 * (x * z - y * w), 2 * (y * z + x * w),
           1 - 2 * (x * x + y * y), $4, 0, 0, 0, 1 }' OFMT=%.12g CONVFMT=%.12g rows.txt >matrices.txt
as_expected world --poses matrices.txt
as_expected mirrored --poses matrices.txt --flip-y

# A state knows how its points were turned.
works asterism stream camera/1001.1.txt --angle 50 --poses rows.txt --pose-times nearest --flip-y --state s
fails 1 's: the state was made with --flip-y, and this run is without' \
    asterism stream camera --angle 50 --poses rows.txt --state s

# ---- What can be wrong ----
# refused SENTENCE POSES OPTION...
refused() {
    sentence=$1
    shift
    fails 1 "$sentence" asterism stream camera --angle 50 --poses "$@"
}
fails 2 'pose-times needs --poses' asterism stream camera --angle 50 --pose-times nearest
fails 2 'flip-y needs --poses' asterism stream camera --angle 50 --flip-y
fails 2 'pose-times must be nearest or row' asterism stream camera --angle 50 --poses rows.txt --pose-times far
refused 'quaternions.txt: --pose-times nearest needs rows of time tx ty tz qx qy qz qw' quaternions.txt --pose-times nearest
fails 1 'pose-times nearest needs the times of the frames' \
    asterism stream camera/1001.1.txt expected --format txt --angle 50 --poses rows.txt --pose-times nearest
awk '{ $1 += 5000; print }' CONVFMT=%.9g tracker.txt >later.txt
refused 'later.txt: its times, from 6000.807 to 6005.407, are not those of the frames: the first of 5 is camera/1001.1.txt at 1001.100' \
    later.txt
sed 's/0 0 0 1$/0 0 1 1/' matrices.txt >bad.txt
refused 'bad.txt: line 1: the 4 x 4 matrix is no pose: its last row is not 0 0 0 1' bad.txt
echo '1 0 0 0 0 1 0 0 0 0 2 0 0 0 0 1' >bad.txt
refused 'bad.txt: line 1: the 4 x 4 matrix is no pose: its first three columns are no rotation' bad.txt
echo '1 0 0 0 0 -1 0 0 0 0 1 0 0 0 0 1' >bad.txt
refused 'bad.txt: line 1: the 4 x 4 matrix is no pose: it is a reflection' bad.txt
echo 'nan 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1' >bad.txt
refused 'bad.txt: none of its poses is known: all 1 are not finite, or quaternions of zeros' bad.txt
mkdir none few
refused 'none: holds no pose: .txt files with a 4 x 4 matrix each are needed' none
echo '1 0 0 0' >few/a.txt
refused 'few/a.txt: has 4 numbers, but a pose is the 16 of a 4 x 4 matrix' few

# A pose that is far away is used, with a warning.
awk 'NR != 2 && NR != 3' rows.txt >gap.txt
asterism stream camera --angle 50 --poses gap.txt >../out 2>../err
grep -q 'warning: 2 of 5 frames have no pose in gap.txt within 0.1 s; that of camera/1003.1.txt is 0.99 s away\|is 1.0[01] s away' ../err ||
    broken "$(cat ../err)"
equal 'frames with a far pose' 5 "$(wc -l <../out | tr -d ' ')"
