#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands it
# asterism stream: wrong usage, and bad frames. What was right before them stays.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

frame a.npy 1 5 px py
frame b.npy 2 5 px py
three_axes >x.txt

# ---- Usage ----
fails 2 'needs an INPUT' asterism stream --angle 40
fails 2 'needs --angle' asterism stream a.npy
fails 2 '--drift cannot be combined with --beta' asterism stream a.npy --angle 40 --drift 1 --beta 100
fails 2 'drift' asterism stream a.npy --angle 40 --drift 0
fails 2 '--drift must be' asterism stream a.npy --angle 40 --drift -1
fails 2 '--beta must be' asterism stream a.npy --angle 40 --beta -1
fails 2 '--method must be ddp, sdp or dp' asterism stream a.npy --angle 40 --method spkm
fails 2 '--lifetime must be' asterism stream a.npy --angle 40 --lifetime 1.5
fails 2 '--max-iterations must be' asterism stream a.npy --angle 40 --max-iterations 0
fails 2 '--max-clusters must be' asterism stream a.npy --angle 40 --max-clusters 0
fails 2 '--weight-update must be posterior or paper' asterism stream a.npy --angle 40 --weight-update kalman
fails 2 '--revive must be any or near' asterism stream a.npy --angle 40 --revive all
fails 2 '--merge-tracked must be off or on' asterism stream a.npy --angle 40 --merge-tracked yes
fails 2 '--merge-tracked is for --method ddp' asterism stream a.npy --angle 40 --merge-tracked on --method sdp
fails 2 '--rigid is for --method ddp' asterism stream a.npy --angle 40 --rigid --method dp
fails 2 '--rigid cannot be combined with --poses' asterism stream a.npy --angle 40 --rigid --poses poses.txt
fails 2 'given twice' asterism stream - - --angle 40
fails 2 '--points is for points on standard input' asterism stream a.npy --angle 40 --points 3 --dimension 3
fails 2 '--points needs --dimension' asterism stream - --angle 40 --points 3
fails 2 '--points cannot be combined with --format' asterism stream - --angle 40 --points 3 --dimension 3 --format npy
touch a.zzz
fails 2 'a.zzz.*extension' asterism stream a.zzz --angle 40
fails 2 '--durable' asterism stream a.npy --angle 40 --durable
fails 2 '--labels needs a name' asterism stream a.npy --angle 40 --labels -
fails 2 'did you mean --lifetime' asterism stream a.npy --angle 40 --lifetim 3

fails 2 '--min-quality needs --weights' asterism stream a.npy --angle 40 --min-quality 1
fails 2 '--min-size cannot be combined with --exclusive' asterism stream a.npy --angle 40 --min-size 3 --exclusive
fails 2 '--born-after must be' asterism stream a.npy --angle 40 --born-after 0
mkdir quality
fails 1 'quality/a.npy: no such file' asterism stream a.npy --angle 40 --weights quality
printf '1\n2\n' >quality/a.csv
fails 1 'quality/a.csv has 2 numbers, but a.npy has 10 points' asterism stream a.npy --angle 40 --weights quality
printf '1\n-2\n1\n1\n1\n1\n1\n1\n1\n1\n' >quality/a.csv
fails 1 'quality/a.csv: number 2 is -2' asterism stream a.npy --angle 40 --weights quality
printf '1 2\n' >centre.txt
fails 1 'centre.txt is 1 x 2; the centre of points of 3 dimensions is 1 x 3' asterism stream a.npy --angle 40 \
    --center-file centre.txt

# ---- Inputs ----
fails 1 'absent.npy' asterism stream absent.npy --angle 40
mkdir empty strange
fails 1 'empty.*no file of a known format' asterism stream empty --angle 40
echo hello >strange/notes.md
fails 1 'strange.*no file of a known format' asterism stream strange --angle 40
tool npy f4 c '(2, 3, 1, 3)' <x.txt >four.npy
fails 1 'four.npy.*shape \(2, 3, 1, 3\)' asterism stream four.npy --angle 40
tool npy i4 c '(2, 3, 3)' <x.txt >whole.npy
fails 1 "whole.npy.*'<i4'" asterism stream whole.npy --angle 40
echo 1 0 0 >'one.csv'
printf '1\n2\n' >narrow.txt
fails 1 'narrow.txt.*between 2 and 4096' asterism stream narrow.txt --angle 40
printf '' >nothing.txt
fails 1 'nothing.txt holds no points.*--dimension' asterism stream nothing.txt --angle 40
fails 1 'a.npy.*3 dimensions.*--dimension' asterism stream a.npy --angle 40 --dimension 4

