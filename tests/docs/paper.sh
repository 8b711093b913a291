#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/PAPER.md names files and functions that exist.
. "$(dirname "$0")/common.sh"

page=$SOURCE/docs/PAPER.md
for file in $(grep -o '`[a-z]*/[A-Za-z0-9_/]*\.[a-z]*`' "$page" | tr -d '`' | sort -u); do
    [ -f "$SOURCE/$file" ] || broken "docs/PAPER.md names $file, which is not there"
done
for function in $(grep -o '`ast_[a-z_]*`' "$page" | tr -d '`' | sort -u); do
    grep -rq "[ *]$function(" "$SOURCE/src" || broken "docs/PAPER.md names $function, which is not there"
done
