#!/bin/sh
# Bad input: one sentence, exit 1, nothing left behind.
. "$(dirname "$0")/common.sh"

# refused PATTERN FILE [OPTIONS...]: cluster does not take it, and there are no labels or means afterwards.
refused() {
    pattern=$1
    file=$2
    shift 2
    fails 1 "$pattern" asterism cluster "$file" --angle 20 --labels z.npy --means m.npy "$@"
}

three_axes >x.txt
three_axes | tool npy f4 c >x.npy
size=$(wc -c <x.npy)

# Not there, or no file at all
refused 'absent.npy' absent.npy
refused 'absent.csv' absent.csv
refused 'absent' absent/x.csv
mkdir folder.csv folder.npy
refused 'folder.csv' folder.csv
refused 'folder.npy' folder.npy
if [ "$(id -u)" != 0 ]; then
    three_axes >secret.txt
    chmod 000 secret.txt
    fails 1 'secret.txt' asterism cluster secret.txt --angle 20
    rm -f secret.txt
fi

# Empty, and cut short
for name in empty.npy empty.csv empty.txt empty.tsv empty.csv.gz; do
    : >$name
    refused "$name" $name
done
printf '\n\n  \n' >blank.csv
refused 'blank.csv' blank.csv
printf 'x,y,z\n' >header.csv
refused 'header.csv' header.csv
for bytes in 1 6 10 50 $((size - 1)) $((size - 12)); do
    head -c $bytes x.npy >short.npy
    refused 'short.npy' short.npy
done
head -c 5000 /dev/zero | gzip >zeros.txt.gz
head -c 20 zeros.txt.gz >short.txt.gz
refused 'short.txt.gz' short.txt.gz
echo 'this is no gzip' >wrong.csv.gz
refused 'wrong.csv.gz' wrong.csv.gz

# Headers that lie
for shape in '(600, 3)' '(6, 300)' '(7, 3)' '(18446744073709551615, 3)' '(6148914691236517206, 3)' '(-6, 3)' '(6,)' \
    '(6, 3, 1)' '(0, 3)' '(6, 0)' '(6' '()' '(6.0, 3)'; do
    three_axes | tool npy f4 c "$shape" >lies.npy
    refused 'lies.npy' lies.npy
done
sed '1s/<f4/<c8/' x.npy >complex.npy
refused 'complex.npy' complex.npy
echo 'not an array' >text.npy
refused 'text.npy' text.npy

# Text in a number, ragged rows, infinity, numbers outside float
{ three_axes; echo '1 abc 0'; } >word.txt
refused "word.txt.*line 7.*column 2.*abc" word.txt
{ three_axes; echo '1 2'; } >ragged.txt
refused 'ragged.txt.*line 7' ragged.txt
{ three_axes; echo '1 2 3 4'; } >ragged.txt
refused 'ragged.txt.*line 7' ragged.txt
{ three_axes; echo '1 inf 0'; } >infinite.txt
refused 'infinite.txt.*line 7.*column 2' infinite.txt
three_axes | sed '3s/1/inf/' | tool npy f4 c >infinite.npy
refused 'infinite.npy.*(row|point)' infinite.npy
{ three_axes | tr ' ' ','; echo '1,1e39,0'; } >large.csv
refused 'large.csv.*line 7.*column 2' large.csv
{ three_axes | tr ' ' ','; echo '1,-1e400,0'; } >large.csv
refused 'large.csv.*line 7.*column 2' large.csv

# No usable row, no dimensions, columns that are not there
printf '0 0 0\nnan 1 0\n0 0 0\n' >missing.txt
refused 'missing.txt.*usable' missing.txt
printf '1\n2\n3\n' >one_column.txt
refused 'one_column.txt' one_column.txt
refused 'x.txt' x.txt --columns 2-4
awk 'BEGIN { for (i = 0; i < 4097; i++) printf "%d ", i % 7; print "" }' >wide.txt
refused 'wide.txt' wide.txt

# More clusters than points
fails 1 '--clusters 7 is more than the 6 points of x.txt' \
    asterism cluster x.txt --method spkm --clusters 7 --labels z.npy
{ three_axes; echo '0 0 0'; } >hole.txt
fails 1 'hole.txt' asterism cluster hole.txt --method spkm --clusters 7 --labels z.npy

# Other files that do not fit
printf '1\n2\n3\n' >three.txt
refused 'three.txt has 3 weights, but x.txt has 6 points' x.txt --weights three.txt
printf '1\n2\n-3\n4\n5\n6\n' >negative.txt
refused 'negative.txt: weight 3 is -3' x.txt --weights negative.txt
printf '1\n2\nnan\n4\n5\n6\n' >nan.txt
refused 'nan.txt.*(3|NaN|nan)' x.txt --weights nan.txt
printf '0\n0\n0\n0\n0\n0\n' >nothing.txt
refused '(x|nothing).txt' x.txt --weights nothing.txt
refused 'absent.npy' x.txt --weights absent.npy
printf '1 0\n0 1\n' >flat.txt
refused 'flat.txt has means of 2 dimensions, but the points have 3' x.txt --init flat.txt
refused 'absent.txt' x.txt --init absent.txt
printf '1 0 0\n0 1 0\n' >two.txt
fails 1 '--clusters is 3, but two.txt has 2 means' asterism cluster x.txt --method spkm --clusters 3 --init two.txt

