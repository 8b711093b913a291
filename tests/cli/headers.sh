#!/bin/sh
# Tables as pandas writes them: a header of numbers and an index column, in every format of text and every subcommand
# that reads points; --header; and a row that is no header.
. "$(dirname "$0")/common.sh"

asterism sample --points 50 --dimension 4 --clusters 3 --kappa 90 --separation 60 --seed 2 --output plain.csv --labels truth.txt --quiet
# numpy.savetxt and pandas write floats with a point.
awk -F, '{ for (i = 1; i <= NF; i++) printf "%.8f%s", $i, i < NF ? "," : "\n" }' plain.csv >x.csv
awk 'BEGIN { print ",0,1,2,3" } { print NR - 1 "," $0 }' x.csv >index.csv
awk 'BEGIN { print "0,1,2,3" } { print }' x.csv >numbers.csv
awk 'BEGIN { print ",a,b,c,d" } { print NR - 1 "," $0 }' x.csv >names.csv
awk '{ print NR + 99 "," $0 }' x.csv >bare.csv
tr , '\t' <index.csv >index.tsv
tr , ';' <index.csv >index.txt
gzip -k index.csv
# Where blanks separate, pandas and R leave the name of the index out.
awk 'BEGIN { print " 0 1 2 3" } { gsub(",", " "); print NR - 1, $0 }' x.csv >short.txt
awk 'BEGIN { print "a b c d" } { gsub(",", " "); print NR, $0 }' x.csv >words.txt

# remarks PATTERN COMMAND...: works, and says one line on stderr that matches, which --quiet keeps back.
remarks() {
    pattern=$1
    shift
    "$@" >../out 2>../err || broken "$*: $(cat ../err)"
    equal "lines on stderr of $*" 1 "$(wc -l <../err)"
    grep -q "$pattern" ../err || broken "$*: '$pattern' is not in: $(cat ../err)"
    works "$@" --quiet
}
works asterism cluster x.csv --angle 40 --labels right.txt --means means.csv --json
for file in index.csv names.csv bare.csv index.tsv index.txt index.csv.gz short.txt words.txt; do
    remarks "^asterism: $file: column 1 counts the rows and has no name: it is left out as an index; --columns 1-5 keeps it$" \
        asterism cluster $file --angle 40 --labels l.txt
    same right.txt l.txt
    rm l.txt
done
remarks '^asterism: numbers.csv: line 1 holds the numbers of the columns and is taken as a header; --header no' \
    asterism cluster numbers.csv --angle 40 --labels l.txt
same right.txt l.txt
asterism cluster - --format csv --angle 40 --labels l.txt --quiet <index.csv 2>../err
same right.txt l.txt

# Columns that are listed are kept, and --header decides
works asterism cluster index.csv --columns 1-5 --angle 40 --json
equal 'dimension with the index' 5 "$(json dimension ../out)"
equal 'points with the index' 50 "$(json points ../out)"
works asterism cluster index.csv --columns 2-5 --angle 40 --labels l.txt --json --header yes
same right.txt l.txt
works asterism cluster numbers.csv --header no --angle 40 --json
equal 'points without a header' 51 "$(json points ../out)"
works asterism cluster x.csv --header yes --angle 40 --json
equal 'points behind a header' 49 "$(json points ../out)"
fails 1 'names.csv: line 1, column 2: .a. is not a number' asterism cluster names.csv --header no --angle 40
fails 1 'names.csv: --header no leaves no names of columns' asterism cluster names.csv --header no --columns a,b --angle 40
fails 2 '--header must be auto, yes or no' asterism cluster x.csv --header maybe --angle 40
asterism cluster x.csv --angle 40 --means x.npy --quiet
fails 2 '--header is for text, such as .csv, and x.npy is none' asterism cluster x.npy --header yes --angle 40

# The other subcommands
remarks 'left out as an index' asterism assign index.csv --means means.csv --labels l.txt
same right.txt l.txt
awk 'BEGIN { print ",0,1,2,3" } { print NR - 1 "," $0 }' means.csv >index_means.csv
asterism assign x.csv --means index_means.csv --labels l.txt --quiet 2>../err
same right.txt l.txt
grep -q 'index_means.csv: column 1 counts the rows' ../err || broken "means: $(cat ../err)"
remarks 'left out as an index' asterism tune index.csv --from 60 --to 30
remarks 'left out as an index' asterism measure --labels right.txt --points index.csv
asterism explore index.csv --once sweep.json 2>../err
grep -q 'left out as an index' ../err || broken "explore: $(cat ../err)"
remarks 'index.csv: column 1 counts' asterism stream index.csv index.tsv --angle 40
awk 'BEGIN { print ",0" } { print NR - 1 "," $0 }' right.txt >series.csv
asterism measure --labels series.csv --truth right.txt --json >../out 2>/dev/null
equal 'labels of a Series' 1.0 "$(json nmi ../out)"
asterism view index.csv --labels right.txt --report v.html 2>../err
grep -q 'left out as an index' ../err || broken "view: $(cat ../err)"

# A table that only looks like it
printf '0 1 0.5\n1 0 0.5\n' >two.txt
works asterism cluster two.txt --angle 20 --json
equal 'dimension of two rows' 3 "$(json dimension ../out)"
