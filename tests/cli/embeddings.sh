#!/bin/sh
# The words of people with embeddings: --cosine, --center, --center-file, --representatives, --names, --name-column.
. "$(dirname "$0")/common.sh"

asterism sample --points 600 --dimension 8 --clusters 5 --kappa 80 --separation 60 --seed 3 --output x.npy --labels t.npy --quiet
# The same with a common part, as text: column 1 is a name.
od -An -v -tf4 -w32 -j128 x.npy | awk '{ printf "name %d", NR - 1; for (i = 1; i <= NF; i++) printf ",%.9g", $i + 0.6; print "" }' >rows
awk 'BEGIN { print "title,a,b,c,d,e,f,g,h" } { print }' rows >x.csv
cut -d, -f2- rows >plain.csv
cut -d, -f1 rows >names.txt

# ---- A cosine is an angle --------------------------------------------------------------------------------------------
works asterism cluster x.npy --angle 60 --labels a.txt --quiet
works asterism cluster x.npy --cosine 0.5 --labels c.txt
same a.txt c.txt
grep -q 'by dp at cosine 0.5 (60 degrees)' ../out || broken "the table does not name the cosine"
works asterism cluster x.npy --angle 90 --method dpmeans --labels a.txt --quiet
works asterism cluster x.npy --cosine 0 --method dpmeans --labels c.txt --quiet
same a.txt c.txt
asterism cluster x.npy --cosine 0.5 --means m.npy --quiet
works asterism assign x.npy --means m.npy --angle 30 --labels a.txt --quiet
works asterism assign x.npy --means m.npy --cosine 0.86602540378443865 --labels c.txt --quiet
same a.txt c.txt
asterism stream x.npy --angle 60 | sed 's/"milliseconds": [^,]*//' >a.json
asterism stream x.npy --cosine 0.5 | sed 's/"milliseconds": [^,]*//' >c.json
same a.json c.json
fails 2 '--cosine must be a number from -1 to 1, not ' asterism cluster x.npy --cosine 1.5
fails 2 '--cosine must be a number from -1 to 1, not ' asterism assign x.npy --means m.npy --cosine -2
fails 2 '--cosine cannot be combined with --angle' asterism cluster x.npy --cosine 0.5 --angle 60
fails 2 '--cosine cannot be combined with --angle' asterism stream x.npy --angle 60 --cosine 0.5
fails 2 '--cosine cannot be combined with --angle' asterism assign x.npy --means m.npy --angle 60 --cosine 0.5
fails 2 '--cosine is for --method dp and dpmeans, not spkm' asterism cluster x.npy --method spkm --clusters 3 --cosine 0.5

# ---- Centred rows ----------------------------------------------------------------------------------------------------
works asterism cluster plain.csv --cosine 0.5 --json
equal 'clusters without --center' 1 "$(json clusters ../out)"
works asterism cluster plain.csv --cosine 0.5 --center --center-file c.npy --means m.npy --labels l.txt --json
equal 'clusters with --center' 5 "$(json clusters ../out)"
json center_length ../out | grep -q '^0\.8' || broken "center_length is $(json center_length ../out)"
asterism measure --labels l.txt --truth t.npy --json >measured
equal 'agreement with the truth' 1.0 "$(json nmi measured)"
works asterism assign plain.csv --means m.npy --center-file c.npy --labels again.txt --quiet
same l.txt again.txt
for way in '--threads 1' '--threads 3' '--threads 2 --no-bounds'; do
    # shellcheck disable=SC2086
    works asterism cluster plain.csv --cosine 0.5 --center --center-file other.npy --labels other.txt --quiet $way
    same c.npy other.npy
    same l.txt other.txt
done
# A permuted file has the same centre, and a weight counts as copies do.
awk '{ line[NR] = $0 } END { for (i = 0; i < NR; i++) print line[(i * 7 + 5) % NR + 1] }' plain.csv >permuted.csv
works asterism cluster permuted.csv --cosine 0.5 --center --center-file other.npy --quiet
same c.npy other.npy
awk '{ print; if (NR % 3 == 0) print }' plain.csv >copies.csv
awk '{ print NR % 3 ? 1 : 2 }' plain.csv >weights.txt
works asterism cluster copies.csv --cosine 0.5 --center --center-file one.npy --quiet
works asterism cluster plain.csv --weights weights.txt --cosine 0.5 --center --center-file two.npy --quiet
same one.npy two.npy
works asterism tune plain.csv --center --json
json command ../out | grep -q -- '--center' || broken 'the command of tune lacks --center'
works asterism cluster plain.csv --angle auto --center --json
equal 'clusters of --angle auto --center' 5 "$(json clusters ../out)"

