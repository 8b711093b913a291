#!/bin/sh
# The same points through every binary table give the same labels, in memory and read in parts; and files that are not
# what they say.
. "$(dirname "$0")/common.sh"

# Small whole numbers are exact in every type.
asterism sample --points 90000 --dimension 8 --clusters 5 --kappa 40 --separation 60 --seed 6 --output f.csv --quiet
awk -F, '{ for (d = 1; d <= NF; d++) printf "%d%s", 60 + 60 * $d, d < NF ? " " : "\n" }' f.csv >x.txt
tool npy f4 c <x.txt >x.npy
table() {
    tool table "$1" "$2" "$3" <x.txt
}
table bin f4 x.fbin
table bin u1 x.u8bin
table bin i1 x.i8bin
table vecs f4 x.fvecs
table vecs u1 x.bvecs
for type in f4 f8 f2 bf16; do
    table safetensors $type $type.safetensors
done
tables="x.fbin x.u8bin x.i8bin x.fvecs x.bvecs f4.safetensors f8.safetensors f2.safetensors bf16.safetensors"

hdf5=1
table h5 f4 x.h5 || hdf5=
if [ $hdf5 ]; then
    for type in f2 u1; do
        table h5 $type $type.h5
    done
    table h5-chunked f4 chunked.h5
    table h5-chunked bf16 chunked.hdf5
    table h5-big f4 big.h5
    tables="$tables x.h5 f2.h5 u1.h5 chunked.h5 chunked.hdf5 big.h5"
else
    skip_part 'HDF5: this build has no libhdf5'
fi

works asterism cluster x.npy --angle 25 --labels in.npy --means in.csv --quiet
some=$tables
[ -z "$SANITIZE" ] || some="x.fbin x.bvecs bf16.safetensors ${hdf5:+chunked.h5}" # one of each way to read
for file in $some; do
    works asterism cluster "$file" --angle 25 --labels l.npy --means l.csv --quiet
    same in.npy l.npy
    same in.csv l.csv
    works asterism cluster "$file" --angle 25 --labels l.npy --means l.csv --quiet --json --memory 2900K --threads 1
    grep -q '"memory": {"allowed"' ../out || broken "$file was not read in parts"
    same in.npy l.npy
    same in.csv l.csv
done
rm l.npy l.csv

# The other subcommands, columns, standard input, compressed files
works asterism assign x.npy --means in.csv --labels a.npy --quiet
for file in x.bvecs bf16.safetensors ${hdf5:+chunked.h5}; do
    works asterism assign "$file" --means in.csv --labels b.npy --quiet
    same a.npy b.npy
    works asterism assign "$file" --means in.csv --labels b.npy --quiet --memory 2900K --threads 1
    same a.npy b.npy
done
head -n 300 x.txt >some.txt
tool table vecs u1 some.bvecs <some.txt
tool table safetensors bf16 some.safetensors <some.txt
[ -z $hdf5 ] || tool table h5-chunked f8 some.h5 <some.txt
works asterism cluster some.txt --columns 2,3,5 --angle 25 --labels a.npy --quiet
works asterism measure --labels a.npy --points some.txt --json
mv ../out ../measured
works asterism tune some.txt --json
sed 's/"seconds.*//; s/some\.[a-z0-9]*/FILE/g' ../out >../tuned
for file in some.bvecs some.safetensors ${hdf5:+some.h5}; do
    works asterism cluster "$file" --columns 2,3,5 --angle 25 --labels b.npy --quiet
    same a.npy b.npy
    works asterism measure --labels a.npy --points "$file" --json
    same ../measured ../out
    works asterism tune "$file" --json
    equal "what tune finds in $file" "$(cat ../tuned)" "$(sed 's/"seconds.*//; s/some\.[a-z0-9]*/FILE/g' ../out)"
done
works asterism cluster some.txt --angle 25 --labels a.npy --quiet
asterism cluster - --format bvecs --angle 25 --labels b.npy --quiet <some.bvecs
same a.npy b.npy
gzip -k some.safetensors
works asterism cluster some.safetensors.gz --angle 25 --labels b.npy --quiet
same a.npy b.npy