printf '1 0\n0 1\n' >flat.txt
fails 1 'flat.txt has points of 2 dimensions, and --rigid is for 3' asterism stream flat.txt --angle 40 --rigid

# ---- A frame in the middle ----
# halfway CODE PATTERN LINES COMMAND...: fails with one sentence after so many good frames.
halfway() {
    code=$1
    pattern=$2
    lines=$3
    shift 3
    status=0
    "$@" >../out 2>../err || status=$?
    equal "exit code of $*" "$code" "$status"
    equal "sentences of $*" 1 "$(wc -l <../err)"
    grep -Eq -e "$pattern" ../err || broken "$*: '$pattern' is not in: $(cat ../err)"
    equal "lines of $*" "$lines" "$(wc -l <../out)"
}
echo 1 0 0 0 >wide.txt
halfway 1 'wide.txt.*4 dimensions' 2 asterism stream a.npy b.npy wide.txt --angle 40 --labels z
halfway 1 'absent.npy' 1 asterism stream a.npy absent.npy --angle 40
echo 1 0 1e400 >infinite.txt
halfway 1 'infinite.txt' 1 asterism stream a.npy infinite.txt --angle 40
echo 1 0 inf | tool npy f4 c >infinite.npy
halfway 1 'infinite.npy.*row' 1 asterism stream a.npy infinite.npy --angle 40

# ---- Standard input that is cut short ----
cat a.npy b.npy a.npy >three
size=$(wc -c <a.npy)
for cut in 1 20 $((size - 128 - 1)) $((size - 5)) $((size - 127)) $((size - 1)); do
    head -c $((3 * size - cut)) three >short
    rm -rf state kept
    halfway 1 'standard input: frame 2' 2 sh -c '"$ASTERISM" stream - --angle 40 --state state <short'
    cat a.npy b.npy | asterism stream - --angle 40 --state kept >/dev/null
    same state kept
done
{ cat a.npy; echo garbage, and more of it; } >garbage
halfway 1 'standard input: frame 1.*no .npy' 1 sh -c '"$ASTERISM" stream - --angle 40 <garbage'
tail -c 120 a.npy >raw
head -c 119 raw >short
halfway 1 'standard input: frame 0 is cut short: 119 of its 120 bytes' 0 \
    sh -c '"$ASTERISM" stream - --angle 40 --dimension 3 --points 10 <short'
{ cat raw; head -c 7 raw; } >short
halfway 1 'frame 1 is cut short' 1 sh -c '"$ASTERISM" stream - --angle 40 --dimension 3 --points 10 <short'
tool npy f4 c '(99999999999, 7, 3)' <x.txt >lies.npy
halfway 1 'frame 0 is cut short' 0 sh -c '"$ASTERISM" stream - --angle 40 <lies.npy'
halfway 1 'lies.npy.*promises' 0 asterism stream lies.npy --angle 40

# ---- Labels ----
touch a.xy
fails 1 'would overwrite the input ./a.npy' asterism stream ./a.npy --angle 40 --labels .
mkdir other
cp b.npy other/a.npy
fails 1 'would both be' asterism stream a.npy other/a.npy --angle 40 --labels z
fails 1 'a.npy is no folder' asterism stream b.npy --angle 40 --labels a.npy
fails 2 'ids.npy: this is the name of a folder, for one file per frame; leave out the .npy' \
    asterism stream b.npy --angle 40 --labels ids.npy
