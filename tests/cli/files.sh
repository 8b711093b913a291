#!/bin/sh
# The same points from every kind of file give the same labels.
. "$(dirname "$0")/common.sh"

asterism sample --points 400 --dimension 3 --clusters 6 --kappa 60 --separation 40 --seed 3 --output x.txt
works asterism cluster x.txt --angle 30 --labels expected.npy --means expected_means.npy --json
clusters=$(json clusters ../out)

# gives FILE [OPTIONS...]
gives() {
    works asterism cluster "$@" --angle 30 --labels labels.npy --means means.npy --quiet
    same expected.npy labels.npy
    same expected_means.npy means.npy
}

tr ' ' ',' <x.txt >x.csv
tr ' ' '\t' <x.txt >x.tsv
{ echo 'x,y,z'; cat x.csv; } >header.csv
sed 's/$/\r/' x.csv >windows.csv
{ echo '# a comment'; cat x.txt; } >comment.txt
awk '{ print "word" NR, $0, 5 }' x.txt >columns.txt
awk '{ for (i = 1; i <= NF; i++) line[i] = line[i] " " $i } END { for (i = 1; i <= 3; i++) print line[i] }' x.txt \
    >wide.txt
gzip -k x.csv
gives x.csv
gives x.tsv
gives header.csv
gives windows.csv
gives comment.txt
gives x.csv.gz
gives columns.txt --columns 2-4
gives columns.txt --columns 2,3,4
gives wide.txt --transpose
gives - --format txt <x.txt
gives - --format csv.gz <x.csv.gz
cat x.csv >no_extension
gives no_extension --format csv

for order in c fortran; do
    tool npy f4 $order <x.txt >x.npy
    gives x.npy
    gives - --format npy <x.npy
    # Not the same bits as x.txt, but the same in either order.
    for type in f2 f8; do
        tool npy $type $order <x.txt >$type.$order.npy
        works asterism cluster $type.$order.npy --angle 30 --labels $type.$order.labels.npy --json
        equal "clusters from $type" "$clusters" "$(json clusters ../out)"
        same $type.c.labels.npy $type.$order.labels.npy
    done
done

# Labels as text and as npy are the same labels.
works asterism cluster x.txt --angle 30 --labels labels.txt --quiet
equal 'lines of labels' 400 "$(wc -l <labels.txt | tr -d ' ')"
works asterism measure --labels labels.txt --truth expected.npy --json
equal 'text against npy' 1.0 "$(json nmi ../out)"
works asterism cluster x.txt --angle 30 --labels - --quiet
same ../out labels.txt
works asterism cluster x.txt --angle 30 --labels labels --quiet
same labels labels.txt

# Means as text start a run that changes nothing, in any format.
works asterism cluster x.txt --angle 30 --means means.csv --quiet
works asterism cluster x.txt --angle 30 --init means.csv --labels again.npy --json
same expected.npy again.npy
equal 'passes from the final means' 2 "$(json iterations ../out)"

# Missing rows
{ echo '0 0 0'; cat x.txt; echo 'nan 1 1'; } >holes.txt
works asterism cluster holes.txt --angle 30 --labels holes_labels.txt --json
equal missing 2 "$(json missing ../out)"
equal points 402 "$(json points ../out)"
{ echo -1; cat labels.txt; echo -1; } >expected_holes.txt
same expected_holes.txt holes_labels.txt

# Weights: every point three times is every point with weight three; a point of weight 0 is labelled but counts nothing.
awk '{ print 3 }' x.txt >threes.txt
works asterism cluster x.txt --angle 30 --weights threes.txt --labels weighted.npy --quiet
same expected.npy weighted.npy
three_axes >few.txt
printf '1\n1\n1\n1\n0\n0\n' >weights.txt
works asterism cluster few.txt --angle 30 --weights weights.txt --json
equal 'clusters with weight' 2 "$(json clusters ../out)"
