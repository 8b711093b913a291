/* SPDX-License-Identifier: MIT
 *
 * Angles as they are measured in the field, two columns of degrees, as unit vectors: x east, y north, z up. Functions
 * return -1 to go on, or the exit code after printing the sentence. */
#pragma once

#include <report.h>

#include "files.h"

/* What the angles are; AST_NO_NOTATION: the source has none. */
ast_notation ast_cli_field_notation(const ast_cli_source *source);

/* Who reads the words of a text: NULL if the source has no angles. */
const ast_cell_reader *ast_cli_field_words(const ast_cli_source *source);

/* The rounding of the options, as the library takes it: as typed (`given`, infinite: auto); otherwise it is looked for
 * in measured angles and in the plane, and by `mixture`, and is 0 for other rows. */
double ast_cli_field_rounding(const ast_cli_common *common, const ast_cli_source *source, double given,
                              size_t dimension, bool mixture);

/* Refuses two columns whose names say that they are angles of planes or lines, for sources without angles. */
bool ast_cli_field_check_header(char *const names[2], const char *file, ast_format_error *error);

/* Turns rows of two angles into rows of three components (of one azimuth into two), in *vectors, which is the caller's
 * to free() and is grown where `*capacity` rows are too few. The view becomes one of them. Rows with a NaN stay
 * missing. `name` is for sentences. */
int ast_cli_field_points(const ast_cli_source *source, const char *name, ast_points *points, float **vectors,
                         size_t *capacity);
