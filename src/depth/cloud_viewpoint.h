/* SPDX-License-Identifier: MIT
 *
 * Where the normals of a cloud look to, if nobody says where its scanner was. */
#pragma once

#include "kdtree.h"

/* The middle of the box around the points without a NaN, 0 0 0 if there are none. Returns the box's longest side. */
double ast_cloud_box_middle(const float *points, size_t count, double middle[3]);

/* Replaces a viewpoint from which the sides of surfaces are chance. normals: (count, 3), of any side. */
void ast_cloud_find_viewpoint(const ast_kdtree *tree, const float *points, size_t count, const float *normals,
                              double viewpoint[3]);

/* Turns normals towards a viewpoint. */
void ast_cloud_face(const float *points, size_t count, const double viewpoint[3], float *normals);
