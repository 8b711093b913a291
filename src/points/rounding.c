/* SPDX-License-Identifier: MIT */
#include "rounding.h"

#include "content.h"
#include "memory.h"
#include "rowset.h"

#include <math.h>
#include <stdlib.h>

#define DEGREES 57.295779513082321
#define ANGLE_ERROR 1e-3  /* degrees: rounding of the components */
#define LEAST_ACROSS 1e-5 /* of a row with an azimuth */
#define LEAST_COPIES 0.05 /* of the rows */
#define MADE 15           /* degrees */
#define LEAST_SCALE 0.5

/* Whether an angle in degrees is a multiple of a step. */
static bool is_multiple(double angle, double step) {
    return fabs(angle - step * round(angle / step)) < ANGLE_ERROR;
}

static bool row_lies_on_grid(const float *x, size_t dimension, double step) {
    double across = hypot((double)x[0], (double)x[1]);
    if (across > LEAST_ACROSS && !is_multiple(DEGREES * atan2((double)x[1], (double)x[0]), step))
        return false;
    return dimension == 2 || is_multiple(DEGREES * atan2(across, (double)x[2]), step);
}

static bool lies_on_grid(const ast_points *points, double step, size_t *present) {
    *present = 0;
    for (size_t i = 0; i < points->count; i++) {
        float x[3];
        if ((points->weights && points->weights[i] == 0) || ast_read_row(points, i, x) == AST_ROW_MISSING)
            continue;
        if (!row_lies_on_grid(x, points->dimension, step))
            return false;
        ++*present;
    }
    return *present > 0;
}

ast_status ast_rounding_find(const ast_points *points, bool axial, double wanted, ast_pool *pool, double *degrees,
                             ast_fault *fault) {
    static const double steps[] = {10, 5, 2, 1, 0.5};
    size_t present, copied = 0;
    double found = 0;
    *degrees = isnan(wanted) ? 0 : wanted;
    if (!isnan(wanted) || points->starts || points->dimension > 3)
        return AST_OK;
    for (size_t s = 0; s < sizeof steps / sizeof *steps && found == 0; s++)
        if (lies_on_grid(points, steps[s], &present))
            found = steps[s];
    if (found == 0 || lies_on_grid(points, MADE, &present))
        return AST_OK;
    uint8_t *copies = ast_allocate_zero(points->count, 1);
    ast_status status =
        copies ? ast_find_copies(points, points->weights, axial, pool, copies, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        lies_on_grid(points, found, &present);
    for (size_t i = 0; i < points->count && status == AST_OK; i++)
        copied += copies[i] != 0;
    ast_free(copies);
    if ((double)copied >= LEAST_COPIES * (double)present)
        *degrees = found;
    return status;
}

double ast_rounding_scale(size_t dimension, double degrees) {
    double side = degrees / DEGREES;
    return fmax(LEAST_SCALE, 1 - (double)(dimension - 1) * side * side / 24);
}
