#!/bin/sh
# 3-D files that lie, are cut short or have nothing to cluster, and options that do not fit: one sentence each.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"

# refused PATTERN FILE OPTIONS...: exit 1, also from normals.
refused() {
    pattern=$1
    file=$2
    shift 2
    fails 1 "$file: $pattern|$pattern" asterism cluster "$file" --angle 30 --labels labels.txt "$@"
    fails 1 "$pattern" asterism normals "$file" --output normals.npy
}

# Promises: 10^12 points in 100 bytes.
printf 'VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1000000000000\nHEIGHT 1\nPOINTS 1000000000000\nDATA binary\nabcdefgh' >much.pcd
refused '.' much.pcd
sed 's/^DATA.*/DATA binary_compressed/' much.pcd >much_compressed.pcd
refused '.' much_compressed.pcd
sed 's/^DATA.*/DATA ascii\n1 2 3/' much.pcd >much_text.pcd
refused '.' much_text.pcd
for order in binary_little_endian binary_big_endian ascii; do
    printf 'ply\nformat %s 1.0\nelement vertex 1000000000000\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3 ' $order >much.ply
    refused '.' much.ply
done
{ head -c 80 /dev/zero; printf '\377\377\377\177'; head -c 50 /dev/zero; } >much.stl
refused '.' much.stl

# Whole files, cut anywhere.
rows 3 >rows.txt
ply <rows.txt >whole.ply
pcd <rows.txt >whole.pcd
box 0 >whole.obj
works asterism cluster whole.obj --angle 30 --colored binary.ply --quiet
size=$(wc -c <binary.ply)
for cut in 0 1 10 100 300 $((size / 2)) $((size - 1)); do
    head -c "$cut" binary.ply >cut.ply
    refused '.' cut.ply
done
for file in whole.ply whole.pcd; do
    head -c $(($(wc -c <$file) - 30)) $file >cut_$file
    refused '.' cut_$file
done

# Faces and vertices.
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n' >absent.obj
refused 'line 4' absent.obj
printf 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n' >absent.ply
refused 'vert' absent.ply
printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 1 2\n' >flat.obj
refused 'flat.obj: not one of its 2 faces has an area' flat.obj
printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n' >part.obj # one face without area is missing, the other is not
works asterism cluster part.obj --angle 30 --labels part.txt --json
equal 'faces without area' 1 "$(json missing ../out)"
equal 'their label' '-1 0' "$(paste -sd' ' part.txt)"
rm part.txt

# Points without a plane: too few, on a line, none at all; NaN is a missing point, infinity none.
printf '0 0 0\n1 0 0\n' | pcd >two.pcd
refused 'not one of its 2 points has neighbours on a plane' two.pcd
printf '0 0 0\n1 1 1\n2 2 2\n3 3 3\n' | pcd >line.pcd
refused 'not one of its 4 points has neighbours on a plane' line.pcd
printf 'nan nan nan\nnan 1 2\n' | pcd >nothing.pcd
refused 'not one of its 2 points' nothing.pcd
printf '0 0 0\n1 0 0\nnan 0 0\n0 1 0\nnan inf 0\n1 1 0\n' | pcd >some.pcd
works asterism cluster some.pcd --angle 30 --labels some.txt --json
equal 'points that are missing' 2 "$(json missing ../out)"
equal 'and their labels' '0 0 -1 0 -1 0' "$(paste -sd' ' some.txt)"
rm some.txt
printf '0 0 0\n1 0 0\n0 inf 0\n' | pcd >far.pcd
refused 'far.pcd: vertex 3 .* is infinite or too large' far.pcd
printf 'v 0 0 0\nv 1e39 0 0\nv 0 1 0\nf 1 2 3\n' >far.obj
refused 'far.obj: vertex 2 .* is infinite or too large' far.obj
printf '0 0 0 0 0 1\n1 0 0 0 0 inf\n' | ply >steep.ply
refused 'steep.ply: the normal of vertex 2 .* is infinite' steep.ply
printf '0 0 0 0 0 0\n1 0 0 nan 0 0\n' | ply >zero.ply
refused 'not one of its 2 points has a normal in the file; --neighbours 16' zero.ply
: >empty.ply
refused 'empty' empty.ply
printf 'hello\n' >odd.stl
refused '.' odd.stl
refused 'cannot be opened: No such file' absent.stl
printf '# nothing\n' >none.obj
refused 'not a single point' none.obj

# Options that do not fit: seen from the command line alone.
three_axes >x.txt
usage() {
    pattern=$1
    shift
    fails 2 "$pattern" asterism cluster "$@"
}
usage '--neighbours is for clouds .*x.txt is a table of points' x.txt --angle 30 --neighbours 9
usage '--viewpoint is for clouds' x.txt --angle 30 --viewpoint 0,0,0
usage '--undirected is for clouds and meshes' x.txt --angle 30 --undirected
usage '--colored is for clouds and meshes' x.txt --angle 30 --colored x.ply
usage 'its name must end in .ply' whole.pcd --angle 30 --colored x.pcd
usage '--viewpoint must be 3 numbers X,Y,Z' whole.pcd --angle 30 --viewpoint 1,2
usage '--viewpoint must be 3 numbers X,Y,Z' whole.pcd --angle 30 --viewpoint 1,2,inf
usage '--viewpoint cannot be combined with --undirected' whole.pcd --angle 30 --viewpoint 1,2,3 --undirected
usage '--neighbours must be a whole number from 3 to 1024' whole.pcd --angle 30 --neighbours 2
usage '--columns is for tables of points and .xyz, and whole.pcd is a cloud' whole.pcd --angle 30 --columns 1
usage '--camera is for depth images' whole.pcd --angle 30 --camera kinect
usage '--frame is for scenes of the NYU v2 data set' whole.pcd --angle 30 --frame 3
usage '--undirected is for --method dp, spkm, movmf and mbspkm' whole.pcd --method ospkm --clusters 2 --undirected
usage '--colored would overwrite the input whole.ply' whole.ply --angle 30 --colored whole.ply
fails 1 'whole.obj is a mesh, whose faces have normals; --neighbours is for clouds' \
    asterism cluster whole.obj --angle 30 --neighbours 9
fails 1 'whole.obj is a mesh.*--curvature' asterism normals whole.obj --output n.npy --curvature c.npy
fails 2 '--curvature is for clouds' asterism normals x.png --camera kinect --output n.npy --curvature c.npy
fails 2 '--neighbours needs --points FILE' \
    asterism measure --labels x.txt --truth x.txt --neighbours 9
printf '1 0 0 0\n0 1 0 0\n' >four.txt
fails 1 '--frame-axes is for three dimensions, and four.txt has 4' asterism cluster four.txt --angle 30 --frame-axes
fails 2 'stream takes tables of points .*, and whole.pcd is a cloud' asterism stream whole.pcd --angle 30
fails 2 '--means: whole.pcd: is a 3-D file' asterism assign whole.obj --means whole.pcd
fails 1 'cannot be|No such file' asterism cluster whole.pcd --angle 30 --colored absent/x.ply
