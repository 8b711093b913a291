#!/bin/sh
# Wrong usage, seen from the command line alone: exit 2, before any file is opened.
. "$(dirname "$0")/common.sh"
three_axes >x.txt

# cluster
fails 2 'needs an INPUT' asterism cluster
fails 2 'needs an INPUT' asterism cluster --angle 20
fails 2 'needs --angle' asterism cluster x.txt
fails 2 'needs --angle' asterism cluster absent.txt
fails 2 "one input, not both 'x.txt' and 'y.txt'" asterism cluster x.txt y.txt --angle 20
fails 2 'empty' asterism cluster '' --angle 20
for angle in -1 180.1 181 nan NaN inf 20x '' ' ' abc 1e999; do
    fails 2 '--angle .*0 to 180' asterism cluster x.txt --angle="$angle"
done
fails 2 "0 to 180 or auto, not '-5'" asterism cluster x.txt --angle -5
fails 2 '--angle needs a value' asterism cluster x.txt --angle
fails 2 '--angle needs a value: --angle DEG' asterism cluster x.txt --angle --json
fails 2 '--angle is given twice' asterism cluster x.txt --angle 20 --angle=30
for clusters in 0 -1 1.5 ten '' 99999999999999999999 +3 ' 3'; do
    fails 2 '--clusters must be a whole number from 1' asterism cluster x.txt --method spkm --clusters "$clusters"
done
fails 2 'spkm needs --clusters' asterism cluster x.txt --method spkm
fails 2 '--angle is for --method dp' asterism cluster x.txt --method spkm --clusters 2 --angle 20
fails 2 '--clusters is for --method spkm' asterism cluster x.txt --clusters 2 --angle 20
fails 2 '--clusters is for --method spkm' asterism cluster x.txt --clusters 2
fails 2 '--shuffle is for --method dp' asterism cluster x.txt --method spkm --clusters 2 --shuffle
fails 2 '--init random is for methods with --clusters' asterism cluster x.txt --angle 20 --init random
fails 2 "--method must be dp, spkm, movmf, fsd, crp, ospkm, dpmeans or mbspkm, not 'kmeans'" \
    asterism cluster x.txt --method kmeans --angle 20
fails 2 '--batch is for --method mbspkm, not spkm' \
    asterism cluster x.txt --method spkm --clusters 2 --batch 100
fails 2 '--sample is for --method dp, not mbspkm' \
    asterism cluster x.txt --method mbspkm --clusters 2 --sample 100
fails 2 '--sample cannot be combined with --angle auto' asterism cluster x.txt --angle auto --sample 100
fails 2 '--state cannot be combined with --sample' asterism cluster x.txt --angle 20 --sample 9 --state s
for method in movmf ospkm mbspkm; do
    fails 2 "$method needs --clusters" asterism cluster x.txt --method $method
    fails 2 '--angle is for --method dp and dpmeans' asterism cluster x.txt --method $method --clusters 2 --angle 20
done
fails 2 'cluster needs --angle' asterism cluster x.txt --method dpmeans
fails 2 '--angle auto is for --method dp' asterism cluster x.txt --method dpmeans --angle auto
fails 2 '--hard is for --method movmf, not spkm' asterism cluster x.txt --method spkm --clusters 2 --hard
fails 2 '--kappa is for --method movmf, fsd and crp, not dp' asterism cluster x.txt --angle 20 --kappa 3
fails 2 '--kappa must be a number from 0' asterism cluster x.txt --method movmf --clusters 2 --kappa -1
fails 2 '--memberships is for' asterism cluster x.txt --angle 20 --memberships m.npy
fails 2 '--samples is for --method fsd and crp, not movmf' asterism cluster x.txt --method movmf --clusters 2 --samples s.npy
fails 2 '--clusters auto is for --method movmf; spkm needs a number, such as --clusters 10' asterism cluster x.txt --method spkm --clusters auto
fails 2 '--clusters auto cannot be combined with --hard: joins need soft memberships' asterism cluster x.txt --method movmf --clusters auto --hard
fails 2 "--clusters must be a whole number from 1 to 2147483647 or auto, not 'many'" asterism cluster x.txt --method movmf --clusters many
fails 2 '--background is for --method movmf, not fsd' asterism cluster x.txt --method fsd --background
fails 2 '--sample-every needs --samples FILE' asterism cluster x.txt --method fsd --clusters 2 --sample-every 5
fails 2 '--weights is for --method dp, spkm, movmf, ospkm, dpmeans and mbspkm, not crp' asterism cluster x.txt --method crp --weights w.txt
fails 2 "--parallel must be ordered, oir or serial" asterism cluster x.txt --angle 20 --parallel all
fails 2 '--max-iterations' asterism cluster x.txt --angle 20 --max-iterations 0
fails 2 '--restarts' asterism cluster x.txt --angle 20 --restarts 0
fails 2 '--threads must be a whole number from 0 to 256' asterism cluster x.txt --angle 20 --threads 257
fails 2 '--threads' asterism cluster x.txt --angle 20 --threads -1
fails 2 '--seed' asterism cluster x.txt --angle 20 --seed -1
fails 2 '--seed' asterism cluster x.txt --angle 20 --seed 18446744073709551616
fails 2 '--json takes no value' asterism cluster x.txt --angle 20 --json=yes

