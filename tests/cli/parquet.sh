#!/bin/sh
# Parquet files of three writers hold the same points as a text: every codec, both versions of pages, nulls, several groups
# of rows; the table that --output writes; and files that are not what they say. tests/parquet/write.mjs has written them.
. "$(dirname "$0")/common.sh"
files=$(dirname "$0")/../fuzz/corpus/parquet
points=$(dirname "$0")/../parquet/points.txt

cp "$points" whole.txt
awk '{ print NR == 4 ? "nan nan nan" : $0 }' whole.txt >holes.txt
awk '{ print "row-" ((NR - 1) * 7919) % 24 }' whole.txt >ids.txt
for kind in whole holes; do
    works asterism cluster $kind.txt --angle 40 --labels $kind.npy --means $kind.csv --quiet
done
read_files=0
for file in "$files"/*.parquet; do
    kind=whole
    case $file in
    *-holes.parquet) kind=holes ;;
    esac
    status=0
    asterism cluster "$file" --column embedding --angle 40 --labels l.npy --means m.csv --quiet >../out 2>../err || status=$?
    if [ $status != 0 ] && grep -q 'this build can read none' ../err; then
        skip_part "${file##*/}: a library is missing"
        continue
    fi
    equal "${file##*/}: $(cat ../err)" 0 $status
    same $kind.npy l.npy
    same $kind.csv m.csv
    read_files=$((read_files + 1))
done
[ $read_files -ge 4 ] || broken "only $read_files files were read"

# ids, and the table of rows
file=$files/hy-UNCOMPRESSED-PLAIN-FLOAT-whole.parquet
works asterism cluster "$file" --id id --angle 40 --output rows.csv --labels l.txt --quiet
[ "$(head -n 1 rows.csv)" = id,cluster,similarity ] || broken "rows.csv begins with $(head -n 1 rows.csv)"
sed 1d rows.csv | cut -d, -f1 >own.txt
same ids.txt own.txt
sed 1d rows.csv | cut -d, -f2 >own.txt
same l.txt own.txt
works asterism cluster "$file" --id id --angle 40 --output rows.jsonl --means m.csv --quiet
[ "$(sed -n 2p rows.jsonl | grep -c '^{"id": "row-23", "cluster": [0-9]*, "similarity": [0-9.]*}$')" = 1 ] ||
    broken "line 2 of rows.jsonl is $(sed -n 2p rows.jsonl)"
asterism cluster "$file" "$file" --id id --angle 40 --output twice.csv --json >../out 2>../err || broken "$(cat ../err)"
grep -q '24 ids are repeated' ../err || broken "repeated ids: $(cat ../err)"
equal 'rows of two files' 49 "$(wc -l <twice.csv | tr -d ' ')"

# what we write, we read: ids as strings, as numbers, as numbers of rows; a missing row has no similarity
works asterism assign "$file" --means m.csv --id id --output rows.parquet --similarity s.txt --quiet
fails 1 'there is none that can be points|column' asterism cluster rows.parquet --angle 40
works asterism assign holes.txt --means m.csv --output numbers.csv --quiet
[ "$(sed -n 5p numbers.csv)" = 3,-1, ] || broken "the missing row is $(sed -n 5p numbers.csv)"
awk '{ print (NR * 5) "," $1 "," $2 "," $3 }' whole.txt >named.csv
{ echo key,x,y,z && cat named.csv; } >header.csv
works asterism cluster header.csv --id key --columns x,y,z --angle 40 --output keys.jsonl --quiet
head -n 1 keys.jsonl | grep -q '^{"id": 5, ' || broken "keys.jsonl begins with $(head -n 1 keys.jsonl)"

# the other subcommands
works asterism dedup "$file" --id id --cosine 0.9 --pairs pairs.csv --kept kept.txt --quiet
[ "$(sed -n 2p pairs.csv)" = row-0,row-20,0.953007027 ] || broken "pairs.csv begins with $(sed -n 2p pairs.csv)"
[ "$(sed -n 2p kept.txt)" = row-23 ] || broken "line 2 of kept.txt is $(sed -n 2p kept.txt)"
works asterism dedup "$file" --id id --cosine 0.9 --against "$file" --pairs pairs.jsonl --kept kept.npy --quiet
[ "$(sed -n 2p pairs.jsonl)" = '{"i": "row-0", "j": "row-20", "cosine": 0.953007027}' ] || broken "pairs.jsonl: $(sed -n 2p pairs.jsonl)"
works asterism tune "$file" --id id --json
grep -q '"command": "asterism cluster [^"]*parquet --id id ' ../out || broken "tune recommends $(json command ../out)"
works asterism explore "$file" --id id --once page.json --quiet
works asterism stream "$file" --angle 40
works asterism sample --points 20 --dimension 3 --clusters 2 --kappa 50 --output p.npy --quiet
fails 1 "is npy, which has no column of names" asterism cluster p.npy --id id --angle 40

# one sentence each
fails 1 "has no column 'vector'; there are: " asterism cluster "$file" --column vector --angle 40
fails 1 "has no column 'key'; those of whole numbers or strings are: id" asterism cluster "$file" --id key --angle 40
fails 1 'holds neither whole numbers nor strings' asterism cluster "$file" --id embedding --angle 40
fails 2 'is for .parquet, .h5 and .safetensors files' asterism cluster whole.txt --column x --angle 40
fails 2 'written as .csv, .jsonl or .parquet' asterism cluster "$file" --angle 40 --output rows.xml
head -c 900 "$file" >short.parquet
fails 1 'is cut short' asterism cluster short.parquet --angle 40
head -c 900 /dev/zero >zero.parquet
fails 1 'does not begin with PAR1' asterism cluster zero.parquet --angle 40
gzip -c "$file" >packed.parquet.gz
fails 1 'read from files only' asterism cluster packed.parquet.gz --angle 40

# a list of another length, after rows that are as they should be; a list with a null, and an empty one
made=$(dirname "$0")/../parquet
fails 1 'ragged.parquet: row 3 has 2 numbers, but the first has 3' asterism cluster "$made/ragged.parquet" --angle 30
works asterism cluster "$made/hole.parquet" --angle 1 --labels l.txt --json
equal 'missing rows' 2 "$(json missing ../out)"
equal 'labels beside missing rows' '0 -1 -1 1' "$(tr '\n' ' ' <l.txt | sed 's/ $//')"
