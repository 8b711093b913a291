/* SPDX-License-Identifier: MIT
 *
 * The guided filter, the normals and the total variation again, slowly: every pixel looks at its windows one by one, in
 * double. And depth images to try them on. */
#ifndef REF_DEPTH_H
#define REF_DEPTH_H

#include "asterism_depth.h"

#include "random.h"

/* Inverse depth of an image, (H, W), 0 for holes: in float, since what is compared with a jump must be the same. */
void ref_depth_invert(const ast_depth_image *image, const ast_depth_options *options, float *s);

/* The filtered s, and in `scale` the largest s that it depends on: errors are relative to it. */
void ref_depth_guided(const float *s, size_t width, size_t height, int radius, double epsilon, double *out,
                      double *scale);

/* Normals, (H, W, 3), NaN where there is none, of inverse depth; and in `condition` how much larger than the normal the
 * numbers were that it is a difference of; infinity where rounding decides on the window. */
void ref_depth_normals(const float *s, size_t width, size_t height, const ast_depth_options *options, double *normals,
                       double *condition);

/* Total-variation smoothing in place, the same iterations as tv.c. */
void ref_normals_smooth(double *normals, size_t width, size_t height, double weight, int iterations);

/* weight TV(u) + 1/2 |u - u0|^2 over the pixels that are there. */
double ref_normals_energy(const float *normals, const float *given, size_t width, size_t height, double weight);

/* A plane n . P = -distance seen by a camera, in depth units; 0 where it is not seen or beyond 65535. `n` is a unit
 * vector towards the camera, `noise` times the deviation of a structured-light sensor is added. */
uint16_t ref_plane_value(const double *n, double distance, const ast_depth_options *options, double u, double v,
                         double noise, ast_random *random);

/* A random image: planes, steps between them, noise, scattered holes and whole areas of them; or nonsense. */
void ref_depth_image(uint16_t *values, size_t width, size_t height, const ast_depth_options *options,
                     ast_random *random);

/* A random unit vector at most `tilt` degrees from facing the camera. */
void ref_facing(double *n, double tilt, ast_random *random);

/* Degrees between a float and a double vector. */
double ref_degrees(const float *a, const double *b);

#endif
