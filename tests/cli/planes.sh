#!/bin/sh
# Planes of clouds, meshes and depth frames: files, ids, colours, and what is refused in one sentence.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"

# A mesh: the sides of a box of 1 x 2 x 3 with exactly their areas.
box 0 >box.obj
works asterism cluster box.obj --angle 30 --planes box.csv --colored box.ply --json
equal 'planes of a box' 6 "$(json planes ../out)"
equal 'columns' 'id,direction,nx,ny,nz,offset,area,cx,cy,cz,points,rms,dip_direction,dip' "$(head -n 1 box.csv)"
equal 'areas' '6 6 3 3 2 2' "$(sed 1d box.csv | cut -d, -f7 | paste -sd' ')"
equal 'faces' '2 2 2 2 2 2' "$(sed 1d box.csv | cut -d, -f11 | paste -sd' ')"
works asterism cluster box.ply --angle 30 --planes again.json --quiet
equal 'a plane' 6 "$(json 0.area again.json)"
equal 'corners of its outline' 4 "$(json 0.outline again.json | tr '[' '\n' | grep -c '[0-9]')"

# A cloud: two parallel walls have one direction and are two planes, with their areas; the same on any threads.
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 6000; i++)
        printf "%.5f %.5f %.5f\n", 4 * rand(), (i % 2) * 1.5 + 0.002 * (rand() - 0.5), 2 * rand()
}' >walls.txt
{
    printf '# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 6000\nHEIGHT 1\n'
    printf 'VIEWPOINT 2 -5 1 1 0 0 0\nPOINTS 6000\nDATA ascii\n'
    cat walls.txt
} >walls.pcd
works asterism cluster walls.pcd --angle 30 --planes walls.json --labels labels.txt --colored walls.ply --threads 1 --quiet
equal 'one direction' "$(json 0.direction walls.json)" "$(json 1.direction walls.json)"
near 'area' 8 "$(json 0.area walls.json)" 0.25
near 'area' 8 "$(json 1.area walls.json)" 0.25
near 'between the walls' 1.5 "$(json 0.offset walls.json | awk -v b="$(json 1.offset walls.json)" '{ d = $1 - b; print d < 0 ? -d : d }')" 0.005
near 'dip' 90 "$(json 0.dip walls.json)" 0.5
works asterism cluster walls.pcd --angle 30 --planes three.json --threads 3 --quiet
cmp walls.json three.json || broken 'the planes depend on the threads'
for angle in 20 45 60; do
    works asterism cluster walls.pcd --angle $angle --planes angle.json --quiet
    [ "$(sed 's/"direction": [0-9]*//' angle.json)" = "$(sed 's/"direction": [0-9]*//' walls.json)" ] ||
        broken "the planes depend on the angle: $angle"
done
works asterism cluster walls.pcd --angle 30 --planes large.csv --plane-area 20 --quiet
equal 'no plane is that large' 1 "$(wc -l <large.csv)"
works asterism cluster walls.pcd --angle 30 --planes one.csv --plane-distance 0.05 --json
equal 'planes within 5 cm' 2 "$(json planes ../out)"

# A tabletop with noise of 4 mm and a box on it: pieces of one direction merge, and the run converges.
awk 'BEGIN { srand(4); for (i = 0; i < 30000; i++) {
        x = rand(); y = 0.8 * rand(); z = 0
        if (i % 8 == 0) { x = 0.4 + 0.2 * rand(); z = 0.15 * rand(); y = 0.3 }
        noise = 0.004 * sqrt(-2 * log(1 - rand())) * cos(6.28318530718 * rand())
        print x, y, z + noise } }' >table.txt
{
    printf 'FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 30000\nHEIGHT 1\n'
    printf 'VIEWPOINT 0.5 -1 1 1 0 0 0\nPOINTS 30000\nDATA ascii\n'
    cat table.txt
} >table.pcd
works asterism cluster table.pcd --angle 30 --merge none --json
pieces=$(json clusters ../out)
works asterism cluster table.pcd --angle 30 --planes table.json --json
equal 'the merged run converges' true "$(json converged ../out)"
[ "$(json merged ../out)" = "$pieces" ] && [ "$(json clusters ../out)" -lt "$pieces" ] || broken "not merged: $pieces pieces"
for k in $(seq 0 $(($(json clusters ../out) - 1))); do
    json angles.$k ../out | tr -d '[]' | tr ',' '\n' | awk '$1 > 0 && $1 < 20 { exit 1 }' || broken "two clusters are one direction"
