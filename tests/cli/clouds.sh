#!/bin/sh
# Clouds and meshes from the file to clusters: normals of faces, of neighbours and of the file; what is said of them in
# the language of the field; the coloured PLY.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"

# A mesh: faces count by their area, of which a box of 1 x 2 x 3 has 22.
box 0 >box.obj
works asterism cluster box.obj --angle 30 --labels faces.txt --means means.txt --json --frame-axes
cp ../out box.json
equal 'faces' 12 "$(json points box.json)"
equal 'sides' 6 "$(json clusters box.json)"
equal 'where the normals are from' '"faces"' "$(json normals box.json)"
equal 'labels of faces' '0 0 1 1 2 2 3 3 4 4 5 5' "$(paste -sd' ' faces.txt)"
near 'share of the bottom' 0.0909091 "$(json cluster.0.share box.json)" 1e-5
near 'share of a side' 0.1363636 "$(json cluster.2.share box.json)" 1e-5
near 'share of the largest side' 0.2727273 "$(json cluster.4.share box.json)" 1e-5
near 'spread' 0 "$(json cluster.4.spread box.json)" 1e-3
near 'dip of the top' 0 "$(json cluster.1.dip box.json)" 1e-4
near 'dip of a side' 90 "$(json cluster.5.dip box.json)" 1e-4
near 'dip direction of the side to the east' 90 "$(json cluster.5.dip_direction box.json)" 1e-4
near 'bottom and top' 180 "$(json angles.0.1 box.json)" 1e-4
near 'bottom and a side' 90 "$(json angles.0.2 box.json)" 1e-4
equal 'an angle with itself' 0.0 "$(printf %.1f "$(json angles.3.3 box.json)")"
near 'off the axes' 0 "$(json frame_axes.rms box.json)" 1e-3
equal 'axes of the sides' '["-z","+z","-y","+y","-x","+x"]' "$(json frame_axes.nearest box.json)"
works asterism cluster box.obj --angle 30 --frame-axes
grep -q '^a mesh of 8 vertices: the points are normals of faces, weighted by area$' ../out || broken "$(cat ../out)"
grep -q '^angles between the means, degrees$' ../out || broken 'no angles in the table'
grep -q '^rotation that aligns the scene with x, y, z:$' ../out || broken 'no rotation in the table'
equal 'the largest side first' 4 "$(awk '$2 ~ /^#/ { print $1; exit }' ../out)"
works asterism cluster box.obj --angle 30 --axial --json
equal 'sides without a sense' 3 "$(json clusters ../out)"
near 'both large sides' 0.5454545 "$(json cluster.2.share ../out)" 1e-5
near 'an angle between axes' 90 "$(json angles.0.1 ../out)" 1e-4
works asterism cluster box.obj --angle 30 --undirected --json
equal 'undirected sides' 3 "$(json clusters ../out)"
for method in spkm movmf fsd ospkm; do
    works asterism cluster box.obj --method $method --clusters 6 --json --quiet
    equal "points of $method" 12 "$(json points ../out)"
done
works asterism cluster box.obj --method dpmeans --angle 30 --json
works asterism cluster box.obj --method crp --max-iterations 20 --json --quiet

# Turned by 20 degrees, the frame turns it back.
box 20 >turned.obj
works asterism cluster turned.obj --angle 30 --json --frame-axes
near 'cosine of the turn' 0.9396926 "$(json frame_axes.rotation.0.0 ../out)" 1e-5
near 'sine of the turn' 0.3420201 "$(json frame_axes.rotation.0.1 ../out)" 1e-5
near 'the other sine' -0.3420201 "$(json frame_axes.rotation.1.0 ../out)" 1e-5
near 'up' 1 "$(json frame_axes.rotation.2.2 ../out)" 1e-5

# STL and PLY hold the same faces.
printf 'solid s\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n' \
    >triangle.stl
works asterism cluster triangle.stl --angle 30 --labels - --quiet
equal 'a triangle' 0 "$(cat ../out)"
works asterism cluster box.obj --angle 30 --colored box.ply --quiet
works asterism cluster box.ply --angle 30 --labels again.txt --json
equal 'where its normals are from' '"faces"' "$(json normals ../out)"
same faces.txt again.txt
grep -aq '^element face 12$' box.ply || broken 'faces in the coloured PLY'
for line in 'property uchar red' 'property uchar green' 'property uchar blue' 'property int label'; do
    sed -n '/^element face/,/^end_header/p' box.ply | grep -aqx "$line" || broken "the coloured PLY has no $line"
done

# A cloud without normals: planes through neighbours, towards the viewpoint.
rows 20 >rows.txt
sides 20 >truth.txt
pcd <rows.txt >cloud.pcd
works asterism cluster cloud.pcd --angle 70 --viewpoint 0.5,1,1.5 --neighbours 9 --labels near.txt --json
equal 'points' 2400 "$(json points ../out)"
equal 'sides of a cloud' 6 "$(json clusters ../out)"
equal 'how normals were made' '"neighbours"' "$(json normals ../out)"
works asterism measure --labels near.txt --truth truth.txt --json
near 'NMI of the sides' 1 "$(json nmi ../out)" 0.15
works asterism cluster cloud.pcd --angle 70 --viewpoint -9,1,1.5 --neighbours 9 --means west.txt --quiet
awk '$1 > 0.7 { exit 1 } $1 < -0.7 { west = 1 } END { exit !west }' west.txt || broken "seen from the west: $(cat west.txt)"
works asterism cluster cloud.pcd --angle 70 --neighbours 9 --undirected --json
equal 'undirected sides of a cloud' 3 "$(json clusters ../out)"
works asterism cluster cloud.pcd --angle 70
grep -q '^a cloud: the points are normals of 16 neighbours, towards 0,0,0, ' ../out || broken "$(cat ../out)"

