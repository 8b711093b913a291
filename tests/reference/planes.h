/* SPDX-License-Identifier: MIT
 *
 * The normals of planes again, slowly: nothing is remembered from one round to the next, and every pixel asks every
 * plane around by itself. */
#ifndef REF_PLANES_H
#define REF_PLANES_H

#include "asterism_depth.h"

/* normals: (H, W, 3), of inverse depth s (H, W), 0 for holes, and the values that it was made of. */
void ref_planes_normals(const float *s, const uint16_t *values, size_t width, size_t height,
                        const ast_depth_options *options, float *normals);

#endif
