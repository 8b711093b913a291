#!/bin/sh
# The commands of one page run: page_commands.sh PAGE, a file of docs/. What they print contains the words of every line
# <!-- prints WORDS --> of the page, however many blanks are between them. Its pictures are there and small.
. "$(dirname "$0")/common.sh"

page=docs/$1
if grep -q '^python3 ' "$SOURCE/$page" && ! command -v python3 >/dev/null; then
    skip "$page needs python3"
fi
run_page "$page"
tr -s ' ' <out >words
sed -n 's/^<!-- prints \(.*\) -->$/\1/p' "$SOURCE/$page" | tr -s ' ' >expected
[ -s expected ] || broken "$page does not say what its commands print"
while read -r words; do
    grep -qF -- "$words" words || broken "the commands of $page do not print '$words' but: $(cat out)"
done <expected
sed -n 's|.*](\(pictures/.*\))$|\1|p' "$SOURCE/$page" >shown
while read -r picture; do
    [ -s "$SOURCE/docs/$picture" ] || broken "$page shows docs/$picture, which is not there: tools/pictures makes it"
    [ "$(wc -c <"$SOURCE/docs/$picture")" -lt 200000 ] || broken "docs/$picture is larger than 200 KB"
done <shown
[ "$(wc -l <"$SOURCE/$page")" -le 130 ] || broken "$page is too long to be read in five minutes"
