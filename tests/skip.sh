# shellcheck shell=sh disable=SC2154
# How a script test reports what it cannot check here; to be sourced after $folder, its own folder, was made. A test that
# skipped a part and passed otherwise ends with 77, which ctest reports as skipped: a check that was not made is no pass.

# skip REASON: ends the test. skip_part REASON: goes on without one part.
skip() {
    echo "skipped: $*"
    exit 77
}
skip_part() {
    echo "skipped a part: $*" >&2
    : >"$folder/skipped" # not a variable: it may be a subshell that skips
}

# end CODE: removes the folder and exits. A script that sets a trap of its own ends with this.
end() {
    code=$1
    [ "$code" != 0 ] || [ ! -e "$folder/skipped" ] || code=77
    rm -rf "$folder"
    exit "$code"
}
trap 'end $?' EXIT
