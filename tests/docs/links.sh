#!/bin/sh
# README.md has at most 150 lines. Every relative link and picture of every page exists, and so does the heading that a
# link names.
. "$(dirname "$0")/common.sh"
[ "$(wc -l <"$SOURCE/README.md")" -le 150 ] || broken 'README.md has more than 150 lines'

# anchors FILE: the headings of a page as links name them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -d '`.,:()?!+*"/'"'"
}

cd "$SOURCE"
for page in *.md docs/*.md; do
    # Links may be broken over lines.
    tr '\n' ' ' <"$page" | grep -o '](\([^) ]*\))' | sed 's/](\(.*\))/\1/' | grep -v '^[a-z]*:' | while read -r link; do
        file=${link%%#*}
        target=$page
        [ -z "$file" ] || target=$(dirname "$page")/$file
        [ -e "$target" ] || broken "$page points to $link, which does not exist"
        case $link in
        *#*) anchors "$target" | grep -qxF "${link#*#}" || broken "$page points to $link, which has no such heading" ;;
        esac
    done || exit 1
done
for picture in docs/pictures/* docs/*.png docs/*.svg; do
    [ ! -e "$picture" ] || grep -q "$(basename "$picture")" README.md docs/*.md || broken "no page shows $picture"
done
