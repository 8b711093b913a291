#!/bin/sh
# One file of labels for every number of ranks and threads, and that of the plain command; and the same printed result.
# ASTERISM_TEST_SCALE=20 makes the first set the million points of the benchmarks.
. "$(dirname "$0")/common.sh"
scale=${ASTERISM_TEST_SCALE:-1}
[ -z "$SANITIZE" ] || scale=0
size() {
    echo $(($1 * scale + (scale == 0) * $1 / 10))
}

# printed FILE: what does not depend on the clock, without what only rows in memory have.
printed() {
    sed -e 's/"preferred": {[^}]*}, "eigenvalues": .*"shape": "[a-z]*", \("girdle_pole": [^]]*\], \)*//' \
        -e 's/"seconds": [^,]*,//' "$1"
}

# agree WAYS INPUT OPTIONS...: WAYS are ranks x threads. Every number of ranks and of threads comes up, not every pair
# for every input: starting MPI takes longer than the work. property/ranks has the sweep.
agree() {
    ways=$1 input=$2
    shift 2
    asterism cluster "$input" "$@" --threads 1 --labels plain.npy --means plain-means.npy --json >plain.json
    printed plain.json >plain.text
    for way in $ways; do
        ranks "${way%x*}" "$ASTERISM_MPI" cluster "$input" "$@" --threads "${way#*x}" --labels z.npy --means m.npy \
            --json >z.json 2>../err || broken "$input $*, ranks x threads $way: $(cat ../err)"
        printed z.json >z.text
        for pair in 'plain.npy z.npy' 'plain-means.npy m.npy' 'plain.text z.text'; do
            # shellcheck disable=SC2086
            cmp -s $pair || broken "$input $*, ranks x threads $way: $pair differ"
        done
    done
}

# W2 and W3 of the benchmarks, cut; noise founds clusters on every rank
asterism sample --points "$(size 50000)" --dimension 3 --clusters 30 --kappa 400 --separation 30 --noise 0.002 --seed 1 \
    --output x.npy
agree '1x2 2x1 3x2 4x1' x.npy --angle 25
agree 2x2 x.npy --method spkm --clusters 30 --seed 3
asterism sample --points "$(size 1000)" --dimension 300 --clusters 50 --kappa 200 --seed 1 --output wide.npy
agree 3x1 wide.npy --angle 83 --order given
agree 3x2 wide.npy --cosine 0.1 --center --representatives 4 --order given
agree '2x1 4x2' wide.npy --method spkm --clusters 20
asterism sample --points "$(size 25000)" --dimension 12 --clusters 8 --kappa 40 --separation 40 --seed 5 --output cone.npy
agree '2x1 3x2' cone.npy --angle 60 --metric local --order given
agree 3x1 cone.npy --method spkm --clusters 8 --metric local

# merged and dissolved: the same clusters, trees and leaves
agree '3x1 2x2' cone.npy --angle 50 --order given --merge evidence --min-size "$(size 200)"
agree 2x1 cone.npy --angle 50 --order given --merge 40
agree 3x1 wide.npy --method spkm --clusters 60 --merge-to 40 --min-size 12
for more in '' '--leaf-labels l.npy'; do
    # shellcheck disable=SC2086
    asterism cluster cone.npy --angle 50 --order given --merge-to 5 --tree plain.json $more --quiet
    [ -z "$more" ] || mv l.npy plain-l.npy
    # shellcheck disable=SC2086
    ranks 3 "$ASTERISM_MPI" cluster cone.npy --angle 50 --order given --merge-to 5 --tree z.json $more --quiet
    same plain.json z.json
done
same plain-l.npy l.npy

# a folder of files, each rank with rows of some of them, and weights of all of them
rows=$(size 50000)
mkdir parts
rows_of x.npy 0 100 >parts/2.npy
rows_of x.npy 100 $((rows / 2)) >parts/9.npy
rows_of x.npy $((100 + rows / 2)) $((rows - rows / 2 - 100)) >parts/10.npy
seq "$rows" | awk '{ print NR % 5 / 3 }' >many.txt
asterism cluster x.npy --angle 25 --weights many.txt --labels plain.npy --json >plain.json
ranks 3 "$ASTERISM_MPI" cluster parts --angle 25 --weights many.txt --labels z.npy --json >z.json
same plain.npy z.npy
equal 'what is printed of a folder' "$(printed plain.json)" "$(printed z.json)"

# weights, missing rows, text, axial data
asterism sample --points 900 --dimension 3 --clusters 8 --kappa 60 --noise 0.1 --seed 2 --output y.txt
awk '{ print NR % 7 == 3 ? "nan nan nan" : $0 }' y.txt >holes.txt
awk '{ print NR % 5 / 3 }' y.txt >weights.txt
agree 3x1 holes.txt --angle 30 --weights weights.txt
agree 2x2 holes.txt --angle 40 --axial
agree 4x1 holes.txt --method spkm --clusters 7 --weights weights.txt --restarts 3 --init random

# labels as text, and to standard output
asterism cluster holes.txt --angle 30 --labels plain.txt --quiet
ranks 3 "$ASTERISM_MPI" cluster holes.txt --angle 30 --labels z.txt --quiet
same plain.txt z.txt
ranks 3 "$ASTERISM_MPI" cluster holes.txt --angle 30 --labels - >z.txt
same plain.txt z.txt

# measure, and what people ask first
awk '{ print int($1 * 3) }' y.txt >truth.txt
asterism measure --labels plain.txt --truth truth.txt --points holes.txt --dissimilarity angle --json >a
ranks 3 "$ASTERISM_MPI" measure --labels plain.txt --truth truth.txt --points holes.txt --dissimilarity angle --json >b
same a b
ranks 2 "$ASTERISM_MPI" cluster --help >b
asterism cluster --help >a
same a b

# mpirun gives its ranks a terminal; its own output is no terminal here
asterism sample --points 500 --dimension 3 --clusters 4 --kappa 50 --seed 1 --output x.npy --quiet
TERM=xterm ranks 2 "$ASTERISM_MPI" cluster x.npy --angle 25 >table
! grep -q "$(printf '\033')" table || broken 'the table has colours where there is no terminal'
