/* SPDX-License-Identifier: MIT
 *
 * Planes over frames. A patch belongs to a track if it faces the same way and its middle lies on the track's plane:
 * offsets are compared where the patch is, because a small error of a normal moves the plane at the origin by metres.
 *
 * With poses a track is a plane of the world: it sums up the observations of all frames, which is their average by
 * information, becomes more accurate with every frame, does not drift, and is never dropped once it is confirmed. So
 * that a view that comes again has the id that it had, whatever the track has become since, a track remembers how it
 * looked where it fitted badly: its looks. A frame looks at the tracks near it only (nearby_tracks.c), so that the time
 * for a frame does not grow with the length of a walk. The distance threshold depends on the place: the option `offset`
 * where the plane was observed before, less elsewhere, where the patch may belong to another nearly coplanar plane.
 * Without poses a track holds the last observation only. If it is not seen for some frames it rests, until a patch
 * looks as it once did (resting_tracks.c).
 *
 * A track is confirmed, and reported, when it is seen in a second frame or at once if it is large: pieces that noise
 * cuts off a wall are seen once. */
#include "frame_planes.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define MAX_ANGLE 0.25           /* radians: the largest angle between a patch and its track, */
#define MAX_ANGLE_SAME_LABEL 0.8 /* the same without poses, for patches that have the label of the track */
#define ERRORS 2.0               /* how many errors of a normal a parallel guide may differ from it */
#define JOIN_COSINE 0.99         /* cosine of the largest angle between two tracks that may become one: 8 degrees */
#define PARALLEL 0.01            /* radians: how exactly planes of a building are parallel */
#define BETTER 0.7               /* a guide must have a smaller error than the normal, by this factor */
/* Metres: smallest standard deviation along the narrower side of a new plane without a reliable normal. */
#define WIDE 0.09
#define DISTANT 4.0          /* metres: from this depth on WIDE is not required */
#define MAX_ALIGN_ANGLE 0.25 /* radians: how far a normal is moved at most */
/* Share of the option `offset` that applies to patches outside the observed box of a plane, and to two tracks that
 * join. */
#define TIGHT_OFFSET 0.3
#define NOISE 0.5       /* of the noise of a pixel: how wrong the depth of a patch may be */
#define MAX_GAP 0.5     /* metres: largest gap to the observed box of a plane at which the full offset applies */
#define UNCONFIRMED 10  /* frames with planes after which a track that is not confirmed ends */
#define LARGE 4         /* a new plane of that many smallest areas is large, with poses */
#define COMFORTABLE 0.5 /* a patch that costs more is a look of its track */
#define LOOK_ANGLE 0.05 /* radians: up to here two looks are one */
#define MOST_LOOKS 64
#define ABSENT 0.3 /* without poses: cost of a track that the frame before did not see */

