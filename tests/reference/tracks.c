/* SPDX-License-Identifier: MIT */
#include "reference/tracks.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Measures ---------------------------------------------------------------------------------------------------- */

static double angle_between(const double *a, const double *b) {
    double difference[3], sum[3];
    for (int c = 0; c < 3; c++) {
        difference[c] = a[c] - b[c];
        sum[c] = a[c] + b[c];
    }
    return 2 * atan2(sqrt(ast_dot3(difference, difference)), sqrt(ast_dot3(sum, sum)));
}

/* Between the lines along them, whatever the signs. */
static double slant_between(const double *a, const double *b) {
    return fmin(angle_between(a, b), 3.14159265358979323846 - angle_between(a, b));
}

static ast_principal_axes axes_of(const ast_scatter *scatter, const double *towards) {
    return ast_scatter_principal_axes(ast_cloud_kernels_choose("base"), scatter, towards);
}

/* Of a normal, in radians: how far the sensor bends a plane over its narrower extent. */
static double error_of(const ref_tracks *t, const ast_scatter *scatter, double cells, const ast_principal_axes *axes) {
    return AST_BENT * t->epsilon * sqrt(cells / scatter->n) / sqrt(axes->square_sums[1] / scatter->n);
}

static double noise_of(const ref_tracks *t, const ast_frame_patch *p) {
    return 0.5 * t->epsilon * p->depth * p->camera_distance;
}

static double gap_between(const double *low, const double *high, const double *other_low, const double *other_high) {
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double gap = fmax(0, fmax(low[c] - other_high[c], other_low[c] - high[c]));
        squares += gap * gap;
    }
    return sqrt(squares);
}

/* The distance of the middle of a patch from the plane of a track, with its sign. */
static double away_from(const ref_track *k, const ast_frame_patch *p) {
    return ast_plane_distance(&k->flat, p->centre);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* All that was seen before the frame counts with poses, and not at all without; the mean stays, as it has no weight. */
static void fade(const ref_tracks *t, ref_sight *sum) {
    double kept = t->world ? 1 : 0;
    sum->scatter.n *= kept;
    sum->cells *= kept;
    for (int e = 0; e < 6; e++)
        sum->scatter.products[e] *= kept;
    for (int c = 0; c < 3; c++)
        sum->towards[c] *= kept;
}

static ref_sight sum_of(const ref_tracks *t, const ref_track *k) {
    ref_sight sum = {0};
    for (size_t i = 0; i < k->sight_count; i++) {
        const ref_sight *one = &k->sights[i];
        if (one->frame) {
            fade(t, &sum);
            continue;
        }
        ast_scatter_add(&sum.scatter, &one->scatter);
        sum.cells += one->cells;
        for (int c = 0; c < 3; c++)
            sum.towards[c] += one->towards[c];
    }
    return sum;
}

static void add_sight(ref_track *k, const ref_sight *sight) {
    if (k->sight_count == k->sight_room) {
        size_t room = 2 * k->sight_room + 8;
        ref_sight *sights = ref_take(room, sizeof *sights);
        for (size_t i = 0; i < k->sight_count; i++)
            sights[i] = k->sights[i];
        free(k->sights);
        k->sights = sights;
        k->sight_room = room;
    }
    k->sights[k->sight_count++] = *sight;
}

/* ---- Guides ------------------------------------------------------------------------------------------------------ */

/* Without poses a track that 30 frames did not see rests. */
static bool rests(const ref_tracks *t, const ref_track *k) {
    return !t->world && !k->ended && k->seen > 0 && t->frame > k->seen + 30;
}

/* With poses a frame looks at what is within 20 m of what it sees; without, at what does not rest. */
static bool is_out(const ref_tracks *t, const ref_track *k) {
    return k->ended || rests(t, k) || (t->world && gap_between(k->low, k->high, t->low, t->high) > 20);
}

static void find_box(ref_tracks *t, const ref_sighting *patches, size_t count) {
    for (int c = 0; c < 3; c++) {
        t->low[c] = t->high[c] = t->camera[c];
        for (size_t i = 0; i < count; i++) {
            t->low[c] = fmin(t->low[c], patches[i].patch->low[c]);
            t->high[c] = fmax(t->high[c], patches[i].patch->high[c]);
        }
    }
    for (size_t j = 0; j < t->count; j++)
        t->far += t->world && !t->list[j].ended && is_out(t, &t->list[j]);
}

/* Whether a track is known better than a normal that it may be parallel to. */
static bool guides(const ref_tracks *t, const ref_track *k, const double *normal, double error) {
    return !is_out(t, k) && k->error > 0 && k->error < 0.7 * error &&
           slant_between(k->flat.normal, normal) <= fmin(0.25, 2 * error + 0.01);
}

static const ref_track *best_guide(const ref_tracks *t, const double *normal, double error, int32_t except) {
    const ref_track *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        const ref_track *k = &t->list[i];
        double angle = slant_between(k->flat.normal, normal), cost = k->error * k->error + angle * angle;
        if (k->id != except && guides(t, k, normal, error) && cost < least) {
            least = cost;
            best = k;
        }
    }
    return best;
}