# Outputs that cannot be
fails 1 'nowhere' asterism cluster x.txt --angle 20 --labels nowhere/z.npy
fails 1 'nowhere' asterism cluster x.txt --angle 20 --labels z.npy --means nowhere/m.npy
mkdir taken.npy
fails 1 'taken.npy' asterism cluster x.txt --angle 20 --labels taken.npy --means m.npy
fails 1 'nowhere' asterism sample --points 9 --dimension 3 --clusters 2 --kappa 9 --output x2.npy --labels nowhere/t.npy
fails 1 'nowhere' asterism assign x.txt --means x.npy --labels nowhere/z.npy

# Columns are points
awk 'BEGIN { for (row = 0; row < 3; row++) { for (i = 0; i < 5000; i++) printf "%d ", i % 7 + row * row; print "" } }' >wide.txt
fails 1 'wide.txt: the points have dimension 5000.*if each column is a point, give --transpose' \
    asterism cluster wide.txt --angle 20
rm wide.txt

# A disk that is full; what was there before stays
if [ -w /dev/full ]; then
    echo old >m.npy
    fails 1 'full' asterism cluster x.txt --angle 20 --means m.npy --labels /dev/full
    fails 1 'full' asterism sample --points 9 --dimension 3 --clusters 2 --kappa 9 --labels m.npy --output /dev/full
    equal 'the old file' old "$(cat m.npy)"
    [ -c /dev/full ] || broken '/dev/full was replaced'
    # shellcheck disable=SC2016,SC2086
    for extra in '' --json '--labels -'; do
        fails 1 'standard output' sh -c '"$0" cluster x.txt --angle 20 --means m.npy "$@" >/dev/full' "$ASTERISM" $extra
    done
    # shellcheck disable=SC2016
    fails 1 'standard output' sh -c '"$0" --help >/dev/full' "$ASTERISM"
    # More than the buffer holds: the first write that fails is not the last one.
    asterism sample --points 400 --dimension 30 --clusters 300 --kappa 9 --output many.npy --quiet
    # shellcheck disable=SC2016
    fails 1 'standard output: No space left' sh -c '"$0" cluster many.npy --angle 9 --json >/dev/full' "$ASTERISM"
    rm many.npy
    # shellcheck disable=SC2016
    fails 1 'standard output' sh -c '"$0" cluster --help >/dev/full' "$ASTERISM"
    rm m.npy
fi

# A name that would break the line
fails 1 'a.b.csv' asterism cluster "$(printf 'a\nb.csv')" --angle 20

# What is valid: one point, equal points, as many clusters as points
echo '1 2 3' >one.txt
works asterism cluster one.txt --angle 20 --json
equal 'clusters of one point' 1 "$(json clusters ../out)"
equal 'its kappa' null "$(json cluster.0.kappa ../out)"
for point in '1 2 3' '1 1 0' '0.33682412 0.059391178 0.9396927'; do
    printf '%s\n' "$point" "$point" "$point" >equal.txt
    works asterism cluster equal.txt --angle 0.01 --json
    equal "clusters of equal points $point" 1 "$(json clusters ../out)"
    equal 'their kappa' null "$(json cluster.0.kappa ../out)"
    equal 'their cone' null "$(json cluster.0.alpha95 ../out)"
done
works asterism cluster x.txt --method spkm --clusters 6 --json
equal 'as many clusters as points' 6 "$(json clusters ../out)"

# What is read is not overwritten under another name either.
ln -s x.txt link.txt
for name in ./x.txt link.txt "$PWD/x.txt"; do
    fails 1 "would overwrite the input x.txt, which $name is" asterism cluster x.txt --angle 20 --labels "$name"
done
fails 1 'would overwrite the input x.txt, which ./x.txt is' asterism assign x.npy --means x.txt --labels ./x.txt

# Weights that count for nothing are the fault of their file, an empty file is called empty, and a limit on the size of
# files is a disk that is full.
printf '0\n0\n0\n0\n0\n0\n' >zeros.txt
refused 'zeros.txt: every weight is 0' x.txt --weights zeros.txt
refused 'empty.npy: is empty' empty.npy
# shellcheck disable=SC2016
fails 1 'big.npy: cannot be written' sh -c 'ulimit -f 1; exec "$0" "$@"' "$ASTERISM" \
    sample --points 10000 --dimension 3 --clusters 2 --kappa 3 --output big.npy

# Weights whose squares are no numbers: only their ratios count.
yes 1e300 | head -6 >large.txt
fails 1 'weight 1 .counting from 1. is 1e\+300; weights must be at most 1e\+100' \
    asterism cluster x.txt --angle 20 --weights large.txt
yes 9.332636185032189e-302 | head -6 >tiny.txt # 2^-1000
for method in '--angle 20' '--method spkm --clusters 2' '--method movmf --clusters 2' '--angle auto'; do
    # shellcheck disable=SC2086
    works asterism cluster x.txt $method --weights tiny.txt --json --quiet
    mv ../out ../tiny
    # shellcheck disable=SC2086
    works asterism cluster x.txt $method --json --quiet
    for number in cluster.0.alpha95 cluster.0.kappa_interval cluster.1.standard_error; do
        equal "$number with $method" "$(json $number ../out)" "$(json $number ../tiny)"
    done
done
