#!/bin/sh
# The methods of cluster beyond dp and spkm: what they find, what they write, and that they find it again.
. "$(dirname "$0")/common.sh"

asterism sample --points 900 --dimension 3 --clusters 3 --kappa 100 --separation 60 --seed 4 --output x.npy --labels truth.npy >/dev/null

# more A B WHAT: A is the larger number.
more() {
    [ "$(awk "BEGIN { print ($1 > $2) }")" = 1 ] || broken "$3: $1 is not more than $2"
}

# All of them find three clusters that far apart, on any number of threads.
for method in 'movmf --clusters 3' 'movmf --clusters 3 --hard' 'ospkm --clusters 3 --max-iterations 10' \
    'mbspkm --clusters 3' 'mbspkm --clusters 3 --batch 64 --seed 5' \
    'fsd --clusters 8 --concentration 0.5 --max-iterations 1000' 'crp --max-iterations 200' 'dpmeans --angle 30'; do
    # shellcheck disable=SC2086
    works asterism cluster x.npy --method $method --json --labels labels.npy --trace trace.csv
    equal method "\"${method%% *}\"" "$(json method ../out)"
    works asterism measure --labels labels.npy --truth truth.npy --json
    more "$(json nmi ../out)" 0.95 "the NMI of $method"
    equal 'the head of the trace' 'run,pass,clusters,changed,objective,seconds' "$(head -n 1 trace.csv)"
    more "$(wc -l <trace.csv)" 1 "the trace of $method"
    # shellcheck disable=SC2086
    works asterism cluster x.npy --method $method --quiet --labels again.npy --threads 1
    same labels.npy again.npy
done

# What looked at some points only says what is left to gain; all points count.
works asterism cluster x.npy --method mbspkm --clusters 3 --batch 90 --seed 2 --json --labels labels.npy
more "$(json improvement ../out)" -1e-9 'what is left to gain'
works asterism cluster x.npy --method mbspkm --clusters 3 --batch 90
grep -q 'after [0-9]* batches' ../out || broken "$(cat ../out)"
grep -q 'one more iteration over all of them would add' ../out || broken "$(cat ../out)"
works asterism cluster x.npy --angle 30 --sample 100 --json --labels labels.npy
equal clusters 3 "$(json clusters ../out)"
works asterism measure --labels labels.npy --truth truth.npy --json
equal 'the NMI with a sample' 1.0 "$(json nmi ../out)"
works asterism cluster x.npy --angle 30 --sample 1000 --json
json improvement ../out >/dev/null 2>&1 && broken 'a sample of all points leaves nothing to gain'
# A lone direction that no sample of 3 has seen founds its own cluster.
{ yes '1 0 0' | head -n 400; echo '0 1 0'; } >lone.txt
works asterism cluster lone.txt --angle 20 --sample 3 --labels labels.txt --json
equal 'the label of a lone direction' 1 "$(tail -n 1 labels.txt)"

# Levels say what they cost, and refuse what they are not for.
works asterism cluster x.npy --method spkm --clusters 20 --levels 2 --json
equal 'the clusters in levels' 20 "$(json clusters ../out)"
equal levels 2 "$(json levels ../out)"
more "$(json level_loss ../out)" -1e-9 'what levels lose'
more "$(json level_misplaced ../out)" -1e-9 'who levels misplace'
works asterism cluster x.npy --method spkm --clusters 20 --levels 2
grep -q '2 levels: .* costs .*% of their objective' ../out || broken "$(cat ../out)"
fails 2 'levels is for --method spkm, not dp' asterism cluster x.npy --angle 20 --levels 2
fails 2 'levels must be a whole number from 1 to 4' asterism cluster x.npy --method spkm --clusters 20 --levels 9
fails 1 'clusters 901 is more than the 900 points' asterism cluster x.npy --method spkm --clusters 901 --levels 2
fails 2 'state' asterism cluster x.npy --method spkm --clusters 20 --levels 2 --state state.bin

