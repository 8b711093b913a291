#!/bin/sh
# The defaults of the C interface are those of the command: examples/depth.c, which sets the camera and the angle alone,
# gives every pixel of the walk through the hallway the id that `asterism segment` gives it.
. "$(dirname "$0")/common.sh"
mkdir walk
"$HALLWAY_MAKER" 24 walk || broken 'the hallway was not written'
works "$EXAMPLE_DEPTH" labels.i4 walk/*.pgm
works asterism stream walk --camera kinect --angle 60 --labels labels
pixels=$((640 * 480))
for file in labels/*.npy; do
    tail -c $((4 * pixels)) "$file"
done >command.i4
equal 'frames' 24 "$(find labels -name '*.npy' | wc -l)"
equal 'bytes' $((24 * 4 * pixels)) "$(wc -c <labels.i4)"
same labels.i4 command.i4

# Other choices than the defaults give other ids on these images: the comparison above could fail.
for other in '--merge-tracked off' '--smooth guided'; do
    # shellcheck disable=SC2086 # two words
    works asterism stream walk --camera kinect --angle 60 --labels other $other
    for file in other/*.npy; do
        tail -c $((4 * pixels)) "$file"
    done >other.i4
    ! cmp -s other.i4 command.i4 || broken "$other changes nothing"
done

asterism segment walk --camera kinect --angle 60 --output pictures --labels segmented >../out 2>../err || {
    grep -q 'libpng' ../err && skip_part 'segment: this build has no libpng'
    broken "$(cat ../err)"
}
for file in labels/*.npy; do
    same "$file" "segmented/${file##*/}"
done
