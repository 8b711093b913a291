#!/bin/sh
# asterism normals: one depth image, whatever way it comes, becomes one array of normals.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/depth_common.sh"
frame=hall/depth/000000.png

works asterism normals $frame --intrinsics $intrinsics --output n.npy
grep -Eq '^320 x 240 pixels, [0-9,]+ normals, [0-9,]+ missing, ' ../out || broken "the line: $(cat ../out)"
equal 'the shape' 'f4 (240, 320, 3)' "$(shape n.npy)"
works asterism normals $frame --intrinsics $intrinsics --output n2.npy --json --threads 1
equal keys 'width height points missing seconds' "$(grep -o '"[a-z]*":' ../out | tr -d '":' | paste -sd' ' -)"
equal points 76800 "$(json points ../out)"
same n.npy n2.npy
cp $frame frame.of_a_camera # what it is, its first bytes say
works asterism normals frame.of_a_camera --intrinsics $intrinsics --output n2.npy
same n.npy n2.npy
works asterism normals $frame --intrinsics $intrinsics --output n.txt --quiet
equal 'with --quiet' '' "$(cat ../out)"

# Unit vectors that point to the camera, or nothing at all; as many missing ones as it says.
works asterism normals $frame --intrinsics $intrinsics --output n.txt --json
missing=$(json missing ../out)
equal 'lines' 76800 "$(wc -l <n.txt | tr -d ' ')"
equal 'missing' "$missing" "$(grep -c '^-*nan -*nan -*nan$' n.txt)"
[ "$missing" -lt 10000 ] || broken "$missing of 76800 normals are missing"
awk '$1 !~ /nan/ { q = $1 * $1 + $2 * $2 + $3 * $3; if (q < 0.9999 || q > 1.0001) exit 1 }' n.txt || broken 'not unit vectors'

# A wall that faces the camera: (0, 0, -1), through a PGM, standard input and raw frames alike.
pgm wall.pgm 32 24 2000
for how in none guided tv; do
    works asterism normals wall.pgm --intrinsics 30,30,15.5,11.5 --smooth $how --output wall.txt
    awk '$1 !~ /nan/ { if ($3 > -0.9999) exit 1; seen++ } END { if (seen < 500) exit 1 }' wall.txt ||
        broken "a wall that faces the camera, --smooth $how"
done
works asterism normals wall.pgm --intrinsics 30,30,15.5,11.5 --output wall.npy
works sh -c '"$0" normals - --intrinsics 30,30,15.5,11.5 --output piped.npy <wall.pgm' "$ASTERISM"
same wall.npy piped.npy
tail -c $((2 * 32 * 24)) wall.pgm | dd conv=swab 2>/dev/null >wall.raw
works sh -c '"$0" normals - --raw 32x24 --intrinsics 30,30,15.5,11.5 --output raw.npy <wall.raw' "$ASTERISM"
same wall.npy raw.npy

# The scale does not turn a normal; the filter's options and the range are heard.
works asterism normals wall.pgm --intrinsics 30,30,15.5,11.5 --depth-scale 5000 --output scaled.txt
awk '$1 !~ /nan/ && $3 > -0.9999 { exit 1 }' scaled.txt || broken 'another scale turns the wall'
works asterism normals wall.pgm --intrinsics 30,30,15.5,11.5 --farthest 1.5 --output far.npy --json
equal 'a wall beyond the farthest' 768 "$(json missing ../out)"
works asterism normals wall.pgm --intrinsics 30,30,15.5,11.5 --nearest 2.5 --output far.npy --json
equal 'a wall before the nearest' 768 "$(json missing ../out)"
for option in '--filter-radius 1' '--filter-epsilon 0.2' '--normal-window 1' '--edge-jump 0.5' \
    '--smooth none' '--smooth tv' '--smooth tv --tv-weight 2' '--smooth tv --tv-iterations 3'; do
    # shellcheck disable=SC2086
    works asterism normals $frame --intrinsics $intrinsics $option --output other.npy
    cmp -s n.npy other.npy && broken "$option changes nothing"
    cksum <other.npy >>sums
done
equal 'different options, different normals' 8 "$(sort -u sums | wc -l | tr -d ' ')"
