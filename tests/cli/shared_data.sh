#!/bin/sh
# Real files as they are, where they are at hand: transposed, with words in the first column, compressed.
. "$(dirname "$0")/common.sh"
data=$SOURCE/../shared/data
[ -d "$data" ] || skip 'there is no ../shared/data beside the project'

# reads POINTS DIMENSION FILE OPTIONS...
reads() {
    points=$1
    dimension=$2
    file=$data/$3
    shift 3
    works asterism cluster "$file" "$@" --json
    equal "points of $file" "$points" "$(json points ../out)"
    equal "dimension of $file" "$dimension" "$(json dimension ../out)"
    equal "missing in $file" 0 "$(json missing ../out)"
    [ "$(json clusters ../out)" -gt 1 ] || broken "one cluster in $file"
}
reads 10000 3 directional_misc/rndSphereDataIwUncertain.csv --transpose --angle 20
reads 10000 100 glove_words/glove6b_100d_top10k.txt --columns 2-101 --angle 60
reads 1797 64 digits/digits.csv.gz --columns 1-64 --angle 45
