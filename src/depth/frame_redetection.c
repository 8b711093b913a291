/* SPDX-License-Identifier: MIT
 *
 * Gives pixels outside of all patches to planes that are known from earlier frames, or from other parts of this one: a
 * strip narrower than a cell of 8 x 8 pixels, or a wall at the end of the sensor's range, where most pixels are holes.
 * The pose gives the position of a plane in the image; the bounding box of its earlier observations limits its extent.
 *
 * A cell is skipped if it and its eight neighbours all belong to planes. In the other cells every pixel votes as in
 * plane_normals.c, among the patches around it and the known planes that cross the cell. A pixel of a patch changes
 * only to a plane that is clearly nearer. */
#include "frame_planes.h"

#include "memory.h"

#include <string.h>

#define LEAST 0.5 /* fewest pixels of a re-detected plane without a patch, as a share of the smallest patch */
/* Smallest share of the unassigned pixels of a cell that must lie on known planes; otherwise the cell stays
 * unchanged. */
#define FILLED 0.75
#define SUPPORT 2 /* fewest neighbouring cells that must contain pixels of the same plane */
#define MOST 16   /* planes that a cell chooses among */

/* The planes that a cell chooses among: patches, then others. */
typedef struct cell_candidates {
    ast_plane_candidate list[MOST];
    int32_t tracks[MOST];
    int32_t leaders[MOST]; /* of the first `patches` entries */
    int32_t views[MOST];   /* of the others: their place in redetection.planes */
    size_t patches, count;
} cell_candidates;

static bool prepare(ast_redetection *redetection, const ast_depth_frame *frame, size_t tracks);
static void find_views(ast_frame_work *w);
static void claim_row(void *data, size_t row);
static void write_row(void *data, size_t row);
static void find_confirmed(ast_frame_work *w);
static void restore_row(void *data, size_t row);

bool ast_frame_redetect_planes(ast_frame_work *work) {
    ast_redetection *redetection = &work->redetection;
    const ast_patches *patches = &work->frame->patches;
    redetection->plane_count = 0;
    work->leader = work->frame->leader;
    if (!work->pose->known)
        return true;
    if (!prepare(redetection, work->frame, work->tracks->nearby.count))
        return false;
    work->leader = redetection->leader;
    for (size_t k = 0; k < patches->across * patches->down; k++)
        redetection->track_of[k] = ast_frame_track_of(work, patches->leader[k]);
    find_views(work);
    if (!ast_reserve(&redetection->partial, &redetection->partial_room, 0, patches->down * redetection->plane_count,
                     sizeof *redetection->partial))
        return false;
    ast_pool_each(work->pool, patches->down, 1, claim_row, work);
    ast_pool_each(work->pool, patches->down, 1, write_row, work);
    find_confirmed(work);
    ast_pool_each(work->pool, patches->down, 1, restore_row, work);
    return true;
}

void ast_redetection_free(ast_redetection *redetection) {
    ast_free_all(redetection->leader, redetection->track_of, redetection->planes, redetection->claims,
                 redetection->claimed, redetection->partial);
    *redetection = (ast_redetection){0};
}

size_t ast_redetected_leaders(const ast_frame_work *work, size_t cell, int32_t *leaders) {
    const ast_depth_frame *frame = work->frame;
    const ast_redetection *redetection = &work->redetection;
    size_t across = frame->patches.across, count = 0;
    for (size_t i = 0; redetection->plane_count > 0 && redetection->claimed[cell] && i < AST_CELL * AST_CELL; i++) {
        size_t at = (cell / across * AST_CELL + i / AST_CELL) * frame->width + cell % across * AST_CELL + i % AST_CELL;
        if (redetection->claims[cell][i] >= 0 && redetection->leader[at] >= (int32_t)(across * frame->patches.down))
            ast_add_once(leaders, &count, redetection->leader[at]);
    }
    return count;
}

static bool prepare(ast_redetection *redetection, const ast_depth_frame *frame, size_t tracks) {
    size_t cells = frame->patches.across * frame->patches.down;
    return ast_ensure_arrays(&redetection->cell_capacity, cells,
                             AST_REQUEST(redetection->leader, cells * AST_CELL * AST_CELL),
                             AST_REQUEST(redetection->track_of, cells), AST_REQUEST(redetection->claims, cells),
                             AST_REQUEST(redetection->claimed, cells)) &&
           ast_reserve(&redetection->planes, &redetection->plane_room, 0, tracks, sizeof *redetection->planes);
}

/* ---- Planes in view ---------------------------------------------------------------------------------------------- */