fails 2 '--center cannot be combined with --axial' asterism cluster x.npy --angle 60 --center --axial
fails 2 '--center is for' asterism cluster x.mtx --angle 60 --center
fails 2 '--center-file needs --center' asterism cluster x.npy --angle 60 --center-file c.npy
fails 2 '--center-file cannot be combined with --axial' asterism assign x.npy --means m.npy --center-file c.npy --axial
fails 1 'm.npy is 5 x 8; the centre of points of 8 dimensions is 1 x 8' asterism assign x.npy --means m.npy --center-file m.npy
printf '1,2\n2,4\n0.5,1\n' >equal.csv
fails 1 'nothing is left after --center' asterism cluster equal.csv --angle 60 --center

# ---- Representatives -------------------------------------------------------------------------------------------------
works asterism cluster x.csv --cosine 0.5 --center --representatives 3 --name-column title --labels l.txt --json
cp ../out named.json
equal 'dimension without the names' 8 "$(json dimension named.json)"
for k in 0 1 2 3 4; do
    for i in 0 1 2; do
        row=$(json cluster.$k.representatives.$i named.json)
        equal "the name of row $row" "name $row" "$(json cluster.$k.names.$i named.json | tr -d '"')"
        equal "the label of row $row" $k "$(sed -n "$((row + 1))p" l.txt)"
    done
done
for names in '--name-column 1 x.csv' '--names names.txt plain.csv' '--name-column TITLE --columns a,b,c,d,e,f,g,h x.csv' '--name-column 1 --columns 2-9 x.csv'; do
    # shellcheck disable=SC2086
    works asterism cluster --cosine 0.5 --center --representatives 3 --json $names
    sed 's/"seconds": [^,]*//' ../out >other.json
    sed 's/"seconds": [^,]*//' named.json | cmp -s - other.json || broken "$names: another result"
done
works asterism cluster x.csv --cosine 0.5 --center --representatives 2 --name-column title --min-size 5
grep -q 'representatives$' ../out || broken 'no heading'
grep -q "  $(json cluster.0.names.0 named.json | tr -d '"') | $(json cluster.0.names.1 named.json | tr -d '"')\$" ../out || broken 'no names in the table'
works asterism cluster plain.csv --cosine 0.5 --center --representatives 2
grep -q "  $(json cluster.0.representatives.0 named.json), $(json cluster.0.representatives.1 named.json)\$" ../out || broken 'no rows in the table'
works asterism cluster plain.csv --method movmf --clusters 3 --representatives 1000 --json
equal 'no more than the cluster has' "$(json cluster.0.size ../out)" "$(json cluster.0.representatives ../out | tr ',' '\n' | wc -l | tr -d ' ')"

head -599 names.txt >short.txt
fails 1 'short.txt has 599 names, but plain.csv has 600 rows' asterism cluster plain.csv --angle 60 --representatives 1 --names short.txt
fails 1 'absent.txt' asterism cluster plain.csv --angle 60 --representatives 1 --names absent.txt
fails 2 '--names needs --representatives N' asterism cluster plain.csv --angle 60 --names names.txt
fails 2 '--names cannot be combined with --name-column' asterism cluster x.csv --angle 60 --representatives 1 --names names.txt --name-column 1
fails 2 '--name-column must be at least 1' asterism cluster x.csv --angle 60 --representatives 1 --name-column 0
fails 1 "x.csv: its header has no column 'colour' of names" asterism cluster x.csv --angle 60 --representatives 1 --name-column colour
fails 1 'plain.csv: line 1 has 8 columns, and column 10 is to hold the names' asterism cluster plain.csv --angle 60 --representatives 1 --name-column 10
tr ' ' - <names.txt >single.csv
fails 1 'single.csv: line 1 has a name and no number' asterism cluster single.csv --angle 60 --representatives 1 --name-column 1
fails 1 'column 1 holds the names' asterism cluster x.csv --angle 60 --representatives 1 --name-column 1 --columns 1-9
fails 1 'x.npy: is npy, which has no column of names' asterism cluster x.npy --angle 60 --representatives 1 --name-column 1
fails 2 '--representatives must be' asterism cluster plain.csv --angle 60 --representatives 0