done
near 'the table' 0.8 "$(json 0.area table.json)" 0.04

# Frames: one file each; parallel walls; ids that stay; the images of ids.
works asterism sample --scene hallway --frames 8 --size 320x240 --output walk
works asterism stream walk/depth --angle 60 --poses walk/poses.txt --planes planes --plane-labels ids
equal 'files of planes' 8 "$(ls planes | wc -l)"
equal 'files of ids' 8 "$(ls ids | wc -l)"
for key in id direction normal offset area centroid pixels rms outline; do
    [ "$(json 0.$key planes/000003.json)" ] || broken "a plane has no $key"
done
equal 'the floor has its id' "$(json 0.id planes/000000.json)" "$(json 0.id planes/000007.json)"
near 'the floor looks up' 1 "$(json 0.normal.2 planes/000007.json)" 0.002
near 'the floor is at 0' 0 "$(json 0.offset planes/000007.json)" 0.01
works asterism segment walk/depth --angle 60 --poses walk/poses.txt --color planes --output pictures --quiet
works asterism segment walk/depth --angle 60 --poses walk/poses.txt --color planes --output pictures
grep -q '^ *plane  direction  mean share' ../out || broken "no table of planes: $(cat ../out)"
works asterism segment walk/depth --angle 60 --poses walk/poses.txt --output directions --quiet
cmp -s pictures/000003.png directions/000003.png && broken 'planes have the colours of directions'
works asterism stream walk/depth --angle 60 --smooth guided --planes guided
equal 'planes beside guided normals' 8 "$(ls guided | wc -l)"

# Without poses: a view that comes back after 45 frames of another one has its ids; that other view has ids of its own.
works asterism sample --scene hallway --frames 60 --size 160x120 --output tour
mkdir there
number=0
for frame in 000000 000001 000002 000003 $(yes 000030 | head -n 45) 000003 000002 000001 000000; do
    cp tour/depth/$frame.png "there/$(printf %06d $number).png"
    number=$((number + 1))
done
works asterism stream there --intrinsics 131.25,131.25,79.5,59.5 --angle 60 --planes back
ids() {
    awk '{ n = split($0, part, "\"id\": "); for (i = 2; i <= n; i++) print part[i] + 0 }' back/$1.json | sort -n
}
[ "$(ids 000003 | wc -l)" -ge 7 ] || broken "few planes: $(ids 000003)"
equal 'the planes that come back' "$(ids 000003 | tr '\n' ' ')" "$(ids 000049 | tr '\n' ' ')"
[ -z "$(ids 000040 | grep -x -e "$(ids 000003)")" ] || broken "another view has the ids: $(ids 000040)"

# One sentence, and no file.
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\n' >three.obj
fails 1 'at least 32 points' asterism cluster three.obj --angle 30 --planes no.json
awk 'BEGIN { for (i = 0; i < 99; i++) printf "v %d %d %d\n", i, 2 * i, 3 * i }' >line.obj
fails 1 'not on a line' asterism cluster line.obj --angle 30 --planes no.json
fails 2 '.json or .csv' asterism cluster box.obj --angle 30 --planes no.txt
fails 2 '.' asterism cluster walls.txt --angle 30 --planes no.json
fails 2 'planes' asterism stream walls.txt --angle 30 --planes no
cut -d' ' -f5-8 walk/poses.txt >turns.txt
status=0
asterism stream walk/depth --angle 60 --poses turns.txt --planes no >../out 2>../err || status=$?
equal 'poses without positions' 1 $status
grep -q 'has no position' ../err || broken "$(cat ../err)"