/* The plane of a track in the image; false if the camera is behind it. */
static bool project_track(const ast_depth_frame *frame, const ast_pose *pose, const ast_plane_equation *plane,
                          ast_projected_plane *view) {
    const ast_camera *camera = &frame->camera;
    double towards[3], offset = plane->offset;
    for (int r = 0; r < 3; r++)
        offset -= plane->normal[r] * pose->matrix[4 * r + 3];
    for (int c = 0; c < 3; c++)
        towards[c] = (pose->matrix[c] * plane->normal[0] + pose->matrix[4 + c] * plane->normal[1] +
                      pose->matrix[8 + c] * plane->normal[2]) /
                     offset;
    view->camera_distance = -offset;
    view->fit = (ast_plane_fit){.slope_x = towards[0] / camera->fx, .slope_y = towards[1] / camera->fy};
    view->fit.level = towards[2] + view->fit.slope_x * (ast_middle(frame->width) - camera->cx) +
                      view->fit.slope_y * (ast_middle(frame->height) - camera->cy);
    return offset < 0;
}

/* On which sides of the image a point of the world is outside: bits for left, right, above, below and behind. */
static unsigned outside(const ast_depth_frame *frame, const ast_pose *pose, const double *at) {
    const ast_camera *camera = &frame->camera;
    double p[3], from[3];
    for (int r = 0; r < 3; r++)
        from[r] = at[r] - pose->matrix[4 * r + 3];
    for (int c = 0; c < 3; c++)
        p[c] = pose->matrix[c] * from[0] + pose->matrix[4 + c] * from[1] + pose->matrix[8 + c] * from[2];
    double u = camera->fx * p[0] + camera->cx * p[2], v = camera->fy * p[1] + camera->cy * p[2];
    return (unsigned)(u < 0) | (unsigned)(u > (double)frame->width * p[2]) << 1 | (unsigned)(v < 0) << 2 |
           (unsigned)(v > (double)frame->height * p[2]) << 3 | (unsigned)(p[2] < 0) << 4;
}

/* Whether the box of a track, enlarged by `offset`, may be in the image: not all of its corners are on one side. */
static bool in_view(const ast_frame_work *w, const ast_plane_track *track) {
    unsigned all = ~0u;
    for (int corner = 0; corner < 8; corner++) {
        double at[3];
        for (int c = 0; c < 3; c++)
            at[c] = corner >> c & 1 ? track->high[c] + w->tracks->offset : track->low[c] - w->tracks->offset;
        all &= outside(w->frame, w->pose, at);
    }
    return all == 0;
}

static void find_views(ast_frame_work *w) {
    ast_redetection *redetection = &w->redetection;
    for (size_t n = 0; n < w->tracks->nearby.count; n++) {
        int32_t k = w->tracks->nearby.list[n];
        ast_projected_plane *view = &redetection->planes[redetection->plane_count];
        *view = (ast_projected_plane){.track = k};
        if (w->tracks->list[k].confirmed && in_view(w, &w->tracks->list[k]) &&
            project_track(w->frame, w->pose, &w->tracks->list[k].plane, view))
            redetection->plane_count++;
    }
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

/* Whether the ray through the middle of a cell meets the plane inside the bounding box of its track, enlarged by the
 * offset tolerance and by the size of the cell on the plane. */
static bool box_covers(const ast_frame_work *w, const ast_projected_plane *view, double u, double v) {
    const ast_plane_track *track = &w->tracks->list[view->track];
    double s = ast_frame_s(w->frame, &view->fit, u, v), p[3], at[3];
    if (!(s > 0))
        return false;
    double reach = w->tracks->offset + AST_CELL / (s * s * w->frame->camera.fx * view->camera_distance);
    ast_frame_point(w->frame, u, v, s, p);
    ast_pose_move(w->pose, p, at);
    for (int c = 0; c < 3; c++)
        if (!(at[c] > track->low[c] - reach && at[c] < track->high[c] + reach))
            return false;
    return true;
}

static bool has(const int32_t *list, size_t count, int32_t one) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == one)
            return true;
    return false;
}

/* Whether a cell, or one of the eight around it, belongs to no plane. */
static bool near_unassigned(const ast_frame_work *w, size_t column, size_t row) {
    const ast_patches *p = &w->frame->patches;
    size_t left = column > 0 ? column - 1 : 0, right = column + 1 < p->across ? column + 1 : column;
    for (size_t y = row > 0 ? row - 1 : 0; y <= row + 1 && y < p->down; y++)
        for (size_t x = left; x <= right; x++)
            if (w->redetection.track_of[y * p->across + x] < 0)
                return true;
    return false;
}

/* s of the pixels of a cell and of the voters around it; holes outside the image. */
static void gather(const ast_depth_frame *frame, size_t column, size_t row, float *restrict block) {
    float z[AST_BLOCK_HIGH * AST_BLOCK_WIDE];
    ast_cell_gather(frame->metres, frame->width, frame->height, column, row, z);
    for (size_t i = 0; i < AST_BLOCK_HIGH * AST_BLOCK_WIDE; i++) { /* the compiler makes vectors of it */
        float inverse = 1 / (z[i] > 0 ? z[i] : 1);
        block[i] = z[i] > 0 ? inverse : 0;
    }
}

