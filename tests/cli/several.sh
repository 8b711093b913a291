#!/bin/sh
# Several files of one binary format, or a folder of them, are one table: everything comes out as it does of one file with all rows.
. "$(dirname "$0")/common.sh"

asterism sample --points 120000 --dimension 3 --clusters 6 --kappa 60 --separation 50 --noise 0.001 --seed 3 \
    --output all.npy --quiet
mkdir parts
rows_of all.npy 0 40001 >parts/p2.npy
rows_of all.npy 40001 7 >parts/p9.npy
rows_of all.npy 40008 79992 >parts/p10.npy
echo 'no points' >parts/README

# alike INPUT... -- OPTIONS...: as the one file.
# told: the result without what only rows in memory have, and without times.
told() {
    sed -e 's/"preferred": {[^}]*}, "eigenvalues": .*"shape": "[a-z]*", \("girdle_pole": [^]]*\], \)*//' \
        -e 's/"seconds": [^,]*, //' -e 's/"memory": {[^}]*}, //' ../out
}
alike() {
    inputs=
    while [ "$1" != -- ]; do
        inputs="$inputs $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    works asterism cluster $inputs "$@" --labels z.npy --means m.csv --json --quiet
    told >../z.json
    same ../x.json ../z.json
    same x.npy z.npy
    same x.csv m.csv
}
works asterism cluster all.npy --angle 40 --max-iterations 5 --labels x.npy --means x.csv --json --quiet --state one.state
told >../x.json
alike parts -- --angle 40 --max-iterations 5
alike parts/p2.npy parts/p9.npy parts/p10.npy -- --angle 40 --max-iterations 5 --threads 1
alike parts -- --angle 40 --max-iterations 5 --memory 3500K
grep -q '"memory": {"allowed"' ../out || broken 'the folder was not read in parts'

# A state is one of points, in whatever files they are.
alike parts -- --angle 40 --max-iterations 5 --state one.state

# Weights, and a folder among files, or with one file
seq 120000 | awk '{ print NR % 5 / 3 }' >weights.txt
works asterism cluster all.npy --angle 40 --max-iterations 2 --weights weights.txt --labels x.npy --means x.csv --json --quiet
told >../x.json
mkdir last
mv parts/p10.npy last
alike parts last -- --angle 40 --max-iterations 2 --weights weights.txt
alike parts last/p10.npy -- --angle 40 --max-iterations 2 --weights weights.txt --memory 6M
works asterism cluster last/p10.npy --angle 40 --max-iterations 2 --labels x.npy --quiet
works asterism cluster last --angle 40 --max-iterations 2 --labels z.npy --quiet
same x.npy z.npy

# assign
works asterism assign all.npy --means x.csv --angle 35 --labels x.npy --similarity x.txt --json
mv ../out ../x.json
for memory in 1G 4M; do
    works asterism assign parts last --means x.csv --angle 35 --labels z.npy --similarity z.txt --json --memory $memory
    same ../x.json ../out
    same x.npy z.npy
    same x.txt z.txt
done

# Other binary formats: rows behind their dimension, tensors, datasets
three_axes >a.txt
printf '%s\n' '0 1 0.1' '0 0 0' '1 0.1 0.1' >b.txt
cat a.txt b.txt >ab.txt
works asterism cluster ab.txt --angle 30 --labels x.npy --quiet
for kind in 'vecs f4 fvecs' 'bin f4 fbin' 'safetensors f8 safetensors' 'h5 f4 h5' 'h5-chunked f2 hdf5'; do
    # shellcheck disable=SC2086
    set -- $kind
    mkdir "$3"
    tool table "$1" "$2" "$3/a.$3" <a.txt || continue # no HDF5
    tool table "$1" "$2" "$3/b.$3" <b.txt
    works asterism cluster "$3" --angle 30 --labels z.npy --quiet
    same x.npy z.npy
    works asterism cluster "$3/a.$3" "$3/b.$3" --angle 30 --labels z.npy --quiet
    same x.npy z.npy
done
works asterism cluster safetensors --tensor rows --angle 30 --labels z.npy --quiet
same x.npy z.npy
fails 1 'vecs/a.fvecs: is no .fbin, as fbin/a.fbin is' asterism cluster fbin fvecs --angle 30
fails 1 "a.safetensors: has no tensor 'six'" asterism cluster safetensors --tensor six --angle 30

# What does not go together
cd parts
rm README
printf '%s\n' '1 0 0 0' '0 1 0 0' | tool npy f4 c >p10.npy
fails 1 'p10.npy: has points of 4 dimensions, but p2.npy has points of 3$' asterism cluster p2.npy p9.npy p10.npy --angle 40
fails 1 'parts/p10.npy: has points of 4 dim' asterism cluster ../parts --angle 40 --memory 1M --labels z.npy
three_axes | tool npy f8 c >p10.npy
fails 1 'p10.npy: holds numbers of type f8, but .*/p2.npy holds f4;' asterism cluster ../parts --angle 40
three_axes | tool npy f4 fortran >p10.npy
fails 1 'p10.npy: is in Fortran order' asterism cluster ../parts --angle 40
printf '%s\n' '1 0 0' 'inf 0 0' | tool npy f4 c >p10.npy
fails 1 'p10.npy: row 2 \(counting from 1\) holds an infinity' asterism cluster ../parts --angle 40
fails 1 'p10.npy: row 2 \(counting from 1\) holds an infinity' asterism cluster p10.npy ../last --angle 40 --quiet --memory 3500K
rows_of p2.npy 0 0 >p10.npy
fails 1 'p10.npy: .*\(0, 3\) and holds no points' asterism cluster ../parts --angle 40
: >p10.npy
fails 1 'p10.npy: is empty' asterism cluster ../parts --angle 40
head -c 1000 p2.npy >p10.npy
fails 1 'p10.npy: .*cut short' asterism cluster ../parts --angle 40
rm p10.npy
fails 1 'absent.npy' asterism cluster p2.npy absent.npy --angle 40
mkdir none
fails 1 'none: the folder is empty' asterism cluster p2.npy none --angle 40
fails 1 'none: the folder is empty' asterism cluster none --angle 40
fails 2 "not both 'p2.npy' and '-', unless" asterism cluster p2.npy - --angle 40
fails 2 "not both 'x.png' and 'p2.npy', unless" asterism cluster x.png p2.npy --angle 40
fails 2 "not both 'p2.npy' and 'x.fbin', unless" asterism cluster p2.npy x.fbin --angle 40
works asterism cluster 'p[0-9]*.npy' --angle 40 --labels pattern.npy --quiet
works asterism cluster p2.npy p9.npy --angle 40 --labels typed.npy --quiet
same typed.npy pattern.npy
fails 2 "no file matches 'nothing-[*].npy'" asterism cluster 'nothing-*.npy' --angle 40
rm typed.npy pattern.npy
fails 2 '--columns is for tables of points.*, and the input is multiple files that are read as one' \
    asterism cluster p2.npy p9.npy --columns 1-2 --angle 40
fails 2 '--labels would overwrite the input p9.npy' asterism cluster p2.npy p9.npy --angle 40 --labels p9.npy
fails 2 '--labels would overwrite the input p9.npy' asterism assign p2.npy p9.npy --means ../x.csv --labels p9.npy
fails 2 '--state would overwrite the input p9.npy' asterism cluster p2.npy p9.npy --angle 40 --state p9.npy
fails 1 '--report needs all of it' asterism cluster p2.npy ../last --angle 40 --report r.html --memory 3M
