#!/bin/sh
# Axial data: x and -x are the same, and angles from the field.
. "$(dirname "$0")/common.sh"

# Six points around three axes, at either end.
printf '%s\n' '1 0 0' '-0.99 -0.1 0' '0 -1 0' '0 2 -0.2' '0 0 1' '-0.05 0 -0.5' >axes.txt
works asterism cluster axes.txt --angle 20 --axial --labels labels.txt --means means.txt --json
equal 'axial clusters' 3 "$(json clusters ../out)"
equal 'axial labels' '0 0 1 1 2 2' "$(tr '\n' ' ' <labels.txt | sed 's/ $//')"
works asterism cluster axes.txt --angle 20 --json
equal 'directed clusters' 6 "$(json clusters ../out)"
works asterism cluster axes.txt --method spkm --clusters 3 --seed 5 --axial --json
equal 'axial k-means' 3 "$(json clusters ../out)"
works asterism assign axes.txt --means means.txt --angle 20 --axial --labels assigned.txt --similarity cosine.txt --json
equal 'axial assigned' 6 "$(json assigned ../out)"
same labels.txt assigned.txt
! grep -q -e '-' cosine.txt || broken "a similarity with a sign: $(cat cosine.txt)"
works asterism assign axes.txt --means means.txt --angle 20 --json
equal 'directed assigned' 3 "$(json assigned ../out)"
works asterism stream axes.txt --angle 20 --axial
equal 'axial stream' 3 "$(grep -o '"id"' ../out | wc -l)"

# Measures and samples.
works asterism sample --points 4000 --dimension 4 --clusters 6 --kappa 400 --separation 50 --axial --seed 3 \
    --output points.npy --labels truth.npy
works asterism cluster points.npy --angle 30 --axial --labels found.npy --json
equal 'axial sample' 6 "$(json clusters ../out)"
works asterism measure --labels found.npy --truth truth.npy --points points.npy --axial --json
equal 'NMI of the sample' 1 "$(json nmi ../out | cut -d. -f1)"
json silhouette ../out | awk '{ exit !($1 > 0.9) }' || broken "silhouette: $(cat ../out)"
works asterism measure --labels found.npy --points points.npy --json
json silhouette ../out | awk '{ exit !($1 < 0.5) }' || broken "a directed silhouette of axial data: $(cat ../out)"
works asterism measure --labels found.npy --points points.npy --axial --dissimilarity angle --json
json silhouette ../out | awk '{ exit !($1 > 0.7) }' || broken "silhouette by angle: $(cat ../out)"

# Sets broader than the angle become pieces: they are named, and alpha95 of each reaches to the mean of its set.
works asterism sample --points 300 --dimension 3 --clusters 3 --kappa 20 --separation 60 --axial --seed 3 \
    --output broad.npy
works asterism cluster broad.npy --angle 40 --axial --json
equal 'pieces' 6 "$(json clusters ../out)"
equal 'sets of pieces' '3 6' "$(grep -o '"set": [0-9]*' ../out | sort -u | wc -l) $(grep -c '"set"' ../out)"
grep -o '"alpha95": [0-9.]*' ../out | awk '$2 < 10 { exit 1 }' || broken "pieces with small cones: $(cat ../out)"
works asterism cluster broad.npy --angle 40 --axial
grep -q 'clusters 0 + 5; 1 + 3; 2 + 4 are pieces of one set each' ../out || broken "no pieces: $(cat ../out)"
works asterism cluster broad.npy --angle 40 --axial --merge evidence --json
equal 'sets' '3 0' "$(json clusters ../out) $(grep -c '"set"' ../out)"
grep -o '"alpha95": [0-9.]*' ../out | awk '$2 > 5 { exit 1 }' || broken "sets with large cones: $(cat ../out)"

fails 2 'axes can be apart' asterism sample --points 10 --dimension 3 --clusters 2 --kappa 9 --separation 100 --axial \
    --output other.npy
fails 2 'axial is for --method dp, spkm, movmf and mbspkm' asterism cluster axes.txt --method dpmeans --angle 20 --axial
fails 2 'axial needs --points FILE' asterism measure --labels found.npy --truth truth.npy --axial

# The field: a plane that dips 30 degrees to the east has its pole 30 degrees from up, towards the east.
printf '90 30\n90 30\n0 0\n180,0\n' | tr , ' ' >planes.txt
works asterism cluster planes.txt --dip-direction --angle 10 --axial --means poles.txt --json
equal 'planes' 2 "$(json clusters ../out)"
awk 'NR == 1 { exit !($1 > 0.4999 && $1 < 0.5001 && $2 * $2 < 1e-9 && $3 > 0.8660 && $3 < 0.8661) }' poles.txt ||
    broken "poles: $(cat poles.txt)"
printf '0 90\n90 0\n270 0\n' >lines.txt
works asterism cluster lines.txt --trend-plunge --angle 10 --axial --json
equal 'lines' 2 "$(json clusters ../out)"
works asterism cluster lines.txt --trend-plunge --angle 10 --json
equal 'lines with a direction' 3 "$(json clusters ../out)"
works asterism assign planes.txt --dip-direction --axial --means poles.txt --json
equal 'planes assigned' 4 "$(json assigned ../out)"
works asterism stream planes.txt planes.txt --dip-direction --axial --angle 10
equal 'frames of planes' 2 "$(wc -l <../out)"
printf '30 90\n120 45\n' >strange.txt
printf '30 120\n' >swapped.txt
fails 1 'swapped.txt: row 1: a dip of 120 .*--columns 2,1' asterism cluster swapped.txt --dip-direction --angle 10
printf '400 1\n' >far.txt
fails 1 'row 1: a trend of 400' asterism cluster far.txt --trend-plunge --angle 10
fails 1 'has 3 columns, but --dip-direction needs two' asterism cluster axes.txt --dip-direction --angle 10
fails 2 '--dip-direction cannot be combined with --trend-plunge' asterism cluster strange.txt --dip-direction --trend-plunge --angle 10
fails 2 '--dip-direction cannot be combined with --trend-plunge' asterism stream strange.txt --dip-direction --trend-plunge --angle 10

# Real data, where it is at hand.
data=$SOURCE/../shared/data
[ -d "$data" ] || skip 'the real data: there is no ../shared/data beside the project'
works asterism cluster "$data/geology/rjs_my_set.txt" --dip-direction --axial --angle 60 --labels joints.txt --json
equal 'points of the joint sets' 300 "$(json points ../out)"
equal 'joint sets' 3 "$(json clusters ../out)"
awk 'BEGIN { for (i = 0; i < 300; i++) print int(i / 100) }' >blocks.txt
works asterism measure --labels joints.txt --truth blocks.txt --json
json nmi ../out | awk '{ exit !($1 >= 0.9) }' || broken "NMI of the joint sets: $(json nmi ../out)"

# Quaternions: q and -q are one rotation.
poses=$data/rotations/tum_fr1_rpy_groundtruth.txt
awk 'BEGIN { srand(7) } /^#/ { next } { s = rand() < 0.5 ? -1 : 1; print $1, $2, $3, $4, s * $5, s * $6, s * $7, s * $8 }' \
    "$poses" >turned.txt
works asterism cluster "$poses" --columns 5-8 --axial --angle 10 --labels poses.txt --means poses_means.txt --json
[ "$(json clusters ../out)" -gt 1 ] || broken 'one rotation only'
works asterism cluster turned.txt --columns 5-8 --axial --angle 10 --labels turned_labels.txt --means turned_means.txt
same poses.txt turned_labels.txt
same poses_means.txt turned_means.txt
