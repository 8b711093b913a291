#!/bin/sh
# asterism reproduce: quick variants of the paper's experiments, what they find and what they write.
. "$(dirname "$0")/common.sh"

works asterism reproduce synthetic --quick --output out --json
cp ../out found
equal files 'sphere.svg synthetic.csv synthetic.svg' "$(cd out && echo *)"
equal runs 3 "$(json runs found)"
equal 'the best of dp' '"dp"' "$(json best.0.method found)"
awk -v dp="$(json best.0.nmi found)" -v spkm="$(json best.1.nmi found)" -v k="$(json best.0.clusters found)" \
    'BEGIN { exit !(dp >= 0.99 && dp > spkm && k > 29 && k < 31.5) }' || broken "$(cat found)"
equal 'rows of the table' 15 "$(wc -l <out/synthetic.csv | tr -d ' ')"
if command -v xmllint >/dev/null; then
    xmllint --noout out/synthetic.svg out/sphere.svg || broken 'a figure is not well-formed'
fi
works asterism reproduce synthetic --quick --output again --threads 1
grep -q '^dp at [0-9]* degrees *0.99  ' ../out || broken "$(cat ../out)"
same out/synthetic.csv again/synthetic.csv
same out/synthetic.svg again/synthetic.svg

# The sampler: a row more, of which the rest does not depend.
works asterism reproduce synthetic --quick --runs 1 --samplers 1 --output sampled --json
equal 'the sampler' '"fsd"' "$(json best.3.method ../out)"
equal 'rows with the sampler' 16 "$(wc -l <sampled/synthetic.csv | tr -d ' ')"

# Ctrl-C keeps what is finished; 14 clusterings are one run.
if can_interrupt; then
    interrupted '^([2-9][0-9]|[0-9]+[0-9]{2}) of ' reproduce synthetic --quick --runs 100000 --output cut
    said | grep -q 'stopped after [0-9]* of 100000 runs; cut holds those' || broken "$(cat ../err)"
    equal 'rows of the table' 15 "$(wc -l <cut/synthetic.csv | tr -d ' ')"
    equal 'files' 3 "$(find cut -type f | wc -l | tr -d ' ')"
fi

fails 2 'reproduce takes synthetic, stream or nyu, not' asterism reproduce everything --output z
fails 2 'needs --output' asterism reproduce synthetic
fails 2 'needs --input' asterism reproduce stream --output z
fails 2 'is for reproduce stream' asterism reproduce synthetic --output z --input out
fails 2 'is for reproduce synthetic' asterism reproduce stream --output z --input out --quick

# The walk through the hallway: ddp keeps ids, dp by itself cannot.
asterism sample --scene hallway --frames 12 --size 320x240 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && exit 0; }
works asterism reproduce stream --input hall --intrinsics 262.5,262.5,159.5,119.5 --output walk --json
cp ../out found
equal 'files' 'shares.svg stream.csv' "$(cd walk && echo *)"
equal 'frames' 12 "$(json methods.2.frames found)"
awk -v dp="$(json methods.0.consistency found)" -v ddp="$(json methods.2.consistency found)" \
    'BEGIN { exit !(ddp > 0.9 && dp < 0.3) }' || broken "$(cat found)"
rm -r hall/truth
works asterism reproduce stream --input hall --intrinsics 262.5,262.5,159.5,119.5 --output walk
grep -q 'no truth beside these images' ../out || broken "$(cat ../out)"
mkdir empty
fails 1 'empty holds no depth images' asterism reproduce stream --input empty --camera kinect --output walk2
