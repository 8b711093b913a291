/* SPDX-License-Identifier: MIT
 *
 * From patches to normals; planes_cells.c makes the patches and planes_grow.c joins them. A patch that is too narrow
 * for its distance (a strip of pixels along an edge, a wall at the end of a corridor) has no reliable normal and gives
 * none. */
#include "planes.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define NEAR 2.0        /* tolerances: the largest distance of a pixel from its plane, */
#define DEVIATIONS 3.0  /* or, if that is more, standard deviations of the noise */
#define MOST_ERROR 0.15 /* radians: the largest error of a normal if the plane is bent that much */

static bool is_complete(const ast_planes *p) {
    return p->patches && p->planes && p->samples && p->pairs && p->seen && p->allowed && p->least && p->leader &&
           p->leaders && p->choice && p->changed && p->normals && p->uncertain && p->open && p->book;
}

bool ast_planes_prepare(ast_planes *p, size_t width, size_t height) {
    p->across = (width + AST_CELL - 1) / AST_CELL;
    p->down = (height + AST_CELL - 1) / AST_CELL;
    size_t cells = p->across * p->down;
    if (cells <= p->capacity)
        return true;
    ast_planes_release(p);
    p->patches = ast_allocate(cells, sizeof *p->patches);
    p->planes = ast_allocate(cells, sizeof *p->planes);
    p->samples = ast_allocate(cells, sizeof *p->samples);
    p->pairs = ast_allocate(2 * cells, sizeof *p->pairs);
    p->seen = ast_allocate(AST_PLACES, sizeof *p->seen);
    p->allowed = ast_allocate(cells, sizeof *p->allowed);
    p->least = ast_allocate(cells, sizeof *p->least);
    p->leader = ast_allocate(cells, sizeof *p->leader);
    p->leaders = ast_allocate(cells, sizeof *p->leaders);
    p->choice = ast_allocate(cells, sizeof *p->choice);
    p->changed = ast_allocate(cells, sizeof *p->changed);
    p->normals = ast_allocate(3 * cells, sizeof *p->normals);
    p->uncertain = ast_allocate(cells, sizeof *p->uncertain);
    p->open = ast_allocate(cells, sizeof *p->open);
    p->book = ast_allocate(1, sizeof *p->book);
    if (!is_complete(p)) {
        ast_planes_release(p);
        return false;
    }
    p->capacity = cells;
    return true;
}

void ast_planes_release(ast_planes *p) {
    ast_free_all(p->patches, p->planes, p->samples, p->pairs, p->seen, p->allowed, p->least, p->leader, p->leaders,
                 p->choice, p->changed, p->normals, p->uncertain, p->open, p->book);
    *p = (ast_planes){.across = p->across, .down = p->down};
}

/* ---- The flow -------------------------------------------------------------------------------------------------- */

typedef struct aiming {
    ast_depth *depth;
    float *normals;
} aiming;

static void aim_patches(const ast_depth *depth);
static void write_row(void *data, size_t row, int worker);

void ast_planes_find_normals(ast_depth *depth, const ast_depth_image *image, float *normals) {
    aiming a = {depth, normals};
    ast_cells_job cells = {depth, image};
    ast_pool_run(depth->pool, depth->planes.down + 1, ast_planes_sum_cells, &cells);
    ast_planes_judge_cells(&depth->planes);
    ast_planes_grow(&depth->planes, depth->pool);
    aim_patches(depth);
    ast_pool_run(depth->pool, depth->planes.down, write_row, &a);
}

/* ---- Normals of patches ---------------------------------------------------------------------------------------- */

/* The standard deviation of the pixels of a patch along its narrowest direction. */
static double narrowness(const ast_patch *p) {
    double mx = p->x / p->n, my = p->y / p->n;
    double xx = p->xx / p->n - mx * mx, xy = p->xy / p->n - mx * my, yy = p->yy / p->n - my * my;
    double least = (xx + yy) / 2 - sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
    return sqrt(least > 0 ? least : 0);
}

static double height_error(const ast_planes *p, size_t cell) {
    double n = p->patches[cell].n, s = p->patches[cell].s / n;
    return ast_noise_height(&p->book->noise, s, ast_plane_slope2(&p->planes[cell]), n);
}

