#!/bin/sh
# Files of DuckDB, parquet-wasm and hyparquet-writer, in every codec, encoding and version of pages that they write, give the
# labels and means of .npy, in memory and in parts; and DuckDB reads what asterism writes. npm fetches the three once.
. "$(dirname "$0")/../cli/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v npm >/dev/null || skip 'there is no npm'
mkdir -p "$WRITERS"
cp "$here/package.json" "$here/package-lock.json" "$here/write.mjs" "$here/join.mjs" "$WRITERS"
(cd "$WRITERS" && npm install --no-save --no-audit --no-fund) >../out 2>&1 || skip 'npm cannot fetch the writers of Parquet'
node "$WRITERS/write.mjs" . || broken 'the files cannot be written'
for kind in whole holes; do
    works asterism cluster $kind.npy --angle 60 --labels $kind.labels.npy --means $kind.means.npy --quiet
done
count=0
for file in *.parquet; do
    kind=whole
    case $file in *-holes.parquet) kind=holes ;; esac
    works asterism cluster "$file" --column embedding --angle 60 --labels l.npy --means m.npy --quiet
    same $kind.labels.npy l.npy
    same $kind.means.npy m.npy
    count=$((count + 1))
done
equal 'files' 116 $count

# larger than memory: several chunks of rows, from several threads
mkdir larger
node "$WRITERS/write.mjs" larger 60000 16 'duck-zstd-V1-FLOAT-|wasm-SNAPPY-V2-plain' || broken 'the larger files cannot be written'
for kind in whole holes; do
    works asterism cluster larger/$kind.npy --angle 100 --order given --labels larger/$kind.labels.npy --means larger/$kind.csv --quiet
    for file in larger/duck-zstd-V1-FLOAT-$kind.parquet larger/wasm-SNAPPY-V2-plain-$kind.parquet; do
        works asterism cluster "$file" --angle 100 --order given --labels l.npy --means m.csv --quiet --json --memory 3400K
        grep -q '"memory": {"allowed"' ../out || broken "$file was not read in parts"
        same larger/$kind.labels.npy l.npy
        same larger/$kind.csv m.csv
    done
done

# back into a database
file=duck-zstd-V1-FLOAT-whole.parquet
works asterism cluster $file --id id --angle 60 --output text.parquet --quiet
works asterism cluster $file --id number --angle 60 --output number.parquet --quiet
works asterism cluster $file --id id --angle 60 --output text.csv --quiet
works asterism cluster holes.npy --angle 60 --output rows.parquet --quiet
equal 'what DuckDB joins' '5000 5000 5000 4948' "$(node "$WRITERS/join.mjs")"

# a result of DuckDB in memory, by Arrow's C data interface, and the labels back
for duck in "$WRITERS"/node_modules/@duckdb/node-bindings-*/libduckdb.so; do
    if [ -e "$duck" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1 works /usr/bin/python3 "$here/capsule.py" "$duck"
        equal 'rows that DuckDB joins with labels' '7000 13 70 70' "$(cat ../out)"
    else
        skip_part 'there is no libduckdb.so or no NumPy'
    fi
done
