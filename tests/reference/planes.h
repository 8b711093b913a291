/* SPDX-License-Identifier: MIT
 *
 * The normals of planes again, slowly: nothing is remembered from one round to the next, and every pixel asks every
 * plane around by itself. */
#ifndef REF_PLANES_H
#define REF_PLANES_H

#include "asterism_depth.h"

/* normals: (H, W, 3), of inverse depth s (H, W), 0 for holes, and the values that it was made of. A plane whose normal
 * has an error of `most` radians or more gives none: 0.15, or 1 for late pixels. edge: (H, W) or NULL,
 * 1 for pixels at the edge of a plane that is uncertain: these have none. */
void ref_planes_normals(const float *s, const uint16_t *values, size_t width, size_t height,
                        const ast_depth_options *options, double most, float *normals, uint8_t *edge);

#endif