/* As in normals.c: -(fx s_u, fy s_v, s at the principal point); its length is 1 / distance of the plane. */
static void aim_patch(const ast_depth *depth, size_t cell) {
    const ast_camera *camera = &depth->options.camera;
    const ast_plane *plane = &depth->planes.planes[cell];
    float *normal = depth->planes.normals + 3 * cell;
    double cx = camera->cx - ast_middle(depth->width), cy = camera->cy - ast_middle(depth->height);
    double n[3] = {camera->fx * plane->slope_x, camera->fy * plane->slope_y,
                   plane->level + plane->slope_x * cx + plane->slope_y * cy};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    double focal = camera->fx > camera->fy ? camera->fx : camera->fy,
           error = focal * height_error(&depth->planes, cell);
    double ends = narrowness(&depth->planes.patches[cell]) * length;
    bool sure = error < MOST_ERROR * ends;
    bool useful = sure || (depth->options.smooth == AST_SMOOTH_PLANES && error < AST_MOST_LATE_ERROR * ends);
    depth->planes.uncertain[cell] = !sure;
    for (int d = 0; d < 3; d++)
        normal[d] = useful ? (float)(-n[d] / length) : NAN;
}

static void aim_patches(const ast_depth *depth) {
    const ast_planes *p = &depth->planes;
    for (size_t k = 0; k < p->across * p->down; k++)
        if (p->leader[k] == (int32_t)k)
            aim_patch(depth, k);
}

void ast_planes_count(const ast_depth *depth, ast_depth_report *report) {
    const ast_planes *p = &depth->planes;
    double least = AST_LEAST_SHARE * (double)(depth->width * depth->height), flat = 0;
    for (size_t k = 0; k < p->across * p->down; k++) {
        if (p->leader[k] != (int32_t)k)
            continue;
        size_t n = (size_t)p->patches[k].n;
        flat += p->patches[k].n;
        if (p->patches[k].n < least)
            report->small += n;
        else if (p->uncertain[k])
            report->uncertain += n;
    }
    report->uneven = report->pixels - (size_t)flat;
}

/* ---- Normals of pixels ----------------------------------------------------------------------------------------- */

static bool known(const ast_candidate *list, size_t count, const float *normal) {
    for (size_t i = 0; i < count; i++)
        if (list[i].normal == normal)
            return true;
    return false;
}

float ast_planes_limit(const ast_noise *noise, double s, const ast_plane *plane, bool uncertain) {
    double there = s > 0 ? s : 0, tolerance = ast_noise_tolerance(noise, there);
    double noisy = DEVIATIONS * sqrt(ast_noise_variance(noise, there, ast_plane_slope2(plane)));
    double most = NEAR * tolerance > noisy ? NEAR * tolerance : noisy;
    return (float)(uncertain ? AST_BENT * tolerance + noisy : most);
}

/* The plane of the cell itself first, then those of the cells around it. A plane with an unreliable normal takes part
 * too: its pixels get no normal, instead of the normal of the wall beside it. */