static double error_of(const ast_plane_tracks *tracks, const ast_scatter *scatter, double cells, double square);
static bool start_tracks(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
static void associate(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
static void update(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
static bool add_looks(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count);
static bool join_tracks(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
static void drop_stale(ast_plane_tracks *tracks);

/* Tracks are in order of ids, and every patch has one of them or none. */
static void check_tracks(const ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count) {
    for (size_t n = 0; n < tracks->nearby.count; n++) {
        size_t k = (size_t)tracks->nearby.list[n];
        assert(k < tracks->count && (n == 0 || tracks->nearby.list[n] > tracks->nearby.list[n - 1]));
        assert(tracks->list[k].id >= 0 && tracks->list[k].id < tracks->next_id);
        assert(k == 0 || tracks->list[k].id > tracks->list[k - 1].id);
        assert(tracks->list[k].last_seen <= tracks->frame);
    }
    for (size_t i = 0; i < count; i++)
        assert(patches[i].track >= -1 && patches[i].track < (int32_t)tracks->count);
}

bool ast_plane_tracks_step(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    tracks->frame += count > 0; /* a covered camera forgets nothing */
    if (!ast_nearby_tracks_find(tracks, patches, count))
        return false;
    if (count == 0)
        return true;
    drop_stale(tracks);
    for (size_t i = 0; i < count; i++) {
        ast_principal_axes axes =
            ast_scatter_principal_axes(tracks->kernels, &patches[i].scatter, patches[i].plane.normal);
        patches[i].track = -1;
        patches[i].normal_error = error_of(tracks, &patches[i].scatter, patches[i].cells, axes.square_sums[1]);
        patches[i].narrow_extent = sqrt(axes.square_sums[1] / patches[i].scatter.n);
    }
    associate(tracks, patches, count);
    if (!tracks->has_poses && !ast_resting_tracks_wake(tracks, patches, count))
        return false;
    if (!start_tracks(tracks, patches, count))
        return false;
    update(tracks, patches, count);
    if (tracks->has_poses ? !add_looks(tracks, patches, count) || !join_tracks(tracks, patches, count)
                          : !ast_resting_tracks_remember(tracks, patches, count))
        return false;
    check_tracks(tracks, patches, count);
    return ast_nearby_tracks_update_boxes(tracks);
}

void ast_plane_tracks_free(ast_plane_tracks *tracks) {
    for (size_t k = 0; k < tracks->count; k++)
        ast_free(tracks->list[k].looks);
    ast_free_all(tracks->list, tracks->nearby.list, tracks->nearby.around, tracks->nearby.blocks);
    tracks->list = NULL;
    tracks->nearby = (ast_nearby_tracks){0};
    tracks->count = tracks->room = 0;
}

/* ---- Normals ----------------------------------------------------------------------------------------------------- */

/* If the sensor bends a plane by AST_BENT of its noise, the error of the normal is this bend divided by the extent of
 * the observed part. `square` is the sum of the squares along the second narrowest axis of a scatter. */
static double error_of(const ast_plane_tracks *tracks, const ast_scatter *scatter, double cells, double square) {
    double squared_depth = sqrt(cells / scatter->n), extent = sqrt(square / scatter->n);
    return AST_BENT * tracks->depth_noise * squared_depth / extent;
}

/* The angle between the lines along two normals: a wall is parallel to the one across the room, which faces it. */
static double angle_of_lines(const double *a, const double *b) {
    double angle = ast_angle_between(a, b);
    return fmin(angle, PI - angle);
}

/* Track k of those that the frame may see. */
static ast_plane_track *nearby(const ast_plane_tracks *tracks, size_t k) {
    return &tracks->list[tracks->nearby.list[k]];
}

/* Whether a track can guide a normal: nearly parallel to it and with a smaller error. */
static bool is_guide(const ast_plane_track *track, const double *normal, double error) {
    return track->normal_error > 0 && track->normal_error < BETTER * error &&
           angle_of_lines(track->plane.normal, normal) <= fmin(MAX_ALIGN_ANGLE, ERRORS * error + PARALLEL);
}

static double square(double x) {
    return x * x;
}

/* The guide that is known best and is most parallel to the normal, or NULL. */
static const ast_plane_track *best_guide(const ast_plane_tracks *tracks, const double *normal, double error,
                                         const ast_plane_track *except) {
    const ast_plane_track *best = NULL;
    double least = INFINITY;
    for (size_t k = 0; k < tracks->nearby.count; k++) {
        const ast_plane_track *t = nearby(tracks, k);
        if (t == except || !is_guide(t, normal, error))
            continue;
        double cost = square(t->normal_error) + square(angle_of_lines(t->plane.normal, normal));
        if (cost < least) {
            least = cost;
            best = t;
        }
    }
    return best;
}

/* Most planes of buildings and furniture are parallel to others, and the normals of small or distant planes are less
 * accurate. Moves a normal towards the mean of its guides; the weights are the inverse squares of the error of the
 * normal and of the guides (at least PARALLEL). A guide that is not parallel to the best one, such as the side of a
 * column, counts less. Returns false if there is no guide. */
static bool align(const ast_plane_tracks *tracks, double *normal, double error, const ast_plane_track *except) {
    const ast_plane_track *best = best_guide(tracks, normal, error, except);
    double mean[3] = {0}, own = 1 / square(error), weight = 0, sum[3];
    for (size_t k = 0; best && k < tracks->nearby.count; k++) {
        const ast_plane_track *t = nearby(tracks, k);
        if (t == except || !is_guide(t, normal, error))
            continue;
        double part = 1 / (square(t->normal_error) + square(angle_of_lines(t->plane.normal, best->plane.normal)));
        double side = ast_dot3(t->plane.normal, normal) < 0 ? -part : part;
        for (int c = 0; c < 3; c++)
            mean[c] += side * t->plane.normal[c];
        weight += part;
    }
    double length = sqrt(ast_dot3(mean, mean)), pull = 1 / (square(PARALLEL) + 1 / weight);
    for (int c = 0; c < 3 && best; c++)
        sum[c] = own * normal[c] + pull * mean[c] / length;
    for (int c = 0; c < 3 && best; c++)
        normal[c] = sum[c] / sqrt(ast_dot3(sum, sum));
    for (int c = 0; c < 3; c++)
        normal[c] += 0.0; /* no negative zeros */
    return best != NULL;
}

/* ---- One patch and one track ------------------------------------------------------------------------------------- */

/* Depth errors act along the ray, so they move a plane seen at a grazing angle only a little. */
static double noise_of(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    return NOISE * tracks->depth_noise * patch->depth * patch->camera_distance;
}

double ast_tight_offset(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    return TIGHT_OFFSET * tracks->offset + noise_of(tracks, patch);
}

/* A narrow strip nearby may be a part of something round. */
static bool is_wide(const ast_frame_patch *patch) {
    return patch->narrow_extent >= WIDE || patch->depth >= DISTANT;
}

/* The distance of the middle of the patch from the plane of the track. */
static double away_of(const ast_plane_track *track, const ast_frame_patch *patch) {
    return ast_plane_distance(&track->plane, patch->centre);
}

/* Without poses: a camera that turns moves far patches off the plane of the frame before, but not the plane's distance
 * from the camera. */
static double change_of(const ast_plane_tracks *tracks, const ast_plane_track *track, const ast_frame_patch *patch) {
    double away = fabs(away_of(track, patch));
    return tracks->has_poses ? away : fmin(away, 0.5 * away + fabs(track->plane.offset - patch->plane.offset));
}

/* Association cost of a patch and a track, 0 to 2; INFINITY if they cannot belong together. */
static double misfit(const ast_plane_tracks *tracks, const ast_plane_track *track, const ast_frame_patch *patch) {
    double away = change_of(tracks, track, patch);
    bool same_label = !tracks->has_poses && patch->direction >= 0 && patch->direction == track->direction;
    double most = same_label ? MAX_ANGLE_SAME_LABEL : MAX_ANGLE;
    double limit = tracks->offset + noise_of(tracks, patch);
    bool beside = tracks->has_poses && ast_gap_between(track->low, track->high, patch->low, patch->high) > MAX_GAP;
    if (beside)
        limit = TIGHT_OFFSET * tracks->offset + (is_wide(patch) ? noise_of(tracks, patch) : 0);
    if (away > limit)
        return INFINITY;
    double angle = ast_angle_between(track->plane.normal, patch->plane.normal);
    return angle > most ? INFINITY : away / limit + angle / most;
}

/* The same for a look, which is compared more closely. */
static double misfit_of_look(const ast_plane_tracks *tracks, const ast_plane_look *look, const ast_frame_patch *patch) {
    double limit = TIGHT_OFFSET * tracks->offset + noise_of(tracks, patch);
    double away = fabs(ast_plane_distance(&look->plane, patch->centre));
    if (away > limit || ast_gap_between(look->low, look->high, patch->low, patch->high) > MAX_GAP)
        return INFINITY;
    double angle = ast_angle_between(look->plane.normal, patch->plane.normal);
    return angle > MAX_ANGLE ? INFINITY : away / limit + angle / MAX_ANGLE;
}

static double least_misfit_of_looks(const ast_plane_tracks *tracks, const ast_plane_track *track,
                                    const ast_frame_patch *patch) {
    double least = INFINITY;
    for (size_t i = 0; i < track->look_count; i++)
        least = fmin(least, misfit_of_look(tracks, &track->looks[i], patch));
    return least;
}

/* Whether all patches of this frame with the same track are at about the same distance from its plane: two distances in
 * one frame mean two planes. */
static bool agrees(const ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count,
                   const ast_frame_patch *patch, int32_t track, double away) {
    for (size_t i = 0; i < count; i++)
        if (patches[i].track == track &&
            fabs(patches[i].track_distance - away) >
                tracks->offset + fmax(noise_of(tracks, patch), noise_of(tracks, &patches[i])))
            return false;
    return true;
}

/* ---- Following --------------------------------------------------------------------------------------------------- */

/* Associates patches with tracks, in order of decreasing size. */
static void associate(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ast_frame_patch *patch = &patches[i];
        double least = INFINITY;
        int32_t found = -1;
        for (size_t k = 0; k < tracks->nearby.count; k++) {
            const ast_plane_track *track = nearby(tracks, k);
            int32_t number = tracks->nearby.list[k];
            double cost = misfit(tracks, track, patch);
            double look = tracks->has_poses ? least_misfit_of_looks(tracks, track, patch) : INFINITY;
            if (!tracks->has_poses && track->last_seen + 1 < tracks->frame)
                cost += ABSENT;
            if (cost < least && agrees(tracks, patches, i, patch, number, away_of(track, patch))) {
                least = cost;
                found = number;
            }
            if (look < least) {
                least = look;
                found = number;
            }
        }
        patch->track = found;
        patch->track_distance = found < 0 ? 0 : away_of(&tracks->list[found], patch);
    }
}

/* ---- New planes -------------------------------------------------------------------------------------------------- */

/* A patch with an unreliable normal starts a track only if it is wide or distant and parallel to a known plane. */
static bool may_start(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    double normal[3] = {patch->plane.normal[0], patch->plane.normal[1], patch->plane.normal[2]};
    return patch->normal_reliable ||
           (tracks->has_poses && is_wide(patch) && align(tracks, normal, patch->normal_error, NULL));
}

/* The direction of the most parallel track, for a patch whose pixels have none. */
static int32_t direction_of(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    double least = MAX_ALIGN_ANGLE;
    int32_t found = -1;
    for (size_t k = 0; k < tracks->nearby.count; k++) {
        double angle = ast_angle_between(nearby(tracks, k)->plane.normal, patch->plane.normal);
        if (angle < least) {
            least = angle;
            found = nearby(tracks, k)->direction;
        }
    }
    return found;
}

/* What is seen once may be a piece of another plane that the noise has cut off, unless it is large. */
static bool is_large(const ast_plane_tracks *tracks, const ast_frame_patch *patch) {
    return tracks->has_poses ? patch->area >= LARGE * tracks->area : patch->cells >= tracks->large;
}

static bool start_track(ast_plane_tracks *tracks, ast_frame_patch *patch) {
    if (!ast_reserve(&tracks->list, &tracks->room, tracks->count, tracks->count + 1, sizeof *tracks->list))
        return false;
    int32_t direction = patch->direction >= 0 ? patch->direction : direction_of(tracks, patch);
    tracks->list[tracks->count] = (ast_plane_track){.id = tracks->next_id++,
                                                    .direction = direction,
                                                    .plane = patch->plane,
                                                    .confirmed = tracks->frame == 1 || is_large(tracks, patch)};
    ast_plane_track *track = &tracks->list[tracks->count];
    align(tracks, track->plane.normal, patch->normal_error, NULL);
    track->plane.offset = ast_dot3(track->plane.normal, patch->centre);
    for (int c = 0; c < 3; c++) {
        track->low[c] = patch->low[c];
        track->high[c] = patch->high[c];
    }
    patch->track = (int32_t)tracks->count++;
    patch->track_distance = 0;
    return ast_nearby_tracks_add(tracks, patch->track);
}

/* Patches are sorted by decreasing size, so the smaller pieces of a new plane join the track of the largest. */
static bool start_tracks(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    size_t known = tracks->count;
    for (size_t i = 0; i < count; i++) {
        ast_frame_patch *patch = &patches[i];
        for (size_t k = known; patch->track < 0 && k < tracks->count; k++) {
            const ast_plane_track *t = &tracks->list[k];
            if (misfit(tracks, t, patch) < INFINITY && fabs(away_of(t, patch)) <= ast_tight_offset(tracks, patch)) {
                patch->track_distance = away_of(t, patch);
                patch->track = (int32_t)k;
            }
        }
        if (patch->track < 0 && patch->area >= tracks->area && may_start(tracks, patch) && !start_track(tracks, patch))
            return false;
    }
    return true;
}

/* ---- What a frame adds ------------------------------------------------------------------------------------------- */

static void fit(const ast_plane_tracks *tracks, ast_plane_track *track) {
    ast_principal_axes axes = ast_scatter_principal_axes(tracks->kernels, &track->scatter, track->normal_sum);
    track->normal_error = error_of(tracks, &track->scatter, track->cells, axes.square_sums[1]);
    /* A single column of cells does not determine a normal: use the mean normal of the patches. */
    bool narrow = track->normal_error > MAX_ALIGN_ANGLE;
    double length = sqrt(ast_dot3(track->normal_sum, track->normal_sum));
    for (int c = 0; c < 3; c++)
        track->plane.normal[c] = narrow ? track->normal_sum[c] / length : axes.vectors[0][c];
    align(tracks, track->plane.normal, track->normal_error, track);
    track->plane.offset = ast_dot3(track->plane.normal, track->scatter.mean);
}

static void begin_frame(const ast_plane_tracks *tracks, ast_plane_track *track) {
    double kept = tracks->has_poses ? 1 : 0;
    track->scatter.n *= kept;
    track->cells *= kept;
    for (int e = 0; e < 6; e++)
        track->scatter.products[e] *= kept;
    for (int c = 0; c < 3; c++) {
        track->normal_sum[c] *= kept;
        track->low[c] = tracks->has_poses ? track->low[c] : INFINITY;
        track->high[c] = tracks->has_poses ? track->high[c] : -INFINITY;
    }
    track->confirmed |= track->last_seen > 0;
    track->last_seen = tracks->frame;
}

/* A patch with an unreliable normal does not change the plane of a track that is more accurate. */
static void add_patch(const ast_plane_tracks *tracks, ast_plane_track *track, const ast_frame_patch *patch) {
    bool known = tracks->has_poses && !patch->normal_reliable && track->normal_error > 0 &&
                 track->normal_error < patch->normal_error;
    for (int c = 0; c < 3; c++) {
        track->low[c] = fmin(track->low[c], patch->low[c]);
        track->high[c] = fmax(track->high[c], patch->high[c]);
        track->normal_sum[c] += known ? 0 : patch->scatter.n * patch->plane.normal[c];
    }
    if (known)
        return;
    ast_scatter_add(&track->scatter, &patch->scatter);
    track->cells += patch->cells;
}

static void update(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (patches[i].track < 0)
            continue;
        ast_plane_track *track = &tracks->list[patches[i].track];
        if (track->last_seen != tracks->frame) {
            begin_frame(tracks, track);
            if (patches[i].direction >= 0) /* of the largest patch */
                track->direction = patches[i].direction;
        }
        add_patch(tracks, track, &patches[i]);
    }
    for (size_t k = 0; k < tracks->nearby.count; k++)
        if (nearby(tracks, k)->last_seen == tracks->frame)
            fit(tracks, nearby(tracks, k));
}

/* ---- Looks ------------------------------------------------------------------------------------------------------- */

ast_plane_look ast_plane_look_of(const ast_plane_equation *plane, const double *low, const double *high) {
    ast_plane_look look = {.plane = *plane};
    for (int c = 0; c < 3; c++) {
        look.low[c] = low[c];
        look.high[c] = high[c];
    }
    return look;
}

bool ast_plane_track_add_look(ast_plane_track *track, const ast_plane_look *look) {
    if (track->look_count == MOST_LOOKS)
        return true;
    if (track->look_count == track->look_room) { /* most tracks have one */
        size_t room = track->look_room == 0 ? 1 : 2 * track->look_room;
        if (!ast_grow_array(&track->looks, track->look_count, room, sizeof *track->looks))
            return false;
        track->look_room = room;
    }
    track->looks[track->look_count++] = *look;
    return true;
}

/* Whether two looks are nearly the same. The middle of the box stands for what was seen. */
static bool is_same_look(const ast_plane_tracks *tracks, const ast_plane_look *a, const ast_plane_look *b) {
    double middle[3];
    for (int c = 0; c < 3; c++)
        middle[c] = (b->low[c] + b->high[c]) / 2;
    return ast_angle_between(a->plane.normal, b->plane.normal) <= LOOK_ANGLE &&
           fabs(ast_plane_distance(&a->plane, middle) - ast_plane_distance(&b->plane, middle)) <=
               TIGHT_OFFSET * tracks->offset / 2 &&
           ast_gap_between(a->low, a->high, b->low, b->high) <= MAX_GAP;
}

/* Memory is bounded by what is distinct: a look that is nearly known widens the box of that look. */
static bool add_look(const ast_plane_tracks *tracks, ast_plane_track *track, const ast_plane_look *look) {
    for (size_t i = 0; i < track->look_count; i++) {
        ast_plane_look *known = &track->looks[i];
        if (!is_same_look(tracks, known, look))
            continue;
        for (int c = 0; c < 3; c++) {
            known->low[c] = fmin(known->low[c], look->low[c]);
            known->high[c] = fmax(known->high[c], look->high[c]);
        }
        return true;
    }
    return ast_plane_track_add_look(track, look);
}

/* The first patch of a track is a look, and every patch that hardly fits. */
static bool add_looks(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ast_frame_patch *patch = &patches[i];
        ast_plane_track *track = patch->track < 0 ? NULL : &tracks->list[patch->track];
        if (!track || (track->look_count > 0 && misfit(tracks, track, patch) <= COMFORTABLE))
            continue;
        ast_plane_look look = ast_plane_look_of(&patch->plane, patch->low, patch->high);
        if (!add_look(tracks, track, &look))
            return false;
    }
    return true;
}

/* ---- Joining and forgetting -------------------------------------------------------------------------------------- */

void ast_plane_tracks_drop(ast_plane_tracks *tracks, size_t k) {
    ast_nearby_tracks_drop(&tracks->nearby, (int32_t)k);
    ast_free(tracks->list[k].looks);
    tracks->count--;
    for (; k < tracks->count; k++)
        tracks->list[k] = tracks->list[k + 1];
}

/* Whether two tracks are the same plane: parallel, each on the plane of the other, and with a small gap. */
static bool coincide(const ast_plane_tracks *tracks, const ast_plane_track *a, const ast_plane_track *b) {
    double limit = TIGHT_OFFSET * tracks->offset;
    return ast_dot3(a->plane.normal, b->plane.normal) >= JOIN_COSINE &&
           fabs(ast_plane_distance(&a->plane, b->scatter.mean)) <= limit &&
           fabs(ast_plane_distance(&b->plane, a->scatter.mean)) <= limit &&
           ast_gap_between(a->low, a->high, b->low, b->high) <= MAX_GAP;
}

/* What the track looked like on the whole is a look too, as its plane ends here. */
static bool hand_over_looks(const ast_plane_tracks *tracks, ast_plane_track *to, const ast_plane_track *from) {
    ast_plane_look last = ast_plane_look_of(&from->plane, from->low, from->high);
    bool good = add_look(tracks, to, &last);
    for (size_t i = 0; i < from->look_count && good; i++)
        good = add_look(tracks, to, &from->looks[i]);
    return good;
}

/* Track `gone` becomes part of track `kept`. */
static bool join(ast_plane_tracks *tracks, size_t kept, size_t gone, ast_frame_patch *patches, size_t count) {
    ast_plane_track *a = &tracks->list[kept];
    const ast_plane_track *b = &tracks->list[gone];
    if (!hand_over_looks(tracks, a, b))
        return false;
    ast_scatter_add(&a->scatter, &b->scatter);
    a->cells += b->cells;
    a->last_seen = a->last_seen > b->last_seen ? a->last_seen : b->last_seen;
    for (int c = 0; c < 3; c++) {
        a->normal_sum[c] += b->normal_sum[c];
        a->low[c] = fmin(a->low[c], b->low[c]);
        a->high[c] = fmax(a->high[c], b->high[c]);
    }
    ast_plane_tracks_drop(tracks, gone);
    kept -= kept > gone;
    for (size_t i = 0; i < count; i++) {
        if (patches[i].track == (int32_t)gone)
            patches[i].track = (int32_t)kept;
        else if (patches[i].track > (int32_t)gone)
            patches[i].track--;
    }
    fit(tracks, &tracks->list[kept]); /* after the other track is removed, so that it cannot guide its own plane */
    return true;
}

/* Only pairs with a track seen in this frame can have changed. The younger track ends, or the one that nobody was told
 * of. */
static bool join_tracks(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count) {
    for (size_t b = 1; b < tracks->nearby.count; b++)
        for (size_t a = 0; a < b; a++) {
            const ast_plane_track *one = nearby(tracks, a), *other = nearby(tracks, b);
            size_t older = (size_t)tracks->nearby.list[a], younger = (size_t)tracks->nearby.list[b];
            bool changed = one->last_seen == tracks->frame || other->last_seen == tracks->frame;
            bool turned = !one->confirmed && other->confirmed;
            if (!changed || !coincide(tracks, one, other))
                continue;
            if (!join(tracks, turned ? younger : older, turned ? older : younger, patches, count))
                return false;
            b--;
            if (!turned)
                break;
            a--; /* the younger has moved up, and may be one with others */
        }
    return true;
}

/* Only tracks that are not confirmed are dropped, and only near ones are looked at. */
static void drop_stale(ast_plane_tracks *tracks) {
    for (size_t n = tracks->nearby.count; n-- > 0;) {
        const ast_plane_track *track = nearby(tracks, n);
        if (!track->confirmed && tracks->frame - track->last_seen > UNCONFIRMED)
            ast_plane_tracks_drop(tracks, (size_t)tracks->nearby.list[n]);
    }
    ast_resting_tracks_limit(tracks);
}
