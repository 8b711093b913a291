/* SPDX-License-Identifier: MIT */
#include "field.h"

#include <asterism_depth.h>

#include <math.h>
#include <stdlib.h>

#include "terminal.h"

typedef struct notation {
    const char *option, *first, *second;
    ast_feature feature;
    double turn; /* from the first angle to the azimuth of the feature */
} notation;

static const notation notations[] = {[AST_DIP_DIRECTION] = {"dip-direction", "dip direction", "dip", AST_PLANE, 0},
                                     [AST_STRIKE_DIP] = {"strike-dip", "strike", "dip", AST_PLANE, 90},
                                     [AST_TREND_PLUNGE] = {"trend-plunge", "trend", "plunge", AST_LINE, 0}};

ast_notation ast_cli_field_notation(const ast_cli_source *source) {
    return source->dip_direction  ? AST_DIP_DIRECTION
           : source->strike_dip   ? AST_STRIKE_DIP
           : source->trend_plunge ? AST_TREND_PLUNGE
                                  : AST_NO_NOTATION;
}

static int make_room(const char *name, size_t count, float **vectors, size_t *capacity) {
    if (*vectors && count <= *capacity)
        return -1;
    free(*vectors);
    *vectors = malloc((count ? count : 1) * 3 * sizeof **vectors);
    *capacity = *vectors ? count : 0;
    return *vectors ? -1 : ast_cli_fail("%s: there is no memory for %zu directions", name, count);
}

/* Angles out of range are mistakes, mostly columns in another order. */
static int check_row(const notation *how, const char *name, size_t row, const double angles[2]) {
    const char *first = how->first, *second = how->second;
    if (fabs(angles[0]) > 360)
        return ast_cli_fail("%s: row %zu: a %s of %g is not between -360 and 360 degrees", name, row + 1, first,
                            angles[0]);
    if (fabs(angles[1]) > 90)
        return ast_cli_fail("%s: row %zu: a %s of %g is not between -90 and 90 degrees; the %s comes first, and "
                            "--columns 2,1 exchanges the columns",
                            name, row + 1, second, angles[1], first);
    return -1;
}

static void set_row(const notation *how, const double angles[2], float *vector) {
    double v[3] = {NAN, NAN, NAN};
    if (!isnan(angles[0]) && !isnan(angles[1]))
        ast_vector_of(how->feature, angles[0] + how->turn, angles[1], v);
    for (int d = 0; d < 3; d++)
        vector[d] = (float)v[d];
}

int ast_cli_field_points(const ast_cli_source *source, const char *name, ast_points *points, float **vectors,
                         size_t *capacity) {
    const notation *how = &notations[ast_cli_field_notation(source)];
    if (points->count > 0 && points->dimension != 2)
        return ast_cli_fail("%s has %zu columns, but --%s needs two; --columns can pick them", name, points->dimension,
                            how->option);
    int code = make_room(name, points->count, vectors, capacity);
    for (size_t i = 0; i < points->count && code < 0; i++) {
        double angles[2];
        ast_points_row(points, i, angles);
        code = check_row(how, name, i, angles);
        set_row(how, angles, *vectors + 3 * i);
    }
    if (code < 0)
        *points = ast_points_f4(*vectors, points->count, 3);
    return code;
}
