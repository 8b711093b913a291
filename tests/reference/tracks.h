/* SPDX-License-Identifier: MIT
 *
 * Planes over frames again, slowly: a track is the list of all that was seen of its plane, summed anew whenever the
 * list changes, tracks that end stay where they are, and patches know their track by its id.
 *
 * Sums and axes of points are those of the library, and the order of additions is that of the rule, so that results can
 * be compared exactly. */
#ifndef REF_TRACKS_H
#define REF_TRACKS_H

#include "frame_planes.h"

/* Part of what a track saw: the beginning of a frame, from which on all before it counts less, a patch, or all that
 * another track saw. */
typedef struct ref_sight {
    bool frame;
    ast_scatter scatter;
    double cells, towards[3];
} ref_sight;

/* What a track looked like in one patch, or before it became part of another. */
typedef struct ref_look {
    ast_plane_equation flat;
    double low[3], high[3];
} ref_look;

typedef struct ref_track {
    int32_t id, direction;
    bool ended, confirmed;
    ref_look looks[64];
    size_t look_count;
    ast_plane_equation flat;
    double error, low[3], high[3];
    uint64_t seen;
    ref_sight *sights;
    size_t sight_count, sight_room;
    ref_sight sum; /* of the sights */
} ref_track;

typedef struct ref_tracks {
    ref_track *list; /* the track with id k is list[k] */
    size_t count, room;
    uint64_t frame;
    bool world;
    double offset, area, epsilon;
    double large;                         /* cells */
    double camera[3], low[3], high[3];    /* the box of the camera and the patches of the frame */
    size_t joined, forgotten, far, woken; /* over all frames */
} ref_tracks;

/* A patch of the frame, as it is given, and what the step finds. */
typedef struct ref_sighting {
    const ast_frame_patch *patch;
    double error, extent, away;
    int32_t id; /* of its track, -1 for none */
} ref_sighting;

void ref_tracks_step(ref_tracks *tracks, ref_sighting *patches, size_t count);
void ref_tracks_free(ref_tracks *tracks);

#endif
