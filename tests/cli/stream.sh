#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands it
# asterism stream: directions that vanish and return, and the same labels however the frames come in.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/stream_common.sh"

# ---- Three of five directions vanish and return ----
# story ABSENT: 3 frames with five directions, ABSENT with two of them, 3 with five.
story() {
    rm -rf frames
    mkdir frames
    for number in $(seq 0 $(($1 + 5))); do
        if [ "$number" -lt 3 ] || [ "$number" -ge $(($1 + 3)) ]; then
            frame "frames/$number.npy" "$number" 12 px ny pz nx py
        else
            frame "frames/$number.npy" "$number" 12 px ny
        fi
    done
}

story 10
works asterism stream frames --angle 50 --lifetime 20 --labels labels --all
cp ../out lines
equal lines 16 "$(wc -l <lines)"
equal 'label files' 16 "$(find labels -name '*.npy' | wc -l)"
equal 'the first frame' '0:born 1:born 2:born 3:born 4:born' "$(told 1 lines)"
equal 'the second' '0:seen 1:seen 2:seen 3:seen 4:seen' "$(told 2 lines)"
equal 'three are gone' '0:seen 1:seen 2:unseen 3:unseen 4:unseen' "$(told 4 lines)"
equal 'and still gone' '0:seen 1:seen 2:unseen 3:unseen 4:unseen' "$(told 13 lines)"
equal 'and return' '0:seen 1:seen 2:revived 3:revived 4:revived' "$(told 14 lines)"
equal 'and are there' '0:seen 1:seen 2:seen 3:seen 4:seen' "$(told 15 lines)"
equal 'labels before and after' "$(numbers labels/0.npy 60)" "$(numbers labels/15.npy 60)"

story 25
works asterism stream frames --angle 50 --lifetime 20 --all
cp ../out lines
equal 'the day before' '0:seen 1:seen 2:unseen 3:unseen 4:unseen' "$(told 22 lines)"
equal 'they die' '0:seen 1:seen 2:died 3:died 4:died' "$(told 23 lines)"
equal 'they are gone' '0:seen 1:seen' "$(told 24 lines)"
equal 'they are new' '0:seen 1:seen 5:born 6:born 7:born' "$(told 29 lines)"

# ---- The lines ----
works asterism stream frames --angle 50 --lifetime 20
equal 'unseen clusters are left out' '0:seen 1:seen' "$(told 22 ../out)"
equal 'a death is not' '0:seen 1:seen 2:died 3:died 4:died' "$(told 23 ../out)"
sed -n 22p lines >line
equal 'a frame' 21 "$(json frame line)"
equal 'its source' '"frames/21.npy"' "$(json source line)"
equal 'its points' 24 "$(json points line)"
equal 'its missing points' 0 "$(json missing line)"
equal 'it converged' true "$(json converged line)"
for key in iterations milliseconds objective clusters.0.share clusters.0.mean.2 clusters.0.weight; do
    json $key line >/dev/null
done
equal 'a count' 12 "$(json clusters.0.count line)"
equal 'an age' 0 "$(json clusters.0.age line)"
equal 'the age of what is gone' 19 "$(json clusters.4.age line)"

# ---- However they come in ----
rm -rf frames
mkdir frames
: >all.txt
for number in $(seq 0 11); do
    case $number in
        [3-7]) points "$number" 9 px ny pz ;;
        *) points "$number" 9 px ny pz | sed 's/^0\.9[0-4].*/nan 0 0/' ;;
    esac >text
    cat text >>all.txt
    tool npy f4 c <text >"frames/$number.npy"
done
works asterism stream frames --angle 40 --labels from_folder
cp ../out folder_lines
tool npy f4 c '(12, 27, 3)' <all.txt >all.npy
works asterism stream all.npy --angle 40 --labels from_array
equal 'the source in an array' '"all.npy#11"' "$(tail -n 1 ../out | tool json source)"
tool npy f8 c '(12, 27, 3)' <all.txt >double.npy
mkdir from_folder_numbered
for number in $(seq 0 11); do
    cp "from_folder/$number.npy" "from_folder_numbered/$(printf %06d "$number").npy"
