/* SPDX-License-Identifier: MIT
 *
 * From patches to normals; planes_cells.c makes the patches and planes_grow.c joins them. A patch that is too narrow
 * for its distance (a strip of pixels along an edge, a wall at the end of a corridor) has no reliable normal and gives
 * none. */
#include "frame_geometry.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define NEAR 2.0         /* tolerances: the largest distance of a pixel from its plane, */
#define DEVIATIONS 3.0   /* standard deviations of the noise; the larger of the two limits applies */
#define MOST_ERROR 0.15  /* radians: largest error of a reliable normal, */
#define LARGE_ERROR 0.2  /* of a patch that a person sees at once, such as the end of a corridor 9 m away, */
#define LARGE_SHARE 0.04 /* of the image */
#define NEARER 0.7f      /* a pixel leaves its patch only if the known plane is nearer by this factor */

bool ast_patches_prepare(ast_patches *p, size_t width, size_t height) {
    p->across = ast_cells_along(width);
    p->down = ast_cells_along(height);
    size_t cells = p->across * p->down;
    return ast_ensure_arrays(&p->capacity, cells, AST_REQUEST(p->moments, cells), AST_REQUEST(p->fits, cells),
                             AST_REQUEST(p->leader, cells), AST_REQUEST(p->normals, 3 * cells),
                             AST_REQUEST(p->uncertain, cells));
}

void ast_patches_release(ast_patches *p) {
    ast_free_all(p->moments, p->fits, p->leader, p->normals, p->uncertain);
}

bool ast_patch_work_prepare(ast_patch_work *w, size_t width, size_t height) {
    size_t cells = ast_cells_along(width) * ast_cells_along(height);
    return ast_ensure_arrays(&w->capacity, cells, AST_REQUEST(w->counts, 1), AST_REQUEST(w->samples, cells),
                             AST_REQUEST(w->pairs, 2 * cells), AST_REQUEST(w->pair_slots, AST_PAIR_SLOTS),
                             AST_REQUEST(w->allowed_increase, cells), AST_REQUEST(w->choice_cost, cells),
                             AST_REQUEST(w->leaders, cells), AST_REQUEST(w->choice, cells),
                             AST_REQUEST(w->changed_round, cells), AST_REQUEST(w->has_unassigned, cells));
}

void ast_patch_work_release(ast_patch_work *w) {
    ast_free_all(w->counts, w->samples, w->pairs, w->pair_slots, w->allowed_increase, w->choice_cost, w->leaders,
                 w->choice, w->changed_round, w->has_unassigned);
}

/* ---- The flow -------------------------------------------------------------------------------------------------- */

typedef struct normals_job {
    const ast_depth *depth;
    const ast_depth_frame *frame;
    uint8_t *late; /* frame->late, or NULL if no pixel is late */
    float *normals;
} normals_job;

static void find_patch_normals(const normals_job *job);
static void write_row(void *data, size_t row);

void ast_planes_find_normals(ast_depth *depth, const ast_depth_image *image, ast_depth_frame *frame, float *normals) {
    normals_job job = {depth, frame, depth->options.smooth == AST_SMOOTH_PLANES ? frame->late : NULL, normals};
    ast_cells_job cells = {depth, image, &frame->patches};
    ast_pool_each(depth->pool, frame->patches.down + 1, 1, ast_planes_sum_cells, &cells);
    ast_planes_judge_cells(&frame->patches, &depth->patch_work);
    ast_planes_grow(&frame->patches, &depth->patch_work, depth->pool);
    find_patch_normals(&job);
    ast_pool_each(depth->pool, frame->patches.down, 1, write_row, &job);
}

/* ---- Normals of patches ---------------------------------------------------------------------------------------- */

/* The standard deviation of the pixels of a patch along its narrowest direction. */
static double narrowness(const ast_pixel_moments *p) {
    double mx = p->x / p->n, my = p->y / p->n;
    double xx = p->xx / p->n - mx * mx, xy = p->xy / p->n - mx * my, yy = p->yy / p->n - my * my;
    double least = (xx + yy) / 2 - sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
    return sqrt(least > 0 ? least : 0);
}

static double height_error(const ast_patches *p, size_t cell) {
    double n = p->moments[cell].n, s = p->moments[cell].s / n;
    return ast_noise_fit_error(&p->noise, s, ast_plane_fit_slope2(&p->fits[cell]), n);
}

