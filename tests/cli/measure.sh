#!/bin/sh
# asterism measure: known values, both forms, files that do not fit.
. "$(dirname "$0")/common.sh"

printf '0\n0\n1\n1\n2\n2\n' >labels.txt
printf '5\n5\n3\n3\n4\n4\n' >renamed.txt
works asterism measure --labels labels.txt --truth renamed.txt --json
equal 'the same partition' '1.0 1.0 6 3 3' "$(for key in nmi ari points clusters truths; do
    json $key ../out
done | paste -sd' ' -)"

# A case worked out by hand: sizes 3, 3 against 2, 4 with the table (2, 1), (0, 3).
printf '0\n0\n0\n1\n1\n1\n' >halves.txt
printf '0\n0\n1\n1\n1\n1\n' >uneven.txt
works asterism measure --labels halves.txt --truth uneven.txt --json
awk 'BEGIN {
    h1 = log(2); h2 = -(1 / 3 * log(1 / 3) + 2 / 3 * log(2 / 3))
    mi = 1 / 3 * log(2) + 1 / 6 * log(1 / 2) + 1 / 2 * log(3 / 2)
    printf "%.6f %.6f\n", mi / sqrt(h1 * h2), (4 - 6 * 7 / 15) / (6.5 - 6 * 7 / 15)
}' >expected
equal 'NMI and ARI' "$(cat expected)" "$(printf '%.6f %.6f' "$(json nmi ../out)" "$(json ari ../out)")"

# Rows labelled -1 are left out.
printf '0\n0\n1\n1\n2\n-1\n' >holes.txt
works asterism measure --labels holes.txt --truth renamed.txt --json
equal 'points that take part' 5 "$(json points ../out)"

# Nothing to compare is no agreement, and options of the points need points.
printf -- '-1\n-1\n-1\n-1\n-1\n0\n' >others.txt
fails 1 'holes.txt and others.txt have no row' asterism measure --labels holes.txt --truth others.txt --json
fails 2 '--columns needs --points FILE' asterism measure --labels holes.txt --truth renamed.txt --columns 1
fails 2 '--transpose needs --points FILE' asterism measure --labels holes.txt --truth renamed.txt --transpose

# Two clusters of equal points, at a right angle: a perfect silhouette, by either dissimilarity.
printf '1 0\n1 0\n0 1\n0 1\n' >x.txt
printf '0\n0\n1\n1\n' >z.txt
for dissimilarity in cosine angle; do
    works asterism measure --labels z.txt --points x.txt --dissimilarity $dissimilarity --json
    equal "silhouette by $dissimilarity" 1.0 "$(json silhouette ../out)"
    equal dissimilarity "\"$dissimilarity\"" "$(json dissimilarity ../out)"
    equal 'points it was taken over' 4 "$(json sampled ../out)"
done

# Both at once, for people.
works asterism measure --labels z.txt --truth z.txt --points x.txt
cat >expected <<'END'
points      4
clusters    2, in truth 2
NMI         1.000000  normalised mutual information, 0 to 1
ARI         1.000000  adjusted Rand index, about 0 for chance, 1 at most
silhouette  1.000000  -1 to 1, by cosine, over 4 points
END
same expected ../out
works asterism measure --labels z.txt --truth z.txt --quiet
equal 'with --quiet' '' "$(cat ../out)"

# A sample of a large set depends on the seed alone. 200 million angles, twice: too slow under a sanitizer.
if [ -z "$SANITIZE" ]; then
    asterism sample --points 21000 --dimension 3 --clusters 5 --kappa 50 --separation 50 --output y.npy --labels t.npy
    works asterism measure --labels t.npy --points y.npy --dissimilarity angle --json --threads 1
    equal 'points of the sample' 20000 "$(json sampled ../out)"
    first=$(json silhouette ../out)
    works asterism measure --labels t.npy --points y.npy --dissimilarity angle --json --threads 2
    equal 'the same seed' "$first" "$(json silhouette ../out)"
fi

fails 1 'labels.txt has 6 labels, but z.txt has 4' asterism measure --labels labels.txt --truth z.txt
fails 1 'labels.txt has 6 labels, but x.txt has 4 points' asterism measure --labels labels.txt --points x.txt
fails 1 'absent.npy' asterism measure --labels absent.npy --truth z.txt
fails 1 'absent.npy' asterism measure --labels z.txt --truth absent.npy
printf '0\n1.5\n' >half.txt
fails 1 'half.txt' asterism measure --labels half.txt --truth half.txt
printf '0\n0\n0\n0\n' >single.txt
fails 1 'single.txt.*two clusters' asterism measure --labels single.txt --points x.txt
