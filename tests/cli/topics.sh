#!/bin/sh
# What clusters are about: --texts and --terms, in the table, JSON, the report and explore.
. "$(dirname "$0")/common.sh"

# Two groups of rows around two axes, each with texts of its own; words that all texts share; another alphabet.
awk 'BEGIN {
    split("apple pear plum cherry", fruit); split("saw hammer chisel drill", tool)
    for (i = 0; i < 80; i++) {
        a = i % 2
        printf "%g,%g,%g,%g\n", a ? 0.1 : 1, a ? 1 : 0.1, (i % 7) / 30, (i % 5) / 30 >"x.csv"
        printf "The %s and the %s of \320\234\320\230\320\240 %s\n", a ? toupper(tool[i % 4 + 1]) : fruit[i % 4 + 1],
            a ? "workshop" : "orchard", i % 4 ? "" : "\033[31m\302\233red\177" >"texts.txt"
    }
}'
gzip -k texts.txt
works asterism cluster x.csv --angle 40 --texts texts.txt --json --labels l.txt
equal 'clusters' 2 "$(json clusters ../out)"
equal 'the best word of each' '"orchard" "workshop"' "$(json cluster.0.keywords.0 ../out) $(json cluster.1.keywords.0 ../out)"
json cluster.1.keywords ../out | grep -q 'hammer' || broken "no hammer in $(json cluster.1.keywords ../out)"
for word in the and of "$(printf '\320\274\320\270\321\200')"; do
    ! json cluster.0.keywords ../out | grep -qw "$word" || broken "$word is a keyword, but all texts have it"
done
equal 'representatives without being asked for' 3 "$(json cluster.0.texts ../out | grep -o orchard | wc -l)"
# Rows in another order: the same words.
awk '{ line[NR] = $0 } END { for (i = 0; i < NR; i++) print line[(i * 7 + 5) % NR + 1] }' x.csv >y.csv
awk '{ line[NR] = $0 } END { for (i = 0; i < NR; i++) print line[(i * 7 + 5) % NR + 1] }' texts.txt >z.txt
asterism cluster x.csv --angle 40 --texts texts.txt --order content --json >a.json
asterism cluster y.csv --angle 40 --texts z.txt --order content --json >b.json
equal 'keywords of permuted rows' "$(json cluster.0.keywords a.json)" "$(json cluster.0.keywords b.json)"
works asterism cluster x.csv --angle 40 --texts texts.txt.gz --json --representatives 1
equal 'one representative' 1 "$(json cluster.0.texts ../out | grep -o orchard | wc -l)"
# The table: keywords, and texts without what a terminal obeys.
works asterism cluster x.csv --angle 40 --texts texts.txt --representatives 40
grep -q 'keywords' ../out || broken 'the table has no keywords'
grep -q 'workshop, ' ../out || broken 'the table has no workshop'
grep -q '^        The apple and the orchard' ../out || broken 'the table has no texts'
! grep -q "$(printf '\033\\|\177\\|\302\233')" ../out || broken 'control characters reached the terminal'
works asterism cluster x.csv --angle 40 --texts texts.txt --min-size 1000
fails 1 'texts.txt has 80 lines, but [^ ]*y.csv has 79 rows; there must be one text per row' \
    sh -c 'sed 1d x.csv >../y.csv; "$ASTERISM" cluster ../y.csv --angle 40 --texts texts.txt'
fails 1 'nothing.txt' asterism cluster x.csv --angle 40 --texts nothing.txt
printf 'a\000b\n' >zero.txt
fails 1 'zero.txt: is no text' asterism cluster x.csv --angle 40 --texts zero.txt
head -c 60 texts.txt.gz >cut.txt.gz
fails 1 'cut.txt.gz' asterism cluster x.csv --angle 40 --texts cut.txt.gz
fails 2 '--terms is for' asterism cluster x.csv --angle 40 --terms texts.txt

# ---- Documents as counts ---------------------------------------------------------------------------------------------
printf '%%%%MatrixMarket matrix coordinate integer general\n4 4 8\n1 1 5\n1 3 1\n2 1 4\n2 3 1\n3 2 5\n3 3 1\n4 2 4\n4 3 2\n' >d.mtx
printf 'apple\nsaw\nthe\nnever\n' >terms.txt
for weight in '' --tf-idf; do
    # shellcheck disable=SC2086
    works asterism cluster d.mtx --angle 50 --terms terms.txt --json $weight
    equal "keywords of documents $weight" '["apple"] ["saw"]' "$(json cluster.0.keywords ../out) $(json cluster.1.keywords ../out)"
done
works asterism cluster d.mtx --angle 50 --terms terms.txt --representatives 1
grep -q '^        rows [01]$' ../out || broken 'the table has no rows below the keywords'
sed 1d terms.txt >short.txt
fails 1 'short.txt has 3 lines, but d.mtx has 4 columns; there must be one term per column' \
    asterism cluster d.mtx --angle 50 --terms short.txt
fails 2 '--texts cannot be combined with --terms|--terms cannot be combined with --texts' \
    asterism cluster d.mtx --angle 50 --terms terms.txt --texts terms.txt

# ---- The report ------------------------------------------------------------------------------------------------------
if [ "$VIEWER" = ON ]; then
    works asterism cluster x.csv --angle 40 --texts texts.txt --quiet --report r.html
    grep -q '"keywords": *\["orchard"' r.html || broken 'the report has no keywords'
else
    skip_part 'this build has no page'
fi
