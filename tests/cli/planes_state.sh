#!/bin/sh
# --state and --planes together: a run that is killed at any moment and resumed writes the files of a run in one go, with
# poses and without; states that do not fit are refused.
. "$(dirname "$0")/common.sh"

asterism sample --scene hallway --frames 40 --size 96x72 --output walk >/dev/null
options='--angle 60 --plane-area 0.02'

# same_folder FOLDER FOLDER
same_folder() {
    diff -r "$1" "$2" >../difference || broken "$1 and $2 differ: $(head -n 3 ../difference)"
}

kills=0
# resumed OUTPUT OPTION...: runs to the end in spite of kills.
resumed() {
    output=$1
    shift
    rm -rf state
    status=137
    while [ $status = 137 ]; do
        # shellcheck disable=SC2086
        "$ASTERISM" stream walk $options "$@" --planes "$output" --plane-labels "$output-labels" --state state \
            >/dev/null 2>../err &
        job=$!
        sleep "$(awk -v kills="$kills" -v seed="$kills$$" 'BEGIN { srand(seed); print rand() * (60 + kills) / 1000 }')"
        if kill -KILL $job 2>/dev/null; then
            kills=$((kills + 1))
        fi
        status=0
        wait $job 2>/dev/null || status=$?
    done
    equal "exit code after $kills kills, $(cat ../err)" 0 "$status"
}

for poses in '' '--poses walk/poses.txt'; do
    rm -rf whole whole-labels parts parts-labels
    # shellcheck disable=SC2086
    works asterism stream walk $options $poses --planes whole --plane-labels whole-labels
    # shellcheck disable=SC2086
    resumed parts $poses
    same_folder whole parts
    same_folder whole-labels parts-labels
done
echo "$kills kills"
equal 'temporary files' '' "$(find . -name '.?*.tmp')"

# The state has planes with poses.
fails 1 'state: the state was made with planes, and this run is without' \
    asterism stream walk --angle 60 --poses walk/poses.txt --state state
fails 1 'state: the state was made with another offset or smallest area of planes' \
    asterism stream walk --angle 60 --poses walk/poses.txt --plane-area 0.5 --planes parts --state state
works asterism stream walk/depth/000000.png --intrinsics 80,80,47.5,35.5 --angle 60 --state plain
fails 1 'plain: the state was made without planes, and this run is with' \
    asterism stream walk/depth/000001.png --intrinsics 80,80,47.5,35.5 --angle 60 --planes parts --state plain
