#!/bin/sh
# asterism sample: the same seed draws the same points; what was asked for is what is drawn.
. "$(dirname "$0")/common.sh"

draw() {
    seed=$1
    shift
    works asterism sample --points 2000 --dimension 5 --clusters 7 --kappa 40 --separation 50 --seed "$seed" "$@"
}
draw 1 --output x.npy --labels t.npy --means m.npy
draw 1 --output x2.npy --labels t2.npy --means m2.npy --threads 2
same x.npy x2.npy
same t.npy t2.npy
same m.npy m2.npy
draw 2 --output x2.npy
cmp -s x.npy x2.npy && broken 'another seed draws the same points'

draw 1 --noise 0.25 --output noise.csv --labels noise.txt --json
equal 'keys' 'points dimension clusters kappa noise' "$(grep -o '"[a-z]*":' ../out | tr -d '":' | paste -sd' ' -)"
equal 'noise in the labels' "$(json noise ../out)" "$(grep -c '^-1$' noise.txt)"
awk '/^-1$/ { n++ } END { exit !(n > 350 && n < 650) }' noise.txt || broken 'not about a quarter is noise'
equal rows 2000 "$(wc -l <noise.csv | tr -d ' ')"
equal columns 5 "$(awk -F, 'NR == 1 { print NF }' noise.csv)"
awk -F, '{ s = 0; for (i = 1; i <= NF; i++) s += $i * $i; if (s < 0.99999 || s > 1.00001) exit 1 }' noise.csv ||
    broken 'points are no unit vectors'

# From one command into the other.
asterism sample --points 300 --dimension 3 --clusters 3 --kappa 500 --separation 60 --output - --quiet |
    asterism cluster - --format txt --angle 30 --json >chain.json
equal 'clusters through a pipe' 3 "$(json clusters chain.json)"

fails 1 'apart' asterism sample --points 9 --dimension 2 --clusters 50 --kappa 9 --separation 90 --output bad.npy
if [ -z "$SANITIZE" ]; then # sanitizers want address space for themselves
    # shellcheck disable=SC2016
    fails 1 'no memory for 300000000 points' sh -c 'ulimit -v 1000000; exec "$0" "$@"' \
        "$ASTERISM" sample --points 300000000 --dimension 3 --clusters 2 --kappa 9 --output bad.npy
fi
