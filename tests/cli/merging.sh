#!/bin/sh
# --order, --restarts, --merge, --merge-to, --tree, --leaf-labels and --min-size: permuted files, what JSON says, a tree
# that adds up, and sentences for what cannot be.
. "$(dirname "$0")/common.sh"

# ---- A permuted file gives permuted labels -------------------------------------------------------------------------

# The same permutation of lines for every file of 900 lines; `labels` are text, one per line, so that awk can permute too.
permute() {
    awk '{ line[NR] = $0 } END { for (i = 0; i < NR; i++) print line[(i * 509 + 77) % NR + 1] }' "$1"
}
# permuted WHAT FILE OPTIONS...: labels and leaves of the permuted FILE are the permuted ones. ORIGINAL and PERMUTED are
# further options that name files.
permuted() {
    what=$1
    file=$2
    shift 2
    # shellcheck disable=SC2086
    works asterism cluster "$file" --order content "$@" $ORIGINAL --labels one.txt --means one.csv --tree one.json --leaf-labels leaf1.txt --quiet
    # shellcheck disable=SC2086
    works asterism cluster "permuted_$file" --order content "$@" $PERMUTED --labels two.txt --means two.csv --tree two.json --leaf-labels leaf2.txt --quiet
    permute one.txt >expected.txt
    cmp -s expected.txt two.txt || broken "$what: labels of permuted rows differ"
    permute leaf1.txt >expected.txt
    cmp -s expected.txt leaf2.txt || broken "$what: leaves of permuted rows differ"
    same one.csv two.csv
    same one.json two.json
    rm one.* two.* leaf1.txt leaf2.txt
}
ORIGINAL=
PERMUTED=

# Text with nine digits holds floats exactly. Every 50th row is missing, the last hundred rows repeat the first.
asterism sample --points 800 --dimension 3 --clusters 12 --kappa 60 --seed 5 --output x.npy --labels t.npy --quiet
od -An -v -tf4 -w12 -j128 x.npy | awk 'NR % 50 == 0 { print "0 0 0"; next } { print $1, $2, $3 }' >rows
{
    cat rows
    head -100 rows
} >x.txt
permute x.txt >permuted_x.txt
for merge in '--merge none' '--merge 25' '--merge evidence' '--merge-to 3' '--min-size 20' '--restarts 3'; do
    # shellcheck disable=SC2086
    permuted "a table, $merge" x.txt --angle 20 $merge
done
permuted 'another seed' x.txt --angle 20 --seed 9
permuted 'axes' x.txt --angle 20 --axial --merge evidence
permuted 'the whole sphere' x.txt --angle 180

awk '{ print NR % 7 ? 0.25 + NR % 5 : 0 }' x.txt >w.txt
permute w.txt >permuted_w.txt
ORIGINAL='--weights w.txt'
PERMUTED='--weights permuted_w.txt'
for merge in '--merge none' '--merge evidence' '--merge-to 3' '--min-size 9.5' '--restarts 2'; do
    # shellcheck disable=SC2086
    permuted "weights, some of them zero, $merge" x.txt --angle 20 $merge
done
ORIGINAL=
PERMUTED=

# A row of weight zero has no influence, wherever it stands.
{
    sed -n '1,400p' x.txt
    echo '-0.3 0.9 0.1'
    sed -n '401,900p' x.txt
} >more.txt
{
    yes 1 | head -400
    echo 0
    yes 1 | head -500
} >more_w.txt
works asterism cluster x.txt --order content --angle 20 --labels one.txt --quiet
works asterism cluster more.txt --weights more_w.txt --order content --angle 20 --labels two.txt --quiet
sed 401d two.txt | cmp -s - one.txt || broken 'a row of weight 0 changes the labels'

# A cloud: normals in a PCD file.
cloud() {
    printf '%s\n' 'VERSION .7' 'FIELDS x y z normal_x normal_y normal_z' 'SIZE 4 4 4 4 4 4' 'TYPE F F F F F F' \
        'COUNT 1 1 1 1 1 1' 'WIDTH 900' 'HEIGHT 1' 'POINTS 900' 'DATA ascii'
    awk '{ print NR / 100, NR % 13, NR % 7, $1, $2, $3 }' rows_of_cloud
}
sed 's/^0 0 0$/nan nan nan/' x.txt >rows_of_cloud
cloud >c.pcd
sed 1,9d c.pcd >body
{
    sed 9q c.pcd
    permute body
} >permuted_c.pcd
permuted 'a cloud' c.pcd --angle 20 --merge evidence

