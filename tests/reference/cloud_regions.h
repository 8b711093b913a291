/* SPDX-License-Identifier: MIT
 *
 * The planes of a cloud again, slowly: every patch is compared with every other one, a region is a list of patches
 * whose sums are computed anew whenever the list changes, and a patch has the number of its region at all times.
 *
 * The k-d tree, sums and axes of points, and the area on a plane are those of the library. Where the order of additions
 * decides the last bits it is the order of the rule, so that results can be compared exactly. */
#ifndef REF_CLOUD_REGIONS_H
#define REF_CLOUD_REGIONS_H

#include "asterism_depth.h"

typedef struct ref_cloud_planes {
    int32_t *plane_of;      /* (N) */
    ast_plane_info *planes; /* without outlines */
    size_t count;
    /* How often the rules were needed, so that a test can say that its cases need them. */
    size_t patches, full, joined; /* full: patches that have as many neighbours as there may be */
} ref_cloud_planes;

/* Arguments as in ast_plane_map_cloud. */
void ref_cloud_planes_find(ref_cloud_planes *found, const float *points, const float *normals, const int32_t *labels,
                           size_t count, const ast_plane_options *options);
void ref_cloud_planes_free(ref_cloud_planes *found);

#endif
