/* SPDX-License-Identifier: MIT */
#include "reference/recall.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = AST_CELL, PIXELS = AST_CELL * AST_CELL, MOST = 16 };

typedef struct recall {
    const ast_frame_work *work;
    const ast_plane_tracks *tracks;
    const ast_depth_frame *frame;
    const ast_pose *pose;
    int32_t (*claims)[PIXELS]; /* (cells) the track that a pixel would like, -1 for none */
    ref_recall_counts *counts;
} recall;

/* A plane that a cell chooses from. */
typedef struct option {
    int32_t track;
    double s; /* at the first pixel of the cell */
    ast_plane_fit plane;
    bool uncertain;
    float limit;
} option;

/* ---- Cells and pixels -------------------------------------------------------------------------------------------- */

static size_t cells_of(const recall *r) {
    return r->frame->patches.across * r->frame->patches.down;
}

static bool is_cell(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    return column >= 0 && row >= 0 && column < (ptrdiff_t)r->frame->patches.across &&
           row < (ptrdiff_t)r->frame->patches.down;
}

static size_t cell_at(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    return (size_t)row * r->frame->patches.across + (size_t)column;
}

/* Inverse depth, 0 for holes and outside the image. */
static float s_of(const recall *r, ptrdiff_t u, ptrdiff_t v) {
    const ast_depth_frame *d = r->frame;
    if (u < 0 || v < 0 || u >= (ptrdiff_t)d->width || v >= (ptrdiff_t)d->height)
        return 0;
    float z = d->metres[(size_t)v * d->width + (size_t)u];
    return z > 0 ? 1 / z : 0;
}

/* The track of a patch, -1 if it has none. */
static int32_t track_of(const recall *r, int32_t leader) {
    for (size_t i = 0; i < r->work->patch_count; i++)
        if (r->work->patches[i].leader == leader)
            return r->work->patches[i].track;
    return -1;
}

static int32_t track_of_cell(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    int32_t leader = r->frame->patches.leader[cell_at(r, column, row)];
    return leader < 0 ? -1 : track_of(r, leader);
}

static bool is_empty(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    for (ptrdiff_t i = 0; i < PIXELS; i++)
        if (s_of(r, column * SIDE + i % SIDE, row * SIDE + i / SIDE) > 0)
            return false;
    return true;
}

/* Whether a cell beside it, or itself, belongs to no plane. */
static bool is_open(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    for (ptrdiff_t y = row - 1; y <= row + 1; y++)
        for (ptrdiff_t x = column - 1; x <= column + 1; x++)
            if (is_cell(r, x, y) && track_of_cell(r, x, y) < 0)
                return true;
    return false;
}

/* ---- Planes of the world in the image ---------------------------------------------------------------------------- */

/* Whether some corner of the box of what was seen, larger by the option `offset`, is on the inner side of each side of
 * the image and before the camera. */
static bool is_in_view(const recall *r, const ast_plane_track *t) {
    const ast_camera *camera = &r->frame->camera;
    bool inner[5] = {false};
    for (int corner = 0; corner < 8; corner++) {
        double from[3], p[3];
        for (int c = 0; c < 3; c++)
            from[c] = (corner >> c & 1 ? t->high[c] + r->tracks->offset : t->low[c] - r->tracks->offset) -
                      r->pose->matrix[4 * c + 3];
        for (int c = 0; c < 3; c++)
            p[c] = r->pose->matrix[c] * from[0] + r->pose->matrix[4 + c] * from[1] + r->pose->matrix[8 + c] * from[2];
        double u = camera->fx * p[0] + camera->cx * p[2], v = camera->fy * p[1] + camera->cy * p[2];
        inner[0] |= u >= 0;
        inner[1] |= u <= (double)r->frame->width * p[2];
        inner[2] |= v >= 0;
        inner[3] |= v <= (double)r->frame->height * p[2];
        inner[4] |= p[2] >= 0;
    }
    return inner[0] && inner[1] && inner[2] && inner[3] && inner[4];
}

/* s of the plane of a track over the image; its distance from the camera is not more than 0 if it faces away. */
static double look_at(const recall *r, const ast_plane_equation *flat, ast_plane_fit *plane) {
    const ast_camera *camera = &r->frame->camera;
    double n[3], distance = -flat->offset;
    for (int c = 0; c < 3; c++)
        distance += flat->normal[c] * r->pose->matrix[4 * c + 3];
    for (int c = 0; c < 3; c++)
        n[c] = (r->pose->matrix[c] * flat->normal[0] + r->pose->matrix[4 + c] * flat->normal[1] +
                r->pose->matrix[8 + c] * flat->normal[2]) /
               -distance;
    plane->slope_x = n[0] / camera->fx;
    plane->slope_y = n[1] / camera->fy;
    plane->level = n[2] + plane->slope_x * (ast_middle(r->frame->width) - camera->cx) +
                   plane->slope_y * (ast_middle(r->frame->height) - camera->cy);
    return distance;
}

