#!/bin/sh
# Model files: cluster --model and assign --model give the labels of the run, whatever it did to its rows; damaged files
# are refused; a kill leaves the old file or the new one.
. "$(dirname "$0")/common.sh"

asterism sample --points 2000 --dimension 8 --clusters 6 --kappa 100 --separation 40 --noise 0.1 --seed 4 --output x.npy \
    --labels t.npy --quiet
asterism sample --points 400 --dimension 3 --clusters 3 --kappa 30 --seed 5 --output y.npy --quiet

# ---- The labels of the run -------------------------------------------------------------------------------------------
reproduced() {
    works asterism cluster x.npy "$@" --model a.model --labels l.npy --quiet
    works asterism assign x.npy --model a.model --labels again.npy --quiet
    same l.npy again.npy
}
reproduced --angle 45
reproduced --angle 45 --center
reproduced --angle 45 --axial
reproduced --angle 60 --metric local
reproduced --method spkm --clusters 6 --metric local
reproduced --angle 60 --method dpmeans
reproduced --method spkm --clusters 6
reproduced --method movmf --clusters 6
reproduced --method movmf --clusters 6 --background --center
works asterism assign x.npy --model a.model --labels parts.npy --memory 8M --quiet
same l.npy parts.npy
works asterism assign x.npy --model a.model --json
equal unassigned "$(asterism measure --labels l.npy --truth l.npy --json >m && expr 2000 - "$(json points m)")" \
    "$(json unassigned ../out)"
for threads in 1 3; do
    works asterism cluster x.npy --method movmf --clusters 6 --background --center --threads $threads --model b.model --quiet
    same a.model b.model
done

# Small clusters that were dissolved: their rows are outliers again. A limit cuts further.
works asterism cluster x.npy --angle 35 --min-size 60 --model a.model --labels l.npy --json
[ "$(json outliers ../out)" -gt 50 ] || broken 'there are no outliers to test with'
works asterism assign x.npy --model a.model --labels again.npy --json
[ "$(json unassigned ../out)" -gt 50 ] || broken "only $(json unassigned ../out) rows fit nothing"
works asterism assign x.npy --model a.model
grep -q 'that fit no cluster of the model' ../out || broken 'the table does not say what fits nothing'
works asterism assign x.npy --model a.model --angle 10 --json
[ "$(json unassigned ../out)" -gt 1000 ] || broken 'the angle does not cut'

# ---- Names; what an older run knew -----------------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 2000; i++) print "row " i }' >names.txt
works asterism cluster x.npy --angle 45 --representatives 1 --names names.txt --model named.model --quiet
grep -aq 'row [0-9]' named.model || broken 'the model lacks names'
asterism cluster x.npy --angle 45 --center --means m.npy >../out 2>../err
grep -q 'assign --means would label rows differently, since the rows were centred; --model FILE' ../err ||
    broken "no warning about bare means: $(cat ../err)"
asterism cluster x.npy --method movmf --clusters 6 --means m.npy >../out 2>../err
grep -q 'since components have concentrations and shares' ../err || broken 'no warning about means of a mixture'
works asterism cluster x.npy --angle 45 --means m.npy

# Rows in a cone, and the means of the centred rows: assign sees that they belong to other rows.
awk 'BEGIN { srand(3); for (i = 0; i < 600; i++) { for (d = 0; d < 12; d++)
    printf "%s%.4f", d ? "," : "", 1 + (d == i % 3 ? 1 : 0) + 0.1 * rand(); print "" } }' >cone.csv
works asterism cluster cone.csv --angle 60 --center --means centred.npy --model centred.model --quiet
works asterism assign cone.csv --model centred.model
asterism assign cone.csv --means centred.npy --json >../out 2>../err
grep -q 'the rows lie beside the means of centred.npy' ../err || broken "no warning of other rows: $(cat ../err)"
works asterism cluster cone.csv --angle 10 --means m.npy
works asterism assign cone.csv --means m.npy

# ---- What is refused -------------------------------------------------------------------------------------------------
fails 2 '--model cannot be combined with --means' asterism assign x.npy --model a.model --means m.npy
fails 2 '--model cannot be combined with --axial' asterism assign x.npy --model a.model --axial
fails 2 'assign needs --means FILE, the means to compare with, or --model FILE' asterism assign x.npy
fails 1 'absent.model: cannot be opened: No such file' asterism assign x.npy --model absent.model
fails 1 'a.model is a model of 8 dimensions, but the points have 3' asterism assign y.npy --model a.model --labels z.npy
fails 1 'x.npy: this is no model' asterism assign x.npy --model x.npy
head -c 504 a.model >cut.model
fails 1 'cut.model: the model is damaged' asterism assign x.npy --model cut.model
head -c 10 a.model >cut.model
fails 1 'cut.model: the model ends early' asterism assign x.npy --model cut.model
{ head -c 200 a.model && printf '~' && tail -c +202 a.model; } >flipped.model
fails 1 'flipped.model: the model is damaged: its checksum does not match' asterism assign x.npy --model flipped.model
{ head -c 8 a.model && printf '\007' && tail -c +10 a.model; } >later.model
fails 1 'later.model: the model has version 7; this library reads version 1' asterism assign x.npy --model later.model
fails 1 '.: is no regular file' asterism assign x.npy --model .
printf '1 0 0\n' >one.txt
fails 1 'no cluster was found' asterism cluster one.txt --angle 10 --min-size 3 --model none.model
[ ! -e none.model ] || broken 'a model without clusters was written'

# ---- Killed at random moments ----------------------------------------------------------------------------------------
asterism sample --points 6000 --dimension 256 --clusters 40 --kappa 100 --seed 6 --output big.npy --quiet
works asterism cluster big.npy --angle 2 --model old.model --quiet
cp old.model kept.model
round=0 kills=0
while [ $round -lt 12 ]; do
    round=$((round + 1))
    "$ASTERISM" cluster big.npy --angle 1 --model old.model --quiet 2>../err &
    job=$!
    sleep "$(awk -v seed="$round$$" 'BEGIN { srand(seed); print rand() / 2 }')"
    kill -KILL $job 2>/dev/null && kills=$((kills + 1))
    wait $job 2>/dev/null || :
    cmp -s old.model kept.model || works asterism assign big.npy --model old.model --quiet
    cp kept.model old.model
done
echo "$kills kills"