# Mistyped names
fails 2 'no option --angel; did you mean --angle' asterism cluster x.txt --angel 20
fails 2 'no option --max-iteration; did you mean --max-iterations' asterism cluster x.txt --max-iteration=3
fails 2 'no option -angle; did you mean --angle' asterism cluster x.txt -angle 20
fails 2 'no option --thread; did you mean --threads' asterism cluster x.txt --thread 2
fails 2 'no option --frobnicate; .*--help' asterism cluster x.txt --frobnicate
fails 2 'no option -x' asterism cluster x.txt -x
fails 2 'no option --;' asterism cluster x.txt --=5
fails 2 'no option --a{70}' asterism cluster x.txt "--$(printf '%070d' 0 | tr 0 a)"

fails 2 '--kappa must be a number from -1e\+15 to 1e\+15' \
    asterism sample --points 9 --dimension 3 --clusters 2 --kappa 1e300 --output s.npy

# Files, as far as their names show it
fails 2 'x.xy' asterism cluster x.xy --angle 20
fails 2 'standard input needs --format' asterism cluster - --angle 20
fails 2 '--format.*jpeg' asterism cluster x.txt --angle 20 --format jpeg
for columns in 0 3-1 1-a 1- ',' 1,,2 a, ''; do
    fails 2 '--columns' asterism cluster x.txt --angle 20 --columns "$columns"
done
fails 2 '--labels' asterism cluster x.txt --angle 20 --labels z.jpeg
fails 2 '--labels would overwrite the input x.txt' asterism cluster x.txt --angle 20 --labels x.txt
fails 2 '--labels would overwrite the input w.txt' asterism cluster x.txt --angle 20 --weights w.txt --labels w.txt
fails 2 '--labels would overwrite the input m.txt' asterism assign x.txt --means m.txt --labels m.txt
fails 2 '--labels and --means would both write to z.npy' asterism cluster x.txt --angle 20 --labels z.npy --means z.npy
fails 2 '--labels and --means would both write to standard output' \
    asterism cluster x.txt --angle 20 --labels - --means -
fails 2 '--json and --labels - would both write' asterism cluster x.txt --angle 20 --labels - --json
fails 2 '--weights needs the name of a file' asterism cluster x.txt --angle 20 --weights -
fails 2 '--init' asterism cluster x.txt --angle 20 --init means.xy

# The others
fails 2 'assign needs --means' asterism assign x.txt
fails 2 'needs an INPUT' asterism assign --means m.npy
fails 2 '--angle .*0 to 180' asterism assign x.txt --means m.npy --angle 190
fails 2 'measure needs --labels' asterism measure
fails 2 'measure needs --truth FILE or --points' asterism measure --labels z.npy
fails 2 "measure takes options only, not 'z.npy'" asterism measure z.npy
touch a.xy
fails 2 "a.xy: the extension names no known format" asterism cluster a.xy --angle 20
fails 1 "nowhere: cannot be opened: No such file or directory" asterism cluster nowhere --angle 20
fails 1 "--labels: . is a folder, and one file is needed here" asterism measure --labels .
fails 2 '--dissimilarity .*needs --points' asterism measure --labels z.npy --truth t.npy --dissimilarity angle
fails 2 '--dissimilarity must be cosine or angle' asterism measure --labels z.npy --points x.npy --dissimilarity x

sample() {
    asterism sample --points 9 --dimension 3 --clusters 2 "$@"
}
fails 2 'sample needs --points' asterism sample
fails 2 'sample needs --kappa' sample --output x.npy
fails 2 'sample needs --output' sample --kappa 10
fails 2 '--points .*from 1' asterism sample --points 0 --dimension 3 --clusters 2 --kappa 1 --output x.npy
fails 2 '--dimension .*from 2 to 4096' asterism sample --points 9 --dimension 1 --clusters 2 --kappa 1 --output x.npy
fails 2 '--dimension .*from 2 to 4096' asterism sample --points 9 --dimension 4097 --clusters 2 --kappa 1 --output x.npy
fails 2 '--clusters .*from 1' asterism sample --points 9 --dimension 3 --clusters 0 --kappa 1 --output x.npy
fails 2 '--kappa -1 is below 0' sample --kappa -1 --output x.npy
fails 2 '--kappa' sample --kappa nan --output x.npy
fails 2 '--separation .*0 to 180' sample --kappa 1 --separation 200 --output x.npy
fails 2 '--noise .*0 to 1' sample --kappa 1 --noise 1.5 --output x.npy
fails 2 'both write to x.npy' sample --kappa 1 --output x.npy --labels x.npy
fails 2 'no option --point; did you mean --points' asterism sample --point 9

# What is no mistake
three_axes >--odd.txt
works asterism cluster --angle=20 --quiet -- --odd.txt
works asterism cluster x.txt --angle 0 --quiet
works asterism cluster x.txt --angle 180 --quiet
works asterism cluster --quiet --angle 2e1 x.txt --seed 18446744073709551615 --threads 3
