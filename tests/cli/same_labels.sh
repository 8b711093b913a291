#!/bin/sh
# One label file for every way of running: serial, ordered and oir; 1, 2, 3 and 8 threads; every instruction set; bounds
# on and off; C and Fortran order. ASTERISM_TEST_SCALE=20 makes the first set a million points.
. "$(dirname "$0")/common.sh"
scale=${ASTERISM_TEST_SCALE:-1}
[ -z "$SANITIZE" ] || scale=0 # a sanitizer makes every step slow: a tenth of the points
size() {
    echo $(($1 * scale + (scale == 0) * $1 / 10))
}

sets=$(instruction_sets)

# agree INPUT OPTIONS...: all ways give the labels of the plainest.
agree() {
    input=$1
    shift
    ASTERISM_ISA=base asterism cluster "$input" "$@" --parallel serial --threads 1 --no-bounds --labels plain.npy \
        --quiet
    for isa in $sets; do
        for parallel in serial ordered oir; do
            for threads in 1 2 3 8; do
                for bounds in '' --no-bounds; do
                    # shellcheck disable=SC2086
                    ASTERISM_ISA=$isa asterism cluster "$input" "$@" --parallel $parallel --threads $threads $bounds \
                        --labels z.npy --quiet
                    cmp -s plain.npy z.npy || broken "$input $*: $isa $parallel $threads threads $bounds differs"
                done
            done
        done
    done
}

asterism sample --points "$(size 50000)" --dimension 3 --clusters 30 --kappa 400 --separation 30 --seed 1 \
    --output x.npy
agree x.npy --angle 25
asterism sample --points "$(size 500)" --dimension 300 --clusters 50 --kappa 200 --seed 1 --output wide.npy
agree wide.npy --angle 83
agree wide.npy --method spkm --clusters 20

# Fortran order, from the same numbers
asterism sample --points 3000 --dimension 3 --clusters 30 --kappa 400 --separation 30 --seed 1 --output x.txt
tool npy f4 c <x.txt >c.npy
tool npy f4 fortran <x.txt >fortran.npy
asterism cluster c.npy --angle 25 --labels plain.npy --quiet
asterism cluster fortran.npy --angle 25 --labels z.npy --quiet
same plain.npy z.npy

# Many means in few dimensions, of which some are ruled out before others are met: the bounds of later passes count them.
for case in '120 100 72' '125 300 30' '170 140 37' '205 140 51' '220 180 2' '345 140 30' '395 180 72'; do
    # shellcheck disable=SC2086
    set -- $case
    asterism sample --points 800 --dimension 6 --clusters 60 --kappa "$3" --seed "$1" --output many.npy >/dev/null
    asterism cluster many.npy --method spkm --clusters "$2" --seed "$1" --no-bounds --labels brute.npy >/dev/null
    ASTERISM_HEADS=5 asterism cluster many.npy --method spkm --clusters "$2" --seed "$1" --labels heads.npy >/dev/null
    cmp -s brute.npy heads.npy || broken "seed $1, K = $2: heads give other labels than brute force"
done
