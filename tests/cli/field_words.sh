#!/bin/sh
# Angles as they are written in notebooks: names of columns, quadrants, pairs, decimal commas, MagIC files, azimuths.
. "$(dirname "$0")/common.sh"

# The names of the columns say which is which.
printf '%s\n' 'dip,dipdir' 30,45 31,47 29,44 60,80 >swapped.csv
asterism cluster swapped.csv --dip-direction --axial --angle 15 --json >../out 2>../err
near 'dip direction by name' 45.3 "$(json cluster.0.dip_direction ../out)" 0.1
near 'dip by name' 30 "$(json cluster.0.dip ../out)" 0.1
grep -q 'dip direction is in column 2 and the dip in column 1' ../err || broken 'no remark on the order of columns'
for header in 'Dip (deg),Dip Direction' 'DIP,dip_dir' 'dip,azi' 'dip;dip azimuth'; do
    { echo "$header"; case $header in *\;*) sed 1d swapped.csv | tr , ';' ;; *) sed 1d swapped.csv ;; esac; } >named.csv
    works asterism cluster named.csv --dip-direction --axial --angle 15 --json --quiet
    near "dip under '$header'" 30 "$(json cluster.0.dip ../out)" 0.1
done
printf '%s\n' 'id,dip,rock,strike' 1,30,a,45 2,31,b,47 >wide.csv
works asterism cluster wide.csv --strike-dip --axial --angle 15 --json --quiet
near 'strike among other columns' 46 "$(json cluster.0.strike ../out)" 0.1

# Without the option they would be vectors in the plane.
fails 1 "swapped.csv: its header says 'dip', so that its columns are angles .*--dip-direction reads them" \
    asterism cluster swapped.csv --angle 15
fails 1 "its header says 'strike'.*--strike-dip reads them" asterism cluster wide.csv --columns strike,dip --angle 15
fails 1 "its header says 'dip'.*--strike-dip reads them" asterism tune wide.csv --columns 2,4
fails 1 "its header says 'strike', but --dip-direction needs a dip direction: --strike-dip" \
    asterism cluster wide.csv --dip-direction --angle 15
fails 1 "its header says 'dipdir', but --strike-dip needs a strike: --dip-direction" \
    asterism cluster swapped.csv --strike-dip --angle 15
printf '%s\n' 'x,y' 1,2 3,4 >plane.csv
works asterism cluster plane.csv --angle 15

# The same plane in many words.
printf '%s\n' 40,61S 40,61 '220,61 SE' N40E,61SE '040,61.0' '40,61°' 'S40W,61SE' n/a,61 40,NA >words.csv
works asterism cluster words.csv --strike-dip --axial --angle 1 --json
equal 'one plane' 1 "$(json clusters ../out)"
equal 'missing words' 2 "$(json missing ../out)"
near 'its strike' 40 "$(json cluster.0.strike ../out)" 1e-3
printf '%s\n' N40E/61SE 040/61 220/61SE n/a >pairs.txt
works asterism cluster pairs.txt --strike-dip --axial --angle 1 --json
equal 'pairs' '1 1' "$(json clusters ../out) $(json missing ../out)"
printf '%s\n' 'site,plane,rock' q,N40E/61SE,granite r,040/61,gneiss >pair.csv
works asterism cluster pair.csv --strike-dip --axial --angle 1 --json
equal 'a column of pairs' '1 2' "$(json clusters ../out) $(json points ../out)"
printf '%s\n' 'strike;dip' '40,5;61,0' '39,5;61,0' >commas.csv
works asterism cluster commas.csv --strike-dip --axial --angle 5 --json
near 'decimal commas' 40 "$(json cluster.0.strike ../out)" 1e-3
fails 1 'its header has 2 names, but line 2 has 4 columns; decimal commas need another separator between columns' \
    sh -c "printf '%s\n' strike,dip 40,5,61,0 39,5,61,0 | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 'its header has 2 names, but line 2 has 3 columns; decimal commas' \
    sh -c "printf '%s\n' strike,dip 40,5,61 39,5,61 | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 'its header has 1 name, but line 2 has 2 columns; decimal commas' \
    sh -c "printf '%s\n' azimuth 1,5 39,5 | '$ASTERISM' cluster - --format csv --azimuth --angle 5"
printf '%s\n' strike,dip 1,40,61 2,41,61 3,39,61 >numbered.csv
works asterism cluster numbered.csv --strike-dip --axial --angle 5 --json
near 'rows that are numbered' 40 "$(json cluster.0.strike ../out)" 1e-3
printf '%s\n' strike,dip A1,40,61 B2,40,61 >named.csv
works asterism cluster named.csv --strike-dip --axial --angle 5 --json
near 'rows that have names' 40 "$(json cluster.0.strike ../out)" 1e-3
fails 1 'row 3: an azimuth of 370 is not between -360 and 360' \
    sh -c "printf '%s\n' 10 20 370 | '$ASTERISM' cluster - --format csv --azimuth --angle 5"
printf '%s\n' '40 20NE' '220 20NE' '40 20' >lines.txt
works asterism cluster lines.txt --trend-plunge --angle 1 --json
equal 'the end of a line by its quadrant' 1 "$(json clusters ../out)"
fails 1 "line 2: '61E' has a plane that dips along its strike" \
    sh -c "printf '%s\n' 40,61 90,61E | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 "line 1: '61W' has a quadrant opposite to the dip direction" \
    sh -c "printf '%s\n' 80,61W | '$ASTERISM' cluster - --format csv --dip-direction --angle 5"