/* As in normals.c: -(fx s_u, fy s_v, s at the principal point); its length is 1 / distance of the plane. */
static void find_patch_normal(const normals_job *job, size_t cell) {
    const ast_patches *p = &job->frame->patches;
    const ast_camera *camera = &job->frame->camera;
    double n[3], length = ast_frame_normal(job->frame, &p->fits[cell], n);
    double focal = camera->fx > camera->fy ? camera->fx : camera->fy, error = focal * height_error(p, cell);
    double ends = narrowness(&p->moments[cell]) * length;
    bool large = p->moments[cell].n >= LARGE_SHARE * (double)(job->frame->width * job->frame->height);
    bool sure = error < (large ? LARGE_ERROR : MOST_ERROR) * ends;
    bool useful = sure || (job->late && error < AST_MAX_UNCERTAIN_ERROR * ends);
    p->uncertain[cell] = !sure;
    for (int d = 0; d < 3; d++)
        p->normals[3 * cell + (size_t)d] = useful ? (float)n[d] : NAN;
}

static void find_patch_normals(const normals_job *job) {
    const ast_patches *p = &job->frame->patches;
    for (size_t k = 0; k < p->across * p->down; k++)
        if (p->leader[k] == (int32_t)k)
            find_patch_normal(job, k);
}

void ast_planes_count(const ast_depth_frame *frame, ast_depth_report *report) {
    const ast_patches *p = &frame->patches;
    double least = AST_MIN_PATCH_SHARE * (double)(frame->width * frame->height);
    for (size_t k = 0; k < p->across * p->down; k++) {
        size_t n = p->leader[k] < 0 || p->leader[k] == (int32_t)k ? (size_t)p->moments[k].n : 0;
        report->pixels += n;
        if (p->leader[k] < 0)
            report->uneven += n;
        else if (n > 0 && p->moments[k].n < least)
            report->small += n;
        else if (n > 0 && p->uncertain[k])
            report->uncertain += n;
    }
}

/* ---- Normals of pixels ----------------------------------------------------------------------------------------- */

static bool is_listed(const ast_plane_candidate *list, size_t count, const float *normal) {
    for (size_t i = 0; i < count; i++)
        if (list[i].normal == normal)
            return true;
    return false;
}

float ast_plane_inlier_threshold(const ast_noise *noise, double s, const ast_plane_fit *plane, bool uncertain) {
    double there = s > 0 ? s : 0, tolerance = ast_noise_tolerance(noise, there);
    double noisy = DEVIATIONS * sqrt(ast_noise_variance(noise, there, ast_plane_fit_slope2(plane)));
    double most = NEAR * tolerance > noisy ? NEAR * tolerance : noisy;
    return (float)(uncertain ? AST_BENT * tolerance + noisy : most);
}

ast_plane_candidate ast_plane_candidate_of(const ast_depth_frame *frame, const ast_plane_fit *fit, size_t column,
                                           size_t row, bool uncertain) {
    double s = ast_frame_s(frame, fit, (double)(column * AST_CELL), (double)(row * AST_CELL));
    return (ast_plane_candidate){(float)s, (float)fit->slope_x, (float)fit->slope_y,
                                 ast_plane_inlier_threshold(&frame->patches.noise, s, fit, uncertain), NULL};
}

/* The plane of the cell itself first, then those of the cells around it. Planes with an unreliable normal are
 * candidates too: otherwise their pixels would get the normal of the wall beside them. */
static size_t find_candidates(const ast_depth_frame *frame, size_t column, size_t row, ast_plane_candidate *list) {
    static const int around[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    const ast_patches *p = &frame->patches;
    double least = AST_MIN_PATCH_SHARE * (double)(frame->width * frame->height);
    size_t count = 0;
    for (int i = 0; i < 9; i++) {
        size_t c = column + (size_t)around[i][0], r = row + (size_t)around[i][1]; /* -1 wraps to a large number */
        int32_t leader = c < p->across && r < p->down ? p->leader[r * p->across + c] : -1;
        if (leader < 0 || is_listed(list, count, p->normals + 3 * leader) || p->moments[leader].n < least)
            continue;
        list[count] = ast_plane_candidate_of(frame, &p->fits[leader], column, row, p->uncertain[leader]);
        list[count++].normal = p->normals + 3 * leader;
    }
    return count;
}

void ast_cell_gather(const float *image, size_t width, size_t height, size_t column, size_t row, float *block) {
    size_t left = column * AST_CELL - AST_VOTE_MARGIN, top = row * AST_CELL - AST_VOTE_MARGIN; /* -1 wraps around */
    bool whole = left < width && left + AST_BLOCK_WIDE <= width;
    for (size_t j = 0; j < AST_BLOCK_HIGH; j++) {
        size_t y = top + j;
        float *to = block + j * AST_BLOCK_WIDE;
        if (whole && y < height)
            memcpy(to, image + y * width + left, AST_BLOCK_WIDE * sizeof *to);
        else
            for (size_t i = 0; i < AST_BLOCK_WIDE; i++)
                to[i] = y < height && left + i < width ? image[y * width + (left + i)] : 0;
    }
}

void ast_cell_vote(const ast_image_kernels *kernels, const float *block, const ast_plane_candidate *list, size_t count,
                   size_t patches, int32_t *winner) {
    float least[AST_CELL * AST_CELL], most = 0;
    for (size_t k = 0; k < count; k++)
        most = list[k].limit > most ? list[k].limit : most;
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++) {
        winner[i] = -1;
        least[i] = INFINITY;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; k == patches && i < AST_CELL * AST_CELL; i++)
            least[i] *= NEARER;
        kernels->plane_vote(block, &list[k], most, (int32_t)k, least, winner);
    }
}