done
same_folder from_folder_numbered from_array
# shellcheck disable=SC2046
cat $(ls -v frames/*.npy) >concatenated
works sh -c '"$ASTERISM" stream - --angle 40 --labels from_stdin <concatenated'
equal 'the source on standard input' '"-#11"' "$(tail -n 1 ../out | tool json source)"
same_folder from_stdin from_array
works sh -c 'cat all.npy | "$ASTERISM" stream - --angle 40 --labels piped'
same_folder piped from_array
tail -c $((4 * 3 * 27 * 12)) all.npy >raw
works sh -c 'cat raw | "$ASTERISM" stream - --dimension 3 --points 27 --angle 40 --labels from_raw'
same_folder from_raw from_array
# shellcheck disable=SC2046
works asterism stream $(ls -v frames/*.npy) --angle 40 --labels from_files
same_folder from_files from_folder
works sh -c '"$ASTERISM" stream $(ls -v frames/* | head -n 5) - --angle 40 --labels mixed <concatenated'
equal 'label files of files and standard input' 17 "$(find mixed -name '*.npy' | wc -l)"
gzip -k all.npy
works asterism stream all.npy.gz --angle 40 --labels unpacked
same_folder unpacked from_array
# Columns and transposed frames
sed 's/.*/7 &/' all.txt | tool npy f4 c '(12, 27, 4)' >wide.npy
works asterism stream wide.npy --columns 2-4 --angle 40 --labels columns
same_folder columns from_array
works asterism stream wide.npy --columns 3,2,4 --angle 40 --labels swapped
for number in 000000 000011; do
    equal 'points in another order of columns' "$(numbers from_array/$number.npy 27)" \
        "$(numbers swapped/$number.npy 27)"
done

# ---- Threads, instruction sets and ways of running ----
# hash_of FOLDER: one of all its label files.
hash_of() {
    (cd "$1" && cat ./*.npy | sha256sum)
}
expected=$(hash_of from_array)
sets=$(instruction_sets)
for isa in $sets; do
    for threads in 1 2 3 8; do
        for parallel in ordered oir serial; do
            ASTERISM_ISA=$isa works asterism stream all.npy --angle 40 --labels other --threads $threads \
                --parallel $parallel
            equal "the hash of $isa, $threads threads, $parallel" "$expected" "$(hash_of other)"
            rm -r other
        done
    done
done
# The restarts of the paper's schedule: those of a batch for the first frame, and then one for each new cluster.
works asterism cluster frames/0.npy --angle 40 --parallel oir --json
restarts=$(json oir_restarts ../out)
works asterism stream frames/0.npy --angle 40 --parallel oir
equal 'restarts of one frame' "$restarts" "$(json oir_restarts ../out)"
works asterism stream all.npy --angle 40
grep -q oir_restarts ../out && broken 'restarts without --parallel oir'
works asterism stream all.npy --angle 40 --labels other --no-bounds
same_folder other from_array

# ---- The batch ----
works asterism stream all.npy --angle 40 --lifetime 0 --labels alone
for number in $(seq 0 11); do
    works asterism cluster "frames/$number.npy" --angle 40 --labels z.npy
    equal "frame $number by itself" "$(numbers z.npy 27 | partition)" \
        "$(numbers "alone/$(printf %06d "$number").npy" 27 | partition)"
done
works asterism stream frames/4.npy --angle 40 --labels one
works asterism cluster frames/4.npy --angle 40 --labels z.npy
same one/4.npy z.npy

# ---- Methods and trackers ----
for how in '--method sdp' '--method dp' '--drift 0.5' '--beta 1e5' '--beta 10 --weight-update posterior' \
    '--drift 2 --weight-update paper' '--max-clusters 2' '--max-iterations 1'; do
    # shellcheck disable=SC2086
    works asterism stream all.npy --angle 40 $how
    equal "lines with $how" 12 "$(wc -l <../out)"
done
works asterism stream all.npy --angle 40 --method dp
equal 'dp: every cluster is new' '3:born 4:born 5:born' "$(told 2 ../out)"
works asterism stream all.npy --angle 40 --lifetime 1
equal 'lifetime 1: as well' '3:born 4:born 5:born' "$(told 2 ../out)"
for method in sdp dp; do
    for option in '--drift 2' '--beta 10' '--lifetime 25' '--weight-update paper'; do
        # shellcheck disable=SC2086
        fails 2 "${option%% *} is for --method ddp, not $method" asterism stream all.npy --angle 40 --method $method $option
    done
done
works asterism stream all.npy --angle 40 --beta inf
grep -q 'nan\|inf\|null' ../out && broken 'an infinite beta gives numbers that are none'
works asterism stream all.npy --angle 40 --beta inf --weight-update posterior
grep -q 'nan\|inf\|null' ../out && broken 'an infinite beta gives numbers that are none'

# ---- Frames without points ----
printf '' >nothing.csv
printf 'nan nan nan\n0 0 0\n' >missing.txt
points 1 5 px py >some.txt
works asterism stream some.txt nothing.csv missing.txt some.txt --angle 40 --all
equal 'an empty frame ages' '0:unseen 1:unseen' "$(told 2 ../out)"
equal 'so does a missing one' '0:unseen 1:unseen' "$(told 3 ../out)"
equal 'missing points' 2 "$(sed -n 3p ../out | tool json missing)"
equal 'then they return' '0:revived 1:revived' "$(told 4 ../out)"
works asterism stream nothing.csv some.txt --angle 40 --dimension 3 --labels none
equal 'labels of nothing' 128 "$(wc -c <none/nothing.npy)"
echo 0 0 0 | tool npy f4 c '(0, 3)' | head -c 128 >zero.npy
echo 0 0 0 | tool npy f4 c '(2, 0, 3)' | head -c 128 >zeros.npy
works asterism stream zero.npy some.txt zeros.npy --angle 40 --all
equal 'frames' 4 "$(wc -l <../out)"
equal 'they only age' '0:unseen 1:unseen' "$(told 4 ../out)"
works sh -c 'printf "" | "$ASTERISM" stream - --angle 40'
equal 'no frames at all' 0 "$(wc -c <../out)"

# ---- Exclusive frames ----
printf '1 0 0\n.96 .28 0\n0 0 1\n' >faces0.txt
printf '.95 .31 0\n1 0 0\n' >faces1.txt
works asterism stream faces0.txt faces1.txt --angle 40
equal 'two alike share an id' '0:seen' "$(told 2 ../out)"
works asterism stream faces0.txt faces1.txt --angle 40 --exclusive --rows --similarity sure
equal 'they do not' '0:seen 1:seen' "$(told 2 ../out)"
sed -n 2p ../out >line
equal 'the rows' 1 "$(json rows.0 line)"
equal 'the other rows' 0 "$(json rows.1 line)"
equal 'the runner-up' 0 "$(json runner_up.0 line)"
json similarity.1 line >/dev/null
json margin.1 line >/dev/null
equal 'similarities' 152 "$(wc -c <sure/faces1.npy)"
fails 2 '--exclusive' asterism stream faces0.txt --angle 40 --exclusive --axial
fails 2 'AST_SCORE_NEAREST' asterism stream faces0.txt --angle 40 --exclusive --score geodesic

# ---- Poses ----
# A camera that turns by a right angle about z: what it sees along its x is the world's y.
printf '# time tx ty tz qx qy qz qw\n0 1 2 3 0 0 0 1\n\n1 1 2 3 0 0 2 2\n' >poses.txt
printf '1 0 0\n0 0 1\nnan 0 0\n' >camera0.txt
printf '0 -1 0\n0 0 1\n0 0 0\n' >camera1.txt
works asterism stream camera0.txt camera1.txt --angle 5 --poses poses.txt --labels world
equal 'seen twice' '0:seen 1:seen' "$(told 2 ../out)"
equal 'labels in the world' '0 1 -1' "$(numbers world/camera1.npy 3 | paste -sd ' ' -)"
equal 'a mean in the world' '1 0 0' "$(sed -n 2p ../out | sed 's/.*"id": 0,[^[]*\[\([^]]*\)\].*/\1/' |
    awk -F, '{ for (i = 1; i <= 3; i++) printf "%.0f%s", $i * $i, i < 3 ? " " : "" }')"
# A resumed run takes the rows where it is.
works asterism stream camera0.txt --angle 5 --poses poses.txt --state posed.state
works asterism stream camera0.txt camera1.txt --angle 5 --poses poses.txt --state posed.state
equal 'resumed with poses' '0:seen 1:seen' "$(told 1 ../out)"
# Poses in a folder of frames are no frame.
mkdir both
cp camera0.txt camera1.txt poses.txt both
works asterism stream both --angle 5 --poses both/poses.txt
equal 'frames beside poses' 2 "$(wc -l <../out)"

# ---- Two that become one ----
# Each of 20 frames: points at 0 and at 70 - 4 t degrees, at least 8.
mkdir near
for number in $(seq 10 29); do
    awk -v t=$((number - 10)) 'BEGIN { srand(t); apart = (t < 16 ? 70 - 4 * t : 8) * atan2(0, -1) / 180
        for (i = 0; i < 30; i++) {
            a = (i < 15 ? 0 : apart) + (rand() - 0.5) * 0.02
            print cos(a), sin(a), (rand() - 0.5) * 0.02 } }' >near/$number.txt
done
works asterism stream near --angle 60 --merge-tracked on --labels near_labels
cp ../out lines
equal 'merged once' 1 "$(grep -c '"event": "merged", "into": 0' lines)"
merged=$(grep -n '"event": "merged"' lines | cut -d: -f 1)
equal 'who is merged' '0:seen 1:merged' "$(told "$merged" lines)"
equal 'its labels' '0 1' "$(numbers near_labels/$((merged + 9)).npy 30 | sort -u | paste -sd ' ' -)"
equal 'those after it' '0' "$(numbers near_labels/$((merged + 10)).npy 30 | sort -u)"
equal 'afterwards' '0:seen' "$(told $((merged + 1)) lines)"
equal 'every cluster has a spread' "$(grep -o '"id"' lines | wc -l)" "$(grep -o '"spread": [0-9]' lines | wc -l)"
works asterism stream near --angle 60
equal 'not by default' '0:seen 1:seen' "$(told 20 ../out)"
# A state between the frames that count them.
works asterism stream near/1?.txt near/2[0-2].txt --angle 60 --merge-tracked on --state merging.state
works asterism stream near --angle 60 --merge-tracked on --state merging.state
equal 'the rest of the lines' "$(sed -n '14,$p' lines | sed 's/"milliseconds": [^,]*//')" \
    "$(sed 's/"milliseconds": [^,]*//' ../out)"
fails 1 'merging.state.*merge_tracked' asterism stream near --angle 60 --state merging.state

# ---- Rows of low quality ----
# Two people; the third row of a frame is noise. Quality says so.
mkdir people quality late
for number in 10 11 12 13 14 15; do
    printf '1 0 0.0%s\n0 1 0\n0.5 0.5 %s\n' "$number" "$((number % 2 * 2 - 1))" >people/$number.txt
    printf '1\n0.5\n0.1\n' >quality/$number.csv
    printf '0\n0\n1\n' >late/$number.txt
done
works asterism stream people --angle 35 --exclusive --labels ids
equal 'noise is somebody' '0 1' "$(numbers ids/10.npy 3 | head -n 2 | paste -sd ' ' -)"
works asterism stream people --angle 35 --exclusive --weights quality --min-quality 0.3 --labels ids --state quality.state
equal 'two people' '0 1 -1' "$(numbers ids/15.npy 3 | paste -sd ' ' -)"
equal 'rows without id' 1 "$(tail -n 1 ../out | tool json unassigned)"
works asterism stream people --angle 35 --exclusive --late late --labels late_ids
same_folder ids late_ids
fails 1 'quality.state.*least quality' asterism stream people --angle 35 --exclusive --weights quality --state quality.state
works asterism stream people --angle 35 --born-after 3 --labels born
equal 'not yet' '-1 -1 -1' "$(numbers born/11.npy 3 | paste -sd ' ' -)"
equal 'rows without id yet' 3 "$(head -n 1 ../out | tool json unborn)"
equal 'born' '0:born 1:born' "$(told 3 ../out)"
works asterism stream frames --angle 40 --min-size 1000
equal 'nobody is large enough' '' "$(grep -o '"id"' ../out | sort -u)"
cat people/*.txt >people.txt
works asterism cluster people.txt --angle 35 --center-file centre.npy --center --quiet
works asterism stream people --angle 60 --center-file centre.npy --exclusive --state centre.state --labels centred
works asterism stream people --angle 60 --center-file centre.npy --exclusive --state centre.state
fails 1 'centre.state.*centre' asterism stream people --angle 60 --exclusive --state centre.state

# ---- What comes is answered at once ----
mkfifo in
asterism stream - --angle 40 <in >lines &
job=$!
exec 3>in
cat frames/0.npy >&3
tries=0
until [ "$(wc -l <lines)" -eq 1 ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || broken 'the line of a frame waits for the next frame'
    sleep 0.1
done
exec 3>&-
wait $job