fails 1 "line 3: 'N95E' is no azimuth" \
    sh -c "printf '%s\n' strike,dip 1,2 N95E,4 | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 "line 2: 'steep' is no inclination" \
    sh -c "printf '%s\n' 1,2 3,steep | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 'line 2 has 3 columns, but line 1, the first row, has 2' \
    sh -c "printf '%s\n' 1,2 3,4,5 | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"
fails 1 "line 1: '61NE' has a plane that dips along its strike" \
    sh -c "printf '%s\n' N40E,61NE | '$ASTERISM' cluster - --format csv --strike-dip --angle 5"

# Three digits are an azimuth, wherever they stand; so says a name with a slash; a name that is known says what the other
# column is; letters may have a column of their own.
printf '%s\n' 30/080 080/30 5/079 >order.txt
works asterism cluster order.txt --dip-direction --axial --angle 60 --json
near 'dip direction of three digits' 79.7 "$(json cluster.0.dip_direction ../out)" 1
printf '%s\n' dip/dipdir 30/80 31/81 >order.csv
works asterism cluster order.csv --dip-direction --axial --angle 10 --json
near 'dip by a name with a slash' 30.5 "$(json cluster.0.dip ../out)" 0.1
printf '%s\n' dip,orientation 30,80 31,81 >half.csv
works asterism cluster half.csv --dip-direction --axial --angle 10 --json --quiet
near 'the angle beside the dip' 80.5 "$(json cluster.0.dip_direction ../out)" 0.1
printf '%s\n' strike,dip,quadrant 40,61,NW 41,61,nw 221,61,NW >letters.csv
works asterism cluster letters.csv --strike-dip --axial --angle 10 --json
near 'dip direction by a column of letters' 310.7 "$(json cluster.0.dip_direction ../out)" 0.1
printf '%s\n' Streichen,Fallen 40,61 41,61 >german.csv
fails 1 "its header says 'Streichen'.*--strike-dip reads them" asterism cluster german.csv --angle 15

# One column of azimuths.
printf '%s\n' azimuth 10 12 190 200 N20E >azimuths.csv
works asterism cluster azimuths.csv --azimuth --axial --angle 20 --json
equal 'azimuths' '2 1' "$(json dimension ../out) $(json clusters ../out)"
near 'mean azimuth' 14.4 "$(json cluster.0.azimuth ../out)" 0.1
works asterism cluster azimuths.csv --azimuth --axial --angle 20
grep -q '^azimuth: of the mean' ../out || broken 'the azimuth is not explained'
printf '%s\n' site,depth 1,2 3,4 >no_azimuth.csv
fails 1 'no_azimuth.csv has 2 columns, but --azimuth needs one' asterism cluster no_azimuth.csv --azimuth --angle 5
fails 2 '--strike-dip cannot be combined with --azimuth' asterism cluster azimuths.csv --azimuth --strike-dip --angle 5

# MagIC: several tables in one file.
printf 'tab\tlocations\nname\tlat\nA\t3\n>>>>>>>>>>\ntab \tsites\nsite\tdir_dec\tdir_inc\nA\t10.5\t40\nB\t12\t41\nC\t\t41\n>>>>>>>>>>\ntab \tages\nx\ty\n1\t2\n' >magic.txt
for columns in '' '--columns dir_dec,dir_inc'; do
    # shellcheck disable=SC2086
    works asterism cluster magic.txt --trend-plunge --angle 20 $columns --json
    equal 'sites' '3 1' "$(json points ../out) $(json missing ../out)"
    near 'declination of the sites' 11.2 "$(json cluster.0.trend ../out)" 0.1
done
grep -v dir_dec magic.txt >other.txt
fails 1 'other.txt: none of its MagIC tables' asterism cluster other.txt --trend-plunge --angle 5

# All points together: a girdle is called one; k in the table.
awk 'BEGIN { for (i = 0; i < 72; i++) print 90, i * 180 / 72 - 90 + (i % 3) }' >fold.txt
works asterism cluster fold.txt --trend-plunge --axial --angle 40 --json
equal 'shape of a girdle' '"girdle"' "$(json shape ../out)"
json preferred.p ../out | awk '{ exit !($1 < 1e-4) }' || broken "a girdle is uniform: $(json preferred ../out)"
works asterism cluster fold.txt --trend-plunge --axial --angle 40
grep -q '^a girdle, whose pole' ../out || broken 'no girdle in the table'
grep -q 'kappa        k  alpha95' ../out || broken 'no k in the table'
grep -q "^k: Fisher's precision" ../out || broken 'the table does not say what k is'
works asterism cluster fold.txt --trend-plunge --axial --method movmf --clusters 1
grep -q '^k: kappa (n - 1) / n' ../out || broken 'the k of a Watson distribution is called Fisher'
works asterism tune fold.txt --trend-plunge --axial --json
equal 'shape of a girdle in tune' '"girdle"' "$(json shape ../out)"
works asterism tune fold.txt --trend-plunge --axial
grep -q '^All points together are a girdle' ../out || broken 'tune does not name the girdle'
works asterism sample --points 50 --dimension 3 --clusters 1 --kappa 50 --output one.npy
works asterism cluster one.npy --angle 90 --json
equal 'shape of a cluster' '"cluster"' "$(json shape ../out)"
works asterism sample --points 300 --dimension 3 --clusters 1 --kappa 0 --seed 2 --output uniform.npy
works asterism cluster uniform.npy --angle 90 --json
equal 'shape of uniform points' '"uniform"' "$(json shape ../out)"
json eigenvalues ../out | tr -d '[]' | awk -F, '{ exit !($1 >= $2 && $2 >= $3 && ($1 + $2 + $3 - 1)^2 < 1e-20) }' ||
    broken "eigenvalues: $(json eigenvalues ../out)"
