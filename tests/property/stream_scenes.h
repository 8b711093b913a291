/* SPDX-License-Identifier: MIT
 *
 * Streams to test with: frames of every awkward kind, and what is done to the stream between them, made from one seed.
 */
#ifndef STREAM_SCENES_H
#define STREAM_SCENES_H

#include "reference/cases.h"

/* What is done with the stream before a frame is given to it. */
typedef enum deed { NOTHING, PREDICT, ROTATE, RESET } deed;

/* A stream made from one seed. */
typedef struct scene {
    uint64_t seed;
    char text[300];
    ast_stream_options options;
    size_t frames, stride; /* rows are `stride` floats apart */
    float **x;             /* of each frame */
    size_t *counts;
    deed *deeds;
    double *rotation; /* (D, D): a quarter turn in the plane of the first two axes */
} scene;

void scene_make(scene *made, uint64_t seed, ref_size size);

/* Rooms in image order with a fifth of noise, each seen for some frames: dozens of clusters, of which many are unseen,
 * nearly win, are revived and lose their last points again. */
void scene_make_room(scene *made, uint64_t seed);

/* Directions that draw near each other, up to a few degrees, and now and then are away: clusters that become one. */
void scene_make_meeting(scene *made, uint64_t seed);

void scene_free(scene *made);
ast_points scene_points(const scene *s, size_t t); /* frame t */

#endif
