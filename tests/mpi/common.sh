# shellcheck shell=sh
# What the tests of asterism-mpi share; to be sourced.
. "$(dirname "$0")/../cli/common.sh"
if [ -z "$ASTERISM_MPI" ] || ! command -v mpirun >/dev/null; then
    skip 'there is no MPI here (Debian: libopenmpi-dev openmpi-bin)'
fi
case $SANITIZE in
*thread*) skip 'the thread sanitizer does not know MPI; ranks as threads are tested in property/ranks' ;;
esac
if [ "$(id -u)" = 0 ]; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
fi
# mpirun and MPI itself never give all of their memory back.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS

# ranks N COMMAND...: on N ranks. A job that fails is ended at once; mpirun would wait for a second.
ranks() {
    number=$1
    shift
    mpirun -n "$number" --oversubscribe --bind-to none --mca odls_base_sigkill_timeout 0 "$@"
}

# refuses N CODE PATTERN COMMAND...: exits with the code, and among what the ranks say there is one sentence of ours, which
# matches; the folder stays as it was. The ranks write to the file themselves: mpirun sometimes loses what one of them says
# just before it fails.
refuses() {
    number=$1 code=$2 pattern=$3
    shift 3
    find . -exec ls -id {} + | sort >../before
    status=0
    : >../err
    # shellcheck disable=SC2016 # the shell of each rank expands it
    ranks "$number" sh -c 'exec "$@" 2>>../err' sh "$@" </dev/null >../out 2>../mpirun_err || status=$?
    find . -exec ls -id {} + | sort >../after
    equal "$* on $number ranks" "$code" "$status"
    equal "$*: sentences" 1 "$(grep -c '^asterism: ' ../err)"
    grep '^asterism: ' ../err | grep -Eq -e "$pattern" || broken "$* said: $(grep '^asterism: ' ../err)"
    [ ! -s ../out ] || broken "$* printed $(cat ../out)"
    cmp -s ../before ../after || broken "$* changed the folder"
}
