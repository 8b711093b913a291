#!/bin/sh
# Clouds in coordinates of a map: doubles of seven digits before the point.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/clouds_common.sh"

# Coordinates of a map: the same cloud, moved by a whole number of metres, has the same planes there. Writing its points
# as doubles and reading them again loses nothing that a millimetre shows.
moved() {
    awk -v x="$1" -v y="$2" -v z="$3" '{ row[NR] = sprintf("%.9f %.9f %.9f", $1 + x, $2 + y, $3 + z) } END {
        printf "ply\nformat ascii 1.0\nelement vertex %d\n", NR
        printf "property double x\nproperty double y\nproperty double z\nend_header\n"
        for (i = 1; i <= NR; i++) print row[i]
    }'
}
rows 30 | moved 0 0 0 >here.ply
rows 30 | moved 512702 5403549 301 >map.ply
works asterism cluster here.ply --angle 40 --viewpoint 0.5,1,1.5 --planes here.csv --quiet
works asterism cluster map.ply --angle 40 --viewpoint 512702.5,5403550,302.5 --planes map.csv --colored map_out.ply --json
equal 'points without a direction on the map' 0 "$(json missing ../out)"
# Normal and offset of each plane, less what the move adds, to the millimetre. The points of an edge may belong to
# either side, so areas and centroids agree to a few centimetres.
planes_of() {
    awk -F, -v x="$2" -v y="$3" -v z="$4" 'NR > 1 {
        printf "%.3f %.3f %.3f %.3f %.0f %.0f %.0f\n", $3 + 4, $4 + 4, $5 + 4, $6 - $3 * x - $4 * y - $5 * z + 9,
            4 * ($8 - x), 4 * ($9 - y), 4 * ($10 - z)
    }' "$1" | sort
}
planes_of here.csv 0 0 0 >here.txt
planes_of map.csv 512702 5403549 301 >there.txt
equal 'planes of the cloud' 6 "$(wc -l <here.txt | tr -d ' ')"
same here.txt there.txt
works asterism cluster map_out.ply --angle 40 --neighbours 16 --viewpoint 512702.5,5403550,302.5 --planes again.csv --quiet
planes_of again.csv 512702 5403549 301 >again.txt
same here.txt again.txt
works asterism cluster map.ply --angle 40
grep -q 'towards 512702.5,5403550,305.5,' ../out || broken "not seen from above its middle: $(cat ../out)"
