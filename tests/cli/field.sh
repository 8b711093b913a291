#!/bin/sh
# Measured in the field: planes and lines as they are written, tables with names, empty cells and blanks.
. "$(dirname "$0")/common.sh"

# keys FILE: the names of the JSON object, in order.
keys() {
    grep -o '"[a-z_0-9]*":' "$1" | tr -d '":' | awk '!seen[$0]++' | paste -sd' ' -
}

# Lines stay lines.
printf '%s\n' '40 20' '42 22' '38 18' '250 70' '252 70' >lines.txt
works asterism cluster lines.txt --trend-plunge --angle 20 --means means.txt --json
near 'trend' 40 "$(json cluster.0.trend ../out)" 0.1
near 'plunge' 20 "$(json cluster.0.plunge ../out)" 0.1
near 'trend of the steep line' 251 "$(json cluster.1.trend ../out)" 0.1
case $(keys ../out) in *dip*) broken 'a line has a dip' ;; esac
works asterism cluster lines.txt --trend-plunge --angle 20
grep -q 'mean  *trend plunge' ../out || broken "no trend in the table: $(cat ../out)"
grep -q '^trend, plunge: of the mean' ../out || broken 'the trend is not explained'
works asterism assign lines.txt --trend-plunge --means means.txt --angle 20 --labels labels.txt
equal 'lines assigned' '0 0 0 1 1' "$(paste -sd' ' labels.txt)"

# Directions keep their sense, axes are taken at their lower end.
printf '%s\n' '187 -35' '187 -37' '270 0' >up.txt
works asterism cluster up.txt --trend-plunge --angle 20 --json
near 'declination of the reversed direction' 187 "$(json cluster.0.trend ../out)" 1e-3
near 'its inclination' -36 "$(json cluster.0.plunge ../out)" 1e-3
near 'a level direction to the west' 270 "$(json cluster.1.trend ../out)" 1e-3
works asterism cluster up.txt --trend-plunge --angle 20 --axial --json
near 'trend of the axis' 7 "$(json cluster.0.trend ../out)" 1e-3
near 'plunge of the axis' 36 "$(json cluster.0.plunge ../out)" 1e-3

# Strike and dip: the plane dips to the right of its strike.
printf '%s\n' '0 30' '90 30' '300 60' >strikes.txt
awk '{ print ($1 + 90) % 360, $2 }' strikes.txt >planes.txt
works asterism cluster strikes.txt --strike-dip --angle 5 --axial --means a.txt --json
mv ../out strikes.json
works asterism cluster planes.txt --dip-direction --angle 5 --axial --means b.txt --json
same a.txt b.txt
near 'strike' 300 "$(json cluster.2.strike strikes.json)" 1e-3
near 'dip direction of a strike' 30 "$(json cluster.2.dip_direction strikes.json)" 1e-3
near 'dip direction' 30 "$(json cluster.2.dip_direction ../out)" 1e-3
near 'dip' 60 "$(json cluster.2.dip ../out)" 1e-3
works asterism cluster strikes.txt --strike-dip --angle 5 --axial
grep -q 'mean  *strike    dip' ../out || broken "no strike in the table: $(cat ../out)"
fails 2 '--strike-dip cannot be combined with --trend-plunge' asterism cluster strikes.txt --strike-dip --trend-plunge --angle 5
fails 2 '--dip-direction cannot be combined with --strike-dip' asterism cluster strikes.txt --strike-dip --dip-direction --angle 5
printf '%s\n' '-10 -20' '400 20' >around.txt
fails 1 'row 2: a strike of 400 is not between -360 and 360 degrees' asterism cluster around.txt --strike-dip --angle 5
printf '10 100\n' >steep.txt
fails 1 'row 1: a dip of 100 .*the strike comes first' asterism cluster steep.txt --strike-dip --angle 5

# Three numbers are no measurement of a plane.
three_axes >x.txt
works asterism cluster x.txt --angle 20 --json
case $(keys ../out) in *dip*) broken 'three numbers have a dip' ;; esac

# A .tsv splits at tabs only: blanks are part of a cell, and an empty cell is an empty cell.
{
    printf 'site name\tdec\tinc\tnote\n'
    printf 'New Quarry\t40\t20\tupper bed, wet\n'
    printf 'Old Quarry\t\t21\t\n'
    printf '\t42\t22\t\n'
    printf 'road cut\t250\t70\tloose; 2 m\n'
} >site.tsv
for columns in dec,inc 2,inc DEC,3 2-3; do
    works asterism cluster site.tsv --trend-plunge --columns "$columns" --angle 20 --labels labels.txt --json
    equal "labels by columns $columns" '0 -1 0 1' "$(paste -sd' ' labels.txt)"
    near "trend by columns $columns" 41 "$(json cluster.0.trend ../out)" 0.1
done
fails 1 "site.tsv: has no column 'azimuth'; its columns are site name, dec, inc, note" \
    asterism cluster site.tsv --trend-plunge --columns azimuth,inc --angle 20
fails 1 "'New Quarry' is not a number" asterism cluster site.tsv --columns 'site name,dec' --angle 20
printf '1 2\t3\n' >pair.tsv
fails 1 "'1 2' is not a number" asterism cluster pair.tsv --angle 20
printf 'a,a\n1,2\n' >twice.csv
fails 1 "more than one column has the name of entry 1 of 'a,1'" asterism cluster twice.csv --columns a,1 --angle 20
fails 1 'has no header with names of columns' asterism cluster lines.txt --trend-plunge --columns dec,inc --angle 20
fails 1 'names column 2 twice' asterism cluster site.tsv --trend-plunge --columns dec,2 --angle 20
works asterism sample --points 50 --dimension 3 --clusters 2 --kappa 50 --output p.npy
fails 1 'has no header with names of columns' asterism cluster p.npy --columns x,y,z --angle 20
printf '%s\t%s\n' 1 2 '' 3 4 5 | tr -d '\r' >holes.tsv
works asterism cluster holes.tsv --angle 20 --json
equal 'rows with an empty first cell' 1 "$(json missing ../out)"

# .dat is text, and every command reads tables alike.
cp lines.txt lines.dat
works asterism cluster lines.dat --trend-plunge --angle 20 --json
equal 'points of a .dat' 5 "$(json points ../out)"
works asterism stream site.tsv --trend-plunge --columns dec,inc --angle 20
equal 'missing in the frame' 1 "$(json missing ../out)"
works asterism cluster site.tsv --trend-plunge --columns dec,inc --angle 20 --labels labels.txt --means means.txt
works asterism assign site.tsv --trend-plunge --columns dec,inc --means means.txt --labels again.txt
same labels.txt again.txt
works asterism measure --labels labels.txt --points site.tsv --columns dec,inc --trend-plunge --json
works asterism tune site.tsv --trend-plunge --columns dec,inc --json

# Real data, where it is at hand.
data=$SOURCE/../shared/data/geology
[ -d "$data" ] || skip 'the real data: there is no ../shared/data beside the project'
works asterism cluster "$data/apsg_structures.csv" --columns azi,inc --dip-direction --axial --angle 50 --json
equal 'structures' 253 "$(json points ../out)"
works asterism cluster "$data/pmagpy_revtest_example.txt" --trend-plunge --angle 90 --json
near 'inclination of the reversed directions' -45.2 "$(json cluster.0.plunge ../out)" 0.05