/* Moves the normal towards the mean of its guides. Whether there are any. */
static bool align(const ref_tracks *t, double *normal, double error, int32_t except) {
    const ref_track *best = best_guide(t, normal, error, except);
    double mean[3] = {0}, sum[3], weight = 0;
    if (!best) {
        for (int c = 0; c < 3; c++)
            normal[c] += 0.0; /* no negative zeros */
        return false;
    }
    for (size_t i = 0; i < t->count; i++) {
        const ref_track *k = &t->list[i];
        double angle = slant_between(k->flat.normal, best->flat.normal);
        double part = 1 / (k->error * k->error + angle * angle);
        if (k->id == except || !guides(t, k, normal, error))
            continue;
        for (int c = 0; c < 3; c++)
            mean[c] += (ast_dot3(k->flat.normal, normal) < 0 ? -part : part) * k->flat.normal[c];
        weight += part;
    }
    double length = sqrt(ast_dot3(mean, mean)), own = 1 / (error * error), pull = 1 / (0.01 * 0.01 + 1 / weight);
    for (int c = 0; c < 3; c++)
        sum[c] = own * normal[c] + pull * mean[c] / length;
    for (int c = 0; c < 3; c++)
        normal[c] = sum[c] / sqrt(ast_dot3(sum, sum)) + 0.0;
    return true;
}

static void fit(ref_tracks *t, ref_track *k) {
    k->sum = sum_of(t, k);
    ast_principal_axes axes = axes_of(&k->sum.scatter, k->sum.towards);
    k->error = error_of(t, &k->sum.scatter, k->sum.cells, &axes);
    double length = sqrt(ast_dot3(k->sum.towards, k->sum.towards));
    for (int c = 0; c < 3; c++) /* cells in one column have no plane, but their pixels have */
        k->flat.normal[c] = k->error > 0.25 ? k->sum.towards[c] / length : axes.vectors[0][c];
    align(t, k->flat.normal, k->error, k->id);
    k->flat.offset = ast_dot3(k->flat.normal, k->sum.scatter.mean);
}

/* ---- Matching ---------------------------------------------------------------------------------------------------- */

/* Something narrow and near may be round. */
static bool is_wide(const ref_sighting *s) {
    return s->extent >= 0.09 || s->patch->depth >= 4;
}

/* How far a patch may be from a track: the option, or three tenths of it half a metre beside what was seen. */
static double limit_of(const ref_tracks *t, const ref_track *k, const ref_sighting *s) {
    bool beside = t->world && gap_between(k->low, k->high, s->patch->low, s->patch->high) > 0.5;
    return (beside ? 0.3 * t->offset : t->offset) + (beside && !is_wide(s) ? 0 : noise_of(t, s->patch));
}

