#!/bin/sh
# Sparse rows: the labels of the same rows written out, whatever the file; tf-idf; what is refused.
. "$(dirname "$0")/common.sh"

# 40 documents on two subjects of 10 words each, one of them empty; the same numbers sparse, turned, and dense.
awk 'BEGIN {
    srand(5)
    for (i = 1; i <= 40; i++)
        for (j = 1; j <= 20; j++)
            if (i != 7 && (j <= 10) == (i % 2) && rand() < 0.4) { n++; row[n] = i; col[n] = j; num[n] = 1 + int(3 * rand()) }
    print "%%MatrixMarket matrix coordinate integer general" >"docs.mtx"
    print "%%MatrixMarket matrix coordinate integer general" >"turned.mtx"
    print "40 20 " n >"docs.mtx"
    print "20 40 " n >"turned.mtx"
    for (e = n; e > 0; e--) { print row[e], col[e], num[e] >"docs.mtx"; print col[e], row[e], num[e] >"turned.mtx"; x[row[e], col[e]] = num[e] }
    for (i = 1; i <= 40; i++) {
        line = ""
        for (j = 1; j <= 20; j++) line = line (j > 1 ? "," : "") (x[i, j] + 0)
        print line >"dense.csv"
    }
}'
gzip -k docs.mtx

for how in '--angle 80' '--angle 60 --parallel oir' '--method spkm --clusters 2' '--method spkm --clusters 4 --restarts 3 --no-bounds'; do
    # shellcheck disable=SC2086
    for threads in 1 2; do
        works asterism cluster dense.csv $how --labels dense.txt --means dense.npy --json --threads $threads
        cp ../out dense.json
        works asterism cluster docs.mtx $how --labels docs.txt --means docs.npy --json --threads $threads
        same dense.txt docs.txt
        same dense.npy docs.npy
        equal "objective with $how" "$(json objective dense.json)" "$(json objective ../out)"
        equal missing 1 "$(json missing ../out)"
        equal dimension 20 "$(json dimension ../out)"
        works asterism cluster docs.mtx.gz $how --labels packed.txt --threads $threads
        same dense.txt packed.txt
        works asterism cluster turned.mtx --transpose $how --labels turned.txt --threads $threads
        same dense.txt turned.txt
    done
done
works asterism cluster docs.mtx --method spkm --clusters 2 --restarts 5 --labels labels.txt --means means.npy
works asterism assign docs.mtx --means means.npy --labels again.txt --similarity cosines.txt --json
same labels.txt again.txt
works asterism assign dense.csv --means means.npy --labels again.txt --similarity dense_cosines.txt
same cosines.txt dense_cosines.txt
works asterism measure --labels labels.txt --points dense.csv --json
cp ../out dense.json
works asterism measure --labels labels.txt --points docs.mtx --json
equal silhouette "$(json silhouette dense.json)" "$(json silhouette ../out)"
works asterism cluster - --format mtx --angle 80 --labels - <docs.mtx

# tf-idf by hand: 3 documents with something, word 1 in all of them counts nothing, so that document 2 is missing.
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '4 3 5' '1 1 5' '1 2 1' '2 1 9' '3 1 2' '3 3 4' >few.mtx
works asterism cluster few.mtx --tf-idf --angle 30 --labels few.txt --means few_means.txt --json
equal missing 2 "$(json missing ../out)"
equal labels '0 -1 1 -1' "$(tr '\n' ' ' <few.txt | sed 's/ $//')"
equal means '0 1 0,0 0 1' "$(tr '\n' ',' <few_means.txt | sed 's/,$//')"

fails 2 'docs.mtx is a file of sparse rows, which --method fsd does not take' asterism cluster docs.mtx --method fsd --clusters 2
fails 2 '--axial is for .*, and docs.mtx is a file of sparse rows' asterism cluster docs.mtx --angle 30 --axial
fails 1 'this dissimilarity does not take sparse rows' asterism measure --labels labels.txt --points docs.mtx --dissimilarity angle
fails 2 'stream takes .*, and docs.mtx is a file of sparse rows' asterism stream docs.mtx --angle 30
fails 2 '--tf-idf is for sparse rows .*, and dense.csv is a table of points' asterism cluster dense.csv --angle 30 --tf-idf
fails 1 'a dense table is needed' asterism assign docs.mtx --means docs.mtx --labels x.txt
fails 2 '--columns is for tables of points .*and docs.mtx is a file of sparse rows' asterism cluster docs.mtx --angle 30 --columns 1-3
fails 2 '--dip-direction is for tables of points, and docs.mtx is a file of sparse rows' asterism cluster docs.mtx --angle 30 --dip-direction
sed 's/^40 20 .*/40 20 9999/' docs.mtx >lies.mtx
fails 1 'lies.mtx: promises 9999 entries' asterism cluster lies.mtx --angle 30 --labels none.txt
[ ! -e none.txt ] || broken 'a file was left behind'
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2147483647 2' '1 1 5' '2 7 1' >wide.mtx
fails 1 'wide.mtx: promises 2147483647 columns and has 2 entries' asterism cluster wide.mtx --angle 30
printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2 3' '1 1 1e308' '2 1 1' '1 1 1e308' >sum.mtx
fails 1 'sum.mtx: the numbers in row 1 and column 1 .* add up to infinity' asterism cluster sum.mtx --angle 30 --tf-idf