# Means as .fvecs and .fbin, which come back as they were
works asterism cluster x.npy --angle 25 --means m.fvecs --quiet
works asterism cluster x.npy --angle 25 --means m.fbin --quiet
works asterism assign some.txt --means in.csv --labels a.npy --similarity a.csv --quiet
for means in m.fvecs m.fbin; do
    works asterism assign some.txt --means $means --labels b.npy --similarity b.csv --quiet
    same a.npy b.npy
    same a.csv b.csv
done
fails 2 '^asterism: --labels: l.fbin: this output can be written with the extensions .npy, .csv, .tsv and .txt$' \
    asterism cluster x.npy --angle 25 --labels l.fbin

# Small files from here on: every sentence below looks at all files of the folder.
{ head -c $((36 * 70)) x.fvecs && printf '\007' && tail -c +$((36 * 70 + 2)) x.fvecs; } >odd.fvecs
rm $tables x.npy in.npy
tool npy f4 c <some.txt >x.npy
tool table bin f4 x.fbin <some.txt
tool table vecs f4 x.fvecs <some.txt
tool table vecs u1 x.bvecs <some.txt
tool table safetensors f4 f4.safetensors <some.txt

# Which of several
tool table safetensors-several f4 two.safetensors <some.txt
fails 1 'two.safetensors: has several tensors of points, of which --tensor NAME chooses one: one \(300 x 8 F32\), two \(3' \
    asterism cluster two.safetensors --angle 25
works asterism cluster two.safetensors --tensor two --angle 25 --quiet
fails 1 "has no tensor 'six'; there are: ids \(1 dimension, I64\), one \(300 x 8 F32\), two" \
    asterism cluster two.safetensors --tensor six --angle 25
fails 1 'tensor ids has 1 dimension; points need two' asterism cluster two.safetensors --tensor ids --angle 25
fails 2 '^asterism: --tensor is for .safetensors files, and x.npy is none$' asterism cluster x.npy --tensor a --angle 25
fails 2 '^asterism: --dataset is for .h5 and .hdf5 files, and x.fbin is none$' \
    asterism cluster x.fbin --dataset a --angle 25

# Headers that lie, and files that end early
size=$(wc -c <x.fbin)
head -c $((size - 1)) x.fbin >cut.fbin
fails 1 'cut.fbin: its header promises 300 rows of 8 numbers of 4 bytes, but 9599 bytes follow' \
    asterism cluster cut.fbin --angle 25
{ printf '\377\377\377\377\377\377\377\377' && cat some.txt; } >lies.u8bin
fails 1 'lies.u8bin: its header promises 4294967295 rows of 4294967295 numbers' asterism cluster lies.u8bin --angle 25
printf '\000\000\000\000\003\000\000\000' >none.i8bin
fails 1 'none.i8bin: holds no points: its header says 0 rows of 3 numbers' asterism cluster none.i8bin --angle 25
{ printf '\003\000\000\000\002\000\000\000' && printf '\000\000\000\000\000\000'; } >zero.u8bin
fails 1 'zero.u8bin has no usable row' asterism cluster zero.u8bin --angle 25
head -c 3 x.fbin >short.fbin
fails 1 'short.fbin: is cut short' asterism cluster short.fbin --angle 25
head -c $((12 * 100 + 5)) x.bvecs >cut.bvecs
fails 1 'cut.bvecs: is cut short: row 101 has 5 of its 12 bytes' asterism cluster cut.bvecs --angle 25
# Compressed files and pipes are read as far as the header says, and no further than the memory budget
{ cat x.fbin && head -c 100000000 /dev/zero; } | gzip -1 >more.fbin.gz
fails 1 'more.fbin.gz: its header promises 300 rows of 8 numbers of 4 bytes, but more than 9600 bytes follow' \
    asterism cluster more.fbin.gz --angle 25 --memory 20M
{ cat f4.safetensors && head -c 100000000 /dev/zero; } | gzip -1 >more.safetensors.gz
works asterism cluster f4.safetensors --angle 25 --labels a.npy --quiet --memory 20M
works asterism cluster more.safetensors.gz --angle 25 --labels b.npy --quiet --memory 20M
same a.npy b.npy
for format in fbin u8bin i8bin fvecs bvecs safetensors npy ${hdf5:+h5}; do
    fails 1 'standard input: ' sh -c '"$0" "$@" </dev/zero' "$ASTERISM" cluster - --format $format --angle 25
