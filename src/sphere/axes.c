/* SPDX-License-Identifier: MIT
 *
 * The Manhattan frame: the rotation R that minimises the sum of w (1 - cos), where cos is the cosine between R m and
 * the nearest of the six axis directions a.
 *
 * Two steps alternate, and neither increases the sum: each mean takes its nearest axis; then a rotation is applied to R
 * that maximises the sum of w a . R m. The latter is Horn's problem: the unit quaternion of this rotation is the
 * eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix. If several rotations are equally good (all means
 * on one line), the smallest is used. The sum has many local minima: the search starts from x, y, z and from every pair
 * of heavy means. */
#include "axes.h"

#include "degree.h"
#include "memory.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

#define HEAVY 16 /* number of heaviest means whose pairs are starts */
#define MAX_ROTATIONS 100
#define SAME 1e-12 /* relative difference that may be rounding */
#define PARALLEL 1e-6

typedef double rotation[3][3];

typedef struct scene {
    double (*at)[3];  /* (K, 3) unit vectors; 0 0 0 for a mean without direction */
    double *weight;   /* (K) scaled to a maximum of 1; 0 for means that are ignored */
    int32_t *nearest; /* (K) working memory */
    size_t count, used;
    double total; /* sum of the weights */
    size_t heavy[HEAVY], heavy_count;
} scene;

static bool scene_open(scene *s, const float *means, const double *weights, size_t count);
static void scene_close(scene *s);
static double alternate(const scene *s, rotation r);
static bool start_from(const scene *s, size_t a, size_t b, rotation r);
static void name_axes(rotation r);
static double assign(const scene *s, const rotation r, bool *changed);
static double rms_of(const scene *s, const rotation r);

/* The best result of all starts; a later one replaces it only if it is better by more than rounding. */
static void search(const scene *s, rotation best) {
    static const rotation identity = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(best, identity, sizeof(rotation));
    double least = alternate(s, best);
    for (size_t a = 0; a < s->heavy_count; a++)
        for (size_t b = 0; b < s->heavy_count; b++) {
            rotation r;
            if (a == b || !start_from(s, s->heavy[a], s->heavy[b], r))
                continue;
            double misfit = alternate(s, r);
            if (misfit < least - SAME * s->total) {
                least = misfit;
                memcpy(best, r, sizeof(rotation));
            }
        }
}

ast_status ast_axes_fit(ast_fault *fault, const float *means, const double *weights, size_t count, ast_axes *axes,
                        int32_t *nearest) {
    scene s = {0};
    ast_status status = AST_OK;
    bool changed;
    if (!scene_open(&s, means, weights, count)) {
        status = ast_fail_memory(fault);
    } else if (s.used == 0) {
        status = ast_fail(fault, AST_BAD_DATA,
                          "none of the %zu means has a direction and a positive weight; at least one is needed", count);
    } else {
        search(&s, axes->rotation);
        name_axes(axes->rotation);
        assign(&s, axes->rotation, &changed);
        axes->rms = rms_of(&s, axes->rotation);
        axes->used = s.used;
        if (nearest)
            memcpy(nearest, s.nearest, count * sizeof *nearest);
    }
    scene_close(&s);
    return status;
}

/* ---- The means --------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *out) {
    for (int d = 0; d < 3; d++)
        out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* Keeps the heaviest means in order of weight; among equals the first come first. */
static void note_heavy(scene *s, size_t k) {
    bool full = s->heavy_count == HEAVY;
    if (full && !(s->weight[k] > s->weight[s->heavy[HEAVY - 1]]))
        return;
    size_t at = full ? HEAVY - 1 : s->heavy_count++;
    for (; at > 0 && s->weight[k] > s->weight[s->heavy[at - 1]]; at--)
        s->heavy[at] = s->heavy[at - 1];
    s->heavy[at] = k;
}

static bool read_mean(const float *mean, double *out) {
    double v[3] = {mean[0], mean[1], mean[2]}, length = sqrt(dot(v, v));
    for (int d = 0; d < 3; d++)
        out[d] = length > 0 ? v[d] / length : 0; /* false for NaN */
    return length > 0;
}

static bool scene_open(scene *s, const float *means, const double *weights, size_t count) {
    double largest = 0;
    s->count = count;
    if (!ast_replace_arrays(AST_REQUEST(s->at, count), AST_REQUEST(s->weight, count), AST_REQUEST(s->nearest, count)))
        return false;
    for (size_t k = 0; k < count; k++) {
        bool there = read_mean(means + 3 * k, s->at[k]);
        s->weight[k] = !there ? 0 : weights ? weights[k] : 1;
        largest = s->weight[k] > largest ? s->weight[k] : largest;
        s->nearest[k] = -1;
    }
    for (size_t k = 0; k < count && largest > 0; k++) {
        s->weight[k] /= largest; /* so that no sum overflows */
        s->total += s->weight[k];
        s->used += s->weight[k] > 0;
        if (s->weight[k] > 0)
            note_heavy(s, k);
    }
    return true;
}

static void scene_close(scene *s) {
    ast_free_all(s->at, s->weight, s->nearest);
}

/* ---- The two steps ----------------------------------------------------------------------------------------------- */

static void apply(const rotation r, const double *v, double *out) {
    for (int c = 0; c < 3; c++)
        out[c] = dot(r[c], v);
}

