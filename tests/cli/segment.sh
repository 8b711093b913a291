#!/bin/sh
# asterism segment: pictures, contact sheet, chart and table, and what it prints.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"
. "$(dirname "$0")/depth_common.sh"
segment() {
    asterism segment "$@" --intrinsics $intrinsics --angle 75 --drift 0.05
}

# picture FILE: its size, depth and colour type.
picture() {
    head -c 26 "$1" | od -An -v -t u1 | tr -s ' \n' ' ' | cut -d' ' -f 18-27
}

works segment hall --poses hall/poses.txt --output out --labels labels
equal files '000000.png 000001.png 000002.png 000003.png 000004.png 000005.png contact-sheet.png shares.csv shares.svg' \
    "$(cd out && echo *)"
equal 'a picture of 320 x 240, 8 bits, colour' '0 0 1 64 0 0 0 240 8 2' "$(picture out/000003.png)"
head -n 1 ../out | grep -Eq '^6 frames of 320 x 240 pixels, [4-7] clusters by ddp at 75 degrees$' || broken "$(cat ../out)"
grep -q '^out holds a picture for each frame, contact-sheet.png, shares.svg and shares.csv$' ../out || broken "$(cat ../out)"
equal 'the labels' 6 "$(find labels -type f | wc -l | tr -d ' ')"

# The table: shares of a frame add up to 1, counts are those of the label files.
equal header frame,source,id,count,share "$(head -n 1 out/shares.csv)"
awk -F, 'NR > 1 { sum[$1] += $5 } END { for (f in sum) { n++; if (sum[f] < 0.999999 || sum[f] > 1.000001) exit 1 }
    exit n != 6 }' out/shares.csv || broken 'shares do not add up to 1'
numbers labels/000002.npy 76800 | grep -v '^-' | sort -n | uniq -c | awk '{ print $2 "," $1 }' >counted
awk -F, '$1 == 2 { print $3 "," $4 }' out/shares.csv | cmp - counted || broken 'the counts of frame 2'

# The chart is well-formed, has a band for each id, and the colours of the pictures.
bands=$(cut -d, -f 3 out/shares.csv | tail -n +2 | sort -u | wc -l | tr -d ' ')
equal bands "$bands" "$(grep -c '<title>cluster [0-9]*</title></path>' out/shares.svg)"
grep -q '#e69f00' out/shares.svg || broken 'id 0 is not orange in the chart'
well_formed out/shares.svg

# The same input, the same bytes, on any number of threads; and no table with --quiet, lines with --json.
works segment hall --poses hall/poses.txt --output again --threads 1 --quiet
equal 'with --quiet' '' "$(cat ../out)"
same_folder out again
works segment hall --poses hall/poses.txt --output again --json
timeless ../out >lines
works asterism stream hall --poses hall/poses.txt --intrinsics $intrinsics --angle 75 --drift 0.05
timeless ../out | cmp - lines || broken 'the lines are not those of stream'

# The same defaults as stream.
for options in '' '--poses hall/poses.txt' '--normal-window 8' '--smooth guided --beta 1e5'; do
    works asterism segment hall --intrinsics $intrinsics --angle 75 --output again --json $options
    timeless ../out >lines
    works asterism stream hall --intrinsics $intrinsics --angle 75 $options
    timeless ../out | cmp - lines || broken "segment $options is not stream $options"
done

# One image: a picture and nothing else.
works segment hall/depth/000004.png --output single
equal 'one image' 000004.png "$(cd single && echo *)"
grep -q '^single holds the picture$' ../out || broken "$(cat ../out)"
works sh -c '"$0" segment - --intrinsics $1 --angle 75 --output piped <hall/depth/000004.png' "$ASTERISM" $intrinsics
equal 'one image on standard input' 1 "$(find piped -type f | wc -l | tr -d ' ')"

# Ids come back through the turn where sdp loses them.
asterism sample --scene hallway --frames 40 --size 320x240 --output walk
works segment walk --poses walk/poses.txt --output walked
cp ../out table
awk '$NF > 0 && $2 ~ /%/ { back++ } END { exit !(back >= 2) }' table || broken "nothing comes back: $(cat table)"
works asterism segment walk --intrinsics $intrinsics --angle 75 --poses walk/poses.txt --method sdp --json \
    --output walked_sdp
grep -q '"event": "revived"' ../out && broken 'sdp revives clusters'
more=$(cut -d, -f 3 walked_sdp/shares.csv | sort -u | wc -l)
[ "$more" -gt "$(cut -d, -f 3 walked/shares.csv | sort -u | wc -l)" ] || broken 'sdp needs no more ids than ddp'
