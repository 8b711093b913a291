#!/bin/sh
# asterism assign: the labels of a clustering again, limits, similarities.
. "$(dirname "$0")/common.sh"

asterism sample --points 5000 --dimension 3 --clusters 8 --kappa 300 --separation 30 --seed 4 --output x.npy \
    --labels t.npy --means true.npy
works asterism cluster x.npy --angle 25 --labels z.npy --means m.npy --quiet
works asterism assign x.npy --means m.npy --labels again.npy --quiet
same z.npy again.npy
works asterism assign x.npy --means true.npy --labels truth.npy --json
equal assigned 5000 "$(json assigned ../out)"
works asterism measure --labels truth.npy --truth t.npy --json
json nmi ../out | awk '{ exit !($1 > 0.99) }' || broken "NMI with the true means: $(json nmi ../out)"

printf '1 0 0\n0 1 0\n' >means.txt
printf '2 0.1 0\n0.1 3 0\n0 0 1\n0 0 0\n1 1 0\n' >new.txt
works asterism assign new.txt --means means.txt --labels - --similarity s.txt
equal 'labels without a limit' '0 1 0 -1 0' "$(paste -sd' ' ../out)"
equal similarities '0.9988 0.9994 0.0000 nan 0.7071' \
    "$(awk '{ printf /nan/ ? "nan " : "%.4f ", $1 }' s.txt | sed 's/ $//')"
works asterism assign new.txt --means means.txt --labels - --angle 20
equal 'labels within 20 degrees' '0 1 -1 -1 -1' "$(paste -sd' ' ../out)"
works asterism assign new.txt --means means.txt --angle 20 --json
equal counts '5 1 3 2 2 2' "$(for key in points missing dimension clusters assigned unassigned; do
    json $key ../out
done | paste -sd' ' -)"
works asterism assign new.txt --means means.txt --angle 20
cat >expected <<'END'
           5 points, 3 dimensions, 2 means
           2 assigned
           2 farther than 20 degrees from every mean
           1 missing
END
same expected ../out

fails 1 'means.txt has means of 3 dimensions, but the points have 2' \
    asterism assign new.txt --columns 1-2 --means means.txt
printf '0 0 0\nnan 1 0\n' >missing.txt
fails 1 'missing.txt has no usable row' asterism assign missing.txt --means means.txt --labels z2.npy
fails 1 'absent.npy' asterism assign new.txt --means absent.npy --labels z2.npy
printf '1 0 0\n0 0 0\n' >zero.txt
fails 1 'zero.txt: mean 2 is no direction' asterism assign new.txt --means zero.txt --labels z2.npy

# ---- How sure a label is ----
printf '1,0,0\n0,1,0\n0,0,1\n' >three.csv
printf '1,0.5,0\n0,0.4,0.5\nnan,0,0\n' >unsure.csv
works asterism assign unsure.csv --means three.csv --runner-up next.txt --runner-up-labels who.txt --quiet
equal 'the second nearest means' '1 1 -1' "$(tr '\n' ' ' <who.txt | sed 's/ $//')"
equal 'the second largest cosine' 0.44721359 "$(head -n 1 next.txt)"
fails 2 'needs --means' asterism assign unsure.csv --model three.model --runner-up other.txt
