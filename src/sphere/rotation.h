/* SPDX-License-Identifier: MIT
 *
 * Rotations in three dimensions: the rotation that best maps some directions to others, and rotation vectors, whose
 * direction is the axis and whose length is the angle in radians. Matrices are (3, 3), row-major, new = R old. */
#pragma once

#include <stdbool.h>

/* Sums over pairs of directions: of weight * to * from', and of the weights. Start with zeros. */
typedef struct ast_alignment {
    double sum[9];
    double weight;
} ast_alignment;

/* Adds the pair `from` (3), `to` (3) of unit vectors. */
void ast_alignment_add(ast_alignment *alignment, const double *from, const double *to, double weight);

/* The rotation that maximises the sum of weight * to . R from (Wahba's problem). false: the pairs do not determine the
 * rotation, because all directions are, by weight, within `least` radians of one line. The test is exact for two pairs
 * of equal weight. */
bool ast_alignment_solve(const ast_alignment *alignment, double least, double *rotation);

void ast_rotation_of_quaternion(const double *quaternion, double *rotation); /* w x y z, of length 1 */
void ast_rotation_of_vector(const double *vector, double *rotation);
void ast_vector_of_rotation(const double *rotation, double *vector); /* of length 0..pi */
void ast_rotation_product(const double *a, const double *b, double *product);

/* The rotation nearest to a matrix that has lost digits, which keeps its handedness. False if it is none within 1%. */
bool ast_rotation_mend(const double *given, double *rotation);

/* Rotates a unit vector (3) and normalises the result. */
void ast_rotation_apply(const double *rotation, const double *from, double *to);

/* Eigenvalues (on the diagonal of a) and eigenvectors (columns of v) of a symmetric matrix, by Jacobi's method. */
void ast_eigen4(double a[4][4], double v[4][4]);
