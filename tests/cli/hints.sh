#!/bin/sh
# What people with embeddings trip over: the default order, means that do not carry a run, an angle that is a cosine,
# small clusters with --angle auto, names without representatives, more than 20 clusters.
. "$(dirname "$0")/common.sh"

# warns PATTERN COMMAND...: works, and one line on stderr matches; --quiet keeps it back.
warns() {
    pattern=$1
    shift
    "$@" >../out 2>../err || broken "$*: $(cat ../err)"
    equal "lines on stderr of $*" 1 "$(wc -l <../err)"
    grep -Eq -e "$pattern" ../err || broken "$*: '$pattern' is not in: $(cat ../err)"
    works "$@" --quiet
}

# ---- The default order: by content above 8 dimensions ---------------------------------------------------------------

for d in 8 9; do
    asterism sample --points 600 --dimension $d --clusters 12 --kappa 20 --separation 40 --seed 3 --output $d.csv --quiet
    works asterism cluster $d.csv --angle 35 --labels plain.txt --quiet
    works asterism cluster $d.csv --angle 35 --order given --labels given.txt --quiet
    works asterism cluster $d.csv --angle 35 --order content --labels content.txt --quiet
    if cmp -s given.txt content.txt; then broken "both orders give the same labels in $d dimensions"; fi
    if [ $d = 8 ]; then same plain.txt given.txt; else same plain.txt content.txt; fi
    works asterism cluster $d.csv --angle 35 --method dpmeans --labels plain.txt --quiet
    works asterism cluster $d.csv --angle 35 --method dpmeans --order given --labels given.txt --quiet
    same plain.txt given.txt
done
works asterism cluster 9.csv --angle 35 --columns 1-8 --labels plain.txt --quiet
works asterism cluster 9.csv --angle 35 --columns 1-8 --order given --labels given.txt --quiet
same plain.txt given.txt

# ---- Means that do not label new rows as the run did -----------------------------------------------------------------

asterism sample --points 300 --dimension 9 --clusters 4 --kappa 60 --separation 60 --seed 3 --output x.npy --quiet
more='label rows differently, since .*; --model FILE'
warns "$more" asterism cluster x.npy --angle 60 --center --means m.npy
warns "$more" asterism cluster x.npy --method movmf --clusters 4 --means m.npy
works asterism cluster x.npy --angle 60 --center --means m.npy --model x.model
works asterism cluster x.npy --angle 60 --center --means m.npy --center-file c.npy
works asterism cluster x.npy --angle 60 --center
works asterism cluster x.npy --angle 60 --means m.npy

# ---- An angle that is a cosine ---------------------------------------------------------------------------------------

warns 'most rows are a cluster of their own: --angle 0.5 is in degrees; if it is a cosine, give --cosine 0.5$' \
    asterism cluster x.npy --angle 0.5 --json
works asterism cluster x.npy --cosine 0.99995
fails 2 '^asterism: cluster needs --angle DEG, .* or --angle auto to have it chosen' asterism cluster x.npy

# ---- Small clusters with --angle auto --------------------------------------------------------------------------------

# Five clusters of 100 and one of 30 rows, which auto finds by merging far smaller ones.
asterism sample --points 500 --dimension 24 --clusters 5 --kappa 60 --separation 70 --seed 5 --output large.csv --quiet
asterism sample --points 30 --dimension 24 --clusters 1 --kappa 60 --seed 9 --output few.csv --quiet
cat large.csv few.csv >both.csv
works asterism cluster both.csv --angle auto --json
equal 'clusters of auto' 6 "$(json clusters ../out)"
[ "$(json merged ../out)" -gt 6 ] || broken 'auto has not merged'
works asterism cluster both.csv --angle auto --min-size 40 --labels l.txt --json
equal 'clusters of at least 40' 5 "$(json clusters ../out)"
equal 'outliers of auto' 0 "$(json outliers ../out)"
if grep -q -e '-1' l.txt; then broken 'a row has no label'; fi
works asterism cluster both.csv --angle auto --labels l.txt --quiet
works asterism cluster both.csv --angle auto --merge evidence --labels e.txt --quiet
same l.txt e.txt
works asterism cluster both.csv --angle auto --merge-to 4 --json
equal 'clusters of --merge-to' 4 "$(json clusters ../out)"
works asterism cluster both.csv --angle auto --merge-to 4
grep -q '^the angle: .*; --merge-to decides otherwise$' ../out || broken "it does not say that --merge-to decides"
works asterism cluster both.csv --angle auto --merge-to 4 --min-size 40 --json
equal 'outliers of auto with --merge-to' 0 "$(json outliers ../out)"
# An angle that was given limits as before.
works asterism cluster both.csv --angle 20 --merge-to 6 --min-size 40 --json
equal 'outliers of an angle' 30 "$(json outliers ../out)"

# ---- Names alone, and more clusters ----------------------------------------------------------------------------------

awk 'BEGIN { print "title,a,b,c,d,e,f,g,h,i" } { print "row " NR "," $0 }' 9.csv >named.csv
works asterism cluster named.csv --name-column title --angle 35 --labels plain.txt --json
equal 'dimension without the names' 9 "$(json dimension ../out)"
works asterism cluster 9.csv --angle 35 --labels given.txt --quiet
same plain.txt given.txt
works asterism cluster 9.csv --angle 10
equal 'clusters of the table' 20 "$(grep -c '^ *[0-9]* .*%' ../out)"
works asterism cluster 9.csv --angle 10 --top 33
equal 'clusters with --top 33' 33 "$(grep -c '^ *[0-9]* .*%' ../out)"
works asterism cluster 9.csv --angle 10 --top 3
equal 'clusters with --top 3' 3 "$(grep -c '^ *[0-9]* .*%' ../out)"
fails 2 '--top must be' asterism cluster 9.csv --angle 10 --top 0

# ---- A stream whose rows lie in a narrow cone ------------------------------------------------------------------------

asterism sample --points 1500 --dimension 16 --clusters 12 --kappa 300 --separation 60 --seed 3 --output round.csv --quiet
awk -F, '{ printf "%.6f", $1 + 3; for (d = 2; d <= NF; d++) printf ",%s", $d; print "" }' round.csv >narrow.csv
for kind in round narrow; do
    for i in 0 1 2; do sed -n "$((i * 500 + 1)),$((i * 500 + 500))p" $kind.csv >$kind$i.csv; done
done
asterism stream narrow0.csv narrow1.csv narrow2.csv --angle 10 >../out 2>../err
equal 'warnings of a cone' 1 "$(grep -c 'narrow cone (the length of their mean is 0.96)' ../err)"
works asterism stream narrow0.csv narrow1.csv narrow2.csv --angle 10 --quiet
works asterism stream round0.csv round1.csv round2.csv --angle 40
awk -F, '{ for (d = 1; d <= NF; d++) sum[d] += $d } END { for (d = 1; d <= NF; d++) printf "%s%.6f", (d > 1 ? "," : ""), sum[d] / NR / 3.1; print "" }' \
    narrow.csv >mean.csv
works asterism stream narrow0.csv narrow1.csv narrow2.csv --angle 40 --center-file mean.csv
