#!/bin/sh
# asterism stream with a state behind a pipe, killed many times: no frame whose line was printed is lost. The program that
# feeds it asks --status how many frames the state has, and goes on with the next.
. "$(dirname "$0")/common.sh"

frames=120
[ -z "${AST_TEST_LONG:-}" ] || frames=3000
mkdir frames
for number in $(seq 1 105); do # then they come again
    awk -v n="$number" 'BEGIN { printf "1 %g 0 0\n0 1 %g 0\n0 0 %g 1\n", n % 7 / 20, n % 5 / 20, n % 3 / 20 }' >text
    tool npy f4 c <text >"frames/$number"
done
options='--angle 50 --exclusive --threads 1 --rows'
# Whole lines, without the time and the place in the pipe.
plain() {
    sed 's/"milliseconds": [^,]*, //; s/"source": [^,]*, //' "$1" | grep '}$' || :
}
feed() { # the frames from this one on, until nobody reads them
    for number in $(seq "$1" "$frames"); do cat "frames/$((number % 105 + 1))" 2>../fed || exit 0; done
}
# shellcheck disable=SC2086
feed 1 | asterism stream - --format npy $options >whole

kills=0
: >lines
done=0
while [ "$done" -lt "$frames" ]; do
    : >part
    # shellcheck disable=SC2086
    feed $((done + 1)) | "$ASTERISM" stream - --format npy $options --state state >part 2>../err &
    job=$!
    # After some lines, at some moment of the next frame.
    waits=0
    while [ "$(wc -l <part)" -lt $((kills % 4)) ] && [ $waits -lt 200 ] && kill -0 "$job" 2>/dev/null; do
        waits=$((waits + 1))
        sleep 0.001
    done
    sleep "0.00$((kills * 7 % 10))"
    kill -9 "$job" 2>/dev/null && kills=$((kills + 1))
    wait "$job" 2>/dev/null || :
    # Only whole lines are acknowledgements.
    acknowledged=$((done + $(plain part | wc -l)))
    if [ -f state ]; then
        asterism stream --state state --status >status
        done=$(json frames status)
    fi
    [ "$done" -ge "$acknowledged" ] || broken "after $kills kills the state has $done frames, but $acknowledged lines were out"
    plain part >>lines
done
plain whole >expected
sort -u lines >once
while read -r line; do
    grep -Fqx -- "$line" expected || broken "a line that an unbroken run does not print: $line"
done <once
works asterism stream --state state --status
equal 'frames of the state' "$frames" "$(json frames ../out)"
echo "$kills kills"
[ "$kills" -gt 0 ] || skip_part 'no run was slow enough to be killed'