static double misfit(const ref_tracks *t, const ref_track *k, const ref_sighting *s) {
    const ast_frame_patch *p = s->patch;
    bool same = !t->world && p->direction >= 0 && p->direction == k->direction;
    double most = same ? 0.8 : 0.25, limit = limit_of(t, k, s);
    double angle = angle_between(k->flat.normal, p->plane.normal), away = fabs(away_from(k, p));
    if (!t->world) /* a camera that turns: the distance from the camera stays */
        away = fmin(away, 0.5 * away + fabs(k->flat.offset - p->plane.offset));
    return is_out(t, k) || angle > most || away > limit ? INFINITY : away / limit + angle / most;
}

/* The same for the look of the track that the patch fits best: closely, and nearby. */
static double misfit_of_looks(const ref_tracks *t, const ref_track *k, const ref_sighting *s) {
    const ast_frame_patch *p = s->patch;
    double least = INFINITY, limit = 0.3 * t->offset + noise_of(t, p);
    for (size_t i = 0; i < k->look_count && t->world; i++) {
        const ref_look *look = &k->looks[i];
        double away = fabs(ast_plane_distance(&look->flat, p->centre));
        double angle = angle_between(look->flat.normal, p->plane.normal);
        if (!is_out(t, k) && away <= limit && angle <= 0.25 &&
            gap_between(look->low, look->high, p->low, p->high) <= 0.5)
            least = fmin(least, away / limit + angle / 0.25);
    }
    return least;
}

/* What one frame sees at two distances from one track is two planes. */
static bool agrees(const ref_tracks *t, const ref_sighting *patches, size_t before, const ref_track *k) {
    const ast_frame_patch *p = patches[before].patch;
    for (size_t i = 0; i < before; i++) {
        double most = t->offset + fmax(noise_of(t, p), noise_of(t, patches[i].patch));
        if (patches[i].id == k->id && fabs(patches[i].away - away_from(k, p)) > most)
            return false;
    }
    return true;
}

/* The track that patch i fits best, the oldest of equals. */
static void follow(const ref_tracks *t, ref_sighting *patches, size_t i) {
    double least = INFINITY;
    for (size_t j = 0; j < t->count; j++) {
        const ref_track *k = &t->list[j];
        double cost = misfit(t, k, &patches[i]), look = misfit_of_looks(t, k, &patches[i]);
        cost += !t->world && k->seen + 1 < t->frame ? 0.3 : 0; /* rather one that was just seen */
        double best = cost < least && agrees(t, patches, i, k) ? fmin(cost, look) : look;
        if (best < least) {
            least = best;
            patches[i].id = k->id;
            patches[i].away = away_from(k, patches[i].patch);
        }
    }
}

/* The first track that this frame started, from its largest patch on, that is as near as one must be beside what was
 * seen of it. */
static void follow_new(const ref_tracks *t, ref_sighting *s, size_t known) {
    for (size_t j = t->count; j-- > known;) {
        const ref_track *k = &t->list[j];
        double away = away_from(k, s->patch);
        if (isfinite(misfit(t, k, s)) && fabs(away) <= 0.3 * t->offset + noise_of(t, s->patch)) {
            s->id = k->id;
            s->away = away;
        }
    }
}

/* ---- Views that come back ---------------------------------------------------------------------------------------- */

static double box_difference(const ref_look *look, const ast_frame_patch *p) {
    double most = 0;
    for (int c = 0; c < 3; c++)
        most = fmax(most, fmax(fabs(look->low[c] - p->low[c]), fabs(look->high[c] - p->high[c])));
    return most;
}

/* How differently a patch looks from the most similar look of a track: the offset in thirds of the option, the normal
 * in tenths of a radian and the box in quarters of a metre, or of the patch's side; none may be above 1. */
