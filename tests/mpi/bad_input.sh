#!/bin/sh
# One sentence from one rank, exit code 1 (2 for wrong usage) and nothing partial.
. "$(dirname "$0")/common.sh"
asterism sample --points 500 --dimension 3 --clusters 4 --kappa 50 --seed 1 --output x.npy --labels truth.npy
asterism sample --points 500 --dimension 3 --clusters 4 --kappa 50 --seed 2 --output other.npy
asterism sample --points 3 --dimension 3 --clusters 1 --kappa 50 --seed 1 --output few.npy
head -c 3000 x.npy >short.npy
printf '1 0 0\n0 1 0\n0 0 1\ninf 0 0\n1 1 0\n' >infinite.txt
mpi=$ASTERISM_MPI

refuses 3 1 'nothing.npy' "$mpi" cluster nothing.npy --angle 25 --labels z.npy
refuses 4 1 'few.npy has 3 points, fewer than the 4 ranks' "$mpi" cluster few.npy --angle 25 --labels z.npy
refuses 2 1 'line 4' "$mpi" cluster infinite.txt --angle 25 --labels z.npy
refuses 2 1 'nowhere' "$mpi" cluster x.npy --angle 25 --labels nowhere/z.npy
refuses 2 2 'no option' "$mpi" cluster x.npy --angel 25
refuses 2 2 'stream works on one rank' "$mpi" stream x.npy --angle 25
refuses 2 2 'movmf works on one rank' "$mpi" cluster x.npy --method movmf --clusters 3
for option in '--order content' '--outliers 0.1' '--groups few.npy'; do
    # shellcheck disable=SC2086
    refuses 2 2 "${option%% *} works on one rank" "$mpi" cluster x.npy --angle 25 --labels z.npy $option
done

# what only one rank sees: another file, the same cut short, none; no folder to write to
mkdir rank0 rank1 rank0/out
cp x.npy rank0/x.npy
# shellcheck disable=SC2016
here='cd "rank$OMPI_COMM_WORLD_RANK" && exec "$@"'
cp other.npy rank1/x.npy
refuses 2 1 'x.npy is another file on rank 1' sh -c "$here" sh "$mpi" cluster x.npy --angle 25 --labels z.npy
cp short.npy rank1/x.npy
refuses 2 1 'x.npy: .*bytes' sh -c "$here" sh "$mpi" cluster x.npy --angle 25 --labels z.npy
rm rank1/x.npy
refuses 2 1 'x.npy: cannot be opened' sh -c "$here" sh "$mpi" measure --labels ../truth.npy --points x.npy
cp x.npy rank1/x.npy
refuses 2 1 'out/z.npy: rank 1: cannot be written' sh -c "$here" sh "$mpi" cluster x.npy --angle 25 --labels out/z.npy

# a rank that dies ends the job, and nothing is written; who waits for it says so, unless MPI itself was not up yet
# shellcheck disable=SC2016
dies='[ "$OMPI_COMM_WORLD_RANK" = 0 ] || (sleep 0.5; kill -9 $$) & exec "$@"'
asterism sample --points 20000 --dimension 64 --clusters 40 --kappa 5 --seed 1 --output big.npy
ls >../before
ranks 2 sh -c "$dies" sh "$mpi" cluster big.npy --method spkm --clusters 4000 --restarts 40 --labels z.npy >../out 2>../err && code=0 ||
    code=$?
ls >../after
[ "$(grep -c '^asterism: ' ../err)" -lt 2 ] || broken "a rank died, and $(cat ../err)"
[ "$code" = 0 ] || cmp -s ../before ../after || broken "a rank died, and the folder has $(cat ../after)"
[ "$code" != 0 ] || [ -s z.npy ] || broken "it ended before the rank died, without labels"
