#!/bin/sh
# Scans as .xyz, .las and KITTI's .bin: the planes of one cloud, whatever its format.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"

rows 30 >points.txt
awk '{ printf "%.6f %.6f %.6f\n", $1, $2, $3 }' points.txt >plain.xyz
awk 'BEGIN { print "// I;X;Y;Z" } { printf "%d;%.6f;%.6f;%.6f\n", NR, $1, $2, $3 }' points.txt >named.xyz
count=$(wc -l <plain.xyz | tr -d ' ')
works asterism cluster plain.xyz --angle 40 --viewpoint 0.5,1,1.5 --planes plain.csv --quiet
equal 'planes of the cloud' 6 "$(tail -n +2 plain.csv | wc -l | tr -d ' ')"
for columns in X,Y,Z 2-4; do
    works asterism cluster named.xyz --columns $columns --angle 40 --viewpoint 0.5,1,1.5 --planes named.csv --quiet
    same plain.csv named.csv
done
works asterism normals named.xyz --columns 2-4 --output named.txt
works asterism normals plain.xyz --output plain.txt
same plain.txt named.txt
fails 2 '^asterism: --columns is for tables of points and .xyz, and a.las is a cloud$' \
    asterism cluster a.las --columns 1-3 --angle 40
fails 1 'plain.xyz: --columns has 2 columns; a cloud has three' asterism cluster plain.xyz --columns 1,2 --angle 40

python=$(command -v /usr/bin/python3) || { echo 'no python3: skipped' && exit 77; }
$python - <<'END'
import struct
rows = [tuple(map(float, line.split())) for line in open('plain.xyz')]
open('s.bin', 'wb').write(b''.join(struct.pack('<4f', *row, 0.5) for row in rows))
header = bytearray(227)
header[0:4], header[24], header[25] = b'LASF', 1, 2
struct.pack_into('<HI', header, 94, 227, 227)
struct.pack_into('<BHI', header, 104, 0, 20, len(rows))
struct.pack_into('<6d', header, 131, 1e-6, 1e-6, 1e-6, 0, 0, 0)
body = b''.join(struct.pack('<3i8x', *(round(x * 1e6) for x in row)) for row in rows)
open('a.las', 'wb').write(bytes(header) + body)
open('cut.las', 'wb').write((bytes(header) + body)[:-7])
header[104] = 0x80
open('a.laz', 'wb').write(bytes(header) + body)
END
for input in 'a.las' 's.bin --format kitti'; do
    # shellcheck disable=SC2086 # an input and its options
    works asterism cluster $input --angle 40 --viewpoint 0.5,1,1.5 --planes scan.csv --quiet
    equal "planes of $input" 6 "$(tail -n +2 scan.csv | wc -l | tr -d ' ')"
    equal "points of $input" "$(awk -F, 'NR > 1 { n += $11 } END { print n }' plain.csv)" \
        "$(awk -F, 'NR > 1 { n += $11 } END { print n }' scan.csv)"
done
fails 1 "cut.las: is cut short: $((count - 1)) of its $count points are there" asterism cluster cut.las --angle 40
fails 1 'a.laz: is compressed .LAZ.; laszip or las2las makes a .las of it' asterism cluster a.laz --angle 40
fails 2 's.bin: can be anything by its name; --format kitti reads scans of KITTI' asterism cluster s.bin --angle 40
