# shellcheck shell=sh
# What the document tests share; to be sourced.
set -eu
LC_ALL=C
export LC_ALL
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

broken() {
    echo "FAILED: $*" >&2
    exit 1
}
