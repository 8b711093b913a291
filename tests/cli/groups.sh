#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands it
# cluster --groups: rows of one group never share a cluster, in dp, spkm and merging; what is refused.
. "$(dirname "$0")/common.sh"

# 60 photos of three of six people, in 16 dimensions; two of them are 40 degrees apart.
awk 'function noise() { return (rand() + rand() + rand() - 1.5) * 0.3 }
    BEGIN { srand(4); for (photo = 0; photo < 60; photo++) for (face = 0; face < 3; face++) {
        who = (photo + face) % 6
        for (d = 0; d < 16; d++) printf "%.5f%s", (d == who) + (who == 1 && d == 0) * 1.2 + noise(), d < 15 ? " " : "\n"
        print photo >"photos.txt"
        print who >"who.txt" } }' >faces.txt

# shared LABELS: how many pairs of rows of a photo have the same label.
shared() {
    paste photos.txt "$1" | awk '$2 >= 0 { count[$1 " " $2]++ }
        END { for (pair in count) shared += count[pair] - 1; print shared + 0 }'
}

works asterism cluster faces.txt --angle 65 --labels alone.txt --quiet
[ "$(shared alone.txt)" -gt 0 ] || broken 'the two who are alike are not one person without --groups'
for order in given content random; do
    works asterism cluster faces.txt --angle 65 --groups photos.txt --order $order --labels labels.txt --json
    equal "pairs of a photo, order $order" 0 "$(shared labels.txt)"
done
for options in '--method spkm --clusters 6' '--angle 40 --merge 70' '--angle 40 --merge evidence' '--angle 40 --merge-to 6' \
    '--angle 55 --min-size 12' '--angle 60 --restarts 3'; do
    # shellcheck disable=SC2086 # options are words
    works asterism cluster faces.txt $options --groups photos.txt --labels labels.txt --quiet
    equal "pairs of a photo, $options" 0 "$(shared labels.txt)"
done
works asterism cluster faces.txt --angle 40 --merge-to 6 --groups photos.txt --labels labels.txt --quiet
works asterism measure --labels labels.txt --truth who.txt --json
echo "$(json ari ../out) > 0.9" | bc -l | grep -q 1 || broken "six people: ari $(json ari ../out)"
for threads in 1 3; do
    works asterism cluster faces.txt --angle 65 --groups photos.txt --threads $threads --labels l$threads.npy --quiet
done
same l1.npy l3.npy
# Rows below 0 are in no group.
sed 's/.*/-1/' photos.txt >none.txt
works asterism cluster faces.txt --angle 65 --groups none.txt --labels labels.txt --quiet
same labels.txt alone.txt

# ---- Weight 0 ----
# A row that counts for nothing is labelled within the angle only.
printf '1 0 0\n1 0.1 0\n0 0 1\n1 0.2 0\n' >four.txt
printf '1\n1\n0\n0\n' >weights.txt
works asterism cluster four.txt --angle 30 --weights weights.txt --labels labels.txt --quiet
equal 'far from every mean' '0 0 -1 0' "$(paste -sd ' ' labels.txt)"
printf '7\n8\n9\n8\n' >groups.txt
works asterism cluster four.txt --angle 30 --weights weights.txt --groups groups.txt --labels labels.txt --quiet
equal 'the group has that cluster' '0 0 -1 -1' "$(paste -sd ' ' labels.txt)"

# ---- What is refused -------------------------------------------------------------------------------------------------
head -n 7 photos.txt >short.txt
fails 1 'short.txt has 7 groups, but faces.txt has 180 points' asterism cluster faces.txt --angle 65 --groups short.txt
fails 1 'absent.txt' asterism cluster faces.txt --angle 65 --groups absent.txt
sed 's/.*/2/' photos.txt >one.txt
fails 1 'has 180 rows, but there are only 6 clusters' asterism cluster faces.txt --method spkm --clusters 6 --groups one.txt
fails 1 'is the fewest' asterism cluster faces.txt --angle 40 --merge-to 2 --groups photos.txt
fails 2 '--groups cannot be combined with --axial' asterism cluster faces.txt --angle 40 --axial --groups photos.txt
fails 2 '--groups is for' asterism cluster faces.txt --method movmf --clusters 3 --groups photos.txt
