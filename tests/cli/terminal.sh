#!/bin/sh
# What a terminal gets and a file does not: colour, and the progress line.
. "$(dirname "$0")/common.sh"
three_axes >x.txt
escape=$(printf '\033')

# In a file there is no colour and no progress, unless it is asked for.
works asterism cluster x.txt --angle 20
grep -q "$escape" ../out && broken 'colour in a file'
asterism cluster x.txt --angle 20 --progress >../out 2>../err
tr '\r' '\n' <../err | grep -q '^pass 1, 3 clusters, 100% of the points changed' || broken "progress: $(cat ../err)"
equal 'the progress line is erased' '' "$(tr '\r' '\n' <../err | tail -n 1 | tr -d ' ')"
asterism cluster x.txt --angle 20 --progress --quiet 2>../err
[ ! -s ../err ] || broken 'progress in spite of --quiet'

script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'terminals: there is no script(1)'
# on_terminal SETTINGS COMMAND
on_terminal() {
    script -qec "env TERM=xterm $1 '$ASTERISM' cluster x.txt --angle 20" /dev/null </dev/null >../out
}
on_terminal ''
grep -q "$escape" ../out || broken 'no colour on a terminal'
on_terminal NO_COLOR=1
grep -q "$escape" ../out && broken 'colour in spite of NO_COLOR'
on_terminal NO_COLOR=
grep -q "$escape" ../out || broken 'an empty NO_COLOR is no NO_COLOR'
on_terminal TERM=dumb
grep -q "$escape" ../out && broken 'colour on a dumb terminal'
on_terminal 'LC_ALL=C.UTF-8 NO_COLOR=1'
grep -q '████████████████████' ../out || broken 'no blocks on a terminal that has them'

# What takes longer says how long it will still take, also where standard output is the terminal: a sampler, frames
# that come to a table at the end. A stream prints a line a frame there, which is progress enough.
# watched PATTERN COMMAND
watched() {
    script -qec "'$ASTERISM' $2" /dev/null </dev/null | tr '\r' '\n' >../out
    grep -Eq "$1" ../out || broken "$2 on a terminal: $(cat ../out)"
}
watched '^pass [0-9]+, .*, about [0-9]+ s left' 'cluster x.txt --method fsd --clusters 3 --max-iterations 60000 --progress'
"$ASTERISM" sample --scene hallway --frames 12 --size 160x120 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'depth images: this build has no libpng'; }
camera='--intrinsics 131,131,79.5,59.5'
watched '^[0-9]+ of 12 frames, about [0-9]+ s left' "reproduce stream --input hall $camera --output walk --progress"
watched '^frame [0-9]+, .*, about [0-9]+ s left' "segment hall $camera --angle 75 --output seg --progress"
watched '^[0-9]+ of 12 frames, about [0-9]+ s left' 'sample --scene hallway --frames 12 --size 160x120 --output h2 --progress'
exit 0

# What terminals obey of a file's name does not reach them: C1 controls, separators of lines, changes of direction.
forbidden=$(printf '\033|\302\233|\342\200\256|\342\200\250|\342\201\246')
name=$(printf 'a\033[31m\302\233\342\200\256\342\200\250\342\201\246\303\251')
asterism sample --points 100 --dimension 3 --clusters 2 --kappa 50 --output plain.csv --quiet
cp plain.csv "$name.csv"
for words in "cluster $name.npy --angle 20" "cluster $name.csv --angle 20 --labels $name.csv" "tune $name.csv" \
    "dedup $name.csv --against $name.csv --cosine 0.999" "measure --labels $name.csv --points plain.csv" \
    "stream $name.csv --angle 20" "cluster $name.csv --angle 20 --json" "tune $name.csv --json"; do
    # shellcheck disable=SC2086
    asterism $words >../out 2>../err || :
    ! cat ../out ../err | grep -Eq "$forbidden" || broken "$words: the terminal would obey: $(cat -v ../out ../err)"
done
asterism stream "$name.csv" --angle 20 >../out
grep -q 'a\\u001b\[31m\\u009b\\u202e\\u2028\\u2066' ../out || broken "the name in JSON: $(cat -v ../out)"
asterism cluster "$name.npy" --angle 20 2>../err >../out || :
grep -q "$(printf 'a?\\[31m????????*\303\251.npy')" ../err || broken "the name in a sentence: $(cat -v ../err)"
