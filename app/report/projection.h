/* SPDX-License-Identifier: MIT
 *
 * Directions of any dimension as points of a visible sphere. For D = 3 they are unchanged, for D = 2 they lie on its
 * equator; for larger D they are the coordinates along the three leading principal directions, normalised to length
 * one. */
#ifndef ASTERISM_REPORT_PROJECTION_H
#define ASTERISM_REPORT_PROJECTION_H

#include <formats.h>

typedef struct ast_projection {
    size_t dimension;    /* D */
    double *basis;       /* (3, D) orthonormal rows, or NULL if D is 2 or 3 */
    double explained[3]; /* share of the points' squared lengths along each */
} ast_projection;

/* Finds the projection of the points; if there are many, a seeded sample is used. Start with zeros, and free it in any
 * case. The same points give the same bits everywhere. */
bool ast_projection_find(ast_projection *projection, const ast_points *points, ast_format_error *error);
void ast_projection_free(ast_projection *projection);

/* Where a direction is along the three axes. */
void ast_projection_along(const ast_projection *projection, const double *direction, double xyz[3]);

/* The position of a direction (D), of any length, on the visible sphere; 0 0 0 if it is orthogonal to it. */
void ast_projection_see(const ast_projection *projection, const double *direction, double xyz[3]);
void ast_projection_see_mean(const ast_projection *projection, const float *mean, double xyz[3]);

/* The row as a unit vector; false if it is missing. `row` has room for D numbers. */
bool ast_unit_row(const ast_points *points, size_t index, double *row);

/* (N, D) the unit rows minus the centre, not normalised again, from malloc(); NaN for missing rows. NULL without
 * memory.
 */
float *ast_centred_rows(const ast_points *points, const float *center);

#endif
