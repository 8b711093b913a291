/* SPDX-License-Identifier: MIT
 *
 * Wahba's problem by Davenport's method: with q a unit quaternion, the sum of weight * to . R(q) from is q' K q for a
 * symmetric K (4, 4), so the best rotation is the eigenvector of the largest eigenvalue. */
#include "rotation.h"

#include <math.h>
#include <string.h>

static void key_matrix(const double *sum, double k[4][4]);
static void quaternion_of_rotation(const double *r, double *q);

void ast_alignment_add(ast_alignment *a, const double *from, const double *to, double weight) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a->sum[3 * i + j] += weight * to[i] * from[j];
    a->weight += weight;
}

/* The eigenvalues of K are the sum of the weights minus twice the eigenvalues of the sum of weight * (1 - from from'),
 * if the fit is perfect. Of the latter the smallest, for two directions of weight 1/2, is (1 - |cos|) / 2 of the angle
 * between them. */
bool ast_alignment_solve(const ast_alignment *a, double least, double *rotation) {
    double k[4][4], vectors[4][4], second = -INFINITY;
    int best = 0;
    if (!(a->weight > 0))
        return false;
    key_matrix(a->sum, k);
    ast_eigen4(k, vectors);
    for (int i = 1; i < 4; i++)
        if (k[i][i] > k[best][best])
            best = i;
    for (int i = 0; i < 4; i++)
        if (i != best && k[i][i] > second)
            second = k[i][i];
    double half = sin(least / 2);
    if (!(k[best][best] - second >= 2 * half * half * a->weight))
        return false;
    double q[4] = {vectors[0][best], vectors[1][best], vectors[2][best], vectors[3][best]};
    ast_rotation_of_quaternion(q, rotation);
    return true;
}

void ast_rotation_of_vector(const double *v, double *rotation) {
    double angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double scale = angle > 0 ? sin(angle / 2) / angle : 0.5;
    double q[4] = {cos(angle / 2), scale * v[0], scale * v[1], scale * v[2]};
    ast_rotation_of_quaternion(q, rotation);
}

void ast_vector_of_rotation(const double *rotation, double *vector) {
    double q[4];
    quaternion_of_rotation(rotation, q);
    double side = q[0] < 0 ? -1 : 1, length = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double scale = length > 0 ? 2 * atan2(length, fabs(q[0])) / length : 2;
    for (int i = 0; i < 3; i++)
        vector[i] = side * scale * q[1 + i];
}

void ast_rotation_product(const double *a, const double *b, double *product) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            product[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

void ast_rotation_apply(const double *r, const double *from, double *to) {
    double rotated[3], squared = 0;
    for (int i = 0; i < 3; i++) {
        rotated[i] = r[3 * i] * from[0] + r[3 * i + 1] * from[1] + r[3 * i + 2] * from[2];
        squared += rotated[i] * rotated[i];
    }
    for (int i = 0; i < 3; i++)
        to[i] = squared > 0 ? rotated[i] / sqrt(squared) : from[i];
}

#define RIGID 0.01 /* how far the columns may be from perpendicular vectors of length 1 */
#define EXACT 1e-9 /* up to here such a difference is rounding */

static double skew_of(const double *m) {
    double most = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            double away = fabs(m[a] * m[b] + m[3 + a] * m[3 + b] + m[6 + a] * m[6 + b] - (a == b));
            most = isnan(most) || away <= most ? most : away;
        }
    return most;
}

/* M <- M (3 I - M'M) / 2 squares the difference. */
bool ast_rotation_mend(const double *given, double *rotation) {
    memcpy(rotation, given, 9 * sizeof *rotation);
    if (!(skew_of(rotation) < RIGID))
        return false;
    for (int round = 0; round < 4 && skew_of(rotation) > EXACT; round++) {
        double old[9], square[9];
        memcpy(old, rotation, sizeof old);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                square[3 * a + b] =
                    (a == b ? 1.5 : 0) - 0.5 * (old[a] * old[b] + old[3 + a] * old[3 + b] + old[6 + a] * old[6 + b]);
        ast_rotation_product(old, square, rotation);
    }
    return true;
}

/* ---- Quaternions, w x y z ---------------------------------------------------------------------------------------- */

static void key_matrix(const double *s, double k[4][4]) {
    const double trace = s[0] + s[4] + s[8];
    k[0][0] = trace;
    k[0][1] = k[1][0] = s[7] - s[5];
    k[0][2] = k[2][0] = s[2] - s[6];
    k[0][3] = k[3][0] = s[3] - s[1];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            k[1 + i][1 + j] = s[3 * i + j] + s[3 * j + i] - (i == j ? trace : 0);
}

void ast_rotation_of_quaternion(const double *q, double *r) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, rows, sizeof rows);
}

/* From the column of the largest of 4 w^2, 4 x^2, 4 y^2, 4 z^2, so that no digits are lost. */
static void quaternion_of_rotation(const double *r, double *q) {
    const double rows[4][4] = {{1 + r[0] + r[4] + r[8], r[7] - r[5], r[2] - r[6], r[3] - r[1]},
                               {r[7] - r[5], 1 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6]},
                               {r[2] - r[6], r[1] + r[3], 1 - r[0] + r[4] - r[8], r[5] + r[7]},
                               {r[3] - r[1], r[2] + r[6], r[5] + r[7], 1 - r[0] - r[4] + r[8]}};
    int best = 0;
    double squared = 0;
    for (int i = 1; i < 4; i++)
        if (rows[i][i] > rows[best][best])
            best = i;
    for (int i = 0; i < 4; i++)
        squared += rows[best][i] * rows[best][i];
    for (int i = 0; i < 4; i++)
        q[i] = rows[best][i] / sqrt(squared);
}

/* ---- Eigenvectors ------------------------------------------------------------------------------------------------ */

/* Rotates in the plane of axes p and q so that a[p][q] becomes 0. */
static void rotate_plane(double a[4][4], double v[4][4], int p, int q) {
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int i = 0; i < 4; i++) { /* columns of both */
        double ap = a[i][p], aq = a[i][q], vp = v[i][p], vq = v[i][q];
        a[i][p] = c * ap - s * aq;
        a[i][q] = s * ap + c * aq;
        v[i][p] = c * vp - s * vq;
        v[i][q] = s * vp + c * vq;
    }
    for (int i = 0; i < 4; i++) { /* rows */
        double ap = a[p][i], aq = a[q][i];
        a[p][i] = c * ap - s * aq;
        a[q][i] = s * ap + c * aq;
    }
    a[p][q] = a[q][p] = 0;
}

void ast_eigen4(double a[4][4], double v[4][4]) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            v[i][j] = i == j;
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 3; p++)
            for (int q = p + 1; q < 4; q++)
                if (a[p][q] != 0)
                    rotate_plane(a, v, p, q);
}
