# An input that does not fit into the memory that may be used is read in parts, and everything comes out as it does in
# memory.
. "$(dirname "$0")/common.sh"

asterism sample --points 400000 --dimension 3 --clusters 6 --kappa 60 --separation 50 --seed 3 --output small.npy --quiet
asterism sample --points 30000 --dimension 64 --clusters 8 --kappa 300 --separation 50 --seed 4 --output wide.npy --quiet
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (400000, 3), }"
    head -c 1200000 /dev/urandom
} >bytes.npy

# clusters WHAT MEMORY INPUT OPTIONS...: the same files and the same JSON as in memory, but for times and memory.
# told: the result without what only rows in memory have, and without times.
told() {
    sed -e 's/"preferred": {[^}]*}, "eigenvalues": .*"shape": "[a-z]*", \("girdle_pole": [^]]*\], \)*//' \
        -e 's/"seconds": [^,]*, //' -e 's/"memory": {[^}]*}, //' ../out
}
clusters() {
    what=$1
    memory=$2
    shift 2
    works asterism cluster "$@" --labels in.npy --means in.csv --json --quiet
    told >../in.json
    works asterism cluster "$@" --labels out.npy --means out.csv --json --quiet --memory "$memory"
    told >../out.json
    grep -q '"memory": {"allowed"' ../out || broken "$what was not read in parts"
    same in.npy out.npy
    same in.csv out.csv
    same ../in.json ../out.json
    rm in.npy out.npy in.csv out.csv
}
clusters 'labels in a file' 3500K small.npy --angle 40
clusters 'labels in memory' 8M small.npy --angle 40 --threads 1
clusters 'centred rows and representatives' 8M small.npy --angle 40 --threads 2 --center --representatives 3
clusters 'axes' 3500K small.npy --angle 40 --axial --max-iterations 3 --threads 1
clusters 'bytes' 3500K bytes.npy --angle 70 --max-iterations 3
clusters 'merged by angle' 3500K small.npy --angle 25 --merge 35
clusters 'merged axes' 14M small.npy --angle 25 --axial --merge evidence --max-iterations 5 --threads 1
clusters 'dissolved' 6M wide.npy --angle 50 --order given --merge-to 7 --min-size 3800
clusters 'wide' 6M wide.npy --angle 60 --order given
clusters 'wide k-means' 6M wide.npy --method spkm --clusters 5 --max-iterations 4
works asterism cluster wide.npy --angle 50 --order given --merge evidence --tree in.json --leaf-labels in.npy --quiet
works asterism cluster wide.npy --angle 50 --order given --merge evidence --tree out.json --leaf-labels out.npy --quiet \
    --memory 6M
same in.json out.json
same in.npy out.npy
rm in.json out.json in.npy out.npy
clusters 'k-means' 3500K small.npy --method spkm --clusters 4 --max-iterations 3 --threads 1
asterism sample --points 100000 --dimension 12 --clusters 6 --kappa 20 --separation 50 --seed 3 --output cone.npy --quiet
clusters 'mapped rows' 9M cone.npy --angle 65 --order given --metric local --max-iterations 2 --threads 2
clusters 'mapped k-means' 12M cone.npy --method spkm --clusters 6 --metric local --max-iterations 4 --representatives 2 \
    --threads 1
fails 1 'cone.npy needs at least 8.6 MiB of memory' asterism cluster cone.npy --method spkm --clusters 6 --metric local \
    --threads 2 --memory 6M
rm cone.npy

# Content order, the default above 8 dimensions, needs all rows in memory
asterism cluster wide.npy --angle 60 --labels l.npy --json --memory 6M >../out 2>../err
grep -q '^asterism: the rows are visited in the given order: content order, the default for 64 dim' ../err ||
    broken "it said: $(cat ../err)"
works asterism cluster wide.npy --angle 60 --order given --labels m.npy --quiet
same l.npy m.npy
rm l.npy m.npy
fails 1 '--order needs all of it' asterism cluster wide.npy --angle 60 --order content --memory 6M

