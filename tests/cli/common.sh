# shellcheck shell=sh
# What the command-line tests share; to be sourced. Every test works in an empty folder of its own, which is removed.
set -eu
LC_ALL=C
export LC_ALL
unset NO_COLOR ASTERISM_ISA

folder=$(mktemp -d)
. "$SOURCE/tests/skip.sh"
mkdir "$folder/work"
cd "$folder/work"

asterism() {
    "$ASTERISM" "$@"
}

tool() {
    "$TOOL" "$@"
}

broken() {
    echo "FAILED: $*" >&2
    exit 1
}

# Prints the instruction sets of this machine, base first, and says which one is left out. The command must use the one
# that it is told to.
instruction_sets() {
    fast=avx2
    [ "$(uname -m)" != aarch64 ] || fast=neon
    for isa in base $fast; do
        if [ $isa = avx2 ] && ! { grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; }; then
            skip_part "this machine has no $isa"
            continue
        fi
        ASTERISM_ISA=$isa asterism --version | grep -q "^instruction set $isa," || broken "ASTERISM_ISA=$isa has no effect"
        echo $isa
    done
}

# equal WHAT EXPECTED ACTUAL
equal() {
    [ "$2" = "$3" ] || broken "$1: expected '$2', got '$3'"
}

# same FILE FILE: they hold the same bytes.
same() {
    cmp "$1" "$2" || broken "$1 and $2 differ"
}

# well_formed FILE...: these are XML.
well_formed() {
    if command -v xmllint >/dev/null; then
        xmllint --noout "$@" || broken "not well-formed: $*"
    else
        skip_part 'there is no xmllint'
    fi
}

# json PATH FILE: what stands there.
json() {
    tool json "$1" <"$2"
}

# works COMMAND...: exits with 0 and says nothing on stderr; what it prints is in ../out.
works() {
    status=0
    "$@" >../out 2>../err || status=$?
    [ "$status" = 0 ] || broken "$* exited with $status: $(cat ../err)"
    [ ! -s ../err ] || broken "$* said: $(cat ../err)"
}

# fails CODE PATTERN COMMAND...: exits with the code, prints nothing but one line on stderr, which matches the extended
# regular expression, and leaves the folder as it was.
fails() {
    code=$1
    pattern=$2
    shift 2
    find . -type f -exec cksum {} + | sort >../before
    status=0
    "$@" </dev/null >../out 2>../err || status=$?
    find . -type f -exec cksum {} + | sort >../after
    [ "$status" = "$code" ] || broken "$* exited with $status, not $code: $(cat ../err)"
    [ "$(wc -l <../err)" -eq 1 ] || broken "$* printed more or less than one line: $(cat ../err)"
    [ ! -s ../out ] || broken "$* printed something: $(cat ../out)"
    grep -q '^asterism: ' ../err || broken "$*: not our sentence: $(cat ../err)"
    grep -Eq -e "$pattern" ../err || broken "$*: '$pattern' is not in: $(cat ../err)"
    cmp -s ../before ../after || broken "$* changed files: $(diff ../before ../after)"
}

# said: what the command in the background has said so far, a line each, its progress included.
said() {
    tr '\r' '\n' <../err
}

# interrupted PATTERN COMMAND...: runs it in the background, with --progress, and sends it Ctrl-C once it has said what
# matches; sees it end by that. Shells ignore Ctrl-C for background jobs; can_interrupt tells whether env can undo that.
can_interrupt() {
    env --default-signal=INT true 2>/dev/null
}
interrupted() {
    pattern=$1
    shift
    : >../err
    env --default-signal=INT "$ASTERISM" "$@" --progress >../out 2>../err &
    job=$!
    until said | grep -Eq "$pattern"; do
        kill -0 $job 2>/dev/null || broken "it ended: $(cat ../err)"
        sleep 0.1
    done
    kill -s INT $job
    status=0
    wait $job || status=$?
    equal 'exit code after INT' 130 "$status"
}

# rows_of FILE.npy FIRST COUNT: an .npy of some rows of one that sample wrote, three numbers each; FIRST counts from 0.
rows_of() {
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($3, 3), }"
    tail -c +$((129 + 12 * $2)) "$1" | head -c $((12 * $3))
}

# Six points around three axes, far apart.
three_axes() {
    printf '%s\n' '1 0 0' '0.99 0.1 0' '0 1 0' '0 2 -0.2' '0 0 1' '0.05 0 0.5'
}

# near WHAT EXPECTED ACTUAL TOLERANCE
near() {
    echo "$2 $3 $4" | awk '{ d = $1 - $2; exit !(d <= $3 && d >= -$3) }' || broken "$1: expected $2, got $3"
}
