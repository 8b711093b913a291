#!/bin/sh
# What cluster prints and writes: the table, JSON, files, pipes.
. "$(dirname "$0")/common.sh"
three_axes >x.txt

# The table, with the time masked.
works asterism cluster x.txt --angle 20
sed 's/, [0-9.e-]* m*s,/, TIME,/' ../out >table
cat >expected <<'END'
6 points, 3 dimensions
3 clusters by dp at 20 degrees, converged after 2 passes, TIME, objective 5.811579

    id                               size   share   spread    kappa  alpha95  mean
     0  ####################            2   33.3%     2.88    789.6    12.60   0.999  0.050  0.000
     1  ####################            2   33.3%     2.86    805.5    12.48   0.000  0.999 -0.050
     2  ####################            2   33.3%     2.86    805.5    12.48   0.050  0.000  0.999

spread: degrees; its cosine is the mean cosine between the members and their mean
alpha95: degrees; the true mean is within this angle of the mean with 95% confidence

angles between the means, degrees
            0      1      2
     0      -   87.1   87.1
     1   87.1      -   92.9
     2   87.1   92.9      -
END
same expected table
works asterism cluster x.txt --angle 20 --quiet
equal 'with --quiet' '' "$(cat ../out)"

echo '1 2 3' >one.txt
works asterism cluster one.txt --angle 20
equal 'a single point' '1 point, 3 dimensions' "$(head -n 1 ../out)"
rm one.txt

# At most twenty rows.
asterism sample --points 500 --dimension 9 --clusters 40 --kappa 500 --seed 1 --output many.npy
works asterism cluster many.npy --angle 25
grep -q '\.\.\. and [0-9]* more with [0-9]* points together' ../out || broken 'no line for the rest'
equal rows 20 "$(grep -c '#' ../out)"
grep -q '\.\.\.$' ../out || broken 'long means are not cut'

# JSON: the keys, in order, and what they hold.
works asterism cluster x.txt --angle 20 --json --labels z.npy --means m.txt
grep -o '"[a-z_0-9]*":' ../out | tr -d '":' | awk '!seen[$0]++' | paste -sd' ' - >keys
echo 'points missing dimension method clusters merged outliers objective iterations converged stability metric centered rayleigh test statistic p preferred eigenvalues woodcock_shape woodcock_strength shape seconds cluster id size mean kappa' \
    'kappa_interval precision resultant standard_error alpha95 csd share spread angles' >expected
same expected keys
equal points 6 "$(json points ../out)"
equal missing 0 "$(json missing ../out)"
equal dimension 3 "$(json dimension ../out)"
equal method '"dp"' "$(json method ../out)"
equal clusters 3 "$(json clusters ../out)"
equal objective 5.811579 "$(printf %.6f "$(json objective ../out)")"
equal converged true "$(json converged ../out)"
equal id 2 "$(json cluster.2.id ../out)"
equal size 2 "$(json cluster.2.size ../out)"
head -n 1 m.txt | tr ' ' ',' >mean
equal 'the mean, digit for digit' "[$(awk -F, '{ printf "%.6f", $1 }' mean)" \
    "$(json cluster.0.mean ../out | awk -F, '{ printf "[%.6f", substr($1, 2) }')"
works asterism cluster x.txt --angle 20 --json --parallel oir
case $(json oir_restarts ../out) in
[0-9]*) ;;
*) broken 'oir_restarts is no number' ;;
esac
works asterism cluster x.txt --method spkm --clusters 3 --json --quiet
equal method '"spkm"' "$(json method ../out)"
works asterism cluster x.txt --angle 20 --json --max-iterations 1
equal 'converged after one pass' false "$(json converged ../out)"

# Labels to standard output, to a device, to a pipe, through a link.
works asterism cluster x.txt --angle 20 --labels -
equal 'labels on stdout' '0 0 1 1 2 2' "$(paste -sd' ' ../out)"
works asterism cluster x.txt --angle 20 --quiet --labels /dev/stdout
equal 'labels on /dev/stdout' '0 0 1 1 2 2' "$(paste -sd' ' ../out)"
works asterism cluster x.txt --angle 20 --quiet --labels /dev/null
[ -c /dev/null ] || broken '/dev/null was replaced'
mkfifo pipe
asterism cluster x.txt --angle 20 --quiet --labels pipe &
equal 'labels through a pipe' '0 0 1 1 2 2' "$(paste -sd' ' pipe)"
wait
[ -p pipe ] || broken 'the pipe was replaced'
: >target.txt
ln -s target.txt link.txt
works asterism cluster x.txt --angle 20 --quiet --labels link.txt
[ -L link.txt ] || broken 'the link was replaced'
equal 'labels through a link' '0 0 1 1 2 2' "$(paste -sd' ' target.txt)"
works asterism cluster x.txt --angle 20 --quiet --labels link.txt # again, over the file that is there
equal 'files in the end' 'expected keys link.txt m.txt many.npy mean pipe table target.txt x.txt z.npy' \
    "$(find . ! -name . | sed 's|^\./||' | sort | paste -sd' ' -)"

# Two outputs are one file under whatever names, there or not: nothing is written.
mkdir sub
ln -s . here
ln -s absent.npy dangling.npy
: >there.npy
ln there.npy hard.npy
for other in ./absent.npy here/absent.npy sub/../absent.npy "$PWD/absent.npy" dangling.npy; do
    fails 2 "^asterism: --labels and --means would both write to absent.npy, which is $other as well$" \
        asterism cluster x.txt --angle 20 --labels absent.npy --means "$other"
done
for other in ./there.npy here/there.npy hard.npy; do
    fails 2 "^asterism: --labels and --means would both write to there.npy, which is $other as well$" \
        asterism cluster x.txt --angle 20 --labels there.npy --means "$other"
done
fails 2 'would both write to -, which is /dev/stdout as well' \
    asterism cluster x.txt --angle 20 --labels - --means /dev/stdout
fails 2 '^asterism: --labels and --state would both write to s.npy, which is ./s.npy as well$' \
    asterism cluster x.txt --angle 20 --labels s.npy --state ./s.npy
fails 2 '^asterism: --labels and --means would both write to same.npy$' \
    asterism cluster x.txt --angle 20 --labels same.npy --means same.npy
works asterism cluster x.txt --angle 20 --labels absent.npy --means sub/absent.npy --quiet
works asterism cluster x.txt --angle 20 --labels absent.npy --means sub/absent.npy --quiet

# A reader that leaves early is a failed write.
asterism sample --points 100000 --dimension 3 --clusters 2 --kappa 1 --output - 2>../err | head -n 1 >../out
equal 'lines before the reader left' 1 "$(wc -l <../out | tr -d ' ')"
