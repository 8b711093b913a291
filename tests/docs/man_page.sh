#!/bin/sh
# The man page, which the build makes from the tables of options, formats without a warning, with whatever formatter there is.
. "$(dirname "$0")/common.sh"
page=$MANUAL

checked=
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page" >complaints || broken "$(cat complaints)"
    checked=1
fi
if command -v man >/dev/null && man --version 2>/dev/null | grep -q '^man [0-9]'; then
    man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >/dev/null 2>warnings || broken "$(cat warnings)"
    [ ! -s warnings ] || broken "$(cat warnings)"
    checked=1
fi
[ -n "$checked" ] || skip 'there is neither man nor mandoc'