/* Whether the plane was seen near where the middle of the cell shows it; a cell may show a long piece of it. */
static bool was_seen(const recall *r, const ast_plane_track *t, const ast_plane_fit *plane, double distance,
                     ptrdiff_t column, ptrdiff_t row) {
    double u = (double)(column * SIDE) + 3.5, v = (double)(row * SIDE) + 3.5, p[3], at[3];
    double s = ast_frame_s(r->frame, plane, u, v);
    double reach = r->tracks->offset + SIDE / (s * s * r->frame->camera.fx * distance);
    bool inside = s > 0;
    ast_frame_point(r->frame, u, v, s, p);
    ast_pose_move(r->pose, p, at);
    for (int c = 0; c < 3; c++)
        inside = inside && at[c] > t->low[c] - reach && at[c] < t->high[c] + reach;
    return inside;
}

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static option option_of(const recall *r, ptrdiff_t column, ptrdiff_t row, int32_t track, const ast_plane_fit *plane,
                        bool uncertain) {
    option o = {.track = track, .plane = *plane, .uncertain = uncertain};
    o.s = ast_frame_s(r->frame, plane, (double)(column * SIDE), (double)(row * SIDE));
    o.limit = ast_plane_inlier_threshold(&r->frame->patches.noise, o.s, plane, uncertain);
    return o;
}

/* Patches of planes in and around the cell, row by row. */
static size_t patches_around(const recall *r, ptrdiff_t column, ptrdiff_t row, option *list) {
    int32_t leaders[9];
    size_t count = 0;
    for (ptrdiff_t y = row - 1; y <= row + 1; y++)
        for (ptrdiff_t x = column - 1; x <= column + 1; x++) {
            int32_t leader = is_cell(r, x, y) ? r->frame->patches.leader[cell_at(r, x, y)] : -1;
            bool known = leader < 0 || track_of(r, leader) < 0;
            for (size_t i = 0; i < count; i++)
                known |= leaders[i] == leader;
            if (known)
                continue;
            leaders[count] = leader;
            list[count++] = option_of(r, column, row, track_of(r, leader), &r->frame->patches.fits[leader],
                                      r->frame->patches.uncertain[leader]);
        }
    return count;
}

/* Whether the plane, between its least and its greatest s in the cell, is within its limit of the pixels between
 * theirs.
 */
static bool is_near(const recall *r, const option *o, ptrdiff_t column, ptrdiff_t row) {
    double near = INFINITY, far = 0, least = o->s, most = o->s;
    for (ptrdiff_t i = 0; i < PIXELS; i++) {
        double s = (double)s_of(r, column * SIDE + i % SIDE, row * SIDE + i / SIDE);
        near = s > 0 ? fmin(near, s) : near;
        far = fmax(far, s);
    }
    least += fmin(0, 7 * o->plane.slope_x);
    least += fmin(0, 7 * o->plane.slope_y);
    most += fmax(0, 7 * o->plane.slope_x);
    most += fmax(0, 7 * o->plane.slope_y);
    return !(most < near - (double)o->limit) && !(least > far + (double)o->limit);
}

/* Then planes without a patch there, from the oldest on. */
static size_t planes_there(const recall *r, ptrdiff_t column, ptrdiff_t row, option *list, size_t patches) {
    size_t count = patches;
    for (size_t k = 0; k < r->tracks->count && count < MOST; k++) {
        const ast_plane_track *t = &r->tracks->list[k];
        ast_plane_fit plane = {0};
        double distance = look_at(r, &t->plane, &plane);
        bool has_patch = false;
        for (size_t i = 0; i < patches; i++)
            has_patch |= list[i].track == (int32_t)k;
        if (!t->confirmed || has_patch || distance <= 0 || !is_in_view(r, t) ||
            !was_seen(r, t, &plane, distance, column, row))
            continue;
        list[count] = option_of(r, column, row, (int32_t)k, &plane, true);
        count += is_near(r, &list[count], column, row);
    }
    return count;
}

/* The distance of a pixel from a plane, at most `most`, which holes have; x and y count from the first of the cell. */
static float distance_of(const recall *r, const option *o, ptrdiff_t column, ptrdiff_t row, int x, int y, float most) {
    float s = s_of(r, column * SIDE + x, row * SIDE + y);
    float away = fabsf((float)o->s + (float)y * (float)o->plane.slope_y + (float)x * (float)o->plane.slope_x - s);
    return s > 0 && away < most ? away : most;
}

/* Over 5 x 5 pixels: rows first. */
static float sum_around(const recall *r, const option *o, ptrdiff_t column, ptrdiff_t row, int x, int y, float most) {
    float rows[5], sum = 0;
    for (int j = 0; j < 5; j++) {
        rows[j] = distance_of(r, o, column, row, x - 2, y + j - 2, most);
        for (int i = 1; i < 5; i++)
            rows[j] += distance_of(r, o, column, row, x + i - 2, y + j - 2, most);
    }
    sum = rows[0];
    for (int j = 1; j < 5; j++)
        sum += rows[j];
    return sum;
}

