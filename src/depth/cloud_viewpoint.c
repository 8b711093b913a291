/* SPDX-License-Identifier: MIT
 *
 * The side of the normals of a cloud whose scanner is not known. Seen from a place that lies in the plane of a surface,
 * such as 0 0 0 for the floor z = 0, the side of that surface is random: its normals point to both sides, and it is
 * split into two directions and two planes.
 *
 * The one idea: such a place shows in neighbours. The points of a leaf of the tree lie together; if many of them have
 * parallel normals that look to opposite sides, the place is bad, and another one is tried. */
#include "cloud_viewpoint.h"

#include <math.h>

#define PARALLEL 0.9 /* cosine of two normals, but for the sign, of one surface */
#define CHANCE 0.06  /* of such neighbours may look to opposite sides: thin walls, edges, noise */

enum { PLACES = 4 };

static double side(const float *points, const float *normals, size_t row, const double place[3]) {
    double towards = 0;
    for (size_t c = 0; c < 3; c++)
        towards += normals[3 * row + c] * (place[c] - points[3 * row + c]);
    for (size_t c = 0; towards == 0 && c < 3; c++)
        towards = normals[3 * row + c];
    return towards;
}

/* The share of neighbours with parallel normals that look to opposite sides from a place. */
static double opposed_share(const ast_kdtree *tree, const float *points, const float *normals, const double place[3]) {
    size_t opposed = 0, all = 0;
    for (size_t l = 0; l < ast_kdtree_leaves(tree); l++) {
        const ast_kdleaf *leaf = &tree->leaves[l];
        for (size_t i = 1; i < ast_kdtree_leaf_size(tree, l); i++) {
            size_t a = (size_t)leaf->index[i - 1], b = (size_t)leaf->index[i];
            const float *n = normals + 3 * a, *m = normals + 3 * b;
            double cosine = (double)n[0] * m[0] + (double)n[1] * m[1] + (double)n[2] * m[2];
            if (!(fabs(cosine) > PARALLEL))
                continue;
            all++;
            opposed += (side(points, normals, a, place) < 0) != (side(points, normals, b, place) < 0) ? cosine > 0
                                                                                                      : cosine < 0;
        }
    }
    return all > 0 ? (double)opposed / (double)all : 0;
}

double ast_cloud_box_middle(const float *points, size_t count, double middle[3]) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    for (size_t i = 0; i < count; i++) {
        const float *p = points + 3 * i;
        for (int c = 0; c < 3 && isfinite(p[0] + p[1] + p[2]); c++) {
            low[c] = fmin(low[c], p[c]);
            high[c] = fmax(high[c], p[c]);
        }
    }
    for (int c = 0; c < 3; c++) {
        middle[c] = low[c] <= high[c] ? (low[c] + high[c]) / 2 : 0;
        longest = fmax(longest, high[c] - low[c]);
    }
    return longest;
}

/* The given place, the middle of the box, above it, and beside that: no plane of a building goes through all. */
static void find_places(const float *points, size_t count, const double given[3], double places[PLACES][3]) {
    static const double beside[3] = {0.61, 0.37, 1};
    double longest = ast_cloud_box_middle(points, count, places[1]);
    for (int c = 0; c < 3; c++) {
        places[0][c] = given[c];
        places[2][c] = places[1][c] + (c == 2 ? longest : 0);
        places[3][c] = places[1][c] + beside[c] * longest;
    }
}

void ast_cloud_find_viewpoint(const ast_kdtree *tree, const float *points, size_t count, const float *normals,
                              double viewpoint[3]) {
    double places[PLACES][3], least = INFINITY;
    find_places(points, count, viewpoint, places);
    for (int k = 0; k < PLACES && least > CHANCE; k++) {
        double share = opposed_share(tree, points, normals, places[k]);
        if (!(share < least))
            continue;
        least = share;
        for (int c = 0; c < 3; c++)
            viewpoint[c] = places[k][c];
    }
}

void ast_cloud_face(const float *points, size_t count, const double viewpoint[3], float *normals) {
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0, flipped = side(points, normals, i, viewpoint) < 0; flipped && c < 3; c++)
            normals[3 * i + c] = -normals[3 * i + c] + 0.0f; /* no negative zeros */
}
