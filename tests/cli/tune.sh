#!/bin/sh
# asterism tune and cluster --angle auto: what is recommended, and what is written.
. "$(dirname "$0")/common.sh"
asterism sample --points 3000 --dimension 3 --clusters 6 --kappa 300 --separation 60 --seed 3 --output x.npy --labels t.npy

# recommended FILE: the command there, without the quotes of JSON.
recommended() {
    json command "$1" | sed 's/^"//; s/"$//'
}

# Runs the command that was recommended, and says how many clusters it finds; labels.npy receives their labels.
run_recommended() {
    command=$(recommended "$1")
    eval "$command --json --labels labels.npy" >result || broken "$command fails"
    json clusters result
}

# warns COMMAND...: works, and says on stderr that nothing stands out.
warns() {
    "$@" >../out 2>../err || broken "$* exited with $?: $(cat ../err)"
    equal 'lines on stderr' 1 "$(wc -l <../err)"
    grep -q '^asterism: warning: nothing stands out' ../err || broken "no warning: $(cat ../err)"
}

works asterism tune x.npy --json
cp ../out found
equal clusters 6 "$(json clusters found)"
equal weak false "$(json weak found)"
equal 'no merge' null "$(json merge_to found)"
angle=$(json angle found)
awk "BEGIN { exit !($angle > 10 && $angle < 60) }" || broken "it recommends $angle degrees"
awk "BEGIN { exit !($(json evidence found) > 1000 && $(json excess found) > 0.2) }" || broken "$(cat found)"
grep -q 'finds 6 clusters' found || broken "no reason: $(cat found)"
for key in command silhouette from to limit reason points missing leaf_angle cut; do
    grep -q "\"$key\": " found || broken "no $key"
done
grep -q '"merged_silhouette": ' found && grep -q '"peak": true' found || broken 'no tables'
# The evidence of every angle: none for one cluster; for the right ones about that of the best level.
grep -o '{"angle": [^}]*}' found | sed 's/.*"clusters": \([0-9]*\).*"evidence": \([^,}]*\).*/\1 \2/' >evidence
awk -v best="$(json evidence found)" '($1 == 1 && $2 != 0) || $2 > 1.001 * best || ($1 == 6 && $2 < 0.9 * best) { bad = 1 }
    END { exit bad || NR < 10 }' evidence || broken "the evidence of the angles: $(cat evidence)"

# The table for people names the same command. It finds what was described, and so does auto.
works asterism tune x.npy
grep -q "^Take --angle $angle --order content: every angle from" ../out || broken "$(cat ../out)"
grep -q "^    asterism cluster x.npy --angle $angle --order content" ../out || broken "$(cat ../out)"
equal 'clusters of the command' 6 "$(run_recommended found)"
works asterism cluster x.npy --angle "$angle" --order content --labels a.npy
same a.npy labels.npy
works asterism cluster x.npy --angle auto --labels b.npy --json
same a.npy b.npy
equal 'the angle of auto' "$angle" "$(json angle ../out)"
equal 'auto is not weak' false "$(json weak ../out)"
works asterism measure --labels b.npy --truth t.npy --json
awk "BEGIN { exit !($(json nmi ../out) > 0.99) }" || broken "NMI $(json nmi ../out)"
works asterism cluster x.npy --angle auto --order content --seed 7 --json
equal 'with a seed' 6 "$(json clusters ../out)"

# The same on one thread, and the recommendation with another seed.
works asterism tune x.npy --json --threads 1
same ../out found
works asterism tune x.npy --json --seed 9
equal 'the angle with a seed' "$angle" "$(json angle ../out)"
equal 'the command has the seed' "asterism cluster x.npy --seed 9 --angle $angle --order content" \
    "$(recommended ../out)"

# Neighbouring clusters: no range of angles keeps its number, so it merges. Reading options are part of the command.
asterism sample --points 2000 --dimension 20 --clusters 8 --kappa 60 --seed 2 --output 'm x.txt' --labels mt.txt
works asterism tune 'm x.txt' --columns 1-20 --json
cp ../out found
equal 'merged clusters' 8 "$(json clusters found)"
equal 'clusters of the command with reading options' "$(json clusters found)" "$(run_recommended found)"
works asterism cluster 'm x.txt' --columns 1-20 --angle auto --labels b.npy --json
same labels.npy b.npy
equal 'auto finds the same' "$(json clusters found)" "$(json clusters ../out)"
works asterism cluster 'm x.txt' --angle auto --merge-to 3 --json
equal 'a merge that was typed' 3 "$(json clusters ../out)"

# Axes.
asterism sample --points 2000 --dimension 3 --clusters 4 --kappa 400 --separation 50 --axial --seed 5 --output ax.npy
works asterism tune ax.npy --axial --json
cp ../out found
equal axes 4 "$(json clusters found)"
equal 'clusters of the command for axes' 4 "$(run_recommended found)"

