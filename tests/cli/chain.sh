#!/bin/sh
# From a sample to its clusters and back to the truth, ten times: 30 clusters, every time, and nearly all points right.
. "$(dirname "$0")/common.sh"

for seed in 1 2 3 4 5 6 7 8 9 10; do
    asterism sample --points 300000 --dimension 3 --clusters 30 --kappa 400 --separation 30 --seed $seed \
        --output x.npy --labels t.npy && asterism cluster x.npy --angle 25 --labels z.npy --json >cluster.json &&
        asterism measure --labels z.npy --truth t.npy --json >measure.json
    equal "clusters with seed $seed" 30 "$(json clusters cluster.json)"
    json nmi measure.json | awk '{ exit !($1 > 0.999) }' || broken "NMI with seed $seed: $(json nmi measure.json)"
done
