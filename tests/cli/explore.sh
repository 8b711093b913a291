#!/bin/sh
# asterism explore: what it refuses, --once, and a page that is served until it is told to stop.
. "$(dirname "$0")/common.sh"
three_axes >x.txt
tool npy f4 C <x.txt >x.npy

# --once has the numbers of tune, wherever it writes them; it needs no page.
"$ASTERISM" tune x.npy --json >tuned
"$ASTERISM" explore x.npy --once once.json 2>said
cmp tuned once.json || broken '--once differs from tune'
"$ASTERISM" explore x.npy --once - >once 2>said
cmp tuned once || broken '--once - differs from tune'
"$ASTERISM" tune x.npy --axial --json >tuned
"$ASTERISM" explore x.npy --axial --once once.json
cmp tuned once.json || broken '--once differs from tune for axes'
echo 'nan nan nan' >nothing.txt
fails 1 'nothing.txt' asterism explore nothing.txt --once once.json
fails 1 'absent.npy' asterism explore absent.npy --once once.json
fails 2 '--once' asterism explore x.npy --once once.json --port 8080
fails 2 '--angle' asterism explore x.npy --angle 181
fails 2 '--metric local is not for axial rows' asterism explore x.npy --metric local --axial
fails 2 '--metric local centres the rows itself' asterism explore x.npy --metric local --center
"$ASTERISM" tune x.npy --metric local --json >tuned
"$ASTERISM" explore x.npy --metric local --once - >once
cmp tuned once || broken '--once differs from tune with a metric'
fails 2 'overwrite' asterism explore x.npy --labels x.npy --once once.json
fails 2 '--once would overwrite the input x.npy' asterism explore x.npy --once x.npy
fails 1 '--once would overwrite the input x.npy, which ./x.npy is as well' asterism explore x.npy --once ./x.npy
fails 2 '--once would overwrite the input names.txt' asterism explore x.npy --names names.txt --once names.txt
fails 2 '--labels and --once would both write to z.npy' asterism explore x.npy --labels z.npy --once z.npy
mkdir folder
fails 1 'folder: is a folder' asterism explore x.npy --once folder

if [ "$VIEWER" != ON ]; then
    fails 2 'explore: this build of asterism has no page to show' asterism explore x.npy
    skip 'the page: npm was missing when this was built'
fi
fails 2 '--bind must be an address of this machine in numbers' asterism explore x.npy --bind localhost
fails 2 'cannot be -' asterism explore x.npy --labels -
fails 1 'no/such' asterism explore x.npy --labels no/such/folder/labels.npy

serving=
trap 'code=$?; kill $serving 2>/dev/null || true; end $code' EXIT

# start OPTIONS...: serves in the background; $url is the address.
start() {
    : >said # what an earlier one has said is not waited for again
    "$ASTERISM" explore "$@" 2>said &
    serving=$!
    tries=0
    until grep -q 'look at http' said; do
        tries=$((tries + 1))
        [ "$tries" -lt 1500 ] || broken "the address does not come: $(cat said)"
        sleep 0.02
    done
    url=$(sed -n 's/^asterism: look at \([^ ]*\).*/\1/p' said)
}

start x.txt
"$BROWSER" get "$url" >page || broken 'the page is not served'
grep -q '"kind": "explore"' page || broken 'the page is not that of explore'
port=$(echo "$url" | sed 's/.*:\([0-9]*\).*/\1/')
fails 1 "port $port of 127.0.0.1 is in use" asterism explore x.txt --port "$port"
kill -TERM "$serving"
wait "$serving" || broken 'it does not end well'
"$ASTERISM" cluster x.txt --angle 30 --report finished.html --quiet
start finished.html --port "$port"
"$BROWSER" get "$url" >page || broken 'a report is not shown'
grep -q '"kind": "batch"' page || broken 'the report is not the one that was named'
kill -TERM "$serving"
wait "$serving" || broken 'it does not end well'
serving=
