# shellcheck shell=sh
# What the tests of depth images share; to be sourced after common.sh. A walk of six small frames through the hallway in
# the folder `hall`, and the camera that took them.
asterism sample --scene hallway --frames 6 --size 320x240 --output hall 2>../err ||
    { grep -q 'no libpng' ../err && skip 'this build has no libpng'; }
intrinsics=262.5,262.5,159.5,119.5

# pgm FILE WIDTH HEIGHT MILLIMETRES: a wall that faces the camera, as 16-bit PGM.
pgm() {
    printf 'P5\n%d %d\n65535\n' "$2" "$3" >"$1"
    pixel=$(printf '\\%03o\\%03o' $(($4 / 256)) $(($4 % 256)))
    row=
    for _ in $(seq "$2"); do row=$row$pixel; done
    # shellcheck disable=SC2059
    for _ in $(seq "$3"); do printf "$row"; done >>"$1"
}

# shape FILE: of an .npy file, with its type.
shape() {
    head -c 128 "$1" | grep -ao "'descr': '[^']*'\|'shape': ([^)]*)" |
        sed "s/'descr': '.\(..\)'/\1/; s/'shape': //" | paste -sd' ' -
}
