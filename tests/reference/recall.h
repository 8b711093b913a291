/* SPDX-License-Identifier: MIT
 *
 * Pixels of planes that no patch shows again, slowly: pixel by pixel, and for every plane of every cell. Positions are
 * computed with the library's geometry, and sums of distances are added in the order of the rule, so that results can
 * be compared exactly. */
#ifndef REF_RECALL_H
#define REF_RECALL_H

#include "frame_planes.h"

/* How often each rule mattered. */
typedef struct ref_recall_counts {
    size_t pixels;   /* that belong to planes which no patch shows there, */
    size_t taken;    /* and belonged to a patch before */
    size_t unfilled; /* cells with too many pixels on no plane */
    size_t single;   /* pixels whose cell is alone */
    size_t lost;     /* pixels of planes with too few of them */
} ref_recall_counts;

/* After a frame: what work->leader (H, W) must be. */
void ref_recall(const ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth_frame *frame,
                const ast_pose *pose, int32_t *leader, ref_recall_counts *counts);

#endif
