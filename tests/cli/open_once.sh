#!/bin/sh
# Every input is opened once and looked at once more at most, and a folder is listed once: what strace sees.
. "$(dirname "$0")/common.sh"
strace -o /dev/null true 2>/dev/null || skip 'strace is not installed or may not trace here'

# traced COMMAND...: runs it under strace; what it asked of files is in ../trace.
traced() {
    strace -f -qq -o ../trace -e trace=open,openat,stat,lstat,newfstatat,statx,access,faccessat,faccessat2,getdents,getdents64 \
        "$@" >../out 2>../err || broken "$* failed: $(cat ../err)"
}

# once FILE COMMAND...: the command opens the file once, and otherwise asks for it by name once at most.
once() {
    file=$1
    shift
    traced "$ASTERISM" "$@"
    equal "how often '$*' opens $file" 1 "$(grep -c "open[at]*(.*\"$file\"" ../trace || :)"
    others=$(grep -v 'open[at]*(' ../trace | grep -c "\"$file\"" || :)
    [ "$others" -le 1 ] || broken "'$*' asks for $file by name $others times besides: $(grep "\"$file\"" ../trace)"
}

# listed FOLDER COMMAND...: the command opens the folder once and reads it to its end once.
listed() {
    file=$1
    shift
    traced "$ASTERISM" "$@"
    equal "how often '$*' opens $file" 1 "$(grep -c "open[at]*(.*\"$file\"" ../trace || :)"
    equal "how often '$*' reads a folder to its end" 1 "$(grep -c 'getdents.* = 0$' ../trace || :)"
}

asterism sample --points 300 --dimension 3 --clusters 4 --kappa 50 --output x.npy --labels truth.npy
asterism sample --points 300 --dimension 3 --clusters 4 --kappa 50 --output x.csv
gzip -k x.csv
awk -F, 'BEGIN { print "ply\nformat ascii 1.0\nelement vertex 300\nproperty float x\nproperty float y"
                 print "property float z\nend_header" } { print $1, $2, $3 }' x.csv >x.ply
awk -F, 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n300 3 900" }
         { for (d = 1; d <= 3; d++) print NR, d, $d }' x.csv >x.mtx
asterism cluster x.npy --angle 40 --means means.npy --labels labels.npy --quiet

for format in npy csv csv.gz ply mtx; do
    once x.$format cluster x.$format --angle 25
done
once x.npy cluster x.npy --angle 25 --memory 1M
once x.npy cluster x.npy --angle 25 --labels other.npy
once x.npy assign x.npy --means means.npy
once means.npy assign x.npy --means means.npy
once x.npy measure --points x.npy --labels labels.npy
once labels.npy measure --truth truth.npy --labels labels.npy
once x.npy tune x.npy --from 90 --to 60 --step 10
once x.ply normals x.ply --output normals.npy

mkdir frames
for i in 0 1 2 3; do
    asterism sample --points 50 --dimension 3 --clusters 2 --kappa 50 --seed $i --output frames/$i.npy
done
listed frames stream frames --angle 40
listed frames cluster frames --angle 40
once frames/2.npy stream frames --angle 40 --labels ids --state state
once frames/2.npy cluster frames --angle 40

works asterism sample --scene hallway --frames 2 --output hall
camera='--intrinsics 525,525,319.5,239.5'
if [ -f hall/depth/000000.png ]; then
    # shellcheck disable=SC2086
    {
        once hall/depth/000000.png cluster hall/depth/000000.png $camera --angle 60
        once hall/depth/000000.png normals hall/depth/000000.png $camera --output pixels.npy
        once hall/depth/000001.png stream hall $camera --angle 60
        listed hall/depth stream hall/depth $camera --angle 60
        listed hall/depth segment hall/depth $camera --angle 60 --output pictures
    }
fi
