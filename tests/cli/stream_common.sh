# shellcheck shell=sh
# What the tests of asterism stream share; to be sourced after common.sh.

# points SEED COUNT DIRECTION...: COUNT points around each direction, named by the axes px nx py ny pz nz, as text.
points() {
    seed=$1
    each=$2
    shift 2
    echo "$@" | awk -v seed="$seed" -v each="$each" 'BEGIN { srand(seed) }
        function noise() { return (rand() + rand() + rand() - 1.5) * 0.2 }
        { for (i = 0; i < each; i++) for (f = 1; f <= NF; f++) {
              sign = substr($f, 1, 1) == "p" ? 1 : -1; axis = substr($f, 2, 1)
              printf "%.6f %.6f %.6f\n", (axis == "x") * sign + noise(), (axis == "y") * sign + noise(),
                  (axis == "z") * sign + noise() } }'
}

# frame FILE SEED COUNT DIRECTION...: the same as an .npy file.
frame() {
    name=$1
    shift
    points "$@" | tool npy f4 c >"$name"
}

# told LINE FILE: id:event of every cluster in a line of JSON.
told() {
    sed -n "$1p" "$2" | grep -o '"id": [0-9]*\|"event": "[a-z]*"' | tr -d '"' | paste -d ' ' - - |
        awk '{ printf "%s%s:%s", (NR > 1 ? " " : ""), $2, $4 } END { print "" }'
}

# numbers FILE.npy COUNT: the last COUNT int32, one a line.
numbers() {
    tail -c $((4 * $2)) "$1" | od -An -v -t d4 -w4 | tr -d ' '
}

# partition: labels on stdin, renumbered in order of appearance.
partition() {
    awk '$1 < 0 { print -1; next } !($1 in seen) { seen[$1] = count++ } { print seen[$1] }'
}

# timeless FILE: its lines without the only thing that differs from run to run.
timeless() {
    sed 's/"milliseconds": [^,]*, //' "$1"
}

# same_folder FOLDER FOLDER: the same files with the same bytes.
same_folder() {
    diff -r "$1" "$2" || broken "$1 and $2 differ"
}
