#!/bin/sh
# --report: a page that holds its data, of every command that has one; and what is said where there can be none.
. "$(dirname "$0")/common.sh"
three_axes >x.txt

if [ "$VIEWER" != ON ]; then
    fails 2 '--report: this build of asterism has no page to show' asterism cluster x.txt --angle 30 --report r.html
    skip 'the page: npm was missing when this was built'
fi

# data FILE: the object inside the page, alone.
data() {
    tr -d '\n' <"$1" | sed 's/.*id="asterism-data">//; s/<\/script>.*//'
}

# A clustering: what is in the page is what the command printed, and the page changes nothing of that.
works asterism cluster x.txt --angle 30 --json --labels plain.npy
cp ../out plain
works asterism cluster x.txt --angle 30 --json --labels l.npy --report 'a page.html'
same plain.npy l.npy
equal objective "$(json objective plain)" "$(json objective ../out)"
data 'a page.html' >page
equal kind '"batch"' "$(json kind page)"
equal title '"cluster x.txt"' "$(json title page)"
equal command "\"asterism cluster x.txt --angle 30 --json --labels l.npy --report 'a page.html'\"" "$(json command page)"
equal angle 30 "$(json parameters.angle page)"
equal shown 6 "$(json points.shown page)"
equal size 2 "$(json clusters.2.size page)"
equal 'the marker is gone' 0 "$(grep -c 'asterism:data' 'a page.html' || true)"
equal 'one script of data' 1 "$(grep -o 'id="asterism-data"' 'a page.html' | wc -l)"

# The command line in the page, given to a shell, makes the same page again but for the run and the time.
cp 'a page.html' first.html
eval "$(json command page | sed 's/^"//; s/"$//; s/^asterism/"$ASTERISM"/')" >/dev/null
data 'a page.html' >again
equal points "$(json points page)" "$(json points again)"
equal clusters "$(json clusters page)" "$(json clusters again)"

# More dimensions are seen through their principal directions.
asterism sample --points 3000 --dimension 20 --clusters 4 --kappa 300 --separation 60 --seed 1 --output wide.npy
works asterism cluster wide.npy --angle 40 --json --report wide.html
data wide.html >page
equal dimension 20 "$(json dimension page)"
json notes page | grep -q '20 dimensions' || broken "no note: $(json notes page)"
json projection.explained.2 page >/dev/null

# A stream, one frame of it, none; a depth stream has its pictures.
asterism sample --scene hallway --frames 6 --size 160x120 --output hall
works asterism stream hall/depth --intrinsics 131.25,131.25,79.75,59.75 --angle 75 --report s.html
cp ../out lines
data s.html >page
equal kind '"stream"' "$(json kind page)"
equal frames 5 "$(json frames.5.frame page)"
equal objective "$(sed -n 6p lines | tool json clusters.0.count)" "$(json frames.5.clusters.0.count page)"
json frames.3.image page | grep -q '^"data:image/png;base64,' || broken 'no picture'
json frames.3.sample.xyz page | grep -q . || broken 'no sample'
json colors.0 page | grep -q '^"#' || broken 'no colours'
works asterism stream x.txt --angle 30 --report one.html
data one.html >page
equal 'one frame' 0 "$(json frames.0.frame page)"
works asterism segment hall/depth --intrinsics 131.25,131.25,79.75,59.75 --angle 75 --output seg --report seg.html
data seg.html >page
equal 'frames of segment' 5 "$(json frames.5.frame page)"

# A run that goes on from a state says that there was something before.
asterism stream x.txt --angle 30 --state s.state >/dev/null
cp x.txt y.txt
works asterism stream x.txt y.txt --angle 30 --state s.state --report on.html
data on.html >page
equal 'the frame after the state' 1 "$(json frames.0.frame page)"
json notes page | grep -q 'went on from a state' || broken "no note: $(json notes page)"

# Charts.
works asterism tune wide.npy --report t.html
data t.html >page
equal kind '"charts"' "$(json kind page)"
json charts.0.svg page | grep -q '<svg' || broken 'no chart'
equal panels 3 "$(json charts.0.svg page | grep -o "angle (degrees)" | wc -l | tr -d " ")"
json recommended page | grep -q 'Take --angle' || broken "$(json recommended page)"
works asterism reproduce synthetic --quick --runs 1 --output figures --report f.html
data f.html >page
json charts.1.title page | grep -q . || broken 'no second chart'
equal 'a table' '"method"' "$(json tables.0.columns.0 page)"

# What cannot be: nothing is left behind.
fails 2 'must end in .html' asterism cluster x.txt --angle 30 --report page.npy
fails 2 'must end in .html' asterism stream x.txt --angle 30 --report -
fails 1 'no/r.html' asterism cluster x.txt --angle 30 --report no/r.html
fails 1 'no/r.html' asterism stream x.txt --angle 30 --report no/r.html
fails 1 'no/r.html' asterism reproduce synthetic --quick --output figures --report no/r.html
printf '1 0 0\nx\n' >bad.txt
status=0
asterism stream x.txt bad.txt --angle 30 --report never.html >/dev/null 2>../err || status=$?
equal 'a stream that fails' 1 "$status"
[ ! -e never.html ] || broken 'a stream that failed has left a report'
