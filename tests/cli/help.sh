#!/bin/sh
# --help, help, --version, and what stands in the man page.
. "$(dirname "$0")/common.sh"

works asterism --help
for command in cluster stream segment normals assign dedup measure sample tune reproduce view explore identities compare; do
    grep -q "^  $command " ../out || broken "--help does not list $command"
done
cp ../out general
works asterism help
same ../out general
works asterism -h
same ../out general

for command in cluster stream segment normals assign dedup measure sample tune reproduce view explore identities compare; do
    works asterism $command --help
    cp ../out text
    grep -q "^Usage: asterism $command " text || broken "$command --help has no usage"
    grep -q '^Examples:$' text || broken "$command --help has no examples"
    awk 'length > 100 { exit 1 }' text || broken "$command --help has long lines"
    works asterism help $command
    same ../out text
    # Help comes first, whatever else stands on the line.
    works asterism $command --angel 400 -h
    same ../out text
    # Every option stands in the man page too.
    sed -n 's/^  --\([a-z-]*\).*/\1/p' text >>options
done
sed 's/\\-/-/g' "$MANUAL" >page
sort -u options | while read -r option; do
    grep -q -e "--$option" page || broken "the man page does not know --$option"
done
# And the other way round.
{ cat options; echo version; } | sort -u >known
grep -o -e '--[a-z][a-z-]*' page | sed 's/^--//' | sort -u | while read -r option; do
    grep -qx -e "$option" known || broken "the man page invents --$option"
done

works asterism --version
equal 'first line of --version' "asterism $(sed -n 's/^#define AST_VERSION_[A-Z]* //p' "$SOURCE/include/asterism.h" |
    paste -sd. -)" "$(head -n 1 ../out)"

fails 2 "which command" asterism
fails 2 "no command 'clsuter'; did you mean 'cluster'" asterism clsuter
fails 2 "no command 'fly'" asterism fly
fails 2 "no command 'fly'" asterism help fly
fails 2 "no command '--angle'" asterism --angle 20