/* A cell with several candidate planes, or with an uncertain one. */
typedef struct cell_vote {
    size_t column, row, count;
    ast_plane_candidate list[9];                  /* (count) */
    float block[AST_BLOCK_HIGH * AST_BLOCK_WIDE]; /* s of its pixels and of the voters around it */
    int32_t winner[AST_CELL * AST_CELL];          /* the plane of each pixel, -1 for none */
    int32_t inside[AST_CELL * AST_CELL];          /* if the winner is uncertain: whether the pixel may belong to it */
} cell_vote;

/* The cell that leads the patch of a candidate. */
static int32_t leader_of(const ast_depth_frame *frame, const ast_plane_candidate *c) {
    return (int32_t)((c->normal - frame->patches.normals) / 3);
}

/* Writes the patch of each pixel of a cell with a single candidate: pixels with a normal lie on it. */
static void note_leader(const ast_depth_frame *frame, size_t at, size_t rows, int32_t leader, const float *normals) {
    for (size_t j = 0; j < rows; j++)
        for (size_t i = at + j * frame->width; i < at + j * frame->width + AST_CELL; i++)
            frame->leader[i] = isnan(normals[3 * i]) ? -1 : leader;
}

static bool is_uncertain(const ast_depth_frame *frame, const ast_plane_candidate *plane) {
    return frame->patches.uncertain[leader_of(frame, plane)];
}

/* Which pixels of a block lie on a plane. Pixels outside the image count as being on the plane. */
static void mark_near(const ast_depth_frame *frame, const cell_vote *c, const ast_plane_candidate *plane,
                      int32_t near[AST_BLOCK_HIGH][AST_BLOCK_WIDE]) {
    size_t u = c->column * AST_CELL - AST_VOTE_MARGIN,
           v = c->row * AST_CELL - AST_VOTE_MARGIN; /* -1 wraps to a large number */
    bool border = u >= frame->width || v >= frame->height || u + AST_BLOCK_HIGH > frame->width ||
                  v + AST_BLOCK_HIGH > frame->height;
    for (size_t j = 0; j < AST_BLOCK_HIGH; j++) {
        const float *s = c->block + j * AST_BLOCK_WIDE;
        float start = plane->level + (float)((int)j - AST_VOTE_MARGIN) * plane->slope_y;
        for (int i = 0; i < AST_BLOCK_WIDE; i++) {
            float away = fabsf(start + (float)(i - AST_VOTE_MARGIN) * plane->slope_x - s[i]);
            near[j][i] = (s[i] > 0) & (away < plane->limit);
        }
        for (size_t i = 0; border && i < AST_BLOCK_WIDE; i++)
            near[j][i] |= u + i >= frame->width || v + j >= frame->height;
    }
}

/* A pixel of an uncertain plane belongs to it if the eight pixels two steps away lie on it too. Otherwise it may be on
 * the steep side of a box, which the sensor can hardly distinguish from the front. */
static void mark_inside(const ast_depth_frame *frame, cell_vote *c) {
    int32_t near[AST_BLOCK_HIGH][AST_BLOCK_WIDE];
    for (size_t k = 0; k < c->count; k++) {
        if (!is_uncertain(frame, &c->list[k]))
            continue;
        mark_near(frame, c, &c->list[k], near);
        for (size_t j = 0; j < AST_CELL; j++) {
            const int32_t *above = near[j], *beside = near[j + 2], *below = near[j + 4];
            for (size_t i = 0; i < AST_CELL; i++) {
                int32_t all = above[i] & above[i + 2] & above[i + 4] & beside[i] & beside[i + 4] & below[i] &
                              below[i + 2] & below[i + 4];
                size_t at = j * AST_CELL + i;
                c->inside[at] = c->winner[at] == (int32_t)k ? all : c->inside[at];
            }
        }
    }
}

