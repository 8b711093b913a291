# shellcheck shell=sh
# What the tests of 3-D files share; to be sourced after common.sh.

# box DEGREES: a box of 1 x 2 x 3, turned about the z axis, as OBJ: six faces that look outwards.
box() {
    awk -v turn="$1" 'BEGIN {
        a = turn * 3.14159265358979 / 180
        for (i = 0; i < 8; i++) {
            x = i % 2; y = int(i / 2) % 2 * 2; z = int(i / 4) * 3
            printf "v %.9g %.9g %d\n", x * cos(a) - y * sin(a), x * sin(a) + y * cos(a), z
        }
        print "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6"
    }'
}

# rows N: points x y z on the six sides of the same box (not turned), N x N a side and none on an edge, each with the
# normal of its side, inwards.
rows() {
    awk -v n="$1" 'BEGIN {
        size[0] = 1; size[1] = 2; size[2] = 3
        for (side = 0; side < 6; side++)
            for (i = 0; i < n; i++)
                for (j = 0; j < n; j++) {
                    c = int(side / 2); end = side % 2
                    p[c] = end * size[c]; p[(c + 1) % 3] = (i + 0.5) / n * size[(c + 1) % 3]
                    p[(c + 2) % 3] = (j + 0.5) / n * size[(c + 2) % 3]
                    m[0] = m[1] = m[2] = 0; m[c] = end ? -1 : 1
                    printf "%.9g %.9g %.9g %d %d %d\n", p[0], p[1], p[2], m[0], m[1], m[2]
                }
    }'
}

# sides N: the side, 0 to 5, of each of those points.
sides() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < 6 * n * n; i++) print int(i / (n * n)) }'
}

# pcd: rows of x y z (and more, ignored) become an ascii PCD.
pcd() {
    awk '{ row[NR] = $1 " " $2 " " $3 } END {
        printf "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH %d\nHEIGHT 1\n", NR
        printf "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS %d\nDATA ascii\n", NR
        for (i = 1; i <= NR; i++) print row[i]
    }'
}

# ply: rows of x y z nx ny nz become an ascii PLY.
ply() {
    awk '{ row[NR] = $0 } END {
        printf "ply\nformat ascii 1.0\nelement vertex %d\n", NR
        printf "property float x\nproperty float y\nproperty float z\n"
        printf "property float nx\nproperty float ny\nproperty float nz\nend_header\n"
        for (i = 1; i <= NR; i++) print row[i]
    }'
}