static double difference_of(const ref_tracks *t, const ref_track *k, const ast_frame_patch *p) {
    double least = INFINITY, size = fmax(0.25, 0.25 * sqrt(p->area));
    for (size_t i = 0; i < k->look_count; i++) {
        const ref_look *look = &k->looks[i];
        double away = fabs(ast_plane_distance(&look->flat, p->centre)) / (0.3 * t->offset + noise_of(t, p));
        double angle = angle_between(look->flat.normal, p->plane.normal) / 0.1, place = box_difference(look, p) / size;
        if (fmax(away, fmax(angle, place)) <= 1)
            least = fmin(least, away + angle + place);
    }
    return least;
}

/* The resting track of the same direction that a patch looks most like, the oldest of equals; -1 if there is none. */
static int32_t known_again(const ref_tracks *t, const ast_frame_patch *p) {
    double least = INFINITY;
    int32_t found = -1;
    for (size_t j = 0; j < t->count; j++) {
        const ref_track *k = &t->list[j];
        double difference = difference_of(t, k, p);
        if (rests(t, k) && p->direction >= 0 && k->direction == p->direction && difference < least) {
            least = difference;
            found = k->id;
        }
    }
    return found;
}

/* All patches that no track explains are compared before any track wakes. It wakes where its first patch is. */
static void wake(ref_tracks *t, ref_sighting *patches, size_t count) {
    for (size_t i = 0; i < count; i++)
        patches[i].id = patches[i].id < 0 ? known_again(t, patches[i].patch) : patches[i].id;
    for (size_t i = 0; i < count; i++) {
        ref_track *k = patches[i].id < 0 ? NULL : &t->list[patches[i].id];
        if (!k || !rests(t, k))
            continue;
        k->flat = patches[i].patch->plane;
        k->seen = t->frame - 1;
        t->woken++;
    }
}

/* ---- New tracks -------------------------------------------------------------------------------------------------- */

static bool may_start(const ref_tracks *t, const ref_sighting *s) {
    const ast_frame_patch *p = s->patch;
    double normal[3] = {p->plane.normal[0], p->plane.normal[1], p->plane.normal[2]};
    if (p->area < t->area)
        return false;
    return p->normal_reliable || (t->world && is_wide(s) && align(t, normal, s->error, -1));
}

/* A patch without a direction has that of the most parallel track within 0.25 radians. */
static int32_t direction_of(const ref_tracks *t, const ast_frame_patch *p) {
    double least = 0.25;
    int32_t found = p->direction;
    for (size_t j = 0; p->direction < 0 && j < t->count; j++) {
        double angle = angle_between(t->list[j].flat.normal, p->plane.normal);
        if (!is_out(t, &t->list[j]) && angle < least) {
            least = angle;
            found = t->list[j].direction;
        }
    }
    return found < 0 ? -1 : found;
}

static void start(ref_tracks *t, ref_sighting *s) {
    ref_track k = {.id = (int32_t)t->count, .direction = direction_of(t, s->patch), .flat = s->patch->plane};
    align(t, k.flat.normal, s->error, -1);
    k.flat.offset = ast_dot3(k.flat.normal, s->patch->centre);
    bool large = t->world ? s->patch->area >= 4 * t->area : s->patch->cells >= t->large;
    k.confirmed = t->frame == 1 || large;
    memcpy(k.low, s->patch->low, sizeof k.low);
    memcpy(k.high, s->patch->high, sizeof k.high);
    if (t->count == t->room) {
        ref_track *list = ref_take(2 * t->room + 8, sizeof *list);
        for (size_t j = 0; j < t->count; j++)
            list[j] = t->list[j];
        free(t->list);
        t->list = list;
        t->room = 2 * t->room + 8;
    }
    t->list[t->count++] = k;
    s->id = k.id;
    s->away = 0;
}

/* ---- What a frame adds ------------------------------------------------------------------------------------------- */

static void begin_frame(const ref_tracks *t, ref_track *k, const ast_frame_patch *first) {
    add_sight(k, &(ref_sight){.frame = true});
    k->confirmed |= k->seen > 0;
    k->seen = t->frame;
    if (first->direction >= 0)
        k->direction = first->direction;
    for (int c = 0; c < 3 && !t->world; c++) {
        k->low[c] = INFINITY;
        k->high[c] = -INFINITY;
    }
}