static size_t find_candidates(const ast_depth *depth, size_t column, size_t row, ast_candidate *list) {
    static const int around[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    const ast_planes *p = &depth->planes;
    double x = (double)(column * AST_CELL) - ast_middle(depth->width);
    double y = (double)(row * AST_CELL) - ast_middle(depth->height);
    double least = AST_LEAST_SHARE * (double)(depth->width * depth->height);
    size_t count = 0;
    for (int i = 0; i < 9; i++) {
        size_t c = column + (size_t)around[i][0], r = row + (size_t)around[i][1]; /* -1 wraps to a large number */
        int32_t leader = c < p->across && r < p->down ? p->leader[r * p->across + c] : -1;
        if (leader < 0 || known(list, count, p->normals + 3 * leader) || p->patches[leader].n < least)
            continue;
        const ast_plane *plane = &p->planes[leader];
        double s = plane->level + plane->slope_x * x + plane->slope_y * y;
        list[count++] =
            (ast_candidate){(float)s, (float)plane->slope_x, (float)plane->slope_y,
                            ast_planes_limit(&p->book->noise, s, plane, p->uncertain[leader]), p->normals + 3 * leader};
    }
    return count;
}

/* s of the pixels of a cell and of the voters around it; holes outside the image. */
static void gather(const ast_depth *depth, size_t column, size_t row, float *block) {
    size_t u = column * AST_CELL - AST_VOTERS, v = row * AST_CELL - AST_VOTERS; /* -1 wraps to a large number */
    bool inside = u < depth->width && v < depth->height && u + AST_BLOCK_WIDE <= depth->width &&
                  v + AST_BLOCK_HIGH <= depth->height;
    for (size_t j = 0; j < AST_BLOCK_HIGH; j++) {
        float *to = block + j * AST_BLOCK_WIDE;
        if (inside)
            memcpy(to, depth->inverse + (v + j) * depth->width + u, AST_BLOCK_WIDE * sizeof *to);
        for (size_t i = 0; !inside && i < AST_BLOCK_WIDE; i++)
            to[i] = v + j < depth->height && u + i < depth->width ? depth->inverse[(v + j) * depth->width + u + i] : 0;
    }
}

/* A cell where several planes meet, or an uncertain one is. */
typedef struct meeting {
    size_t column, row, count;
    ast_candidate list[9];                        /* (count) */
    float block[AST_BLOCK_HIGH * AST_BLOCK_WIDE]; /* s of its pixels and of the voters around it */
    int32_t winner[AST_CELL * AST_CELL];          /* the plane of each pixel, -1 for none */
    int32_t inside[AST_CELL * AST_CELL];          /* whether it may belong to it, if that one is uncertain */
} meeting;

/* The plane of each pixel: among the planes that the pixel is near enough to, the one nearest to the 5 x 5 pixels
 * around it, the first among equals. Next to an edge between walls a single pixel cannot decide. */
static void vote(const ast_depth *depth, meeting *c) {
    float least[AST_CELL * AST_CELL], most = 0;
    gather(depth, c->column, c->row, c->block);
    for (size_t k = 0; k < c->count; k++)
        most = c->list[k].limit > most ? c->list[k].limit : most;
    for (size_t i = 0; i < AST_CELL * AST_CELL; i++) {
        c->winner[i] = -1;
        least[i] = INFINITY;
    }
    for (size_t k = 0; k < c->count; k++)
        depth->kernels->plane_vote(c->block, &c->list[k], most, (int32_t)k, least, c->winner);
}

/* The cell that leads the patch of a candidate. */
static int32_t leader_of(const ast_depth *depth, const ast_candidate *c) {
    return (int32_t)((c->normal - depth->planes.normals) / 3);
}

/* The patch of each pixel of a cell that has one candidate: a pixel with a normal lies on it. */
static void note_leader(const ast_depth *depth, size_t at, size_t rows, int32_t leader, const float *normals) {
    for (size_t j = 0; j < rows; j++)
        for (size_t i = at + j * depth->width; i < at + j * depth->width + AST_CELL; i++)
            depth->cut.leader[i] = isnan(normals[3 * i]) ? -1 : leader;
}

static bool is_uncertain(const ast_planes *p, const ast_candidate *plane) {
    return p->uncertain[(plane->normal - p->normals) / 3];
}

/* Which pixels of a block lie on a plane. Those outside the image hinder nobody. */
static void mark_near(const ast_depth *depth, const meeting *c, const ast_candidate *plane,
                      int32_t near[AST_BLOCK_HIGH][AST_BLOCK_WIDE]) {
    size_t u = c->column * AST_CELL - AST_VOTERS, v = c->row * AST_CELL - AST_VOTERS; /* -1 wraps to a large number */
    bool border = u >= depth->width || v >= depth->height || u + AST_BLOCK_HIGH > depth->width ||
                  v + AST_BLOCK_HIGH > depth->height;
    for (size_t j = 0; j < AST_BLOCK_HIGH; j++) {
        const float *s = c->block + j * AST_BLOCK_WIDE;
        float start = plane->level + (float)((int)j - AST_VOTERS) * plane->slope_y;
        for (int i = 0; i < AST_BLOCK_WIDE; i++) {
            float away = fabsf(start + (float)(i - AST_VOTERS) * plane->slope_x - s[i]);
            near[j][i] = (s[i] > 0) & (away < plane->limit);
        }
        for (size_t i = 0; border && i < AST_BLOCK_WIDE; i++)
            near[j][i] |= u + i >= depth->width || v + j >= depth->height;
    }
}

/* A pixel of an uncertain plane belongs to it if the eight pixels two steps away lie on it too. Otherwise it may be on
 * the steep side of a box, which its sensor hardly tells from the front. */
static void mark_inside(const ast_depth *depth, meeting *c) {
    int32_t near[AST_BLOCK_HIGH][AST_BLOCK_WIDE];
    for (size_t k = 0; k < c->count; k++) {
        if (!is_uncertain(&depth->planes, &c->list[k]))
            continue;
        mark_near(depth, c, &c->list[k], near);
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

static void clear_edges(const ast_depth *depth, size_t column, size_t row) {
    for (size_t k = 0; k < AST_CELL * AST_CELL; k++) {
        size_t u = column * AST_CELL + k % AST_CELL, v = row * AST_CELL + k / AST_CELL;
        uint8_t *late = u < depth->width && v < depth->height ? depth->runs.late + v * depth->width + u : NULL;
        if (late && *late == AST_EDGE)
            *late = 0;
    }
}

/* The normal of pixel k of a cell, which is pixel `at` of the image. Pixels at the edge of an uncertain plane have
 * none.
 */
static const float *normal_of(const ast_depth *depth, const meeting *c, size_t k, size_t at) {
    static const float none[3] = {NAN, NAN, NAN};
    int32_t won = c->winner[k];
    if (won < 0)
        return none;
    if (!depth->runs.late || !is_uncertain(&depth->planes, &c->list[won]))
        return c->list[won].normal;
    depth->runs.late[at] = !c->inside[k] ? AST_EDGE : !isnan(c->list[won].normal[0]);
    return c->inside[k] ? c->list[won].normal : none;
}

/* Returns the pixels that have depth, but no normal, other than those at edges. */
static size_t write_cell(const ast_depth *depth, const meeting *c, float *normals) {
    size_t open = 0, edges = 0;
    for (size_t k = 0; k < AST_CELL * AST_CELL; k++) {
        size_t u = c->column * AST_CELL + k % AST_CELL, v = c->row * AST_CELL + k / AST_CELL, at = v * depth->width + u;
        if (u >= depth->width || v >= depth->height)
            continue;
        const float *normal = normal_of(depth, c, k, at);
        bool edge = depth->runs.late && depth->runs.late[at] == AST_EDGE;
        memcpy(normals + 3 * at, normal, 3 * sizeof *normal);
        if (depth->options.planes)
            depth->cut.leader[at] = c->winner[k] < 0 ? -1 : leader_of(depth, &c->list[c->winner[k]]);
        edges += edge;
        open += !edge && isnan(normal[0]) && depth->inverse[at] > 0;
    }
    if (edges && !open)
        clear_edges(depth, c->column, c->row);
    return open;
}

/* The normals of a cell; returns the pixels that have depth, but no normal. */
static size_t aim_cell(const ast_depth *depth, size_t column, size_t row, float *normals) {
    meeting c;
    size_t u = column * AST_CELL, v = row * AST_CELL;
    c.column = column;
    c.row = row;
    c.count = find_candidates(depth, column, row, c.list);
    if (c.count == 1 && !is_uncertain(&depth->planes, c.list) && u + AST_CELL <= depth->width) {
        size_t rows = depth->height - v < AST_CELL ? depth->height - v : AST_CELL, at = v * depth->width + u;
        size_t open = depth->kernels->plane_fill(depth->inverse + at, depth->width, rows, c.list, normals + 3 * at);
        if (depth->options.planes)
            note_leader(depth, at, rows, leader_of(depth, c.list), normals);
        return open;
    }
    vote(depth, &c);
    if (depth->runs.late)
        mark_inside(depth, &c);
    return write_cell(depth, &c, normals);
}

static void write_row(void *data, size_t row, int worker) {
    const aiming *a = data;
    const ast_depth *depth = a->depth;
    const ast_planes *p = &depth->planes;
    size_t first = row * AST_CELL, last = first + AST_CELL < depth->height ? first + AST_CELL : depth->height;
    (void)worker;
    if (depth->runs.late)
        memset(depth->runs.late + first * depth->width, 0, (last - first) * depth->width);
    for (size_t column = 0; column < p->across; column++)
        p->open[row * p->across + column] = aim_cell(depth, column, row, a->normals) > 0;
}
