#!/bin/sh
# The same points through every binary table give the same labels on three ranks as on one.
. "$(dirname "$0")/common.sh"

asterism sample --points 3000 --dimension 8 --clusters 5 --kappa 40 --separation 60 --seed 6 --output f.csv --quiet
awk -F, '{ for (d = 1; d <= NF; d++) printf "%d%s", 60 + 60 * $d, d < NF ? " " : "\n" }' f.csv >x.txt
tool npy f4 c <x.txt >x.npy
tables=
# table FORMAT TYPE FILE
table() {
    tool table "$1" "$2" "$3" <x.txt && tables="$tables $3"
}
table bin f4 x.fbin
table bin u1 x.u8bin
table bin i1 x.i8bin
table vecs f4 x.fvecs
table vecs u1 x.bvecs
table safetensors bf16 x.safetensors
table h5 f4 x.h5 && table h5-chunked f4 chunked.hdf5 || echo 'without HDF5'

asterism cluster x.npy --angle 25 --labels plain.npy --means plain.csv --quiet
[ -z "$SANITIZE" ] || tables='x.bvecs x.safetensors' # which starts slowly
for file in $tables; do
    ranks 3 "$ASTERISM_MPI" cluster "$file" --angle 25 --threads 1 --labels z.npy --means z.csv --quiet
    same plain.npy z.npy
    same plain.csv z.csv
done
if [ -e chunked.hdf5 ]; then
    asterism measure --labels plain.npy --points x.npy --json >a
    ranks 3 "$ASTERISM_MPI" measure --labels plain.npy --points chunked.hdf5 --json >b
    same a b
fi
{ head -c 720 x.fvecs && printf '\007' && tail -c +722 x.fvecs; } >odd.fvecs
refuses 3 1 'odd.fvecs: row 21 has 7 numbers, but row 1 has 8' "$ASTERISM_MPI" cluster odd.fvecs --angle 25
