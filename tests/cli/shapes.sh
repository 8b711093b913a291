#!/bin/sh
# Distributions that are not von Mises-Fisher: what sample draws, what mixtures of axes, of ellipses and of sparse rows
# find, and what they refuse.
. "$(dirname "$0")/common.sh"

for name in vmf watson kent bingham small-circle; do
    works asterism sample --distribution "$name" --points 60 --dimension 3 --clusters 2 --kappa 30 --seed 3 \
        --output "$name.npy" --labels truth.npy --quiet
    cp "$name.npy" first.npy
    works asterism sample --distribution "$name" --points 60 --dimension 3 --clusters 2 --kappa 30 --seed 3 \
        --threads 2 --output "$name.npy" --quiet
    cmp -s first.npy "$name.npy" || broken "$name: the same seed gives other points"
done
sample='asterism sample --points 5 --clusters 1 --output no.npy'
for bad in '--kappa -1 --dimension 3|below 0, which is for --distribution watson' \
    '--kappa 5 --dimension 4 --distribution kent|Kent distributions have 3 dimensions' \
    '--kappa 5 --dimension 3 --distribution kent --beta 2.6|between 0 and half of kappa' \
    '--kappa 5 --dimension 3 --distribution bingham --beta 5.1|between 0 and kappa' \
    '--kappa 5 --dimension 2 --distribution small-circle|at least 3 dimensions' \
    '--kappa 5 --dimension 3 --beta 1|--beta is for --distribution kent and bingham, not vmf' \
    '--kappa 5 --dimension 3 --radius 9|--radius is for --distribution small-circle, not vmf' \
    '--kappa 5 --dimension 3 --axial --distribution small-circle|poles have a side' \
    '--kappa 5 --dimension 3 --separation 91 --distribution watson|90 degrees that axes' \
    '--kappa 5 --dimension 3 --distribution fisher|--distribution must be'; do
    # shellcheck disable=SC2086
    $sample ${bad%%|*} >../out 2>../err && broken "sample ${bad%%|*} works"
    grep -q -e "${bad#*|}" ../err || broken "sample ${bad%%|*}: $(cat ../err)"
    [ ! -e no.npy ] || broken "sample ${bad%%|*} leaves a file behind"
done

# Joints with noise: the number, the background, models, and any number of threads.
works asterism sample --distribution watson --points 600 --dimension 3 --clusters 3 --kappa 20 --separation 60 --noise 0.2 \
    --seed 4 --output joints.npy --labels truth.npy --quiet
works asterism cluster joints.npy --method movmf --axial --clusters auto --background --json --labels sets.npy \
    --model joints.model --threads 1
equal clusters 3 "$(json clusters ../out)"
works asterism cluster joints.npy --method movmf --axial --clusters auto --background --json --labels again.npy --threads 3
cmp -s sets.npy again.npy || broken 'three threads find other sets'
works asterism assign joints.npy --model joints.model --labels assigned.npy --quiet
works asterism measure --labels assigned.npy --truth sets.npy --json
[ "$(awk "BEGIN { print ($(json ari ../out) > 0.98) }")" = 1 ] || broken "the model: $(cat ../out)"
works asterism cluster joints.npy --method movmf --axial --clusters 3 --background --memberships parts.npy
grep -q 'below 0: a girdle' ../out || broken 'the table does not say what kappa is'

# One ellipse.
works asterism sample --distribution kent --points 1000 --dimension 3 --clusters 1 --kappa 50 --seed 4 --output fold.npy --quiet
works asterism cluster fold.npy --method movmf --shape kent --clusters auto --json
equal ellipses 1 "$(json clusters ../out)"
grep -q '"ellipse95"' ../out || broken "no confidence ellipse: $(cat ../out)"

# Chains leave out a burn-in without samples to write.
works asterism cluster joints.npy --method crp --max-iterations 20 --burn-in 10 --quiet

fails 2 'shape cannot be combined with --axial' asterism cluster joints.npy --method movmf --clusters 2 --axial --shape kent
fails 2 'shape is for --method movmf' asterism cluster joints.npy --angle 20 --shape kent
fails 2 'metric cannot be combined with --axial' asterism cluster joints.npy --method movmf --clusters 2 --axial --metric local
asterism sample --points 30 --dimension 101 --clusters 2 --kappa 50 --output wide.npy --quiet
fails 1 'at most 100 dimensions, and the points have 101' asterism cluster wide.npy --method movmf --clusters 2 --axial
fails 1 'Kent components have 3 dimensions' asterism cluster wide.npy --method movmf --clusters 2 --shape kent
printf '%%%%MatrixMarket matrix coordinate real general\n4 6 8\n1 1 2\n1 2 1\n2 1 1\n2 2 2\n3 5 1\n3 6 2\n4 5 2\n4 6 1\n' >docs.mtx
works asterism cluster docs.mtx --method movmf --clusters 2 --labels topics.txt
equal topics 'yes' "$(tr '\n' ' ' <topics.txt | awk '{ print $1 == $2 && $3 == $4 && $1 != $3 ? "yes" : $0 }')"
fails 2 'axial is for .*, and docs.mtx is a file of sparse rows' asterism cluster docs.mtx --method movmf --clusters 2 --axial
