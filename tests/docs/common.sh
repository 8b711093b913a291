# shellcheck shell=sh
# What the document tests share; to be sourced.
set -eu
LC_ALL=C
export LC_ALL
folder=$(mktemp -d)
. "$SOURCE/tests/skip.sh"
cd "$folder"

broken() {
    echo "FAILED: $*" >&2
    exit 1
}

# run_page FILE: runs the blocks of commands of a page of the sources that follow the line <!-- run -->, one after the
# other in this folder; after <!-- run with npm --> and <!-- run with mpi --> where the build has it. They must succeed
# and print nothing on standard error. What they print is in the file out.
run_page() {
    mpi=OFF
    [ -z "${ASTERISM_MPI-}" ] || ! command -v mpirun >/dev/null || mpi=ON
    [ "$VIEWER" = ON ] || ! grep -qx '<!-- run with npm -->' "$SOURCE/$1" || skip_part 'npm was missing when this was built'
    [ $mpi = ON ] || ! grep -qx '<!-- run with mpi -->' "$SOURCE/$1" || skip_part 'there is no MPI'
    awk -v npm="$VIEWER" -v mpi=$mpi '/^<!-- run -->$/ { marked = 1; next }
         /^<!-- run with npm -->$/ { marked = npm == "ON"; next }
         /^<!-- run with mpi -->$/ { marked = mpi == "ON"; next }
         /^```sh$/ && marked { inside = 1; marked = 0; blocks++; next }
         /^```$/ { inside = 0 }
         inside { print }
         END { exit !blocks }' "$SOURCE/$1" >commands.sh || broken "$1 has no marked block of commands"
    PATH=$(dirname "$ASTERISM"):$PATH
    [ $mpi = OFF ] || PATH=$(dirname "$ASTERISM_MPI"):$PATH
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export PATH OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
    sh -eu commands.sh >out 2>err || broken "the commands of $1 fail: $(cat err)"
    [ ! -s err ] || broken "the commands of $1 complain: $(cat err)"
}
