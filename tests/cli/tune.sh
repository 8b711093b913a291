#!/bin/sh
# asterism tune and cluster --angle auto: what is recommended, and what is written.
. "$(dirname "$0")/common.sh"
asterism sample --points 3000 --dimension 3 --clusters 6 --kappa 300 --separation 60 --seed 3 --output x.npy --labels t.npy

works asterism tune x.npy --json --csv t.csv --svg t.svg --means m.npy
cp ../out found
equal clusters 6 "$(json clusters found)"
equal weak false "$(json weak found)"
angle=$(json angle found)
awk "BEGIN { exit !($angle > 10 && $angle < 60) }" || broken "it recommends $angle degrees"
grep -q 'finds 6 clusters' found || broken "no reason: $(cat found)"
equal 'one recommendation in the table' 1 "$(grep -c ',1$' t.csv)"
equal 'the row of it' 6 "$(awk -F, '$6 == 1 { print $2 }' t.csv)"
equal panels 3 "$(grep -c 'angle (degrees)' t.svg)"
if command -v xmllint >/dev/null; then
    xmllint --noout t.svg || broken 'the figure is not well-formed'
fi

# The table for people names the same angle, the means lead to the same clusters, and so does auto.
works asterism tune x.npy
grep -q '^Take --angle [0-9.]*: every angle from' ../out || broken "$(cat ../out)"
works asterism cluster x.npy --angle "$angle" --init m.npy --labels a.npy
works asterism cluster x.npy --angle auto --labels b.npy --json
same a.npy b.npy
equal 'the angle of auto' "$angle" "$(json angle ../out)"
works asterism measure --labels b.npy --truth t.npy --json
awk "BEGIN { exit !($(json nmi ../out) > 0.99) }" || broken "NMI $(json nmi ../out)"

# The same on one thread.
works asterism tune x.npy --json --threads 1
same ../out found

# Uniform points: nothing is well separated, and it says so.
asterism sample --points 2000 --dimension 30 --clusters 1 --kappa 0 --output u.npy
works asterism tune u.npy --from 100 --to 70 --step 5 --json
equal 'uniform points' true "$(json weak ../out)"
# One direction only: there is nothing to recommend, which is an answer for tune and a failure of auto.
printf '1 0 0\n1 0 0.01\n1 0.01 0\n' >one.txt
works asterism tune one.txt --from 90 --to 30 --step 10
grep -q '^No angle to recommend: ' ../out || broken "$(cat ../out)"
printf '1 0 0\n1 0 0\n' >same.txt
fails 1 'auto finds no angle' asterism cluster same.txt --angle auto
fails 1 'no means to write' asterism tune same.txt --means z.npy --csv z.csv

fails 2 'above --from' asterism tune x.npy --from 20 --to 30
fails 2 'from 0 to 180 or auto' asterism cluster x.npy --angle much
fails 2 '--shuffle cannot be combined with --angle auto' asterism cluster x.npy --angle auto --shuffle
fails 2 'is given twice|both write' asterism tune x.npy --csv z --svg z
fails 1 'nothing.txt' asterism tune nothing.txt

# Ctrl-C keeps the angles that are finished; cluster --angle auto has nothing to show for them.
can_interrupt || exit 0
asterism sample --points 60000 --dimension 3 --clusters 30 --kappa 30 --output long.npy
angles='^[0-9,]+ of [0-9,]+ angles, about .* left'
interrupted "$angles" tune long.npy --step 0.02 --csv cut.csv --json
said | grep -Eq 'stopped after [0-9]+ of 5751 angles; the result is of those' || broken "$(cat ../err)"
equal stopped true "$(json stopped ../out)"
rows=$(($(wc -l <cut.csv) - 1))
[ "$rows" -ge 1 ] && [ "$rows" -lt 5751 ] || broken "$rows rows"
said | grep -q "stopped after $rows of" || broken "not $rows: $(cat ../err)"
interrupted "$angles" cluster long.npy --angle auto --labels cut.npy
said | grep -q 'stopped; nothing was written' || broken "$(cat ../err)"
[ ! -e cut.npy ] || broken 'labels after all'
