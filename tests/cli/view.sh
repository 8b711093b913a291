#!/bin/sh
# --view and asterism view: the address on stderr, a page behind it, frames that follow, and how it ends.
. "$(dirname "$0")/common.sh"
three_axes >x.txt

if [ "$VIEWER" != ON ]; then
    fails 2 '--view: this build of asterism has no page to show' asterism stream x.txt --angle 30 --view
    fails 2 'view: this build of asterism has no page to show' asterism view x.html
    skip 'the page: npm was missing when this was built'
fi

# Nothing that was started stays when a test breaks.
stream=
browser=
viewing=
trap 'code=$?; kill $stream $browser $viewing 2>/dev/null || true; end $code' EXIT

# wait_for WHAT COMMAND...: until the command works; half a minute at most.
wait_for() {
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 1500 ] || broken "$what does not come"
        sleep 0.02
    done
}

# address FILE: what it was said to be.
address() {
    wait_for 'the address' grep -q 'look at http' "$1"
    sed -n 's/^asterism: look at //p' "$1"
}

# afresh: what earlier runs have said is not waited for again.
afresh() {
    rm -f said seen lines
}

tool npy f4 C <x.txt >x.npy

# A stream from a pipe, watched from its first frame: every frame comes, then the end; the lines are what they are
# without anybody watching.
mkfifo pipe
afresh
"$ASTERISM" stream - --angle 30 --view <pipe >lines 2>said &
stream=$!
exec 3>pipe
cat x.npy >&3
url=$(address said)
wait_for 'the first line' test -s lines
"$BROWSER" watch "$url" >seen 3>&- &
browser=$!
wait_for 'the first message' grep -q hello seen
cat x.npy >&3
wait_for 'the second frame' grep -q '^frame 1$' seen
cat x.npy >&3
wait_for 'the third frame' grep -q '^frame 2$' seen
"$BROWSER" get "$url" >page.html
grep -q 'id="asterism-data">{"format": 1, "kind": "stream", "live": true' page.html || broken 'the page is not live'
exec 3>&-
wait "$stream" || broken "the stream exited with $?: $(cat said)"
wait "$browser" || broken 'the browser was cut off'
printf 'hello 1\nframe 1\nframe 2\nend The stream ended after 3 frames.\n' >expected
same expected seen
equal 'lines' 3 "$(wc -l <lines)"
! "$BROWSER" get "$url" >/dev/null || broken 'it is served after the end'
cat x.npy x.npy x.npy | asterism stream - --angle 30 | sed 's/"milliseconds": [^,]*//' >plain
sed 's/"milliseconds": [^,]*//' lines >watched
same plain watched

# Staying: until a signal, and then that is no failure.
afresh
"$ASTERISM" stream x.txt --angle 30 --view --view-end stay >lines 2>said &
stream=$!
url=$(address said)
wait_for 'the end' grep -q 'the view stays until Ctrl-C' said
"$BROWSER" watch "$url" >seen 3>&- &
browser=$!
wait_for 'the end' grep -q '^end The stream ended after 1 frame.$' seen
kill -TERM "$stream"
wait "$stream" || broken "a view that was told to go exited with $?"
wait "$browser" || broken 'the browser was cut off'
printf 'hello 1\nend The stream ended after 1 frame.\n' >expected
same expected seen

# Stopped in the middle: the browser is told, the report is written.
afresh
"$ASTERISM" stream - --angle 30 --view --report r.html <pipe >lines 2>said &
stream=$!
exec 3>pipe
cat x.npy >&3
url=$(address said)
wait_for 'the first line' test -s lines
"$BROWSER" watch "$url" >seen 3>&- &
browser=$!
wait_for 'the first message' grep -q hello seen
kill -TERM "$stream"
status=0
wait "$stream" || status=$?
exec 3>&-
wait "$browser" || true
[ "$status" -gt 128 ] || broken "a stream that was stopped exited with $status"
grep -q '^end The stream was stopped after 1 frame.$' seen || broken "the browser was not told: $(cat seen)"
[ -s r.html ] || broken 'no report of what was seen'