# Sparse rows: the same, as a matrix of its own.
sparse() {
    awk 'NR == FNR { for (d = 1; d <= 3; d++) entries += $d != 0; next }
         FNR == 1 { print "%%MatrixMarket matrix coordinate real general"; print 900, 3, entries }
         { for (d = 1; d <= 3; d++) if ($d != 0) print FNR, d, $d }' "$1" "$1"
}
sparse x.txt >s.mtx
sparse permuted_x.txt >permuted_s.mtx
permuted 'sparse rows' s.mtx --angle 20 --merge evidence

# More rows than a block has, on one thread and on all.
asterism sample --points 60000 --dimension 4 --clusters 40 --kappa 100 --seed 6 --output many.npy --quiet
works asterism cluster many.npy --angle 25 --order content --labels a.npy --tree a.json --merge evidence --threads 1 --quiet
works asterism cluster many.npy --angle 25 --order content --labels b.npy --tree b.json --merge evidence --quiet
same a.npy b.npy
same a.json b.json
works asterism cluster x.npy --angle 20 --shuffle --labels a.npy --quiet
works asterism cluster x.npy --angle 20 --order random --labels b.npy --quiet
same a.npy b.npy

# ---- What JSON says ------------------------------------------------------------------------------------------------

works asterism cluster x.npy --angle 20 --order content --json --quiet
equal 'stability of one run' null "$(json stability ../out)"
equal 'outliers without --min-size' 0 "$(json outliers ../out)"
equal 'merged without --merge' "$(json clusters ../out)" "$(json merged ../out)"
if json cluster.0.stability ../out >key 2>&1; then broken 'a cluster of one run has a stability'; fi
works asterism cluster x.npy --angle 20 --order content --restarts 4 --json --quiet
awk "BEGIN { s = $(json stability ../out); exit !(s > 0.2 && s <= 1) }" || broken "stability $(json stability ../out)"
awk "BEGIN { s = $(json silhouette ../out); exit !(s > 0 && s < 1) }" || broken "silhouette $(json silhouette ../out)"
awk "BEGIN { s = $(json cluster.0.stability ../out); exit !(s > 0 && s <= 1) }" || broken 'stability of cluster 0'
works asterism cluster x.npy --angle 20 --merge-to 3 --json --quiet
equal 'clusters after --merge-to' 3 "$(json clusters ../out)"
awk "BEGIN { exit !($(json merged ../out) > 3) }" || broken "merged $(json merged ../out)"

# Three tight bundles, one stray point, one row without a direction: the two -1 are told apart.
{
    for i in 1 2 3 4 5 6 7 8 9; do
        printf '1 0 0.0%d\n0.0%d 1 0\n0 0.0%d 1\n' $i $i $i
    done
    echo '-1 -1 -1'
    echo '0 0 0'
} >bundles.txt
works asterism cluster bundles.txt --angle 20 --min-size 2 --labels l.txt --json
equal clusters 3 "$(json clusters ../out)"
equal outliers 1 "$(json outliers ../out)"
equal missing 1 "$(json missing ../out)"
equal 'the last two labels' '-1 -1' "$(tail -2 l.txt | tr '\n' ' ' | sed 's/ $//')"
works asterism cluster bundles.txt --angle 20 --min-size 2
grep -q '1 outlier with label -1' ../out || broken "the table has no outliers: $(cat ../out)"
works asterism cluster bundles.txt --method spkm --clusters 4 --min-size 2 --json
equal 'methods without an angle have no outliers' 0 "$(json outliers ../out)"
works asterism cluster bundles.txt --angle 20 --min-size 100 --json
equal 'everything is dissolved' 0 "$(json clusters ../out)"

# ---- The tree adds up ----------------------------------------------------------------------------------------------