[ ! -e ids.npy ] || broken 'a folder is called ids.npy'
fails 2 'similar.npy: this is the name of a folder' asterism stream b.npy --angle 40 --labels early --similarity similar.npy
fails 1 'other: is a folder' asterism stream b.npy --angle 40 --labels early --rotations other
[ ! -e early ] || broken 'wrong usage left a folder'
for option in enroll labels drift view-end; do
    fails 2 "--$option .*(is empty|not '')" timeout 20 "$ASTERISM" stream b.npy --angle 40 --$option ''
done
fails 2 '--drift must be a number from 1e-09 to 180' asterism stream b.npy --angle 40 --drift 0
fails 1 '--center-file: absent.npy: cannot be opened|absent.npy: cannot be opened' \
    asterism stream b.npy --angle 40 --center-file absent.npy
fails 2 '--center-file: a.xy: the extension' asterism stream b.npy --angle 40 --center-file a.xy
printf '1,0,0\n0,1,0\n' >rows.csv
# shellcheck disable=SC2016
fails 1 'frame 0: is no .npy file.*for text give --format csv' sh -c '"$0" stream - --angle 40 <rows.csv' "$ASTERISM"
cp three 000000.npy
tool npy f4 c '(2, 3, 3)' <x.txt >000000.npy
halfway 1 'would overwrite the input' 0 asterism stream 000000.npy --angle 40 --labels .
works asterism stream a.npy --angle 40 --labels deep/er/folder
[ -s deep/er/folder/a.npy ] || broken 'folders above the labels are not made'

# ---- Poses ----
# posed PATTERN LINES FILES...: with the rows on stdin as poses.
posed() {
    cat >poses.txt
    pattern=$1
    lines=$2
    shift 2
    halfway 1 "$pattern" "$lines" asterism stream "$@" --angle 40 --poses poses.txt
}
echo '0 0 0 1' | posed 'poses.txt has 1 row, but b.npy is frame 2' 1 a.npy b.npy
printf '' | posed 'poses.txt has 0 rows.*a.npy' 0 a.npy
echo '0 0 1' | posed 'poses.txt: line 1 has 3 columns' 0 a.npy
printf '# a comment\n0 0 0 1\n1 2 x 4\n' | posed "poses.txt: line 3, column 3: 'x' is not a number" 0 a.npy
echo '5 5 0 0 0 0' | posed 'poses.txt: none of its poses is known: all 1 are' 0 a.npy
echo '0 0 nan 1' | posed 'none of its poses is known' 0 a.npy
# A frame whose pose is lost is left out, which is said once; the others keep their rows.
printf '0 0 nan 1\n0 0 0 1\n0 0 0 0\n0 0 inf 1\n1 0 0 0\n' >poses.txt
cp a.npy lost_b.npy && cp a.npy lost_c.npy && cp a.npy lost_d.npy && cp a.npy lost_e.npy
asterism stream a.npy lost_b.npy lost_c.npy lost_d.npy lost_e.npy --angle 40 --poses poses.txt --labels posed_labels >../out 2>../err || broken "$(cat ../err)"
equal 'frames with a pose' 2 "$(wc -l <../out | tr -d ' ')"
equal 'their labels' 'lost_b.npy lost_e.npy' "$(ls posed_labels | paste -sd' ' -)"
equal 'said once' 1 "$(grep -c 'the pose of a.npy is lost' ../err)"
equal 'counted at the end' 1 "$(grep -c '3 frames were left out, because their pose is lost' ../err)"
fails 1 'poses.txt: the pose of a.npy is lost' asterism stream a.npy lost_b.npy lost_c.npy lost_d.npy lost_e.npy \
    --angle 40 --poses poses.txt --strict
echo '0 0 0 1' | posed 'wide.txt has points of 4 dimensions.*--poses' 0 wide.txt
echo '0.6 0 0 1' | posed 'infinite.npy' 0 infinite.npy
fails 1 'absent.txt' asterism stream a.npy --angle 40 --poses absent.txt

# ---- Output that cannot be written ----
if [ -c /dev/full ]; then
    status=0
    "$ASTERISM" stream a.npy --angle 40 --state never >/dev/full 2>../err || status=$?
    equal 'exit code of a full pipe' 1 "$status"
    [ ! -e never ] || broken 'the state is ahead of the lines'
    fails 1 '/dev/full' asterism stream a.npy --angle 40 --state /dev/full
fi
