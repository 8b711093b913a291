#!/bin/sh
# asterism reproduce nyu: on a small file in the layout of the data set, made of scenes of the hallway.
. "$(dirname "$0")/common.sh"

fails 2 'needs --mat' asterism reproduce nyu --output z
fails 2 'is for reproduce nyu' asterism reproduce synthetic --output z --mat hall.mat
fails 2 'is for reproduce nyu' asterism reproduce stream --input . --output z --frames 0
fails 2 'is for reproduce synthetic, not nyu' asterism reproduce nyu --mat hall.mat --output z --runs 2
fails 2 'is for reproduce stream' asterism reproduce nyu --mat hall.mat --output z --angle 70
fails 2 'depth-scale is not for' asterism reproduce nyu --mat hall.mat --output z --depth-scale 1000
fails 2 'reproduce nyu takes --frames' asterism reproduce nyu --mat hall.mat --output z --frame 1
for list in '' 3-2 '1,' 1-2-3 x -1 1/2 0-/0 99999999999999999999; do
    fails 2 '--frames' asterism reproduce nyu --mat hall.mat --output z --frames "$list"
done
fails 2 'mat cannot be combined with --input' asterism reproduce nyu --mat hall.mat --input hall --output z
fails 2 "only nyu more than one folder, behind --input; 'hall' is neither" asterism reproduce nyu hall --mat x.mat --output z
fails 2 "'b' is neither" asterism reproduce stream --input a b --output z
fails 1 'away: No such file or directory' asterism reproduce nyu --input away --camera kinect --output z

# Depth images in place of the data set, from two folders and a file, at the size that the first has.
if asterism sample --scene hallway --frames 3 --size 160x120 --output one 2>../err; then
    works asterism sample --scene hallway --frames 2 --size 160x120 --seed 2 --output two
    works asterism reproduce nyu --input one two two/depth/000001.png --intrinsics 131.2,131.2,79.5,59.5 --quick \
        --output images --json
    equal 'scenes' 6 "$(json scenes ../out)"
    equal 'the input' '"one"' "$(json input ../out)"
    equal files 'histogram.csv nyu.csv nyu.svg scenes.csv segments.svg' "$(cd images && echo *)"
    equal 'pictures' 24 "$(grep -c '<image ' images/segments.svg)"
    awk -v dp="$(json best.0.silhouette ../out)" 'BEGIN { exit !(dp > 0.85) }' || broken "$(cat ../out)"
    works asterism reproduce nyu --input one two --frames 1,4 --intrinsics 131.2,131.2,79.5,59.5 --quick --output images
    grep -q '^2 scenes of one, 160 x 120 pixels, smoothed by guided; 2 of an earlier run$' ../out ||
        broken "$(cat ../out)"
    grep -q '^spkm, K = 5' ../out || broken "$(cat ../out)"
    mkdir none
    fails 1 'none: the folder is empty' asterism reproduce nyu --input none --camera kinect --output z
else
    grep -q 'no libpng' ../err || broken "$(cat ../err)"
    skip_part 'depth images: this build has no libpng'
fi
if [ -z "$NYU_MAKER" ]; then
    fails 1 'hall.mat: this build cannot read HDF5 files' asterism reproduce nyu --mat hall.mat --output z
    skip 'the data set: this build has no libhdf5'
fi
fails 1 'hall.mat: No such file or directory' asterism reproduce nyu --mat hall.mat --output z

"$NYU_MAKER" hall.mat 6 160 120
camera='--intrinsics 131.2,131.2,79.5,59.5'
# shellcheck disable=SC2086
nyu() {
    works asterism reproduce nyu $camera "$@"
}

# What it finds: five directions where the paper's flats have four, and 90 degrees between walls.
nyu --mat hall.mat --quick --output out --json
cp ../out found
equal files 'histogram.csv nyu.csv nyu.svg scenes.csv segments.svg' "$(cd out && echo *)"
equal scenes 6 "$(json scenes found)"
equal 'scenes of an earlier run' 0 "$(json resumed found)"
equal 'the best of dp' '"dp" 75.0' "$(json best.0.method found) $(json best.0.setting found)"
equal "the paper's" '100 0.75 4 0.73' "$(json best.0.paper_setting found) $(json best.0.paper_silhouette found) $(
    json best.1.paper_setting found) $(json best.1.paper_silhouette found)"
awk -v dp="$(json best.0.silhouette found)" -v far="$(json settings.4.silhouette found)" \
    -v k="$(json best.0.clusters found)" 'BEGIN { exit !(dp > 0.85 && dp > far + 0.2 && k > 3 && k < 6) }' ||
    broken "$(cat found)"
equal 'rows of the table' 10 "$(wc -l <out/nyu.csv | tr -d ' ')"
equal 'a row a scene' 7 "$(wc -l <out/scenes.csv | tr -d ' ')"
equal 'scenes in the histogram' 6 "$(awk -F, 'NR > 1 { n += $2 } END { print n }' out/histogram.csv)"
# The means of the table are those of the scenes: dp at 60 degrees.
awk -F, 'NR == FNR { if (FNR > 1) { sum += $6; n++ } next } $1 == "dp" && $2 == 60 { d = $6 - sum / n; found = 1 }
    END { exit !(found && d < 1e-8 && d > -1e-8) }' out/scenes.csv out/nyu.csv || broken 'the means are other ones'
