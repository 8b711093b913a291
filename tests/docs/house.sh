#!/bin/sh
# SPDX-License-Identifier: MIT
# The limits of the source hold: fields of a struct, arrows between rooms, lines of a function, public functions.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip 'there is no python3'
python3 "$SOURCE/tools/house" --check || broken 'the source breaks a limit of tools/house'
python3 "$SOURCE/tools/house" >measures || broken 'tools/house fails'
grep -q '^Public functions: [0-9]' measures || broken 'tools/house does not count the public functions'
