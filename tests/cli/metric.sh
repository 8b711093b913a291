#!/bin/sh
# --metric: a linear map, learned from the rows, that makes clusters round.
. "$(dirname "$0")/common.sh"

# Clusters that are long along four axes, in a cone around all ones.
asterism sample --points 900 --dimension 12 --clusters 6 --kappa 200 --separation 60 --seed 3 --output x.npy --labels t.npy --quiet
od -An -v -tf4 -w48 -j128 x.npy | awk '{
    for (i = 1; i <= NF; i++)
        printf("%s%.9g", i > 1 ? "," : "", $i + 1 + (i < 5 ? 0.5 * sin(NR * NR * i * 0.7) : 0))
    print "" }' >x.csv
agreement() {
    asterism measure --labels "$1" --truth t.npy --json >measured
    json ari measured
}

works asterism cluster x.csv --angle 75 --merge evidence --order content --labels plain.txt --json
equal 'metric' '"plain"' "$(json metric ../out)"
equal 'centered' false "$(json centered ../out)"
agreement plain.txt | grep -q '^0\.[0-7]' || broken "the plain metric has the ARI $(agreement plain.txt)"
works asterism cluster x.csv --angle 75 --merge evidence --order content --metric local --labels l.txt --means m.npy --json --quiet
equal 'metric' '"local"' "$(json metric ../out)"
equal 'centered' true "$(json centered ../out)"
agreement l.txt | grep -Eq '^(1|0\.9)' || broken "the local metric has the ARI $(agreement l.txt)"
for way in '--threads 1' '--threads 3'; do
    # shellcheck disable=SC2086
    works asterism cluster x.csv --angle 75 --merge evidence --order content --metric local --labels other.txt --means n.npy --quiet $way
    same l.txt other.txt
    same m.npy n.npy
done
works asterism cluster x.csv --angle 75 --metric plain --labels a.txt
works asterism cluster x.csv --angle 75 --metric auto --labels b.txt
same a.txt b.txt
works asterism cluster x.csv --method spkm --clusters 6 --metric local --report r.html
grep -q 'metric: local' ../out || broken 'the table does not name the metric'
works asterism cluster x.csv --method movmf --clusters 6 --restarts 5 --metric local --memberships p.npy --labels l.txt --quiet
agreement l.txt | grep -Eq '^(1|0\.9)' || broken "the mixture with the local metric has the ARI $(agreement l.txt)"

works asterism cluster x.csv --angle auto --metric local --labels l.txt --json --quiet
equal 'metric of --angle auto --metric local' '"local"' "$(json metric ../out)"
agreement l.txt | grep -Eq '^(1|0\.[89])' || broken "--angle auto --metric local has the ARI $(agreement l.txt)"
works asterism cluster x.csv --angle auto --metric plain --json --quiet
equal 'metric of --angle auto --metric plain' '"plain"' "$(json metric ../out)"
works asterism cluster x.csv --angle auto --center --center-file c.npy --json --quiet
equal 'metric of --angle auto --center' '"plain"' "$(json metric ../out)"

fails 2 '--metric must be' asterism cluster x.csv --angle 60 --metric round
fails 2 '--metric cannot be combined with --axial' asterism cluster x.csv --angle 60 --metric local --axial
fails 2 'centres the rows itself' asterism cluster x.csv --angle 60 --metric local --center
fails 2 'leave --init out' asterism cluster x.csv --angle 60 --metric local --init m.npy
fails 2 'leave one of them out' asterism cluster x.csv --angle 60 --metric local --state s
fails 2 '--metric is for' asterism cluster x.csv --method dpmeans --angle 60 --metric local
fails 2 '--metric is for' asterism cluster x.mtx --angle 60 --metric local