/* Each mean takes its nearest axis, the first among equals. Returns the sum to be minimised. */
static double assign(const scene *s, const rotation r, bool *changed) {
    double misfit = 0;
    *changed = false;
    for (size_t k = 0; k < s->count; k++) {
        double m[3];
        int axis = 0;
        apply(r, s->at[k], m);
        for (int c = 1; c < 3; c++)
            axis = fabs(m[c]) > fabs(m[axis]) ? c : axis;
        int32_t nearest = m[axis] == 0 ? -1 : 2 * axis + (m[axis] < 0);
        *changed |= nearest != s->nearest[k];
        s->nearest[k] = nearest;
        misfit += s->weight[k] * (1 - fabs(m[axis]));
    }
    return misfit;
}

static void rotate_to_fit(const scene *s, rotation r);

/* Repeats both steps from this rotation until the axes of the means no longer change. */
static double alternate(const scene *s, rotation r) {
    bool changed;
    double misfit = assign(s, r, &changed);
    changed = true;
    for (int rounds = 0; changed && rounds < MAX_ROTATIONS; rounds++) {
        rotate_to_fit(s, r);
        misfit = assign(s, r, &changed);
    }
    return misfit;
}

/* The frame whose first axis is one mean, and whose second axis lies in the plane of both. */
static bool start_from(const scene *s, size_t a, size_t b, rotation r) {
    const double *m = s->at[a], *n = s->at[b];
    cross(m, n, r[2]);
    double length = sqrt(dot(r[2], r[2]));
    if (length < PARALLEL)
        return false;
    for (int d = 0; d < 3; d++) {
        r[0][d] = m[d];
        r[2][d] /= length;
    }
    cross(r[2], r[0], r[1]);
    return true;
}

/* ---- Horn's problem ---------------------------------------------------------------------------------------------- */

/* sums[i][j] = sum of w m_i a_j, where m is the rotated mean and a its axis. */
static void correlate(const scene *s, const rotation r, double sums[3][3]) {
    memset(sums, 0, sizeof(rotation));
    for (size_t k = 0; k < s->count; k++) {
        double m[3];
        if (s->nearest[k] < 0 || s->weight[k] == 0)
            continue;
        apply(r, s->at[k], m);
        for (int d = 0; d < 3; d++)
            sums[d][s->nearest[k] / 2] += s->nearest[k] % 2 ? -s->weight[k] * m[d] : s->weight[k] * m[d];
    }
}

/* The unit quaternion (w x y z) of the best rotation; if there are several, of the smallest rotation. */
static void best_rotation(double s[3][3], double q[4]) {
    double yz = s[1][2] - s[2][1], zx = s[2][0] - s[0][2], xy = s[0][1] - s[1][0];
    double n[4][4] = {{s[0][0] + s[1][1] + s[2][2], yz, zx, xy},
                      {yz, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                      {zx, s[0][1] + s[1][0], s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                      {xy, s[2][0] + s[0][2], s[1][2] + s[2][1], s[2][2] - s[0][0] - s[1][1]}};
    double v[4][4], length = 0;
    int best = 0;
    ast_eigen4(n, v);
    for (int i = 1; i < 4; i++)
        best = n[i][i] > n[best][best] ? i : best;
    memset(q, 0, 4 * sizeof *q);
    for (int i = 0; i < 4; i++) /* (1 0 0 0) projected onto the eigenspace of the largest eigenvalue */
        for (int c = 0; c < 4 && n[i][i] >= n[best][best] - 1e-12 * fabs(n[best][best]); c++)
            q[c] += v[0][i] * v[c][i];
    for (int c = 0; c < 4; c++)
        length += q[c] * q[c];
    for (int c = 0; c < 4; c++)
        q[c] = length > 1e-20 ? q[c] / sqrt(length) : v[c][best];
}

static void rotate_to_fit(const scene *s, rotation r) {
    double sums[3][3], q[4];
    correlate(s, r, sums);
    best_rotation(sums, q);
    rotation step, product;
    ast_rotation_of_quaternion(q, &step[0][0]);
    ast_rotation_product(&step[0][0], &r[0][0], &product[0][0]);
    memcpy(r, product, sizeof(rotation));
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* Signed permutation `number` (0..47) of the rows of r; false if it is a reflection. */
static bool permuted(const rotation r, int number, rotation out) {
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                     {1, 0, 2}, {0, 2, 1}, {2, 1, 0}}; /* even permutations first */
    const int *order = orders[number / 8];
    int minus = (number & 1) + (number >> 1 & 1) + (number >> 2 & 1);
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
            out[c][d] = number >> c & 1 ? -r[order[c]][d] : r[order[c]][d];
    return minus % 2 == (number / 8 >= 3);
}

/* Among the 24 frames with the same axes, takes the one nearest to x, y, z: the one with the largest trace. */
static void name_axes(rotation r) {
    rotation given, candidate;
    double best = -INFINITY;
    memcpy(given, r, sizeof given);
    for (int number = 0; number < 48; number++) {
        if (!permuted((const double(*)[3])given, number, candidate))
            continue;
        double trace = candidate[0][0] + candidate[1][1] + candidate[2][2];
        if (trace > best + SAME) {
            best = trace;
            memcpy(r, candidate, sizeof candidate);
        }
    }
}

static double rms_of(const scene *s, const rotation r) {
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        double m[3];
        if (s->weight[k] == 0)
            continue;
        apply(r, s->at[k], m);
        int axis = s->nearest[k] / 2;
        double angle = atan2(hypot(m[(axis + 1) % 3], m[(axis + 2) % 3]), fabs(m[axis])) / AST_DEGREE;
        sum += s->weight[k] / s->total * angle * angle;
    }
    return sqrt(sum);
}
