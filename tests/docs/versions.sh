#!/bin/sh
# The version stands in the header; the man page and the changes agree with it. Files that documents point to are there.
. "$(dirname "$0")/common.sh"

version=$(sed -n 's/^#define AST_VERSION_[A-Z]* //p' "$SOURCE/include/asterism.h" | paste -sd. -)
grep -q "\"asterism $version\"" "$MANUAL" || broken "the man page is not of version $version"
grep -q "^## .*$version" "$SOURCE/CHANGELOG.md" || broken "CHANGELOG.md does not know version $version"
grep -q "^asterism ($version) " "$SOURCE/debian/changelog" || broken "debian/changelog is not of version $version"
for document in README.md CHANGELOG.md CONTRIBUTING.md; do
    grep -o '](\([A-Za-z/._-]*\))' "$SOURCE/$document" | sed 's/](\(.*\))/\1/' | while read -r file; do
        [ -e "$SOURCE/$file" ] || broken "$document points to $file, which is not there"
    done
done
