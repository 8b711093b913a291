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
equal 'rows of the table' 20 "$(wc -l <out/synthetic.csv | tr -d ' ')"
well_formed out/synthetic.svg out/sphere.svg
works asterism reproduce synthetic --quick --output again --threads 1
grep -q '^dp at [0-9]* degrees *1 run *[0-9.]* *0.99  ' ../out || broken "$(cat ../out)"
same out/synthetic.csv again/synthetic.csv
same out/synthetic.svg again/synthetic.svg

# dp and spkm with the same number of restarts: the gap closes. The samplers: two rows, on one data set.
awk -v dp="$(json best.3.nmi found)" -v spkm="$(json best.5.nmi found)" -v one="$(json best.2.nmi found)" \
    'BEGIN { exit !(spkm > one && dp - spkm < 0.02) }' || broken "$(cat found)"
equal 'restarts' '"dp" 1 "dp" 5 "spkm random" 5 "spkm k-means++" 5' "$(json best.0.method found) $(
    json best.0.restarts found) $(json best.3.method found) $(json best.3.restarts found) $(
    json best.4.method found) $(json best.4.restarts found) $(json best.5.method found) $(json best.5.restarts found)"
equal 'the samplers' '"fsd" 200 1 "crp" 100 1' "$(json best.6.method found) $(json best.6.sweeps found) $(
    json best.6.runs found) $(json best.7.method found) $(json best.7.sweeps found) $(json best.7.runs found)"
works asterism reproduce synthetic --quick --runs 1 --restarts 2 --samplers 0 --output few --json
equal 'restarts' 2 "$(json best.5.restarts ../out)"
equal 'rows without samplers' 18 "$(wc -l <few/synthetic.csv | tr -d ' ')"
head -n 15 few/synthetic.csv | cut -d, -f1-3 >few/first
head -n 15 out/synthetic.csv | cut -d, -f1-3 | cmp - few/first || broken 'the rows depend on the samplers'

# Ctrl-C keeps what is finished; 17 clusterings are one run.
if can_interrupt; then
    interrupted '^([3-9][0-9]|[0-9,]+[0-9]{2}) of [0-9,]+ clusterings' reproduce synthetic --quick --runs 100000 --samplers 0 --output cut
    said | grep -q 'stopped after [0-9]* of 100000 runs; cut holds those' || broken "$(cat ../err)"
    equal 'rows of the table' 18 "$(wc -l <cut/synthetic.csv | tr -d ' ')"
    equal 'files' 3 "$(find cut -type f | wc -l | tr -d ' ')"
else
    skip_part 'Ctrl-C: this env has no --default-signal'
fi

fails 2 'reproduce takes synthetic, stream or nyu, not' asterism reproduce everything --output z
fails 2 'needs --output' asterism reproduce synthetic
fails 2 'needs --input' asterism reproduce stream --output z
fails 2 'is for reproduce stream' asterism reproduce synthetic --output z --input out
fails 2 'is for reproduce synthetic' asterism reproduce stream --output z --input out --quick

# The walk through the hallway: ddp keeps ids, dp by itself cannot.
asterism sample --scene hallway --frames 12 --size 320x240 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'the walk: this build has no libpng'; }
works asterism reproduce stream --input hall --intrinsics 262.5,262.5,159.5,119.5 --output walk --json
cp ../out found
equal 'files' 'shares.svg stream.csv' "$(cd walk && echo *)"
equal 'frames' 12 "$(json methods.2.frames found)"
# row NUMBER: method, tracker, angle and poses.
row() {
    echo "$(json "methods.$1.method" found) $(json "methods.$1.tracker" found) $(json "methods.$1.angle" found) $(
        json "methods.$1.poses" found)"
}
equal 'the first row' '"spkm" "K = 5" null false' "$(row 0)"
equal "the paper's tracker" '"ddp" "beta 1e5" 100.0 false' "$(row 7)"
equal 'the last row' '"ddp" "drift 1" 100.0 true' "$(row 14)"
equal 'our tracker with poses' '"ddp" "drift 1" 75.0 true' "$(row 11)"
awk -v dp="$(json methods.1.consistency found)" -v ddp="$(json methods.11.consistency found)" \
    'BEGIN { exit !(ddp > 0.9 && dp < 0.3) }' || broken "$(cat found)"
# dp restarts once for each cluster of a frame, at least; sdp seldom. Only the paper's rows have its times.
equal 'schedules' '"ordered" "oir"' "$(json methods.1.schedule found) $(json methods.5.schedule found)"
awk -v dp="$(json methods.5.restarts found)" -v k="$(json methods.5.clusters found)" \
    -v sdp="$(json methods.6.restarts found)" 'BEGIN { exit !(dp >= k && sdp < dp) }' || broken "$(cat found)"
equal "the paper's times" 'null 28.4 12.8 20.4 null' "$(json methods.1.paper found) $(json methods.5.paper found) $(
    json methods.6.paper found) $(json methods.7.paper found) $(json methods.8.paper found)"
equal 'bands of sdp and ddp' 4 "$(grep -c 'share of each cluster' walk/shares.svg)"
rm -r hall/truth
mv hall/poses.txt .
works asterism reproduce stream --input hall --intrinsics 262.5,262.5,159.5,119.5 --angle 100 --output flat --json
cp ../out found
equal 'the last row without poses, at one angle' '"ddp" "drift 1" 100.0 false' "$(row 4)"
equal 'methods' 5 "$(grep -o '"method"' found | wc -l | tr -d ' ')"
mv poses.txt hall
works asterism reproduce stream --input hall --intrinsics 262.5,262.5,159.5,119.5 --output walk
grep -q 'no truth beside these images' ../out || broken "$(cat ../out)"
mkdir empty
fails 1 'empty: the folder is empty' asterism reproduce stream --input empty --camera kinect --output walk2