static void clear_edges(const normals_job *job, size_t column, size_t row) {
    const ast_depth_frame *frame = job->frame;
    for (size_t k = 0; k < AST_CELL * AST_CELL; k++) {
        size_t u = column * AST_CELL + k % AST_CELL, v = row * AST_CELL + k / AST_CELL;
        uint8_t *late = u < frame->width && v < frame->height ? job->late + v * frame->width + u : NULL;
        if (late && *late == AST_LATE_NO_NORMAL)
            *late = 0;
    }
}

/* The normal of pixel k of a cell, which is pixel `at` of the image. Pixels at the edge of an uncertain plane have
 * none. */
static const float *normal_of(const normals_job *job, const cell_vote *c, size_t k, size_t at) {
    static const float none[3] = {NAN, NAN, NAN};
    int32_t won = c->winner[k];
    if (won < 0)
        return none;
    if (!job->late || !is_uncertain(job->frame, &c->list[won]))
        return c->list[won].normal;
    job->late[at] = !c->inside[k] ? AST_LATE_NO_NORMAL : !isnan(c->list[won].normal[0]);
    return c->inside[k] ? c->list[won].normal : none;
}

/* Returns the number of pixels with depth but no normal, without those marked AST_MARK_NO_NORMAL. */
static size_t write_voted(const normals_job *job, const cell_vote *c) {
    const ast_depth_frame *frame = job->frame;
    size_t unassigned = 0, edges = 0;
    for (size_t k = 0; k < AST_CELL * AST_CELL; k++) {
        size_t u = c->column * AST_CELL + k % AST_CELL, v = c->row * AST_CELL + k / AST_CELL, at = v * frame->width + u;
        if (u >= frame->width || v >= frame->height)
            continue;
        const float *normal = normal_of(job, c, k, at);
        bool edge = job->late && job->late[at] == AST_LATE_NO_NORMAL;
        memcpy(job->normals + 3 * at, normal, 3 * sizeof *normal);
        if (frame->has_planes)
            frame->leader[at] = c->winner[k] < 0 ? -1 : leader_of(frame, &c->list[c->winner[k]]);
        edges += edge;
        unassigned += !edge && isnan(normal[0]) && job->depth->inverse[at] > 0;
    }
    if (edges && !unassigned)
        clear_edges(job, c->column, c->row);
    return unassigned;
}

/* The normals of a cell; returns the pixels that have depth, but no normal. */
static size_t write_cell(const normals_job *job, size_t column, size_t row) {
    const ast_depth *depth = job->depth;
    const ast_depth_frame *frame = job->frame;
    cell_vote c;
    size_t u = column * AST_CELL, v = row * AST_CELL;
    c.column = column;
    c.row = row;
    c.count = find_candidates(frame, column, row, c.list);
    if (c.count == 1 && !is_uncertain(frame, c.list) && u + AST_CELL <= frame->width) {
        size_t rows = frame->height - v < AST_CELL ? frame->height - v : AST_CELL, at = v * frame->width + u;
        size_t unassigned = depth->kernels->plane_fill_count_outliers(depth->inverse + at, frame->width, rows, c.list,
                                                                      job->normals + 3 * at);
        if (frame->has_planes)
            note_leader(frame, at, rows, leader_of(frame, c.list), job->normals);
        return unassigned;
    }
    ast_cell_gather(depth->inverse, frame->width, frame->height, column, row, c.block);
    ast_cell_vote(depth->kernels, c.block, c.list, c.count, c.count, c.winner);
    if (job->late)
        mark_inside(frame, &c);
    return write_voted(job, &c);
}

static void write_row(void *data, size_t row) {
    const normals_job *job = data;
    const ast_depth_frame *frame = job->frame;
    size_t first = row * AST_CELL, last = first + AST_CELL < frame->height ? first + AST_CELL : frame->height;
    size_t across = frame->patches.across;
    if (job->late)
        memset(job->late + first * frame->width, 0, (last - first) * frame->width);
    for (size_t column = 0; column < across; column++)
        job->depth->patch_work.has_unassigned[row * across + column] = write_cell(job, column, row) > 0;
}
