/* SPDX-License-Identifier: MIT
 *
 * The orthogonal frame nearest to weighted directions. */
#pragma once

#include "asterism_depth.h"
#include "fault.h"

/* As ast_frame_axes, with checked arguments. On failure nothing is written. */
ast_status ast_axes_fit(ast_fault *fault, const float *means, const double *weights, size_t count, ast_axes *axes,
                        int32_t *nearest);
