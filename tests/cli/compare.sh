#!/bin/sh
# Common means: the command finds equal and different sets, and refuses what it cannot compare.
. "$(dirname "$0")/common.sh"

asterism sample --points 60 --dimension 3 --clusters 1 --kappa 30 --seed 3 --output all.csv
head -n 30 all.csv >a.csv
tail -n 30 all.csv >b.csv
tr ',' ' ' <b.csv | awk '{ printf "%s,%s,%s\n", -$1, -$2, -$3 }' >reversed.csv
asterism sample --points 40 --dimension 3 --clusters 1 --kappa 30 --seed 4 --output other.csv

works asterism compare a.csv b.csv --json
json common_mean.p ../out | awk '{ exit !($1 > 0.05) }' || broken "halves of one set differ: $(cat ../out)"
json common_mean.bootstrap_p ../out | awk '{ exit !($1 > 0.05) }' || broken 'halves of one set differ by bootstrap'
json equal_kappa.p ../out | awk '{ exit !($1 > 0.05) }' || broken 'halves of one set differ in kappa'
json angle ../out | awk '{ exit !($1 > 0 && $1 < 10) }' || broken "angle: $(json angle ../out)"
mv ../out first.json
works asterism compare a.csv b.csv --json --threads 3
same first.json ../out
works asterism compare a.csv reversed.csv --reversal --json
equal 'a reversal test' '"B"' "$(json class ../out)"
works asterism compare a.csv reversed.csv --axial --json
json common_mean.p ../out | awk '{ exit !($1 > 0.05) }' || broken 'axes differ from their opposites'
works asterism compare a.csv other.csv --json
json common_mean.p ../out | awk '{ exit !($1 < 0.001) }' || broken 'different sets do not differ'
json f_test.p ../out | awk '{ exit !($1 < 1e-6) }' || broken 'different sets do not differ by F'
evil=$(printf 'e\033[31m\302\233\342\200\256.csv')
cp other.csv "$evil"
works asterism compare a.csv "$evil"
grep -q 'e?' ../out || broken "no name: $(cat ../out)"
if LC_ALL=C grep -q "$(printf '[\033\302\342]')" ../out; then
    broken 'a file name reaches the terminal raw'
fi
works asterism compare a.csv b.csv other.csv
grep -q 'the largest angle between two means' ../out || broken "no angle of three sets: $(cat ../out)"
printf '%s\n' 'dip,dipdir' 30,45 31,47 29,44 33,49 >p.csv
printf '%s\n' 45,30 47,32 44,28 225,-30 >q.csv
works asterism compare p.csv q.csv --dip-direction --axial --json --quiet
near 'dip direction of the first set' 46.2 "$(json sets.0.dip_direction ../out)" 0.2

fails 2 'compare needs two files or more' asterism compare a.csv
fails 1 'p.csv: its header says' asterism compare a.csv p.csv
printf '1 2\n3 4\n' >plane.txt
fails 1 'plane.txt: has directions in 2 dimensions, and compare needs three' asterism compare a.csv plane.txt
printf '1 2 3\n' >one.txt
fails 1 'one.txt: set 2 .* has 1 direction, and 2 are needed' asterism compare a.csv one.txt
printf '1 2 3\n2 4 6\n' >equal.txt
fails 1 'equal.txt: set 2 .* has equal directions only' asterism compare a.csv equal.txt
three_axes | sed '3s/1/inf/' | tool npy f4 c >infinite.npy
fails 1 'infinite.npy: set 3 .counting from 1.: row 3 .counting from 1. holds an infinity' asterism compare a.csv a.csv infinite.npy
fails 1 'missing.csv' asterism compare a.csv missing.csv
fails 2 'reversal cannot be combined with --axial' asterism compare a.csv b.csv --reversal --axial
fails 2 'simulations' asterism compare a.csv b.csv --simulations 5

# Normal and reversed directions of a real site, where the data are at hand.
data=$SOURCE/../shared/data/geology
[ -d "$data" ] || skip 'the real data: there is no ../shared/data beside the project'
awk '$2 > 0' "$data/pmagpy_revtest_example.txt" >normal.txt
awk '$2 <= 0' "$data/pmagpy_revtest_example.txt" >reverse.txt
works asterism compare normal.txt reverse.txt --trend-plunge --reversal --json
json class ../out
