#!/bin/sh
# Depth images of floats: .npy, PFM and TIFF, and sentences about units and cameras that cannot be right.
. "$(dirname "$0")/common.sh"

# The first frame of the hallway, in whole millimetres, as .npy of the type, PFM or TIFF. Floats are metres.
works asterism sample --scene hallway --frames 1 --size 160x120 --output walk
works asterism segment walk/depth --angle 60 --poses walk/poses.txt --output seen --labels labels --quiet
python=$(command -v /usr/bin/python3) || { echo 'no python3: skipped' && exit 77; }
$python -c 'import numpy' 2>/dev/null || { echo 'no numpy: skipped' && exit 77; }
cat >convert.py <<'END'
import glob, struct, sys, zlib
import numpy as np

def png(path):
    data, at, body, size = open(path, 'rb').read(), 8, b'', None
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        if kind == b'IHDR':
            size = struct.unpack('>II', data[at + 8:at + 16])
        if kind == b'IDAT':
            body += data[at + 8:at + 8 + length]
        at += 12 + length
    w, h = size
    rows, out, last = zlib.decompress(body), [], np.zeros(2 * w, np.uint8)
    for v in range(h):
        kind, raw = rows[v * (2 * w + 1)], bytearray(rows[v * (2 * w + 1) + 1:(v + 1) * (2 * w + 1)])
        for i in range(2 * w):
            a, b, c = (raw[i - 2] if i > 1 else 0), int(last[i]), (int(last[i - 2]) if i > 1 else 0)
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            raw[i] = (raw[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        last = np.frombuffer(bytes(raw), np.uint8)
        out.append(np.frombuffer(bytes(raw), '>u2'))
    return np.array(out)

depth = png(glob.glob('walk/depth/*.png')[0])
h, w = depth.shape
metres = (depth / 1000).astype('<f4')
np.save('f4.npy', metres)
np.save('f8.npy', np.asfortranarray(metres.astype('f8')))
np.save('u2.npy', depth.astype('<u2'))
np.save('mm.npy', depth.astype('<f4'))
np.save('far.npy', metres * 30)
np.save('i4.npy', depth.astype('<i4'))
metres.tofile('f4.raw')
open('a.pfm', 'wb').write(b'Pf\n%d %d\n-1.0\n' % (w, h) + metres[::-1].tobytes())
open('big.pfm', 'wb').write(b'Pf\n%d %d\n1.0\n' % (w, h) + metres[::-1].astype('>f4').tobytes())
def tiff(name, order, values, bits, kind, compression=1, rows=50):
    e = '<' if order == b'II' else '>'
    body, strips = values.tobytes(), -(-h // rows)
    line = w * bits // 8
    entries = [(256, 3, w), (257, 3, h), (258, 3, bits), (259, 3, compression), (277, 3, 1), (278, 3, rows), (339, 3, kind)]
    where = 8 + len(body)
    table = b''.join(struct.pack(e + 'I', 8 + i * rows * line) for i in range(strips))
    sizes = b''.join(struct.pack(e + 'I', min(rows, h - i * rows) * line) for i in range(strips))
    ifd = [struct.pack(e + 'HHIHH', t, k, 1, v, 0) for t, k, v in entries]
    ifd.insert(4, struct.pack(e + 'HHII', 273, 4, strips, where))
    ifd.insert(7, struct.pack(e + 'HHII', 279, 4, strips, where + len(table)))
    start = where + len(table) + len(sizes)
    open(name, 'wb').write(struct.pack(e + '2sHI', order, 42, start) + body + table + sizes +
                           struct.pack(e + 'H', len(ifd)) + b''.join(ifd) + bytes(4))
tiff('f4.tiff', b'II', metres, 32, 3)
tiff('f4big.tif', b'MM', metres.astype('>f4'), 32, 3)
tiff('u2.tiff', b'II', depth.astype('<u2'), 16, 1)
tiff('packed.tiff', b'II', metres, 32, 3, compression=5)
END
$python convert.py
camera=$(sed -n 's/.*"intrinsics": *\[\([^]]*\)\].*/\1/p' walk/camera.json walk/depth/camera.json 2>/dev/null | tr -d ' ' | head -1)
[ -n "$camera" ] || camera=$(tr -d '\n ' <walk/camera.json | sed 's/.*"fx":\([^,}]*\).*"fy":\([^,}]*\).*"cx":\([^,}]*\).*"cy":\([^,}]*\).*/\1,\2,\3,\4/')
see() {
    works asterism normals "$@" --intrinsics "$camera" --output n.txt --json
    awk 'NR % 37 == 0 { printf "%.1f %.1f %.1f\n", $1 + 4, $2 + 4, $3 + 4 }' n.txt >normals.txt
}
see "$(echo walk/depth/*.png)"
cp normals.txt expected.txt
cp n.txt whole.txt
for file in u2.npy u2.tiff; do
    see $file
    same n.txt whole.txt
done
for file in f4.npy f8.npy a.pfm big.pfm f4.tiff f4big.tif; do
    see $file
    different=$(paste -d' ' normals.txt expected.txt | awk '$1 != $4 || $2 != $5 || $3 != $6' | wc -l)
    [ "$different" -lt 100 ] || broken "$file: $different of $(wc -l <normals.txt) normals differ"
done
works asterism normals f4.npy --intrinsics "$camera" --output floats.txt
works asterism normals mm.npy --depth-scale 1000 --intrinsics "$camera" --output n.txt
same n.txt floats.txt
works asterism segment f4.npy --intrinsics "$camera" --angle 60 --output one --quiet

# What cannot be right.
fails 1 'packed.tiff: is compressed' asterism normals packed.tiff --intrinsics "$camera" --output bad.txt
fails 1 'i4.npy: is an array \(120, 160\) of <i4; a depth image is' asterism normals i4.npy --intrinsics "$camera" --output bad.txt
head -c 5000 f4.tiff >cut.tiff
fails 1 'cut.tiff: ' asterism normals cut.tiff --intrinsics "$camera" --output bad.txt
head -c 5000 a.pfm >cut.pfm
fails 1 'cut.pfm: does not hold the 160 x 120 floats' asterism normals cut.pfm --intrinsics "$camera" --output bad.txt
fails 1 'f4.npy is 160 x 120 pixels, but the principal point 319.5,239.5 is that of images of about 640 x 480' \
    asterism normals f4.npy --intrinsics 525,525,319.5,239.5 --output bad.txt
fails 2 'the focal length -120 is negative.*--flip-y' \
    asterism normals f4.npy --intrinsics 120,-120,79.5,59.5 --output bad.txt
asterism normals "$(echo walk/depth/*.png)" --depth-scale 10 --intrinsics "$camera" --output n.txt >../out 2>../err
grep -q 'warning: .*half of its depth is beyond .* m at 10 units per metre; --depth-scale says' ../err || broken "$(cat ../err)"

# Floats without a header, as ROS has them in 32FC1.
size=$(head -c 60 a.pfm | sed -n 2p | tr ' ' x)
works asterism normals a.pfm --intrinsics "$camera" --output whole.txt
works asterism normals - --raw "$size" --raw-type f4 --intrinsics "$camera" --output raw.txt <f4.raw
same raw.txt whole.txt
fails 2 "--raw-type must be u2 or f4" asterism normals - --raw "$size" --raw-type f8 --intrinsics "$camera" --output bad.txt
fails 2 '--raw-type needs --raw' asterism normals - --raw-type f4 --intrinsics "$camera" --output bad.txt

# An array with the shape of an image, and no camera; and scales that leave no depth.
asterism cluster f4.npy --angle 60 >../out 2>../err
grep -q '^asterism: f4.npy is taken for a table of 120 points in 160 dimensions; --intrinsics' ../err || broken "$(cat ../err)"
asterism normals far.npy --intrinsics "$camera" --depth-scale 0.1 --output n.txt >../out 2>../err
grep -q 'warning: far.npy: hardly a pixel has a depth between 0 and 16 m at 0.1 of its units per metre; --depth-scale' ../err || broken "$(cat ../err)"
asterism normals f4.npy --intrinsics "$camera" --depth-scale 200 --output n.txt >../out 2>../err
grep -q 'warning: f4.npy: half of its depth is within .* m at 200 of its units per metre; --depth-scale' ../err || broken "$(cat ../err)"

# A folder of arrays: depth where the command or an option says so, otherwise tables, and stream says that they are.
mkdir arrays
cp f4.npy arrays/000000.npy
cp f4.npy arrays/000001.npy
works asterism segment arrays --intrinsics "$camera" --angle 60 --output folder --labels folder-labels --quiet
works asterism segment f4.npy --intrinsics "$camera" --angle 60 --output one --labels one-labels --quiet
same folder-labels/000000.npy one-labels/*.npy
works asterism stream arrays --intrinsics "$camera" --angle 60
grep -q '"frame": 1, .*"points": 19200,' ../out || broken "$(cat ../out)"
asterism stream arrays --angle 60 >../out 2>../err
grep -q '"frame": 1, .*"points": 120,' ../out || broken "$(cat ../out)"
[ "$(grep -c 'arrays/000000.npy is taken for a table of 120 points in 160 dimensions' ../err)" = 1 ] || broken "$(cat ../err)"
fails 2 'arrays: depth images need --intrinsics' asterism stream arrays --angle 60 --planes none

# An organised PCD is a depth image, and its points show the camera. Of a cloud without rows there is no image.
cat >organise.py <<'END'
import sys
import numpy as np
fx, fy, cx, cy = map(float, sys.argv[1].split(','))
z = np.load('f4.npy').astype(float)
z[z == 0] = np.nan
v, u = np.mgrid[:z.shape[0], :z.shape[1]]
points = np.stack([(u - cx) / fx * z, (v - cy) / fy * z, z], -1).astype('<f4')
bent = points * np.float32(1.3) ** (u[..., None] > 80)
bent[..., 2] = points[..., 2]
def write(name, points, width, height):
    head = f'# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {width}\nHEIGHT {height}\n'
    head += f'VIEWPOINT 0 0 0 1 0 0 0\nPOINTS {width * height}\nDATA binary\n'
    open(name, 'wb').write(head.encode() + points.astype('<f4').tobytes())
write('image.pcd', points, z.shape[1], z.shape[0])
write('cloud.pcd', points, z.size, 1)
write('bent.pcd', bent, z.shape[1], z.shape[0])
END
$python organise.py "$camera"
works asterism segment image.pcd --angle 60 --output one --labels pcd-labels --quiet
same pcd-labels/image.npy one-labels/*.npy
works asterism stream image.pcd --angle 60
mkdir images
cp image.pcd images/000000.pcd
works asterism segment images --intrinsics "$camera" --angle 60 --output folder --labels pcd-labels --quiet
same pcd-labels/000000.npy pcd-labels/image.npy
fails 2 '.*smooth is for depth images .*, and image.pcd is a cloud' asterism cluster image.pcd --angle 60 --smooth planes
works asterism cluster image.pcd --angle 60
grep -q 'a cloud: the points are normals of 16 neighbours' ../out || broken "$(cat ../out)"
fails 2 'segment takes depth images .*, and cloud.pcd is a cloud' asterism segment cloud.pcd --angle 60 --output bad
mkdir clouds
cp cloud.pcd clouds/000000.pcd
fails 1 'clouds/000000.pcd: is a cloud without rows .HEIGHT 1.; a depth image has a point per pixel' \
    asterism stream clouds --intrinsics "$camera" --angle 60
fails 2 'bent.pcd: depth images need --intrinsics' asterism segment bent.pcd --angle 60 --output bad
