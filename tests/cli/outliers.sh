#!/bin/sh
# cluster --outliers: a share, auto, the model's thresholds, what is refused.
. "$(dirname "$0")/common.sh"

asterism sample --points 3000 --dimension 32 --clusters 8 --kappa 100 --separation 50 --noise 0.15 --seed 2 \
    --output x.npy --labels t.npy --quiet
works asterism cluster x.npy --angle 70 --merge evidence --outliers auto --labels l.npy --model a.model --json
out=$(json outliers ../out)
[ "$out" -gt 380 ] && [ "$out" -lt 520 ] || broken "$out outliers instead of 450"
asterism measure --labels l.npy --truth t.npy --json >measured
json ari measured | awk '{ exit !($1 > 0.98) }' || broken "ARI $(json ari measured)"
for threads in 1 3; do
    works asterism cluster x.npy --angle 70 --merge evidence --outliers auto --labels b.npy --threads $threads --quiet
    same l.npy b.npy
done
works asterism assign x.npy --model a.model --json
again=$(json unassigned ../out)
[ "$again" -gt 380 ] && [ "$again" -lt 520 ] || broken "assign finds $again outliers, the run $out"
works asterism cluster x.npy --method spkm --clusters 8 --outliers 0.1 --json
share=$(json outliers ../out)
[ "$share" -gt 290 ] && [ "$share" -le 300 ] || broken "$share outliers instead of 300"
works asterism cluster x.npy --method spkm --clusters 8 --outliers 0 --json
equal 'outliers of share 0' 0 "$(json outliers ../out)"
works asterism cluster x.npy --method movmf --clusters 8 --outliers auto --json
works asterism cluster x.npy --angle 70 --outliers auto
grep -q 'outliers with label -1' ../out || broken 'the table does not say how many outliers there are'
fails 2 '--outliers must be a number from 0 to 1 or auto, not .1.5' asterism cluster x.npy --angle 70 --outliers 1.5
fails 2 '--outliers cannot be combined with --state' asterism cluster x.npy --angle 70 --outliers auto --state s