/* A patch without a normal of its own says nothing of a plane of the world that is known better. */
static void add_patch(const ref_tracks *t, ref_track *k, const ref_sighting *s) {
    const ast_frame_patch *p = s->patch;
    ref_sight sight = {.scatter = p->scatter, .cells = p->cells};
    for (int c = 0; c < 3; c++) {
        k->low[c] = fmin(k->low[c], p->low[c]);
        k->high[c] = fmax(k->high[c], p->high[c]);
        sight.towards[c] = p->scatter.n * p->plane.normal[c];
    }
    if (!t->world || p->normal_reliable || !(k->error > 0 && k->error < s->error))
        add_sight(k, &sight);
}

static void update(ref_tracks *t, const ref_sighting *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (patches[i].id < 0)
            continue;
        ref_track *k = &t->list[patches[i].id];
        if (k->seen != t->frame)
            begin_frame(t, k, patches[i].patch);
        add_patch(t, k, &patches[i]);
    }
    for (size_t j = 0; j < t->count; j++)
        if (!t->list[j].ended && t->list[j].seen == t->frame)
            fit(t, &t->list[j]);
}

/* ---- Looks ------------------------------------------------------------------------------------------------------- */

static void add_look(const ref_tracks *t, ref_track *k, const ref_look *look) {
    double middle[3];
    for (int c = 0; c < 3; c++)
        middle[c] = (look->low[c] + look->high[c]) / 2;
    for (size_t i = 0; i < k->look_count; i++) {
        ref_look *old = &k->looks[i];
        double step = ast_plane_distance(&old->flat, middle) - ast_plane_distance(&look->flat, middle);
        if (angle_between(old->flat.normal, look->flat.normal) > 0.05 || fabs(step) > 0.15 * t->offset ||
            gap_between(old->low, old->high, look->low, look->high) > 0.5)
            continue;
        for (int c = 0; c < 3; c++) {
            old->low[c] = fmin(old->low[c], look->low[c]);
            old->high[c] = fmax(old->high[c], look->high[c]);
        }
        return;
    }
    if (k->look_count < sizeof k->looks / sizeof *k->looks)
        k->looks[k->look_count++] = *look;
}