/* The least and the greatest s of the pixels of a cell, and of a plane at its corners. */
typedef struct s_range {
    double least, most;
} s_range;

static s_range range_of_pixels(const float *block) {
    s_range found = {INFINITY, 0};
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++) {
        double s = (double)block[(i / AST_CELL + AST_VOTE_MARGIN) * AST_BLOCK_WIDE + i % AST_CELL + AST_VOTE_MARGIN];
        found.least = s > 0 && s < found.least ? s : found.least;
        found.most = s > found.most ? s : found.most;
    }
    return found;
}

static s_range range_of_plane(const ast_plane_fit *plane, double s) {
    double across = (AST_CELL - 1) * plane->slope_x, down = (AST_CELL - 1) * plane->slope_y;
    return (s_range){s + fmin(across, 0) + fmin(down, 0), s + fmax(across, 0) + fmax(down, 0)};
}

/* Adds the known planes that may cross the cell at the depth of its pixels. False if there is none. */
static bool list_views(const ast_frame_work *w, size_t column, size_t row, const float *block, cell_candidates *c) {
    double u = (double)(column * AST_CELL), v = (double)(row * AST_CELL), half = (AST_CELL - 1) / 2.0;
    s_range pixels = range_of_pixels(block);
    for (size_t i = 0; i < w->redetection.plane_count && c->count < MOST; i++) {
        const ast_projected_plane *view = &w->redetection.planes[i];
        if (has(c->tracks, c->patches, view->track) || !box_covers(w, view, u + half, v + half))
            continue;
        double s = ast_frame_s(w->frame, &view->fit, u, v);
        ast_plane_candidate one = ast_plane_candidate_of(w->frame, &view->fit, column, row, true);
        s_range plane = range_of_plane(&view->fit, s);
        if (plane.most < pixels.least - (double)one.limit || plane.least > pixels.most + (double)one.limit)
            continue;
        c->list[c->count] = one;
        c->views[c->count] = (int32_t)i;
        c->tracks[c->count++] = view->track;
    }
    return c->count > c->patches;
}

/* Whether most of the pixels without a plane lie on a known one. If only few do, an object merely crosses the plane. */
static bool is_filled(const ast_frame_work *w, size_t column, size_t row, size_t patches, const int32_t *winner) {
    const ast_depth_frame *frame = w->frame;
    size_t open = 0, filled = 0;
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++) {
        size_t u = column * AST_CELL + i % AST_CELL, v = row * AST_CELL + i / AST_CELL, at = v * frame->width + u;
        if (u >= frame->width || v >= frame->height || !(frame->metres[at] > 0) ||
            ast_frame_track_of(w, frame->leader[at]) >= 0)
            continue;
        open++;
        filled += winner[i] >= (int32_t)patches;
    }
    return (double)filled >= FILLED * (double)open;
}

/* claims: for each pixel the view that it changes to, -1 if it stays. False if every pixel stays. */
static bool claim(const ast_frame_work *w, size_t column, size_t row, const cell_candidates *c, const float *block,
                  int32_t *claims) {
    bool some = false;
    ast_cell_vote(w->kernels, block, c->list, c->count, c->patches, claims);
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++)
        some |= claims[i] >= (int32_t)c->patches;
    if (!some || !is_filled(w, column, row, c->patches, claims))
        return false;
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++)
        claims[i] = claims[i] >= (int32_t)c->patches ? c->views[claims[i]] : -1;
    return true;
}

static bool claim_cell(const ast_frame_work *w, size_t column, size_t row, int32_t *claims) {
    const ast_patches *p = &w->frame->patches;
    size_t cell = row * p->across + column;
    float block[AST_BLOCK_HIGH * AST_BLOCK_WIDE];
    cell_candidates c;
    bool hole = p->leader[cell] < 0 && p->moments[cell].n == 0;
    if (hole || !near_unassigned(w, column, row))
        return false;
    c.count = c.patches = ast_frame_leaders_around(w, column, row, c.leaders);
    for (size_t i = 0; i < c.count; i++)
        c.tracks[i] = ast_frame_track_of(w, c.leaders[i]);
    gather(w->frame, column, row, block);
    if (!list_views(w, column, row, block, &c))
        return false;
    for (size_t k = 0; k < c.patches; k++)
        c.list[k] = ast_plane_candidate_of(w->frame, &p->fits[c.leaders[k]], column, row, p->uncertain[c.leaders[k]]);
    return claim(w, column, row, &c, block, claims);
}

static void claim_row(void *data, size_t row) {
    ast_frame_work *w = data;
    ast_redetection *redetection = &w->redetection;
    size_t across = w->frame->patches.across;
    for (size_t column = 0; column < across; column++)
        redetection->claimed[row * across + column] =
            claim_cell(w, column, row, redetection->claims[row * across + column]);
}