well_formed out/nyu.svg out/segments.svg
nyu --mat hall.mat --quick --output again --threads 1
grep -q '^dp at 100 degrees *0.75, its best ' ../out || broken "$(cat ../out)"
grep -q '^dp at 75 degrees, its best *-  ' ../out || broken "$(cat ../out)"
for file in nyu.csv nyu.svg histogram.csv scenes.csv segments.svg; do
    same out/$file again/$file
done

# Scenes one by one end as all at once; a list means what it says; finished ones are not computed again.
nyu --mat hall.mat --quick --output parts --frames 4,1-2 --json
equal scenes 3 "$(json scenes ../out)"
nyu --mat hall.mat --quick --output parts --frames 1-/2 --json
equal 'scenes, of an earlier run' '3 1' "$(json scenes ../out) $(json resumed ../out)"
nyu --mat hall.mat --quick --output parts --frames all --json
equal 'scenes, of an earlier run' '6 5' "$(json scenes ../out) $(json resumed ../out)"
for file in nyu.csv nyu.svg histogram.csv scenes.csv; do
    same out/$file parts/$file
done

# Rows of another scene or of other settings are not taken for these.
sed '3s/^\([^,]*,[^,]*\),[^,]*,/\1,0123456789abcdef,/' out/scenes.csv >parts/scenes.csv
nyu --mat hall.mat --quick --output parts --json
equal 'scenes of an earlier run' 5 "$(json resumed ../out)"
same out/scenes.csv parts/scenes.csv
# shellcheck disable=SC2086
{
    fails 1 'parts/scenes.csv: line 2 is not of a run with these' \
        asterism reproduce nyu --mat hall.mat --quick $camera --output parts --seed 2
    fails 1 'parts/scenes.csv: line 1 is not of a run with these' \
        asterism reproduce nyu --mat hall.mat $camera --output parts
    fails 1 'there is no scene 6 in hall.mat, which has 6, from 0' \
        asterism reproduce nyu --mat hall.mat --quick $camera --output parts --frames 2-6
}
head -c 1200 out/scenes.csv >parts/scenes.csv
# shellcheck disable=SC2086
fails 1 'parts/scenes.csv: line [2-7] is not' asterism reproduce nyu --mat hall.mat --quick $camera --output parts
fails 1 'is 160 x 120 pixels, but --camera nyu stands for images of 640 x 480' \
    asterism reproduce nyu --mat hall.mat --output z
fails 1 'but --camera kinect stands for images of 640 x 480' asterism reproduce nyu --mat hall.mat --camera kinect --output z

# shellcheck disable=SC2086
fails 1 'hall.mat is no folder' asterism reproduce nyu --mat hall.mat --quick $camera --output hall.mat

# Without raw depths the filled-in ones do; a scene without depth is left out.
"$NYU_MAKER" filled.mat 2 160 120 filled
nyu --mat filled.mat --quick --output filled
grep -q '^2 scenes of filled.mat, 160 x 120 pixels, filled-in depths, smoothed by guided$' ../out || broken "$(cat ../out)"
"$NYU_MAKER" empty.mat 2 160 120 empty
nyu --mat empty.mat --quick --output empty
grep -q '1 with too few normals are left out' ../out || broken "$(cat ../out)"
status=0
# shellcheck disable=SC2086
asterism reproduce nyu --mat empty.mat --quick $camera --frames 1 --output nothing >../out 2>../err || status=$?
equal 'exit code without normals' 1 "$status"
grep -q 'none of the 1 scenes has 6 normals' ../err || broken "$(cat ../err)"

# Ctrl-C keeps what is finished, and the same command goes on from there.
# 27 clusterings are one scene.
can_interrupt || skip 'Ctrl-C: this env has no --default-signal'
"$NYU_MAKER" long.mat 400 96 72
camera='--intrinsics 78.72,78.72,47.5,35.5'
# shellcheck disable=SC2086
interrupted '^([3-9][0-9]|[0-9,]+[0-9]{2}) of 10,800 clusterings, about .* left' \
    reproduce nyu --mat long.mat $camera --output cut
said | grep -q 'stopped after [0-9]* of 400 scenes; cut holds those, and the same' || broken "$(cat ../err)"
equal files 'histogram.csv nyu.csv nyu.svg scenes.csv segments.svg' "$(cd cut && echo *)"
done=$(($(wc -l <cut/scenes.csv) - 1))
[ "$done" -ge 1 ] || broken 'no scene was kept'
nyu --mat long.mat --output cut --frames "0-$done" --json
equal 'scenes, of an earlier run' "$((done + 1)) $done" "$(json scenes ../out) $(json resumed ../out)"
nyu --mat long.mat --output whole --frames "0-$done"
same whole/scenes.csv cut/scenes.csv
same whole/nyu.csv cut/nyu.csv
