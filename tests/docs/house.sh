#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of tools/house hold: arrows between rooms, closed headers, names of types, lines of a function.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip 'there is no python3'
python3 "$SOURCE/tools/house" --check || broken 'the source breaks a rule of tools/house'
python3 "$SOURCE/tools/house" >measures || broken 'tools/house fails'
for part in 'Who sees into a struct' 'Functions per seam' 'Lines of code of src' 'Public functions: [0-9]'; do
    grep -q "^$part" measures || broken "tools/house does not print '$part'"
done
