#!/bin/sh
# asterism dedup: what it writes, its modes, and what it refuses.
. "$(dirname "$0")/common.sh"

# Rows 0, 2 and 4 are a chain, 1 and 3 are equal, 5 is missing, 6 is alone.
printf '1 0 0\n0 1 0\n0.95 0.3 0\n0 2 0\n0.8 0.6 0\nnan 0 0\n0 0 1\n' >x.txt
works asterism dedup x.txt --cosine 0.9 --output kept.txt --kept rows.txt --group-labels groups.txt --pairs pairs.csv --json
equal counts '7 1 3 3 2 0 3' "$(for key in rows missing kept groups duplicates matched pairs; do
    json $key ../out
done | paste -sd' ' -)"
equal groups '0 1 0 1 0 -1 2' "$(paste -sd' ' groups.txt)"
equal 'numbers of kept rows' '0 1 6' "$(paste -sd' ' rows.txt)"
equal 'kept rows' '1 0 0,0 1 0,0 0 1' "$(paste -sd, kept.txt)"
equal pairs 'i,j,cosine 0,2 1,3 2,4' "$(cut -d, -f1,2 pairs.csv | sed '1s/.*/i,j,cosine/' | paste -sd' ' -)"
works asterism dedup x.txt --cosine 0.9 --pairs pairs.jsonl
grep -q '^{"i":1,"j":3,"cosine":1}$' pairs.jsonl || broken "pairs.jsonl: $(cat pairs.jsonl)"

# The middle of the chain has the most neighbours, and is the central row.
works asterism dedup x.txt --cosine 0.9 --mode star --group-labels groups.txt --json
equal 'star: groups' '0 1 0 1 2 -1 3' "$(paste -sd' ' groups.txt)"
works asterism dedup x.txt --cosine 0.9 --mode star --keep central --kept rows.txt
equal 'star, central' '1 2 6' "$(paste -sd' ' rows.txt)"
works asterism dedup x.txt --cosine 0.9 --keep central --kept rows.txt
equal central '1 2 6' "$(paste -sd' ' rows.txt)"

# The longest name, from a file and from a column.
printf 'a\nb\naa\nbbb\naaa\nn\nc\n' >names.txt
works asterism dedup x.txt --cosine 0.9 --keep longest-named --names names.txt --kept rows.txt
equal 'longest name' '3 4 6' "$(paste -sd' ' rows.txt)"
paste -d, names.txt x.txt | tr ' ' , >named.csv
works asterism dedup named.csv --name-column 1 --cosine 0.9 --keep longest-named --kept rows.txt --output kept.npy
equal 'longest name, column' '3 4 6' "$(paste -sd' ' rows.txt)"

# Against rows that are kept already: their numbers, then the new groups.
printf '0 1 0.1\n1 0 0\n' >old.txt
works asterism dedup x.txt --cosine 0.9 --against old.txt --group-labels groups.txt --kept rows.txt --pairs pairs.csv --json
equal 'against: groups' '1 0 1 0 2 -1 3' "$(paste -sd' ' groups.txt)"
equal 'against: kept' '4 6' "$(paste -sd' ' rows.txt)"
equal 'against: matched' 4 "$(json matched ../out)"
equal 'against: pairs' '0,8 1,7 2,8 3,7' "$(tail -n +2 pairs.csv | cut -d, -f1,2 | paste -sd' ' -)"

# The same result on any number of threads and instruction set.
works asterism sample --points 6000 --dimension 40 --clusters 30 --kappa 300 --output many.npy --labels truth.npy
works asterism dedup many.npy --cosine 0.85 --threads 1 --group-labels one.npy --pairs one.npy.csv
for threads in 2 5; do
    works asterism dedup many.npy --cosine 0.85 --threads $threads --group-labels other.npy --pairs other.npy.csv
    same one.npy other.npy
    same one.npy.csv other.npy.csv
done
for isa in $(instruction_sets); do
    ASTERISM_ISA=$isa works asterism dedup many.npy --cosine 0.85 --mode star --keep central --group-labels $isa.npy
    same base.npy $isa.npy
done

# What it refuses.
fails 2 'the least cosine of near rows' asterism dedup x.txt
fails 2 '--cosine' asterism dedup x.txt --cosine 1.5
fails 2 'needs the names' asterism dedup x.txt --cosine 0.9 --keep longest-named
fails 2 'the extensions .csv, .jsonl and .npy' asterism dedup x.txt --cosine 0.9 --pairs pairs.xml
fails 2 '--names is for --keep longest-named' asterism dedup x.txt --cosine 0.9 --keep first --names names.txt
head -n 3 names.txt >few.txt
fails 1 'few.txt has 3 names, but x.txt has 7 rows' asterism dedup x.txt --cosine 0.9 --keep longest-named --names few.txt
printf '1 0\n' >narrow.txt
fails 1 'narrow.txt has rows of 2 components, but x.txt has rows of 3' asterism dedup x.txt --cosine 0.9 --against narrow.txt
printf 'nan nan\n' >empty.txt
fails 1 'empty.txt' asterism dedup empty.txt --cosine 0.9
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n' >s.mtx
fails 2 'dedup' asterism dedup s.mtx --cosine 0.9
