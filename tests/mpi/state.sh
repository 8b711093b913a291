#!/bin/sh
# asterism-mpi cluster --state: a rank dies at any moment, and the run goes on on other ranks to the same end.
. "$(dirname "$0")/common.sh"
points=8000
[ -z "$SANITIZE" ] || points=800
asterism sample --points $points --dimension 40 --clusters 30 --kappa 5 --seed 1 --output wide.npy
asterism sample --points $((5 * points)) --dimension 3 --clusters 30 --kappa 20 --noise 0.05 --seed 2 --output x.npy

# printed FILE: what does not depend on the clock, without what only rows in memory have.
printed() {
    sed -e 's/"preferred": {[^}]*}, "eigenvalues": .*"shape": "[a-z]*", \("girdle_pole": [^]]*\], \)*//' \
        -e 's/"seconds": [^,]*,//' "$1"
}

# Rank 1 dies some time after it has seen a new state; the moment is drawn.
# shellcheck disable=SC2016
dies='[ "$OMPI_COMM_WORLD_RANK" != 1 ] || {
    (until [ state -nt stamp ]; do kill -0 $$ 2>/dev/null || exit; sleep 0.02; done; sleep "$DEATH"; kill -9 $$) & }
    exec "$@"'
kills=0

# relay INPUT OPTIONS...: 3 ranks, then 2, of which one dies; from there the plain command and 2 ranks make the end.
relay() {
    asterism cluster "$@" --labels whole.npy --means whole-means.npy --json >whole.json
    printed whole.json >whole.text
    rm -f state
    for number in 3 2; do
        DEATH=$(awk -v seed="$kills$$" 'BEGIN { srand(seed); print rand() * 0.2 }')
        export DEATH
        touch -d @0 stamp
        [ ! -e state ] || touch -r state stamp
        if ! ranks $number sh -c "$dies" sh "$ASTERISM_MPI" cluster "$@" --threads 1 --state state --labels z.npy \
            >../out 2>../err; then
            kills=$((kills + 1))
            ! grep '^asterism: ' ../err | grep -v 'a rank has died' || broken 'it failed before the rank died'
            [ -e state ] || broken 'the rank died without a state'
        fi
    done
    cp state before 2>/dev/null || :
    for way in 0 2; do
        rm -f state z.npy m.npy
        [ ! -e before ] || cp before state
        case $way in
            0) asterism cluster "$@" --state state --labels z.npy --means m.npy --json >z.json ;;
            *) ranks $way "$ASTERISM_MPI" cluster "$@" --threads 1 --state state --labels z.npy --means m.npy --json \
                >z.json 2>../err || broken "on $way ranks: $(cat ../err)" ;;
        esac
        printed z.json >z.text
        same whole.npy z.npy
        same whole-means.npy m.npy
        same whole.text z.text
        cp state "state$way"
    done
    same state0 state2
    # What a kill left behind of the state, the next run takes away.
    equal 'temporary files' '' "$(find . -name '.state*.tmp')"
    rm -f before state
}
relay wide.npy --method spkm --clusters 200
relay x.npy --angle 12 --axial
echo "$kills kills"

# ---- One sentence from one rank, and nothing changes ----
mpi=$ASTERISM_MPI
asterism cluster x.npy --angle 12 --max-iterations 1 --state state --quiet
refuses 3 1 'state: the state was made with another angle' "$mpi" cluster x.npy --angle 13 --state state
size=$(wc -c <state)
{ head -c $((size - 9)) state && printf '\377' && tail -c 8 state; } >damaged
refuses 3 1 'damaged: the state is damaged' "$mpi" cluster x.npy --angle 12 --state damaged
mkdir rank0 rank1
ln -s ../x.npy rank0/x.npy
ln -s ../x.npy rank1/x.npy
cp state rank0/state
# shellcheck disable=SC2016
here='cd "rank$OMPI_COMM_WORLD_RANK" && exec "$@"'
refuses 2 1 'state is there on rank 0, but not on rank 1' sh -c "$here" sh "$mpi" cluster x.npy --angle 12 --state state
asterism cluster x.npy --angle 12 --max-iterations 2 --state rank1/state --quiet
refuses 2 1 'the state on rank 1 is another than on rank 0' sh -c "$here" sh "$mpi" cluster x.npy --angle 12 \
    --state state
