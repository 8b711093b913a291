#!/bin/sh
# asterism identities: a saved stream is listed and changed by id; stream --enroll, --names and --status.
. "$(dirname "$0")/common.sh"

# printed TEXT: what the last command printed has it.
printed() {
    grep -Fq -- "$1" ../out || broken "'$1' is not in: $(cat ../out)"
}

printf '1,0,0\n0,1,0\n' >a.csv
printf '1,0.05,0\n0,1,0\n0,0,1\n' >b.csv
printf '1,0\n' >plane.csv
works asterism stream a.csv b.csv --angle 30 --exclusive --state s
works asterism identities s
printed '3 identities after 2 frames, the last one b.csv'
works asterism identities s name 0 Anna
printed 'frame 2: id 0 named'
works asterism identities s enroll b.csv --name Trio --json
printed '{"event": "enrolled", "frame": 2, "id": 3, "rows": 3}'
works asterism identities s enroll a.csv --id 3
works asterism identities s forget 2
works asterism identities s join 1 0
printed 'frame 2: id 1 joined into 0'
works asterism identities s split 0 --mean 1
printed 'frame 2: id 0 split, new id 4'
works asterism identities s split 0 a.csv --json
printed '{"event": "split", "frame": 2, "id": 0, "new": 5, "rows": 2}'
works asterism identities s forbid 4 a.csv
works asterism identities s lock 4
works asterism identities s unlock 4
works asterism identities s set --angle 20 --lifetime 50
works asterism identities s list --json
printed '"angle": 20, "drift": 1, "lifetime": 50, "identities": [{"id": 0, "name": "Anna", "means": 1, "age": 0,'
works asterism identities s log
[ "$(wc -l <../out)" -eq 11 ] || broken "the log has $(wc -l <../out) lines, should have 11"
grep -q Trio s || broken 'the name is not in the state'
works asterism identities s forget 3
if grep -q Trio s; then broken 'the name of somebody who was forgotten is in the state'; fi

# ---- Nobody who is forgotten is in the file, also not among the frames behind the state ----
hex() {
    od -An -v -tx1 "$1" | tr -d ' \n'
}
printf '1,0,0\n' >x.csv
printf '0,0.6,0.8\n' >y.csv
printf '1,0.01,0\n0,0.6,0.8\n' >z.csv
works asterism stream x.csv y.csv z.csv --angle 30 --exclusive --state u
mean=9a99193fcdcc4c3f # 0.6 and 0.8
hex u | grep -q "$mean" || broken 'the mean is not where this test looks for it'
works asterism identities u forget 1
if hex u | grep -q "$mean"; then broken 'the mean of somebody who was forgotten is in the state'; fi
printed 'id 1 forgotten'

# ---- The stream goes on, with the new settings only ----
fails 1 'another angle' asterism stream a.csv b.csv --angle 30 --exclusive --state s
cp b.csv c.csv
works asterism stream a.csv b.csv c.csv --angle 20 --lifetime 50 --exclusive --state s --rows
printed '"frame": 2'
works asterism stream --state s --status
printed '{"frame": 2, "frames": 3, "source": "c.csv", "identities": '

# ---- Known people ----
printf 'Ann\nAnn\nBea\n' >names
works asterism stream a.csv --angle 30 --enroll b.csv --names names --state t --rows
printed '"rows": [0, 0]'
works asterism identities t
printed 'Bea'
works asterism stream a.csv c.csv --angle 30 --enroll b.csv --names names --state t --rows
printed '"rows": [0, 0, 1]'
works asterism identities t log
[ "$(wc -l <../out)" -eq 2 ] || broken 'people were enrolled twice'
works asterism stream a.csv --angle 30 --enroll b.csv --rows
printed '"rows": [0, 1]'

# ---- Mistakes ----
cp s before
fails 1 's: the stream has no id 2: it never had, or it died' asterism identities s forget 2
fails 1 'plane.csv: the rows have 2 components; the stream has 3' asterism identities s forbid 0 plane.csv
fails 1 'Ann is the name of id 0 already' asterism identities t name 1 Ann
fails 1 'a.csv: Ann is the name of id 0 already' asterism identities t enroll a.csv --name Ann
fails 1 'nothing: there is no such file' asterism identities nothing list
fails 1 'is no state of asterism stream' asterism identities a.csv list
fails 1 '.' asterism identities s forbid 0 missing.csv
fails 2 'identities knows list, name, enroll' asterism identities s rename 0 Anna
fails 2 'name is used as: asterism identities STATE name ID NAME' asterism identities s name 0
fails 2 "'Anna' is no id" asterism identities s lock Anna
fails 2 '.-angle is not for identities lock' asterism identities s lock 0 --angle 3
fails 2 '.' asterism identities s set
fails 2 '.' asterism identities
cmp -s s before || broken 'a mistake has changed the state'
fails 2 '.-state' asterism stream --status
fails 1 '.' asterism stream --state nothing --status
fails 2 '.' asterism stream a.csv --angle 30 --names names
fails 1 'names has 3 names, but a.csv has 2 rows' asterism stream a.csv --angle 30 --enroll a.csv --names names
fails 1 '.' asterism stream a.csv --angle 30 --enroll plane.csv
