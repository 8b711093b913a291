/* SPDX-License-Identifier: MIT
 *
 * Rows whose angles were rounded, as field notebooks do: each stands for a cell of a grid, and copies are observations
 * of their own. */
#pragma once

#include "asterism.h"
#include "fault.h"
#include "pool.h"

#include <stdbool.h>

/* The step in degrees that all angles of the rows are multiples of, the coarsest of 10, 5, 2, 1 and 0.5; 0: there is
 * none, or fewer than a twentieth of the rows are copies, or all are multiples of 15 degrees, which are made and not
 * measured. Dense rows of two components (one angle) or three (the angle to z and the azimuth); 0 for others. `wanted`:
 * NaN to look for it, otherwise it is the answer. */
ast_status ast_rounding_find(const ast_points *points, bool axial, double wanted, ast_pool *pool, double *degrees,
                             ast_fault *fault);

/* The mean cosine of points spread over a cell to its centre: a row x counts as so much of x. 1 for 0 degrees. */
double ast_rounding_scale(size_t dimension, double degrees);
