#!/bin/sh
# Installs into an empty folder, builds a consumer by find_package and another by pkg-config, moves everything and does
# it again: neither may remember where it was.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

broken() {
    echo "FAILED: $*" >&2
    exit 1
}

quietly() {
    "$@" >log 2>&1 || broken "$*: $(cat log)"
}

# use PREFIX: everything a consumer does.
use() {
    prefix=$1
    rm -rf build
    quietly "$CMAKE" -S "$HERE/consumer" -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC"
    quietly "$CMAKE" --build build
    quietly build/consumer_shared
    quietly build/consumer_static

    PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
    export PKG_CONFIG_PATH
    # The answers are words on purpose.
    # shellcheck disable=SC2046
    quietly "$CC" "$HERE/consumer/consumer.c" -o by_pkg_config $(pkg-config --cflags --libs asterism)
    quietly env LD_LIBRARY_PATH="$prefix/$LIBDIR" ./by_pkg_config
    # shellcheck disable=SC2046
    quietly "$CC" "$HERE/consumer/consumer.c" -o by_pkg_config $(pkg-config --cflags asterism) \
        "$prefix/$LIBDIR/libasterism.a" \
        $(pkg-config --static --libs-only-other --libs-only-l asterism | sed 's/-lasterism//')
    quietly ./by_pkg_config
    quietly "$prefix/bin/asterism" --version
    [ -s "$prefix/include/asterism.h" ] || broken 'the header is not installed'
    [ -s "$prefix/include/asterism_depth.h" ] || broken 'the header for depth cameras is not installed'
    [ ! -e "$prefix/include/private" ] || broken 'a private header is installed'
    [ -s "$prefix/${MANDIR#"$prefix/"}/man1/asterism.1" ] || broken 'the man page is not installed'
}

quietly "$CMAKE" --install "$BUILD" --prefix "$folder/first"
use "$folder/first"
mv first second
use "$folder/second"

# Nothing but the interface is visible: every symbol is ours.
nm -D --defined-only "$folder/second/$LIBDIR/libasterism.so" |
    awk '$3 !~ /^ast_/ { print $3; found = 1 } END { exit found }' ||
    broken 'the library shows symbols that are not ours'