# A mixture: likelihood, criterion, a kappa and a share for each component, memberships that add up to one.
works asterism cluster x.npy --method movmf --clusters 3 --json --memberships m.txt
for field in log_likelihood bic cluster.2.kappa; do
    json $field ../out | grep -Eq '^-?[0-9]' || broken "$field is no number: $(json $field ../out)"
done
more "$(json cluster.0.kappa ../out)" 80 kappa
more 120 "$(json cluster.0.kappa ../out)" kappa
more 0.4 "$(json cluster.0.share ../out)" share
equal 'rows of memberships that add up to one' 900 \
    "$(awk 'NF == 3 && ($1 + $2 + $3 - 1) ^ 2 < 1e-10' m.txt | wc -l | tr -d ' ')"
works asterism cluster x.npy --method spkm --clusters 3 --json
json bic ../out >/dev/null 2>&1 && broken 'k-means has a criterion'

# A sampler: every 10th sweep after 50 of 100, one row each; the trace has all.
works asterism cluster x.npy --method crp --max-iterations 100 --burn-in 50 --sample-every 10 --samples s.txt \
    --trace trace.csv --quiet
equal samples 5 "$(wc -l <s.txt | tr -d ' ')"
equal 'labels of a sample' 900 "$(head -n 1 s.txt | wc -w | tr -d ' ')"
equal 'lines of the trace' 101 "$(wc -l <trace.csv | tr -d ' ')"
fails 1 '--samples has none to write' asterism cluster x.npy --method crp --max-iterations 10 --burn-in 50 --samples t.npy

# Digits: ten classes of 64 counts.
digits=$SOURCE/../shared/data/digits
if [ -d "$digits" ]; then
    file=$(find "$digits" -name '*.gz' | head -n 1)
    gzip -dc "$file" | awk -F, '{ print int($65) }' >truth.txt
    works asterism cluster "$file" --columns 1-64 --method movmf --clusters 10 --restarts 10 --quiet --labels labels.txt
    works asterism measure --labels labels.txt --truth truth.txt --json
    more "$(json nmi ../out)" 0.70 'the NMI of the digits'
else
    echo 'no digits: ../shared/data is not there'
fi

# A limit of passes that no run reaches takes no memory.
printf '1 0 0\n0 1 0\n0 0 1\n1 .1 0\n0 1 .1\n.1 0 1\n' >six.txt
for method in 'dp --angle 20' 'spkm --clusters 3' 'dpmeans --angle 20' 'movmf --clusters 2'; do
    # shellcheck disable=SC2086
    works asterism cluster six.txt --method $method --max-iterations 1000000000 --json
    equal "whether $method converged" true "$(json converged ../out)"
done

# A mixture that finds its number, with a background; and a chain, which never converges.
works asterism sample --points 1100 --dimension 5 --clusters 3 --kappa 100 --separation 60 --noise 0.1 --seed 3 --output noisy.npy
works asterism cluster noisy.npy --method movmf --clusters auto --background --json
equal 'clusters found' 3 "$(json clusters ../out)"
near 'the share of the background' 0.1 "$(json background ../out)" 0.03
near 'the outliers' 110 "$(json outliers ../out)" 20
for method in fsd crp; do
    works asterism cluster noisy.npy --method $method --max-iterations 30 --json --quiet
    equal "whether $method converged" null "$(json converged ../out)"
    more "$(json effective_samples ../out)" 0.9 "the effective samples of $method"
done

# Points of the background count where a component takes its share of all points.
works asterism sample --points 1000 --dimension 3 --clusters 1 --kappa 300 --noise 0.4 --seed 2 --output noisy.npy
works asterism cluster noisy.npy --method movmf --clusters 1 --background --json
near 'points of the component' "$(json cluster.0.share ../out | awk '{ print 1000 * $1 }')" \
    "$(json cluster.0.effective ../out)" 0.01
equal 'uniformity without the points of the background' null "$(json rayleigh.p ../out)"
