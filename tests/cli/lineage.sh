#!/bin/sh
# cluster --previous: labels, means and a model keep ids; new clusters get new ones; what is refused.
. "$(dirname "$0")/common.sh"

asterism sample --points 900 --dimension 8 --clusters 6 --kappa 200 --separation 60 --seed 3 --output x.npy \
    --labels t.npy --quiet
asterism sample --points 400 --dimension 3 --clusters 3 --kappa 30 --seed 5 --output y.npy --quiet
works asterism cluster x.npy --angle 40 --labels l.npy --means m.npy --model a.model --quiet
for previous in l.npy m.npy; do
    works asterism cluster x.npy --angle 40 --order random --seed 7 --previous $previous --labels again.npy --quiet
    same l.npy again.npy
done
for threads in 1 3; do
    works asterism cluster x.npy --angle 40 --previous a.model --labels b$threads.npy --model b$threads.model \
        --threads $threads --json
    grep -q '"lineage": \[{"id": 0, "event": "kept", "from": \[0\]}' ../out || broken "no lineage: $(tail -1 ../out)"
done
same b1.npy b3.npy
same b1.model b3.model
works asterism assign x.npy --model b1.model --labels again.npy --quiet
same b1.npy again.npy

# A topic that the model has not seen, then one that is gone; the ids of gone ones are not used again.
awk 'BEGIN { srand(2); for (k = 0; k < 3; k++) for (i = 0; i < 60; i++) { for (d = 0; d < 5; d++)
    printf "%.4f ", (d == k) + 0.1 * (rand() - 0.5); print "" } }' >three.txt
head -n 120 three.txt >two.txt
tail -n 120 three.txt >later.txt
works asterism cluster two.txt --angle 30 --model two.model --quiet
works asterism cluster three.txt --angle 30 --previous two.model --model three.model --labels three.npy --json
grep -q '{"id": 2, "event": "born", "from": \[\]}' ../out || broken "no birth: $(tail -1 ../out)"
works asterism cluster later.txt --angle 30 --previous three.model --model later.model --json
grep -q '{"id": 0, "event": "died", "from": \[0\]}, {"id": 1, "event": "kept", "from": \[1\]}' ../out ||
    broken "nobody died: $(tail -1 ../out)"
grep -q '"id": 2, "size": 60' ../out || broken 'the id in JSON is not kept'
works asterism cluster three.txt --angle 30 --previous later.model --json
grep -q '{"id": 3, "event": "born", "from": \[\]}' ../out || broken "an id was used again: $(tail -1 ../out)"
works asterism cluster three.txt --angle 120 --previous three.npy --json
grep -q '"event": "merged", "from": \[0, 1, 2\]}' ../out || broken "nothing merged: $(tail -1 ../out)"
works asterism cluster three.txt --angle 30 --previous two.model
grep -q 'clusters of two.model: 2 kept, 1 born' ../out || broken 'the table has no lineage'

# ---- What is refused -------------------------------------------------------------------------------------------------
fails 1 'absent: cannot be opened' asterism cluster x.npy --angle 40 --previous absent
fails 1 'a.model is a model of 8 dimensions, but the points have 3' asterism cluster y.npy --angle 40 --previous a.model
fails 1 'l.npy has 900 labels, but y.npy has 400 points' asterism cluster y.npy --angle 40 --previous l.npy
fails 1 'm.npy has means of 8 dimensions, but the points have 3' asterism cluster y.npy --angle 40 --previous m.npy
head -c 300 a.model >cut.model
fails 1 'cut.model: the model' asterism cluster x.npy --angle 40 --previous cut.model
fails 2 'leave --center out' asterism cluster x.npy --angle 40 --center --previous a.model
fails 2 '--previous cannot be combined with --state' asterism cluster x.npy --angle 40 --previous l.npy --state s
asterism cluster x.npy --method dpmeans --angle 40 --model e.model --quiet
fails 1 'the previous model is one of components or lengths' asterism cluster x.npy --angle 40 --previous e.model
