/* SPDX-License-Identifier: MIT
 *
 * The patch of each pixel. planes.c has given every pixel on a plane the normal of that plane, with the same bits, so
 * the normals say which of the patches around a cell a pixel belongs to. A patch whose own normal is not reliable, such
 * as a wall at the end of a corridor, gave none; the pixels of its cells that lie on it belong to it. */
#include "frame_planes.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE (1.0 / 480) /* of the image, as in planes.c */
#define PART 128                /* cells side by side that are done together */
#define NEAR 2.0                /* epsilons: the largest distance of a pixel from its plane, as there */

bool ast_frame_cut_prepare(ast_cut *cut, size_t width, size_t height, bool normals) {
    size_t pixels = width * height;
    bool held = pixels <= cut->capacity && (cut->normals || !normals);
    if (held)
        return true;
    ast_frame_cut_release(cut);
    cut->leader = ast_allocate(pixels, sizeof *cut->leader);
    cut->metres = ast_allocate(pixels, sizeof *cut->metres);
    cut->normals = normals ? ast_allocate(3 * pixels, sizeof *cut->normals) : NULL;
    if (!cut->leader || !cut->metres || (normals && !cut->normals)) {
        ast_frame_cut_release(cut);
        return false;
    }
    cut->capacity = pixels;
    return true;
}

void ast_frame_cut_release(ast_cut *cut) {
    ast_free_all(cut->leader, cut->metres, cut->normals);
    *cut = (ast_cut){0};
}

typedef struct cutting {
    ast_depth *depth;
    const ast_depth_image *image;
    const float *normals;
} cutting;

static void cut_row(void *data, size_t row, int worker);

void ast_frame_cut(ast_depth *depth, const ast_depth_image *image, const float *normals) {
    cutting c = {depth, image, normals};
    ast_pool_run(depth->pool, depth->planes.down, cut_row, &c);
    depth->cut.width = depth->width;
    depth->cut.height = depth->height;
}

/* The patches of a cell and of the cells around it that are large enough and have a normal. */
static size_t find_leaders(const ast_depth *depth, size_t column, size_t row, int32_t *list) {
    const ast_planes *p = &depth->planes;
    double least = LEAST_SHARE * (double)(depth->width * depth->height);
    size_t count = 0;
    for (size_t r = row - 1; r != row + 2; r++)
        for (size_t c = column - 1; c != column + 2; c++) { /* -1 wraps to a large number */
            int32_t leader = c < p->across && r < p->down ? p->leader[r * p->across + c] : -1;
            size_t k = 0;
            if (leader < 0 || p->patches[leader].n < least || isnan(p->normals[3 * leader]))
                continue;
            while (k < count && list[k] != leader)
                k++;
            list[k] = leader;
            count += k == count;
        }
    return count;
}

static inline bool same(const float *a, const float *b) {
    return (a[0] == b[0]) & (a[1] == b[1]) & (a[2] == b[2]);
}

static inline int32_t leader_at(const ast_planes *p, const int32_t *list, size_t count, const float *normal) {
    for (size_t k = 0; k < count; k++)
        if (same(normal, p->normals + 3 * list[k]))
            return list[k];
    return -1;
}

/* The pixels of a cell whose patch has no normal. */
static void cut_unsure(const ast_depth *depth, size_t column, size_t row) {
    const ast_planes *p = &depth->planes;
    int32_t own = p->leader[row * p->across + column];
    double least = LEAST_SHARE * (double)(depth->width * depth->height);
    if (own < 0 || !isnan(p->normals[3 * own]) || p->patches[own].n < least)
        return;
    const ast_plane *plane = &p->planes[own];
    float limit = (float)(NEAR * depth->options.filter_epsilon);
    size_t u = column * AST_CELL, last = u + AST_CELL < depth->width ? u + AST_CELL : depth->width;
    for (size_t v = row * AST_CELL; v < (row + 1) * AST_CELL && v < depth->height; v++)
        for (size_t i = u; i < last; i++) {
            double s = plane->level + plane->slope_x * ((double)i - ast_middle(depth->width)) +
                       plane->slope_y * ((double)v - ast_middle(depth->height));
            size_t at = v * depth->width + i;
            float z = depth->cut.metres[at];
            if (depth->cut.leader[at] < 0 && z > 0 && fabsf((float)s - 1 / z) < limit)
                depth->cut.leader[at] = own;
        }
}

/* The patches that pixels of a cell may belong to. */
typedef struct choice {
    int32_t list[9];
    size_t count;
} choice;

static inline void cut_pixels(const ast_planes *p, const choice *among, const float *normals, size_t n,
                              int32_t *leader) {
    if (among->count == 1) { /* nearly always */
        int32_t only = among->list[0];
        const float *normal = p->normals + 3 * only;
        for (size_t i = 0; i < n; i++)
            leader[i] = same(normals + 3 * i, normal) ? only : -1;
        return;
    }
    for (size_t i = 0; i < n; i++)
        leader[i] = leader_at(p, among->list, among->count, normals + 3 * i);
}

static void read_metres(const cutting *c, size_t v, float *metres) {
    const uint16_t *values = (const uint16_t *)((const char *)c->image->values + (ptrdiff_t)v * c->image->row_stride);
    float scale = (float)(1 / c->depth->options.units_per_metre);
    for (size_t i = 0; i < c->depth->width; i++)
        metres[i] = (float)values[i] * scale;
}

/* A part of a row of cells, of at most PART of them. */
static void cut_part(const cutting *c, size_t row, size_t first, size_t last) {
    ast_depth *depth = c->depth;
    choice among[PART];
    for (size_t column = first; column < last; column++)
        among[column - first].count = find_leaders(depth, column, row, among[column - first].list);
    for (size_t v = row * AST_CELL; v < (row + 1) * AST_CELL && v < depth->height; v++)
        for (size_t column = first; column < last; column++) {
            size_t u = column * AST_CELL, n = depth->width - u < AST_CELL ? depth->width - u : AST_CELL;
            size_t at = v * depth->width + u;
            if (n == AST_CELL) /* a constant for the compiler */
                cut_pixels(&depth->planes, &among[column - first], c->normals + 3 * at, AST_CELL,
                           depth->cut.leader + at);
            else
                cut_pixels(&depth->planes, &among[column - first], c->normals + 3 * at, n, depth->cut.leader + at);
        }
}

static void cut_row(void *data, size_t row, int worker) {
    const cutting *c = data;
    ast_depth *depth = c->depth;
    size_t across = depth->planes.across;
    (void)worker;
    for (size_t v = row * AST_CELL; v < (row + 1) * AST_CELL && v < depth->height; v++)
        read_metres(c, v, depth->cut.metres + v * depth->width);
    for (size_t first = 0; first < across; first += PART)
        cut_part(c, row, first, first + PART < across ? first + PART : across);
    for (size_t column = 0; column < across; column++)
        cut_unsure(depth, column, row);
}