done
{ printf '\000\000\000\001\002\000\000\000' && head -c 40000000 /dev/zero; } | gzip -1 >large.u8bin.gz
fails 1 'large.u8bin.gz: does not fit into the memory budget of 20971520 bytes' \
    asterism cluster large.u8bin.gz --angle 25 --memory 20M
{ printf '\377\377\001\000' && head -c 40000000 /dev/zero; } | gzip -1 >large.bvecs.gz
fails 1 'large.bvecs.gz: does not fit into the memory budget of 20971520 bytes' \
    asterism cluster large.bvecs.gz --angle 25 --memory 20M
rm more.* large.* a.npy b.npy
# A row of another dimension is named, whether the file is read at once or in parts
fails 1 'odd.fvecs: row 71 has 7 numbers, but row 1 has 8' asterism cluster odd.fvecs --angle 25
fails 1 'odd.fvecs: row 71 has 7 numbers, but row 1 has 8' asterism cluster odd.fvecs --angle 25 --memory 2900K --threads 1 --quiet
rm odd.fvecs x.txt f.csv
{ head -c $((36 * 70)) x.fvecs && tail -c +$((36 * 70 + 5)) x.fvecs; } >moved.fvecs
fails 1 'moved.fvecs: row 71 has' asterism cluster moved.fvecs --angle 25
printf '\377\377\377\377\001\000\000\000' >minus.fvecs
fails 1 'minus.fvecs: row 1 has -1 numbers' asterism cluster minus.fvecs --angle 25
{ printf '\000\000\000\000\000\000\000\200' && cat f4.safetensors; } >endless.safetensors
fails 1 'endless.safetensors: its header claims to be 9223372036854775808 bytes long' \
    asterism cluster endless.safetensors --angle 25
head -c 1000 f4.safetensors >cut.safetensors
fails 1 'cut.safetensors: tensor rows is promised at bytes 8 to 9608, but the tensors have [0-9]+ bytes' \
    asterism cluster cut.safetensors --angle 25
tool table safetensors i4 i4.safetensors <some.txt
fails 1 'i4.safetensors: tensor rows holds numbers of type I32; points need F64, F32, F16, BF16, I8 or U8' \
    asterism cluster i4.safetensors --angle 25
sed 's/dtype/dtypo/' f4.safetensors >dtypo.safetensors
fails 1 'dtypo.safetensors: its header cannot be understood at byte' asterism cluster dtypo.safetensors --angle 25
fails 1 'x.fbin: holds rows of points; a list of numbers is needed, .npy or text' \
    asterism cluster x.npy --angle 25 --weights x.fbin

cp some.txt no.h5
if [ -z $hdf5 ]; then
    fails 1 'no.h5: this build cannot read HDF5 files: libhdf5 was not there' asterism cluster no.h5 --angle 25
    exit
fi
fails 1 'no.h5: cannot be opened as an HDF5 file' asterism cluster no.h5 --angle 25
head -c 5000 some.h5 >cut.h5
fails 1 'cut.h5: ' asterism cluster cut.h5 --angle 25
tool table h5-several f4 several.h5 <some.txt
fails 1 'several.h5: has several datasets of points, of which --dataset PATH chooses one: .*/more/test \(300 x 8 f4\)' \
    asterism cluster several.h5 --angle 25
works asterism cluster several.h5 --dataset train --angle 25 --quiet
works asterism cluster several.h5 --dataset /more/test --angle 25 --quiet
fails 1 "several.h5: has no dataset '/six'; there are: .*/train" asterism cluster several.h5 --dataset /six --angle 25
fails 1 'dataset /more/neighbours holds numbers of type i4; points need floats of 2, 4 or 8 bytes or integers of 1 byte' \
    asterism cluster several.h5 --dataset /more/neighbours --angle 25
tool table h5-unwritten f4 never.h5 <some.txt
fails 1 'never.h5: dataset /train of 300 x 8 numbers was never written' asterism cluster never.h5 --angle 25
status=0
asterism cluster - --format h5 --angle 25 <some.h5 2>../err || status=$?
equal 'HDF5 from a pipe' 1 $status
grep -q 'standard input: HDF5 is read from files only' ../err || broken "it said: $(cat ../err)"