static ref_look look_of(const ast_plane_equation *flat, const double *low, const double *high) {
    return (ref_look){*flat, {low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

/* The first patch of a track, and those that fit it badly. */
static void add_looks(const ref_tracks *t, const ref_sighting *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ref_track *k = patches[i].id < 0 ? NULL : &t->list[patches[i].id];
        const ast_frame_patch *p = patches[i].patch;
        ref_look look = look_of(&p->plane, p->low, p->high);
        if (k && (k->look_count == 0 || misfit(t, k, &patches[i]) > 0.5))
            add_look(t, k, &look);
    }
}

/* Without poses: every patch that looks like none before. */
static void remember(const ref_tracks *t, const ref_sighting *patches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ref_track *k = patches[i].id < 0 ? NULL : &t->list[patches[i].id];
        const ast_frame_patch *p = patches[i].patch;
        bool is_new = k && k->look_count < sizeof k->looks / sizeof *k->looks;
        for (size_t n = 0; is_new && n < k->look_count; n++) {
            const ref_look *look = &k->looks[n];
            is_new = angle_between(look->flat.normal, p->plane.normal) > 0.05 ||
                     fabs(ast_plane_distance(&look->flat, p->centre)) > 0.15 * t->offset ||
                     box_difference(look, p) > 0.125;
        }
        if (is_new)
            k->looks[k->look_count++] = look_of(&p->plane, p->low, p->high);
    }
}

/* ---- Joining and forgetting -------------------------------------------------------------------------------------- */

static bool are_one(const ref_tracks *t, const ref_track *a, const ref_track *b) {
    return !is_out(t, a) && !is_out(t, b) && (a->seen == t->frame || b->seen == t->frame) &&
           ast_dot3(a->flat.normal, b->flat.normal) >= 0.99 &&
           fabs(ast_plane_distance(&a->flat, b->sum.scatter.mean)) <= 0.3 * t->offset &&
           fabs(ast_plane_distance(&b->flat, a->sum.scatter.mean)) <= 0.3 * t->offset &&
           gap_between(a->low, a->high, b->low, b->high) <= 0.5;
}

/* All that b saw is part of a, which it does not guide any more. */
static void join(ref_tracks *t, ref_track *a, ref_track *b, ref_sighting *patches, size_t count) {
    ref_look last = look_of(&b->flat, b->low, b->high);
    add_look(t, a, &last);
    for (size_t i = 0; i < b->look_count; i++)
        add_look(t, a, &b->looks[i]);
    add_sight(a, &b->sum);
    a->seen = b->seen > a->seen ? b->seen : a->seen;
    for (int c = 0; c < 3; c++) {
        a->low[c] = fmin(a->low[c], b->low[c]);
        a->high[c] = fmax(a->high[c], b->high[c]);
    }
    b->ended = true;
    fit(t, a);
    for (size_t i = 0; i < count; i++)
        patches[i].id = patches[i].id == b->id ? a->id : patches[i].id;
    t->joined++;
}

/* Each track, from the oldest on, becomes part of the oldest that it is one with, unless that was not reported yet. */
static void join_tracks(ref_tracks *t, ref_sighting *patches, size_t count) {
    for (size_t b = 1; b < t->count; b++)
        for (size_t a = 0; a < b; a++)
            if (are_one(t, &t->list[a], &t->list[b])) {
                bool turned = !t->list[a].confirmed && t->list[b].confirmed;
                join(t, &t->list[turned ? b : a], &t->list[turned ? a : b], patches, count);
            }
}

/* What was not reported, and is near; without poses, of more than 128 that rest, those unseen for longest. */
static void forget(ref_tracks *t) {
    size_t resting = 0;
    for (size_t j = 0; j < t->count; j++) {
        ref_track *k = &t->list[j];
        bool stale = !is_out(t, k) && !k->confirmed && t->frame > k->seen + 10;
        k->ended |= stale;
        t->forgotten += stale;
        resting += rests(t, k);
    }
    for (; resting > 128; resting--) {
        ref_track *oldest = NULL;
        for (size_t j = 0; j < t->count; j++)
            if (rests(t, &t->list[j]) && (!oldest || t->list[j].seen < oldest->seen))
                oldest = &t->list[j];
        oldest->ended = true;
    }
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

void ref_tracks_step(ref_tracks *t, ref_sighting *patches, size_t count) {
    find_box(t, patches, count);
    if (count == 0) /* a covered camera forgets nothing */
        return;
    t->frame++;
    forget(t);
    size_t known = t->count;
    for (size_t i = 0; i < count; i++) {
        const ast_frame_patch *p = patches[i].patch;
        ast_principal_axes axes = axes_of(&p->scatter, p->plane.normal);
        patches[i].error = error_of(t, &p->scatter, p->cells, &axes);
        patches[i].extent = sqrt(axes.square_sums[1] / p->scatter.n);
        patches[i].id = -1;
        patches[i].away = 0;
    }
    for (size_t i = 0; i < count; i++)
        follow(t, patches, i);
    wake(t, patches, count);
    for (size_t i = 0; i < count; i++) {
        if (patches[i].id < 0)
            follow_new(t, &patches[i], known);
        if (patches[i].id < 0 && may_start(t, &patches[i]))
            start(t, &patches[i]);
    }
    update(t, patches, count);
    if (t->world) {
        add_looks(t, patches, count);
        join_tracks(t, patches, count);
    } else
        remember(t, patches, count);
}

void ref_tracks_free(ref_tracks *t) {
    for (size_t j = 0; j < t->count; j++)
        free(t->list[j].sights);
    free(t->list);
    *t = (ref_tracks){0};
}
