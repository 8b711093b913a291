#!/bin/sh
# On a new Debian 12 (debootstrap into a folder) a clone of the committed sources follows the README, command by command:
# ./demo, the packages, the wheel. Takes root, the package registries and a quarter of an hour, so that it runs only where
# the build has -DASTERISM_FRONT_DOOR=ON.
set -eu
root=$(mktemp -d)
chmod 755 "$root"
cd "$SOURCE"

broken() {
    echo "FAILED: $*" >&2
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

leave() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root" "$root.log"
}
trap leave EXIT
trap 'exit 130' INT TERM

# block N: the N-th block of shell commands in the README; sudo is not needed in there.
block() {
    awk -v wanted="$1" '/^```sh$/ { inside = 1; n++; next } /^```$/ { inside = 0 } inside && n == wanted' README.md |
        sed 's/^sudo //; s/&& sudo /\&\& /'
}

# inside COMMANDS: runs them in the new system, in the clone.
inside() {
    chroot "$root" /bin/sh -euc "export DEBIAN_FRONTEND=noninteractive HOME=/srv; cd /srv/asterism; $1" >"$root.log" 2>&1 ||
        broken "on a new machine this fails: $1
$(tail -30 "$root.log")"
}

[ "$(id -u)" = 0 ] || skip 'this takes root'
command -v debootstrap >/dev/null || skip 'there is no debootstrap'
debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1 || skip 'debootstrap cannot reach the packages'
mount -t proc proc "$root/proc"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
[ ! -e "$HOME/.npmrc" ] || cp "$HOME/.npmrc" "$root/srv/"
git clone -q --no-hardlinks . "$root/srv/asterism"
inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends git ca-certificates'
inside 'git config --global --add safe.directory /srv/asterism'

echo 'the two commands: ./demo'
inside ./demo
echo 'the packages'
inside "$(block 1 | sed 's/apt install/apt-get install -y -qq/')"
inside "cd /tmp && $(block 4)"
inside "cd /tmp && python3 -c 'import asterism, numpy; print(asterism.DPVMFMeans(60).fit(numpy.eye(3)).labels_)'"
inside 'apt-get remove -y -qq python3-asterism'
echo 'the wheel'
inside 'apt-get install -y -qq --no-install-recommends python3-venv python3-numpy'
inside "python3 -m venv --system-site-packages /srv/v && . /srv/v/bin/activate && $(block 2 | sed 's/pip install/pip install --no-index/')
cd /tmp && python -c 'import asterism, numpy; print(asterism.DPVMFMeans(60).fit(numpy.eye(3)).labels_)'"
echo 'all three ways of the README work on a new machine'