/* The plane that a pixel chooses: the nearest patch, or another plane that is nearer by three tenths; -1 for none. */
static int choose(const recall *r, const option *list, size_t patches, size_t count, ptrdiff_t column, ptrdiff_t row,
                  int x, int y) {
    float most = 0, least = INFINITY;
    int best = -1;
    for (size_t k = 0; k < count; k++)
        most = list[k].limit > most ? list[k].limit : most;
    for (size_t k = 0; k < count; k++) {
        least *= k == patches ? 0.7f : 1;
        float sum = sum_around(r, &list[k], column, row, x, y, most);
        if (distance_of(r, &list[k], column, row, x, y, most) < list[k].limit && sum < least) {
            least = sum;
            best = (int)k;
        }
    }
    return best;
}

/* What the pixels of a cell would like. Three of four that had no plane must like one. */
static void claim(const recall *r, ptrdiff_t column, ptrdiff_t row) {
    option list[MOST];
    int32_t *claims = r->claims[cell_at(r, column, row)];
    size_t patches = patches_around(r, column, row, list), open = 0, filled = 0;
    size_t count = planes_there(r, column, row, list, patches);
    for (int i = 0; i < PIXELS && count > patches; i++) {
        ptrdiff_t u = column * SIDE + i % SIDE, v = row * SIDE + i / SIDE;
        int best = choose(r, list, patches, count, column, row, i % SIDE, i / SIDE);
        claims[i] = best >= (int)patches ? list[best].track : -1;
        if (s_of(r, u, v) > 0) {
            int32_t leader = r->frame->leader[(size_t)v * r->frame->width + (size_t)u];
            bool none = leader < 0 || track_of(r, leader) < 0;
            open += none;
            filled += none && claims[i] >= 0;
        }
    }
    if ((double)filled < 0.75 * (double)open) {
        r->counts->unfilled++;
        for (int i = 0; i < PIXELS; i++)
            claims[i] = -1;
    }
}

/* ---- All cells together ------------------------------------------------------------------------------------------ */

/* Pixels of two of the eight cells around must like the plane too. */
static bool is_supported(const recall *r, ptrdiff_t column, ptrdiff_t row, int32_t track) {
    size_t count = 0;
    for (ptrdiff_t y = row - 1; y <= row + 1; y++)
        for (ptrdiff_t x = column - 1; x <= column + 1; x++) {
            if (!is_cell(r, x, y) || (x == column && y == row))
                continue;
            bool shows = false;
            for (int i = 0; i < PIXELS; i++)
                shows |= r->claims[cell_at(r, x, y)][i] == track;
            count += shows;
        }
    return count >= 2;
}

static bool has_patch(const recall *r, int32_t track) {
    for (size_t i = 0; i < r->work->patch_count; i++)
        if (r->work->patches[i].track == track)
            return true;
    return false;
}

/* Gives a track its pixels, if it has a patch or enough of them. */
static void give(const recall *r, int32_t track, int32_t *leader) {
    const ast_depth_frame *d = r->frame;
    size_t count = 0, pixels = d->width * d->height;
    uint8_t *its = ref_take(pixels, sizeof *its);
    for (size_t cell = 0; cell < cells_of(r); cell++)
        for (size_t i = 0; i < PIXELS; i++) {
            size_t column = cell % d->patches.across, row = cell / d->patches.across;
            if (r->claims[cell][i] != track)
                continue;
            if (!is_supported(r, (ptrdiff_t)column, (ptrdiff_t)row, track)) {
                r->counts->single++;
                continue;
            }
            its[(row * SIDE + i / SIDE) * d->width + column * SIDE + i % SIDE] = 1;
            count++;
        }
    bool enough = has_patch(r, track) || (double)count >= 0.5 / 480 * (double)pixels;
    r->counts->lost += enough ? 0 : count;
    for (size_t k = 0; k < pixels && enough; k++)
        if (its[k]) {
            r->counts->pixels++;
            r->counts->taken += leader[k] >= 0 && track_of(r, leader[k]) >= 0;
            leader[k] = (int32_t)cells_of(r) + track;
        }
    free(its);
}

void ref_recall(const ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth_frame *frame,
                const ast_pose *pose, int32_t *leader, ref_recall_counts *counts) {
    recall r = {work, tracks, frame, pose, NULL, counts};
    memcpy(leader, frame->leader, frame->width * frame->height * sizeof *leader);
    if (!pose->known)
        return;
    r.claims = ref_take(cells_of(&r), sizeof *r.claims);
    for (size_t cell = 0; cell < cells_of(&r); cell++) {
        ptrdiff_t column = (ptrdiff_t)(cell % frame->patches.across), row = (ptrdiff_t)(cell / frame->patches.across);
        for (size_t i = 0; i < PIXELS; i++)
            r.claims[cell][i] = -1;
        if (!is_empty(&r, column, row) && is_open(&r, column, row))
            claim(&r, column, row);
    }
    for (size_t k = 0; k < tracks->count; k++)
        give(&r, (int32_t)k, leader);
    free(r.claims);
}
