# shellcheck shell=sh disable=SC2034
# Functions shared by ./demo, ./test and .ci/run: Debian packages and the release build. POSIX sh, to be sourced.

# Packages for the command, and additional packages for the tests.
build_packages='gcc libc6-dev make cmake pkg-config zlib1g-dev libpng-dev libhdf5-dev libjansson-dev
libsnappy-dev libzstd-dev liblz4-dev'
test_packages='libcmocka-dev libopenmpi-dev openmpi-bin python3-numpy python3-scipy python3-sklearn python3-pandas python3-matplotlib
python3-dask python3-distributed python3-mpi4py python3-pytest python3-setuptools python3-wheel python3-pip python3-venv git mypy strace g++ man-db libxml2-utils zsh fish'

# installed PACKAGE[:ARCHITECTURE]: whether the package is installed, for this machine's architecture if none is given.
installed() {
    own=$(dpkg --print-architecture)
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$1" 2>/dev/null |
        grep -Eqx "($own|all|${1##*:}) installed"
}

# find_root: sets $as_root to what runs a command as root: nothing, or sudo.
find_root() {
    as_root=
    [ "$(id -u)" != 0 ] || return 0
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing, and sudo is not available to install them:$missing" >&2
        return 1
    fi
    as_root=sudo
}

# patiently COMMAND...: runs a command of apt as root, and shows what it says only if it fails. While another
# process holds a lock that the command needs, tries again every few seconds, for $lock_patience seconds: the option
# DPkg::Lock::Timeout of apt-get covers neither the lock of the lists, for update, nor that of the archives.
lock_patience=1200
patiently() {
    waited=0
    said=$(mktemp)
    until $as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@" >"$said" 2>&1; do
        if ! grep -q "Could not get lock" "$said" || [ $waited -ge $lock_patience ]; then
            cat "$said" >&2
            rm -f "$said"
            return 1
        fi
        [ $waited -gt 0 ] || echo "Waiting for another process that installs packages ..." >&2
        sleep 3
        waited=$((waited + 3))
    done
    rm -f "$said"
}

# foreign ARCHITECTURE: lets dpkg install packages of another architecture.
foreign() {
    missing=" those of $1"
    dpkg --print-foreign-architectures | grep -qx "$1" || { find_root && $as_root dpkg --add-architecture "$1"; }
}

# need PACKAGE...: installs the missing packages and says so; does nothing if everything is installed.
need() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not Debian, so nothing is installed. The Debian packages are: $*" >&2
        return 0
    fi
    missing=
    for package in "$@"; do
        installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    find_root || return 1
    echo "Installing these Debian packages:$missing" >&2
    patiently apt-get update -qq || return 1
    # The list is split into words on purpose.
    # shellcheck disable=SC2086
    patiently apt-get install -qq -y --no-install-recommends $missing
}

# need_npm: installs npm unless an npm from any source is available; npm bundles the page of the reports.
need_npm() {
    command -v npm >/dev/null || need nodejs npm
}

# need_browser: installs Chromium unless it is available; the tests open the page of the reports in it.
need_browser() {
    command -v chromium >/dev/null || need chromium
}

# processors: the number of processors for the build.
processors() {
    nproc 2>/dev/null || echo 1
}

# quietly LOG COMMAND...: runs the command and shows its output only if it fails.
quietly() {
    log=$1
    shift
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
}
