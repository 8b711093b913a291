#!/bin/sh
# The version stands in the header; the man page, the changes, the packages and the citation agree with it.
. "$(dirname "$0")/common.sh"

version=$(sed -n 's/^#define AST_VERSION_[A-Z]* //p' "$SOURCE/include/asterism.h" | paste -sd. -)
grep -q "\"asterism $version\"" "$MANUAL" || broken "the man page is not of version $version"
grep -q "^## .*$version" "$SOURCE/CHANGELOG.md" || broken "CHANGELOG.md does not know version $version"
grep -q "^asterism ($version) " "$SOURCE/debian/changelog" || broken "debian/changelog is not of version $version"
grep -q "^version: $version$" "$SOURCE/CITATION.cff" || broken "CITATION.cff is not of version $version"
