/* SPDX-License-Identifier: MIT
 *
 * Rotations of three dimensions: the one that turns some directions into others, and rotation vectors, whose direction
 * is the axis and whose length is the angle in radians. Matrices are (3, 3), row-major, new = R old. */
#ifndef AST_ROTATION_H
#define AST_ROTATION_H

#include <stdbool.h>

/* Pairs of directions, added up: the sum of weight * to * from', and of the weights. Begins as zeros. */
typedef struct ast_alignment {
    double sum[9];
    double weight;
} ast_alignment;

/* The pair says: `from` (3) became `to` (3). Unit vectors. */
void ast_alignment_add(ast_alignment *alignment, const double *from, const double *to, double weight);

/* The rotation that maximises the sum of weight * to . R from (Wahba's problem). false: the pairs do not determine it,
 * as there are no two directions at least `least` radians from being parallel or opposite, by weight: of two pairs of
 * equal weight this is exact. */
bool ast_alignment_solve(const ast_alignment *alignment, double least, double *rotation);

void ast_rotation_of_quaternion(const double *quaternion, double *rotation); /* w x y z, of length 1 */
void ast_rotation_of_vector(const double *vector, double *rotation);
void ast_vector_of_rotation(const double *rotation, double *vector); /* of length 0..pi */
void ast_rotation_product(const double *a, const double *b, double *product);

/* Turns a unit vector (3), and makes it a unit vector again. */
void ast_rotation_apply(const double *rotation, const double *from, double *to);

/* Eigenvalues (on the diagonal of a) and eigenvectors (columns of v) of a symmetric matrix, by Jacobi's method. */
void ast_eigen4(double a[4][4], double v[4][4]);

#endif
