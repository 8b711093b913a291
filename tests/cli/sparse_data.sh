#!/bin/sh
# Documents with known subjects, where they are at hand: spherical k-means finds them.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data/documents
[ -d "$data" ] || skip 'there is no ../shared/data/documents beside the project'

# agrees LEAST NAME OPTIONS...: the NMI with the true subjects.
agrees() {
    least=$1
    name=$2
    shift 2
    works asterism cluster "$data/$name.mtx" --method spkm --labels labels.txt "$@"
    works asterism measure --labels labels.txt --truth "$data/${name}_labels.txt" --json
    nmi=$(json nmi ../out)
    awk "BEGIN { exit !($nmi >= $least) }" || broken "NMI of $name with $* is $nmi, less than $least"
}
agrees 0.9 classic3 --clusters 3
agrees 0.9 classic3 --clusters 3 --tf-idf
agrees 0.7 cstr --clusters 4 --restarts 20