/* ---- Pixels ------------------------------------------------------------------------------------------------------ */

/* Whether enough neighbouring cells contain pixels of the same plane. A single cell may be an object that crosses the
 * plane. */
static bool has_support(const ast_frame_work *w, size_t column, size_t row, int32_t view) {
    const ast_patches *p = &w->frame->patches;
    const ast_redetection *redetection = &w->redetection;
    size_t count = 0;
    for (size_t y = row - 1; y != row + 2; y++)
        for (size_t x = column - 1; x != column + 2; x++) { /* -1 wraps to a large number */
            size_t cell = y * p->across + x;
            bool other = x < p->across && y < p->down && (x != column || y != row);
            count += other && redetection->claimed[cell] && has(redetection->claims[cell], AST_CELL * AST_CELL, view);
        }
    return count >= SUPPORT;
}

static void add_pixel(ast_redetected_pixels *sum, double s, double on_plane) {
    sum->count++;
    sum->s += s;
    sum->least_s = on_plane < sum->least_s ? on_plane : sum->least_s;
}

static void write_cell(ast_frame_work *w, size_t column, size_t row) {
    const ast_depth_frame *frame = w->frame;
    ast_redetection *redetection = &w->redetection;
    size_t cell = row * frame->patches.across + column, cells = frame->patches.across * frame->patches.down;
    int32_t view = -1;
    bool supported = false;
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++) {
        size_t u = column * AST_CELL + i % AST_CELL, v = row * AST_CELL + i / AST_CELL, at = v * frame->width + u;
        int32_t claimed = redetection->claims[cell][i];
        if (claimed < 0)
            continue;
        if (claimed != view)
            supported = has_support(w, column, row, view = claimed);
        if (!supported)
            continue;
        add_pixel(&redetection->partial[row * redetection->plane_count + (size_t)view], 1 / (double)frame->metres[at],
                  ast_frame_s(frame, &redetection->planes[view].fit, (double)u, (double)v));
        redetection->leader[at] = (int32_t)cells + redetection->planes[view].track;
    }
}

static void write_row(void *data, size_t row) {
    ast_frame_work *w = data;
    const ast_depth_frame *frame = w->frame;
    ast_redetection *redetection = &w->redetection;
    size_t first = row * AST_CELL * frame->width, end = first + AST_CELL * frame->width;
    end = end < frame->width * frame->height ? end : frame->width * frame->height;
    memcpy(redetection->leader + first, frame->leader + first, (end - first) * sizeof *redetection->leader);
    for (size_t i = 0; i < redetection->plane_count; i++)
        redetection->partial[row * redetection->plane_count + i] = (ast_redetected_pixels){.least_s = INFINITY};
    for (size_t column = 0; column < frame->patches.across; column++)
        if (redetection->claimed[row * frame->patches.across + column])
            write_cell(w, column, row);
}

/* Which planes are in the image: those that have patches, and those with enough pixels. */
static void find_confirmed(ast_frame_work *w) {
    ast_redetection *redetection = &w->redetection;
    double least = LEAST * AST_MIN_PATCH_SHARE * (double)(w->frame->width * w->frame->height);
    for (size_t i = 0; i < redetection->plane_count; i++) {
        ast_projected_plane *view = &redetection->planes[i];
        view->pixels.least_s = INFINITY;
        for (size_t row = 0; row < w->frame->patches.down; row++) {
            const ast_redetected_pixels *sum = &redetection->partial[row * redetection->plane_count + i];
            view->pixels.count += sum->count;
            view->pixels.s += sum->s;
            view->pixels.least_s = sum->least_s < view->pixels.least_s ? sum->least_s : view->pixels.least_s;
        }
        bool patched = false;
        for (size_t k = 0; k < w->patch_count; k++)
            patched |= w->patches[k].track == view->track;
        view->found = view->pixels.count > 0 && (patched || view->pixels.count >= least);
    }
}

/* Pixels of planes that were not confirmed return to their patches. */
static void restore_row(void *data, size_t row) {
    ast_frame_work *w = data;
    const ast_depth_frame *frame = w->frame;
    ast_redetection *redetection = &w->redetection;
    size_t across = frame->patches.across;
    for (size_t cell = row * across; cell < (row + 1) * across; cell++)
        for (size_t i = 0; redetection->claimed[cell] && i < AST_CELL * AST_CELL; i++) {
            size_t at = (row * AST_CELL + i / AST_CELL) * frame->width + cell % across * AST_CELL + i % AST_CELL;
            int32_t view = redetection->claims[cell][i];
            if (view >= 0 && !redetection->planes[view].found)
                redetection->leader[at] = frame->leader[at];
        }
}
