/* SPDX-License-Identifier: MIT
 *
 * Planes that come back into view of a camera whose poses are not known. A track that was not seen for some frames
 * rests: where the camera went meanwhile is not known, so that its plane says nothing about where it is now.
 *
 * The one idea: a view that comes again looks as it did. Each track remembers its looks: normal, offset and box in
 * coordinates of the camera. A patch that no track of the frames before explains, and that has the direction of a
 * resting track and one of its looks, to a few degrees and centimetres, is that plane. The id of the direction says
 * that the camera faces the same way, which a look alone does not. */
#include "frame_planes.h"

#include <math.h>

#define SAME_ANGLE 0.1  /* radians: how far the normals of two looks may differ */
#define SAME_PLACE 0.25 /* metres: how far the sides of their boxes may be apart, */
#define SAME_SHARE 0.25 /* or of the side of a square with the patch's area */
#define NEW_ANGLE 0.05  /* radians: from here on a look is a new one, */
#define NEW_OFFSET 0.15 /* of the option `offset`: the same for its plane */
#define MOST_RESTING 128

static bool rests(const ast_plane_tracks *tracks, const ast_plane_track *track) {
    return tracks->frame - track->last_seen > AST_TRACK_RESTS;
}

static double box_difference(const ast_plane_look *look, const double *low, const double *high) {
    double most = 0;
    for (int c = 0; c < 3; c++)
        most = fmax(most, fmax(fabs(look->low[c] - low[c]), fabs(look->high[c] - high[c])));
    return most;
}

/* How differently a patch looks from what a track once was, 0 to 3; INFINITY if it may be another plane. */
static double least_difference(const ast_plane_tracks *tracks, const ast_plane_track *track,
                               const ast_frame_patch *patch) {
    double least = INFINITY, size = fmax(SAME_PLACE, SAME_SHARE * sqrt(patch->area));
    for (size_t i = 0; i < track->look_count; i++) {
        const ast_plane_look *look = &track->looks[i];
        double away = fabs(ast_plane_distance(&look->plane, patch->centre)) / ast_tight_offset(tracks, patch);
        double angle = ast_angle_between(look->plane.normal, patch->plane.normal) / SAME_ANGLE;
        double place = box_difference(look, patch->low, patch->high) / size;
        if (away <= 1 && angle <= 1 && place <= 1)
            least = fmin(least, away + angle + place);
    }
    return least;
}

static int32_t known_again(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    double least = INFINITY;
    int32_t found = -1;
    for (size_t k = 0; k < tracks->count; k++) {
        const ast_plane_track *track = &tracks->list[k];
        if (!rests(tracks, track) || patch->direction < 0 || track->direction != patch->direction)
            continue;
        double difference = least_difference(tracks, track, patch);
        if (difference < least) {
            least = difference;
            found = (int32_t)k;
        }
    }
    return found;
}

/* Pieces of one plane come back together, so no track is awake before all patches were looked at. */
bool ast_resting_tracks_wake(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    size_t awake = tracks->nearby.count;
    for (size_t i = 0; i < count; i++)
        if (patches[i].track < 0)
            patches[i].track = known_again(tracks, &patches[i]);
    for (size_t i = 0; i < count; i++) {
        ast_plane_track *track = patches[i].track < 0 ? NULL : &tracks->list[patches[i].track];
        if (!track || !rests(tracks, track))
            continue;
        if (!ast_nearby_tracks_add(tracks, patches[i].track))
            return false;
        track->plane = patches[i].plane;
        track->last_seen = tracks->frame - 1;
    }
    ast_nearby_tracks_sort(&tracks->nearby, awake);
    return true;
}

static bool is_new_look(const ast_plane_tracks *tracks, const ast_plane_track *track, const ast_frame_patch *patch) {
    for (size_t i = 0; i < track->look_count; i++) {
        const ast_plane_look *look = &track->looks[i];
        if (ast_angle_between(look->plane.normal, patch->plane.normal) <= NEW_ANGLE &&
            fabs(ast_plane_distance(&look->plane, patch->centre)) <= NEW_OFFSET * tracks->offset &&
            box_difference(look, patch->low, patch->high) <= SAME_PLACE / 2)
            return false;
    }
    return true;
}

bool ast_resting_tracks_remember(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ast_frame_patch *patch = &patches[i];
        ast_plane_track *track = patch->track < 0 ? NULL : &tracks->list[patch->track];
        if (!track || !is_new_look(tracks, track, patch))
            continue;
        ast_plane_look look = ast_plane_look_of(&patch->plane, patch->low, patch->high);
        if (!ast_plane_track_add_look(track, &look))
            return false;
    }
    return true;
}

/* At most one track a frame comes to rest too many, mostly. */
void ast_resting_tracks_limit(ast_plane_tracks *tracks) {
    size_t resting = MOST_RESTING + 1;
    while (!tracks->has_poses && resting > MOST_RESTING) {
        size_t oldest = 0;
        resting = 0;
        for (size_t k = 0; k < tracks->count; k++) {
            if (!rests(tracks, &tracks->list[k]))
                continue;
            oldest = resting == 0 || tracks->list[k].last_seen < tracks->list[oldest].last_seen ? k : oldest;
            resting++;
        }
        if (resting > MOST_RESTING)
            ast_plane_tracks_drop(tracks, oldest);
    }
}