works asterism cluster x.txt --angle 20 --order content --merge-to 4 --tree tree.json --labels l.txt --json --quiet
leaves=$(json merged ../out)
equal 'leaves of the tree' "$leaves" "$(json clusters tree.json)"
json leaves tree.json | tr -d '[]' | tr ',' '\n' >leaves.txt
equal 'a leaf for every row' 900 "$(wc -l <leaves.txt)"
equal 'leaves that have rows' "$leaves" "$(grep -v '^-1$' leaves.txt | sort -u | wc -l)"
equal 'missing rows have no leaf' "$(grep -c '^0 0 0$' x.txt)" "$(grep -c '^-1$' leaves.txt)"
json joins tree.json | sed 's/},{/}\n{/g' | tr -d '[]{}"' >joins.txt
equal joins $((leaves - 1)) "$(wc -l <joins.txt)"
awk -F '[:,]' -v leaves="$leaves" '
    NR == FNR { if ($1 >= 0) size[$1]++; next }
    {
        for (i = 1; i < NF; i += 2) field[$i] = $(i + 1)
        a = field["a"]; b = field["b"]
        if (a >= b || field["into"] != leaves + FNR - 1 || !(a in size) || !(b in size)) { print "nodes of join " FNR; bad = 1; exit }
        if (size[a] + size[b] != field["size"]) { print "size of join " FNR; bad = 1; exit }
        if (field["loss"] < -1e-9 || field["angle"] < 0 || field["angle"] > 180) { print "loss or angle of join " FNR; bad = 1; exit }
        size[field["into"]] = size[a] + size[b]
        delete size[a]
        delete size[b]
    }
    END { exit bad }' leaves.txt joins.txt || broken 'the tree does not add up'
works asterism cluster x.txt --angle 20 --order content --merge-to 4 --tree tree2.json --leaf-labels leaves.npy --quiet
if grep -q '"leaves"' tree2.json; then broken '--leaf-labels leaves the leaves in the tree'; fi
equal 'bytes of the leaf labels' $((128 + 4 * 900)) "$(wc -c <leaves.npy)"
works asterism cluster bundles.txt --angle 180 --tree one.json --quiet
equal 'the joins of one cluster' '[]' "$(json joins one.json)"

# ---- What cannot be ------------------------------------------------------------------------------------------------

fails 1 '10 clusters, but there are only 4' asterism cluster bundles.txt --angle 20 --merge-to 10 --labels z.npy
fails 2 '--merge must be a number from 0 to 180, evidence or none' asterism cluster bundles.txt --angle 20 --merge x --labels z.npy
fails 2 '--merge must be a number from 0 to 180' asterism cluster bundles.txt --angle 20 --merge 181
fails 2 '--merge-to' asterism cluster bundles.txt --angle 20 --merge-to 0
fails 2 '--merge.*--merge-to|--merge-to.*--merge' asterism cluster bundles.txt --angle 20 --merge 10 --merge-to 2
fails 2 '--shuffle.*--order|--order.*--shuffle' asterism cluster bundles.txt --angle 20 --shuffle --order content
fails 2 '--order must be given, content or random' asterism cluster bundles.txt --angle 20 --order sorted
fails 2 '--tree z.txt: the name must end in .json' asterism cluster bundles.txt --angle 20 --tree z.txt
fails 2 '--leaf-labels.*--tree' asterism cluster bundles.txt --angle 20 --leaf-labels z.npy
fails 2 '--min-size' asterism cluster bundles.txt --angle 20 --min-size -1
fails 2 '--order is for' asterism cluster bundles.txt --method spkm --clusters 2 --order content
fails 2 '--merge is for' asterism cluster bundles.txt --method movmf --clusters 2 --merge evidence
asterism sample --points 400000 --dimension 3 --clusters 6 --kappa 60 --seed 3 --output large.npy --quiet
for option in '--order content' '--outliers 0.1'; do
    # shellcheck disable=SC2086
    fails 1 "memory.*${option%% *} needs" asterism cluster large.npy --angle 40 --memory 3500K --labels z.npy $option
done

# ---- The report ----------------------------------------------------------------------------------------------------

if [ "$VIEWER" = ON ]; then
    works asterism cluster bundles.txt --angle 20 --min-size 2 --restarts 3 --merge 5 --report r.html --quiet
    for text in '"outliers": 1' '"missing": 1' '"merged from": 4' '"stability": 1' '"silhouette": 0.9' 'is an outlier'; do
        grep -q "$text" r.html || broken "the report has no $text"
    done
    works asterism cluster bundles.txt --angle 20 --report r.html --quiet
    if grep -q '"stability": \|"outliers": \|"merged from": ' r.html; then broken 'the report has measures that are not known'; fi
else
    skip_part 'the report: npm was missing when this was built'
fi

# ---- What does not go together ----------------------------------------------------------------------------------------

fails 2 '--merge must be evidence' asterism cluster bundles.txt --angle auto --merge 5
fails 2 '--tree does not go with --state' asterism cluster bundles.txt --angle 20 --restarts 2 --tree z.json --state s
fails 1 '--angle auto needs all of it' asterism cluster large.npy --angle auto --memory 3500K
