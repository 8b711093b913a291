#!/bin/sh
# docs/c-api.md and docs/python-api.md are what the headers and the docstrings make of them.
. "$(dirname "$0")/common.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip '/usr/bin/python3 has no numpy'
ASTERISM_LIBRARY=$SHARED /usr/bin/python3 "$SOURCE/tools/reference" .
for page in c-api.md python-api.md; do
    diff "$SOURCE/docs/$page" $page >difference || broken "docs/$page is out of date; make it with tools/reference
$(head -20 difference)"
done
