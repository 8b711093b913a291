#!/bin/sh
# Nobody reads standard output any more, as behind `| head -1`: every command ends quietly with exit 0, and files that it
# writes beside are there. A full disk is still an error.
. "$(dirname "$0")/common.sh"
three_axes >x.txt
mkfifo pipe
exec 3<>pipe # so that the next line does not wait for a reader
exec 4>pipe
exec 3<&-

# quiet WORD...: writes into the pipe without a reader.
quiet() {
    status=0
    asterism "$@" >&4 2>../err || status=$?
    equal "exit code of $*" 0 "$status"
    [ ! -s ../err ] || broken "$* said: $(cat ../err)"
}

quiet --help
quiet --version
for command in cluster stream segment normals assign measure sample tune reproduce view; do
    quiet "$command" --help
done
quiet cluster x.txt --angle 20 --means m.npy
[ -s m.npy ] || broken 'the means were not written'
quiet cluster x.txt --angle 20 --json
quiet cluster x.txt --angle 20 --labels - --means n.npy
same m.npy n.npy
asterism cluster x.txt --angle 20 --quiet --labels z.txt
quiet assign x.txt --means m.npy
quiet assign x.txt --means m.npy --labels -
quiet measure --labels z.txt --points x.txt
quiet tune x.txt --from 60 --to 20 --step 20
quiet sample --points 9 --dimension 3 --clusters 2 --kappa 9 --output -
quiet stream x.txt x.txt --angle 20
quiet explore x.txt --once -
# What writes files goes on without standard output
cp x.txt y.txt
quiet stream x.txt y.txt --angle 20 --labels labels --state s.state --report r.html
for file in labels/x.npy labels/y.npy s.state r.html; do
    [ -s $file ] || broken "$file was not written"
done
quiet stream x.txt y.txt --angle 20 --state t.state
asterism stream x.txt --angle 20 --state u.state >../out
asterism stream x.txt y.txt --angle 20 --state u.state >../out
equal 'size of the state of both frames' "$(wc -c <u.state)" "$(wc -c <t.state)"
asterism stream x.txt y.txt --angle 20 --state t.state >../out
[ ! -s ../out ] || broken 'frames were left to do'
exec 4>&-

if [ -w /dev/full ]; then
    for words in '--help' 'cluster x.txt --angle 20' 'cluster x.txt --angle 20 --labels -' 'stream x.txt --angle 20'; do
        # shellcheck disable=SC2086
        fails 1 'standard output' sh -c '"$0" "$@" >/dev/full' "$ASTERISM" $words
    done
fi