# A port in use.
afresh
"$ASTERISM" view r.html 2>said &
viewing=$!
url=$(address said)
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
"$BROWSER" get "$url" >again.html
same r.html again.html
fails 1 "port $port of 127.0.0.1 is in use by another program" asterism stream x.txt --angle 30 --view "$port"
fails 1 "port $port of 127.0.0.1 is in use by another program" asterism view r.html --port "$port"
kill -TERM "$viewing"
wait "$viewing" || broken "view exited with $?"

# The port that was asked for, in both ways to write it.
asterism stream x.txt --angle 30 --view="$port" >lines 2>said
grep -q "look at http://127.0.0.1:$port/[0-9a-f]\{32\}/$" said || broken "$(cat said)"
asterism stream --view "$port" x.txt --angle 30 >lines 2>said
grep -q "look at http://127.0.0.1:$port/" said || broken "$(cat said)"

# Finished results: lines, points with labels, folders.
data() {
    tr -d '\n' <"$1" | sed 's/.*id="asterism-data">//; s/<\/script>.*//'
}
asterism stream x.txt x.txt --angle 30 >lines.jsonl
works asterism view lines.jsonl --report l.html
data l.html >page
equal 'frames of the lines' 1 "$(json frames.1.frame page)"
equal 'clusters of the lines' 2 "$(json frames.1.clusters.1.count page)"
asterism cluster x.txt --angle 30 --labels labels.txt --json >result
works asterism view x.txt --labels labels.txt --report c.html
data c.html >page
equal 'sizes' 2 "$(json clusters.1.size page)"
mkdir folder
cp lines.jsonl folder
works asterism view folder --report f.html
asterism sample --points 40 --dimension 7 --clusters 3 --kappa 50 --seed 1 --output wide.npy
asterism stream wide.npy --angle 60 >wide.jsonl
works asterism view wide.jsonl --report w.html
data w.html >page
equal 'wide lines' 7 "$(json dimension page)"

# Columns, a header and names of the points
awk 'BEGIN { print ",name,a,b,c" } { printf "%d,point %d,%s,%s,%s\n", NR - 1, NR, $1, $2, $3 }' x.txt >named.csv
works asterism view named.csv --labels labels.txt --columns a,b,c --name-column name --report n.html
data n.html >page
equal 'dimension of chosen columns' 3 "$(json dimension page)"
equal 'the rows nearest to a mean' 2 "$(json clusters.0.representatives page | grep -o 'point [0-9]' | wc -l)"
cut -d, -f2 named.csv | tail -n +2 >names.txt
works asterism view x.txt --labels labels.txt --names names.txt --report m.html
data m.html >other
equal 'names of a file' "$(json clusters page | grep -o 'point [0-9]')" "$(json clusters other | grep -o 'point [0-9]')"
yes 0 | head -n 40 >many.txt
fails 1 'names.txt has 6 names, but wide.npy has 40 rows' asterism view wide.npy --labels many.txt --names names.txt --report no.html
fails 2 '--columns needs --labels' asterism view lines.jsonl --columns 2-3 --report no.html

# What cannot be.
head -n 3 labels.txt >short.txt
fails 1 'short.txt has 3 labels, but there are 6 points' asterism view x.txt --labels short.txt --report no.html
fails 1 'neither a report' asterism view x.txt
fails 1 'no such file|No such file' asterism view none.html
echo '<html></html>' >other.html
fails 1 'other.html is no report of asterism' asterism view other.html
{ cat lines.jsonl; echo '{"frame": 3}'; } >broken.jsonl
fails 1 'broken.jsonl: line 3 is no line of asterism stream' asterism view broken.jsonl
mkdir empty
fails 1 'empty holds no report' asterism view empty
cp l.html c.html folder
fails 1 'folder holds 2 results; name one' asterism view folder
fails 2 'not standard input' asterism view -
fails 2 '--bind must be an address' asterism stream x.txt --angle 30 --view --bind localhost
fails 2 '--bind needs --view' asterism stream x.txt --angle 30 --bind 127.0.0.1
fails 2 '--view-end needs --view' asterism stream x.txt --angle 30 --view-end exit
fails 2 '--view must be a whole number from 0 to 65535' asterism stream x.txt --angle 30 --view 70000
fails 1 'cannot be served' asterism stream x.txt --angle 30 --view --bind 203.0.113.1