# Labels as text, to standard output, and none at all
works asterism cluster small.npy --angle 40 --labels - --quiet
mv ../out ../in.txt
works asterism cluster small.npy --angle 40 --labels - --quiet --memory 3500K
same ../in.txt ../out
works asterism cluster small.npy --angle 40 --quiet --memory 3500K

# What is said before the run, and that it is kept to
asterism cluster small.npy --angle 40 --json --memory 3500K >../out 2>../err
grep -q '^small.npy is read in parts: memory budget 3.4 MiB, at most 3.4 MiB is used; a pass reads 4.6 MiB, and' ../err ||
    broken "it said: $(cat ../err)"
equal 'bytes of a pass' 4800000 "$(json memory.pass_bytes ../out)"
if [ -z "$SANITIZE" ]; then # whose memory is another matter
    (ulimit -d 15000 && asterism cluster small.npy --angle 40 --threads 1 --labels l.npy --json >../out 2>../err) ||
        broken "under a limit: $(cat ../err)"
    grep -q '"memory"' ../out || broken 'the limit of the process was not seen'
    works asterism cluster small.npy --angle 40 --labels m.npy --quiet
    same l.npy m.npy
    rm l.npy m.npy
fi

# assign
works asterism cluster wide.npy --angle 60 --means means.npy --quiet
works asterism assign wide.npy --means means.npy --angle 35 --labels in.npy --similarity in.csv --json
mv ../out ../in.json
works asterism assign wide.npy --means means.npy --angle 35 --labels out.npy --similarity out.csv --json --memory 4M
same in.npy out.npy
same in.csv out.csv
same ../in.json ../out
rm in.npy in.csv

# What needs all points in memory
fails 1 '--shuffle needs all of it' asterism cluster small.npy --angle 40 --shuffle --memory 3M
fails 1 '--restarts needs all of it' asterism cluster small.npy --angle 40 --restarts 2 --memory 3M
fails 1 'movmf needs all of it' asterism cluster small.npy --method movmf --clusters 3 --memory 3M
fails 1 '--report needs all of it' asterism cluster small.npy --angle 40 --report r.html --memory 3M
fails 1 'needs at least [0-9.]+ MiB of memory' asterism cluster small.npy --angle 40 --memory 1M
fails 1 'some of its columns' asterism cluster wide.npy --columns 1-9 --angle 40 --memory 4M
fails 2 '--memory must be a size' asterism cluster small.npy --angle 40 --memory much
fails 2 '--memory must be a size' asterism cluster small.npy --angle 40 --memory 12k

# Fortran order, and text
head -c 4800128 small.npy | sed "1s/'fortran_order': False,/'fortran_order': True, /" >fortran.npy
fails 1 'Fortran order' asterism cluster fortran.npy --angle 40 --memory 3500K
yes '1 0 0' | head -c 12000000 >long.txt
fails 1 'only .npy files' asterism cluster long.txt --angle 40 --memory 3500K
rm fortran.npy long.txt

# A disk that is full: of the labels that are kept, and of those that are written
# shellcheck disable=SC2016
full() {
    fails 1 "$1" sh -c 'ulimit -f 1000; exec "$0" "$@"' "$ASTERISM" cluster small.npy --angle 40 --labels l.npy --quiet \
        --threads 1 --memory "$2"
}
full 'the file there that keeps labels, 4 bytes a row, cannot be written' 3500K
full 'l.npy: cannot be written' 8M

# The file is cut short while it is read: the command waits for a reader of the labels, and knows the header by then.
mkfifo labels.txt
cp small.npy cut.npy
"$ASTERISM" cluster cut.npy --angle 40 --labels labels.txt --quiet --memory 3500K >../out 2>../err &
job=$!
until ls -l /proc/$job/fd 2>/dev/null | grep -q cut.npy; do
    kill -0 $job 2>/dev/null || broken "it ended: $(cat ../err)"
    sleep 0.1
done
: >cut.npy
cat labels.txt >../labels
status=0
wait $job || status=$?
equal 'exit code of a file that is cut short' 1 "$status"
grep -q '^asterism: cut.npy: .*cut short' ../err || broken "it said: $(cat ../err)"
[ ! -s ../labels ] || broken 'labels were written'