# Uniform points: nothing stands out, and it says so. auto takes the angle and warns.
asterism sample --points 1000 --dimension 3 --clusters 1 --kappa 0 --output u.npy
works asterism tune u.npy --json
cp ../out found
equal 'uniform points' true "$(json weak found)"
equal 'evidence of uniform points' 0.0 "$(json evidence found)"
equal 'clusters of the command for weak points' "$(json clusters found)" "$(run_recommended found)"
works asterism tune u.npy
grep -q '^The least bad options are --angle .*, since nothing stands out' ../out || broken "$(cat ../out)"
warns asterism cluster u.npy --angle auto --labels b.npy --json
same labels.npy b.npy
equal 'auto on uniform points' true "$(json weak ../out)"
# Axes of uniform points, and one direction only.
works asterism tune u.npy --axial --json
equal 'uniform axes' true "$(json weak ../out)"
printf '1 0 0\n1 0 0\n' >same.txt
works asterism tune same.txt --json
equal 'one direction' 1 "$(json clusters ../out)"
equal 'one direction is weak' true "$(json weak ../out)"
works asterism tune same.txt
grep -q 'since nothing stands out: all points have the same direction' ../out || broken "$(cat ../out)"
equal 'lines of angles that all find one cluster' 3 "$(grep -c '^ .* 1' ../out)"
printf '1,0,0\n' >one.csv
works asterism tune one.csv
grep -q 'since nothing stands out: there is one point' ../out || broken "$(cat ../out)"
warns asterism cluster same.txt --angle auto --json
equal 'one cluster' 1 "$(json clusters ../out)"
printf '0 0 0\nnan 0 1\n' >none.txt
fails 1 'no usable row' asterism tune none.txt
fails 1 'no usable row' asterism cluster none.txt --angle auto

fails 2 'above --from' asterism tune x.npy --from 20 --to 30
fails 2 'from 0 to 180 or auto' asterism cluster x.npy --angle much
fails 2 '--shuffle cannot be combined with --angle auto' asterism cluster x.npy --angle auto --shuffle
fails 2 'runs in content order' asterism cluster x.npy --angle auto --order random
fails 1 'nothing.txt' asterism tune nothing.txt

# Rows in 12 dimensions whose clusters are long along some axes: auto learns a metric, and its peaks are the layers.
/usr/bin/python3 - <<'EOF' || skip 'the metric and layers: python3-numpy is missing'
import numpy as np
random = np.random.default_rng(7)
scale = np.arange(1, 33) ** -0.8
groups = random.standard_normal((3, 32)) * scale
centers = np.repeat(groups, 4, 0) * 0.8 + random.standard_normal((12, 32)) * scale * 0.7
truth = np.repeat(np.arange(12), 60)
np.save("long.npy", (centers[truth] + random.standard_normal((720, 32)) * scale * 0.45 + 1).astype("f4"))
np.save("long_truth.npy", truth.astype("i4"))
EOF
works asterism tune long.npy --json
cp ../out found
equal 'the metric of long clusters' '"local"' "$(json metric found)"
equal 'clusters of the command with a metric' "$(json clusters found)" "$(run_recommended found)"
asterism measure --labels labels.npy --truth long_truth.npy --json >measured
equal 'ARI with the truth' true "$(awk "BEGIN { print ($(json ari measured) >= 0.95) ? \"true\" : \"false\" }")"
works asterism tune long.npy --min-clusters 3 --max-clusters 5 --json
case $(json clusters ../out) in [345]) ;; *) broken "clusters beyond the limits: $(json clusters ../out)" ;; esac
works asterism cluster long.npy --angle auto --layers layers.json --layer-labels layers.npy --labels a.npy --quiet
works asterism cluster long.npy --angle auto --layers whole.json --threads 1 --quiet
if [ "$VIEWER" = ON ]; then
    works asterism cluster long.npy --angle auto --layers whole.json --report layers.html --quiet
    grep -Eq '"layers": \[\{"clusters": [0-9]+, "stability": [0-9.]+, "excess": [0-9.]+, "parents": \[.*"sizes": \[[0-9, ]+\], "of":' \
        layers.html || broken 'the report has no layers'
fi
/usr/bin/python3 - <<'EOF' || broken 'layers are not nested, or differ from the peaks of tune'
import json
import numpy as np
layers, whole = json.load(open("layers.json"))["layers"], json.load(open("whole.json"))["layers"]
labels = np.load("layers.npy")
assert [one["clusters"] for one in layers] == [one["clusters"] for one in json.load(open("found"))["peaks"]]
assert labels.shape == (len(layers), 720) and len(layers) > 0
for i, (one, other) in enumerate(zip(layers, whole)):
    assert "labels" not in one and other["labels"] == labels[i].tolist()
    assert sorted(set(other["labels"])) == list(range(one["clusters"])) and one["stability"] > 0.3
    assert one["parents"] == other["parents"] and (i > 0) == bool(one["parents"])
    if i > 0:
        assert all(one["parents"][a] == b for a, b in zip(labels[i], labels[i - 1]))
EOF
fails 2 'layers needs --angle auto' asterism cluster long.npy --angle 40 --layers layers.json
fails 2 'the name must end in .json' asterism cluster long.npy --angle auto --layers layers.npy
fails 2 'is above --max-clusters' asterism tune long.npy --min-clusters 9 --max-clusters 5
fails 2 'not for axial rows' asterism tune long.npy --axial --metric local
fails 2 'leave --center out' asterism tune long.npy --center --metric local

# A metric that was typed, or rows that are centred: the recommended command runs, and finds what tune says.
for options in '--metric local' '--metric auto' '--metric plain' --center; do
    works asterism tune long.npy $options --json --quiet
    cp ../out typed
    equal "clusters of the command with $options" "$(json clusters typed)" "$(run_recommended typed)"
done

# Ctrl-C: nothing is written.
can_interrupt || skip 'Ctrl-C: this env has no --default-signal'
asterism sample --points 4000 --dimension 3 --clusters 30 --kappa 30 --output long.npy
share='^[0-9]+ of 100 percent, about .* left'
interrupted "$share" tune long.npy --step 0.02 --json
said | grep -q 'stopped; nothing was written' || broken "$(cat ../err)"
