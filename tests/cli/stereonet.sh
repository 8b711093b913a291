#!/bin/sh
# The figure of directions: what it contains, that it is the same each time, and what cannot be drawn.
. "$(dirname "$0")/common.sh"

printf '%s\n' dip_direction,dip 38,81 41,77 44,84 223,87 131,62 128,58 135,65 133,57 270,8 305,12 240,6 330,10 >joints.csv
works asterism cluster joints.csv --dip-direction --axial --angle 35 --stereonet a.svg --json
equal 'sets' 3 "$(json clusters ../out)"
well_formed a.svg
for word in '>N<' '>E<' '>S<' '>W<' 'dip direction/dip' 'equal area, lower hemisphere' 'a95' 'joints.csv'; do
    grep -q -- "$word" a.svg || broken "no $word in the figure"
done
works asterism cluster joints.csv --dip-direction --axial --angle 35 --stereonet b.svg --threads 3 --json
same a.svg b.svg
works asterism cluster joints.csv --dip-direction --axial --angle 35 --stereonet wulff.svg --equal-angle --json
grep -q 'equal angle' wulff.svg || broken 'the equal-angle net does not say so'
! cmp -s a.svg wulff.svg || broken 'both nets are the same'
works asterism cluster joints.csv --dip-direction --axial --angle 35 --stereonet a.png --json
equal 'a PNG' 'PNG' "$(head -c 4 a.png | tail -c 3)"
works asterism tune joints.csv --dip-direction --axial --stereonet tune.svg --json
well_formed tune.svg
works asterism cluster joints.csv --dip-direction --axial --angle 35 --means means.txt --json
works asterism assign joints.csv --dip-direction --axial --means means.txt --stereonet assign.svg --json
well_formed assign.svg

# A rose diagram, and rows that are no directions.
printf '%s\n' azimuth 10 12 190 n/a 95 >azimuths.csv
works asterism cluster azimuths.csv --azimuth --axial --angle 20 --stereonet rose.svg --json
grep -q 'petals of 10 degrees' rose.svg || broken 'no rose diagram'
printf '%s\n' '0 0 -1' '0 0 -1' '0 0 1' '1 0 0' '0 0 0' >few.txt
works asterism cluster few.txt --angle 20 --stereonet few.svg --json
well_formed few.svg
printf '%s\n' '1 2 3' '4 5 6' >'a<b&c.txt'
works asterism cluster 'a<b&c.txt' --angle 20 --stereonet odd.svg --json
well_formed odd.svg

# Means and errors of the run: an ellipse is no cone, and the mean of a girdle is its pole, across which it is dashed.
asterism sample --distribution kent --points 60 --dimension 3 --clusters 1 --kappa 50 --seed 4 --output kent.npy
works asterism cluster kent.npy --method movmf --clusters 1 --shape kent --stereonet kent.svg --json
well_formed kent.svg
works asterism cluster kent.npy --angle 90 --stereonet round.svg --json
! cmp -s kent.svg round.svg || broken 'the ellipse is drawn as a cone'
asterism sample --distribution watson --points 100 --dimension 3 --clusters 1 --kappa -20 --seed 4 --output girdle.npy
works asterism cluster girdle.npy --method movmf --axial --clusters 1 --stereonet girdle.svg --json
well_formed girdle.svg
[ "$(grep -c dasharray girdle.svg)" -gt 0 ] || broken 'no dashed girdle'

fails 2 "stereonet writes SVG or PNG: its name must end in .svg or .png, not be 'a.pdf'" \
    asterism cluster joints.csv --dip-direction --angle 35 --stereonet a.pdf
fails 2 'equal-angle' asterism cluster joints.csv --dip-direction --angle 35 --equal-angle
asterism sample --points 20 --dimension 5 --clusters 1 --kappa 9 --output five.npy
fails 1 'stereonet is for directions in two or three dimensions, and five.npy has 5' \
    asterism cluster five.npy --angle 40 --stereonet five.svg