# One that has them.
ply <rows.txt >cloud.ply
works asterism cluster cloud.ply --angle 70 --labels own.txt --json --colored cloud_coloured.ply
equal 'sides by their own normals' 6 "$(json clusters ../out)"
equal 'normals of the file' '"file"' "$(json normals ../out)"
works asterism measure --labels own.txt --truth truth.txt --json
near 'NMI by their own normals' 1 "$(json nmi ../out)" 1e-9
works asterism cluster cloud.ply --angle 70
grep -q '^a cloud: the points are the normals that the file has$' ../out || broken "$(cat ../out)"
works asterism cluster cloud.ply --angle 70 --neighbours 9 --viewpoint 0.5,1,1.5 --labels made.txt --json
equal 'normals that were asked for' '"neighbours"' "$(json normals ../out)"
same near.txt made.txt
works asterism cluster cloud_coloured.ply --angle 70 --labels again.txt --json
same own.txt again.txt
sed -n '/^element vertex 2400/,/^end_header/p' cloud_coloured.ply | grep -aqx 'property int label' || broken 'no label a point'

# The first point's label is 0, whose colour is the palette's first, orange.
size=$((2400 * (24 + 3 + 4)))
equal 'the first colour and label' '230 159 0 0 0 0 0' \
    "$(tail -c $size cloud_coloured.ply | od -An -tu1 -j24 -N7 | sed 's/  */ /g; s/^ //; s/ $//')"

# The same from standard input and compressed.
works sh -c '"$0" cluster - --format ply --angle 70 --labels piped.txt --quiet <cloud.ply' "$ASTERISM"
same own.txt piped.txt
gzip -c cloud.pcd >cloud.pcd.gz
if asterism cluster cloud.pcd.gz --angle 70 --viewpoint 0.5,1,1.5 --neighbours 9 --labels zipped.txt --quiet 2>../err; then
    same near.txt zipped.txt
else
    grep -q 'zlib' ../err || broken "$(cat ../err)"
fi

# assign, measure, tune and normals take the same files.
works asterism cluster cloud.ply --angle 70 --means own_means.npy --quiet
works asterism assign cloud.ply --means own_means.npy --labels assigned.txt --json
equal 'assigned' 2400 "$(json assigned ../out)"
same own.txt assigned.txt
works asterism measure --labels own.txt --points cloud.ply --json
near 'silhouette' 1 "$(json silhouette ../out)" 1e-6
works asterism measure --labels faces.txt --points box.obj --json
near 'silhouette of faces' 1 "$(json silhouette ../out)" 1e-6
works asterism tune box.obj --json
equal 'clusters that tune finds' 6 "$(json clusters ../out)"
works asterism cluster box.obj --angle auto --json
equal 'clusters at its angle' 6 "$(json clusters ../out)"
works asterism normals cloud.pcd --neighbours 9 --viewpoint 0.5,1,1.5 --output n.txt --curvature c.txt --json
equal 'normals of a cloud' '2400 0 "neighbours"' "$(json points ../out) $(json missing ../out) $(json normals ../out)"
equal 'lines of normals' 2400 "$(wc -l <n.txt | tr -d ' ')"
equal 'lines of curvature' 2400 "$(wc -l <c.txt | tr -d ' ')"
awk '$1 < 0 || $1 > 0.3334 { exit 1 }' c.txt || broken 'curvature is out of its range'
works asterism cluster n.txt --angle 70 --labels made.txt
same near.txt made.txt
works asterism normals box.obj --output n.npy
grep -q '^12 normals, 0 missing, ' ../out || broken "normals of a mesh: $(cat ../out)"
works asterism cluster n.npy --angle 30 --labels made.txt
same faces.txt made.txt
works asterism normals cloud.pcd --neighbours 9 --undirected --output u.txt
awk '$1 < 0 { exit 1 }' u.txt || broken 'an undirected normal with a sign'

# Weights of one's own take the place of areas.
awk 'BEGIN { for (i = 0; i < 12; i++) print 1 }' >ones.txt
works asterism cluster box.obj --angle 30 --weights ones.txt --json
near 'every face counts the same' 0.1666667 "$(json cluster.4.share ../out)" 1e-5

# An image of directions, H x W x 3: labels in its shape.
tool npy f4 c '(2, 3, 3)' <<'END' >image.npy
1 0 0 0.99 0.1 0 0 1 0
0 2 -0.2 nan 0 1 0.05 0 0.5
END
works asterism cluster image.npy --angle 20 --labels image_labels.npy --json
equal 'pixels' '6 1' "$(json points ../out) $(json missing ../out)"
head -c 128 image_labels.npy | grep -aq "'shape': (2, 3)" || broken 'labels are not in the shape of the image'
works asterism cluster image.npy --angle 20 --labels image_labels.txt
equal 'labels of the image' '0 0 1 1 -1 2' "$(paste -sd' ' image_labels.txt)"
works asterism assign image.npy --means means.txt --labels image_labels.npy
head -c 128 image_labels.npy | grep -aq "'shape': (2, 3)" || broken 'assigned labels are not in the shape of the image'
works asterism cluster image.npy --angle 20 --columns 1,2 --json
equal 'picked columns' 2 "$(json dimension ../out)"
fails 1 'image.npy: is an image of directions.*cannot be transposed' asterism cluster image.npy --angle 20 --transpose
fails 1 'image.npy: is an array of three dimensions; a table needs two' asterism assign cloud.ply --means image.npy
