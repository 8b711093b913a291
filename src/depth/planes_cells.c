/* SPDX-License-Identifier: MIT
 *
 * The cells from which planes grow: sums over 8 x 8 pixels, and the plane of each. Each of the eight columns is summed
 * first, then the eight column sums are added, in the same order on every processor. */
#include "planes.h"

#include <string.h>

#define CELL_LEAST 48  /* pixels: three of four, so that a cell with a hole through it does not count */
#define CELL_NOISE 3.0 /* largest residual variance of a planar cell, as a multiple of the noise variance */
#define VALUE_ROWS 4   /* only every fourth row is counted for the steps of the values */

/* Sums down each column of a cell, over its valid pixels and their s. */
typedef struct columns {
    double n[AST_CELL], y[AST_CELL], yy[AST_CELL], s[AST_CELL], ys[AST_CELL], ss[AST_CELL];
} columns;

/* n columns, from row `first` to row `last`; s points to the first pixel. */
static void add_pixels(columns *to, const float *s, const ast_depth *depth, size_t first, size_t last, size_t n) {
    for (size_t v = first; v < last; v++, s += depth->width) {
        double y = (double)v - ast_middle(depth->height);
        for (size_t i = 0; i < n; i++) {
            double value = (double)s[i], there = s[i] > 0 ? 1 : 0;
            to->n[i] += there;
            to->y[i] += there * y;
            to->yy[i] += there * (y * y);
            to->s[i] += value;
            to->ys[i] += value * y;
            to->ss[i] += value * value;
        }
    }
}

/* x: the first column, counted from the middle of the image. */
static ast_pixel_moments add_columns(const columns *c, double x) {
    ast_pixel_moments p = {0};
    for (size_t i = 0; i < AST_CELL; i++) {
        ast_pixel_moments_add(&p, &(ast_pixel_moments){{c->n[i], c->n[i] * x, c->y[i], c->n[i] * (x * x), c->y[i] * x,
                                                        c->yy[i], c->s[i], c->s[i] * x, c->ys[i], c->ss[i]}});
        x += 1;
    }
    return p;
}

/* A cell without holes, at (x, y) from the middle of the image: the sums over positions have a closed form in integers,
 * which is exact. False if the cell has holes. */
static bool sum_whole(const ast_depth *depth, const float *s, double x, double y, ast_pixel_moments *p) {
    ast_cell_columns c;
    if (!depth->kernels->cell_columns(s, depth->width, y, &c))
        return false;
    double across = 8 * x + 28, down = 8 * y + 28; /* 0 + 1 + .. + 7 = 28, and their squares make 140 */
    *p = (ast_pixel_moments){{.n = 64,
                              .x = 8 * across,
                              .y = 8 * down,
                              .xx = 8 * (8 * (x * x) + 56 * x + 140),
                              .xy = across * down,
                              .yy = 8 * (8 * (y * y) + 56 * y + 140)}};
    for (size_t i = 0; i < AST_CELL; i++) {
        p->s += c.sum[i];
        p->xs += c.sum[i] * (x + (double)i);
        p->ys += c.row_moment[i];
        p->ss += c.square[i];
    }
    return true;
}

static ast_noise_sample sample(const ast_depth *depth, const ast_pixel_moments *patch, const ast_plane_fit *plane) {
    const ast_camera *camera = &depth->camera;
    double s = patch->s / patch->n, slope2 = ast_plane_fit_slope2(plane);
    double focal = camera->fx > camera->fy ? camera->fx : camera->fy, steepest = AST_STEEPEST * s / focal;
    double variance = plane->residual / (patch->n - 3), roughest = AST_ROUGHEST * s;
    bool shows = slope2 <= steepest * steepest && variance <= roughest * roughest;
    return (ast_noise_sample){s, shows ? slope2 : -1, variance};
}

static void sum_row(const ast_cells_job *job, size_t row) {
    const ast_depth *depth = job->depth;
    const ast_patches *p = job->patches;
    ast_noise_sample *samples = depth->patch_work.samples;
    size_t first = row * AST_CELL, last = first + AST_CELL < depth->height ? first + AST_CELL : depth->height;
    for (size_t column = 0; column < p->across; column++) {
        size_t u = column * AST_CELL, left = depth->width - u, k = row * p->across + column;
        const float *s = depth->inverse + first * depth->width + u;
        double x = (double)u - ast_middle(depth->width), y = (double)first - ast_middle(depth->height);
        bool inside = left >= AST_CELL && last == first + AST_CELL;
        if (!inside || !sum_whole(depth, s, x, y, &p->moments[k])) {
            columns sums = {0};
            add_pixels(&sums, s, depth, first, last, left < AST_CELL ? left : AST_CELL);
            p->moments[k] = add_columns(&sums, x);
        }
        samples[k] = (ast_noise_sample){.slope2 = -1};
        if (p->moments[k].n < CELL_LEAST)
            continue;
        p->fits[k] = ast_plane_fit_from(&p->moments[k]);
        samples[k] = sample(depth, &p->moments[k], &p->fits[k]);
    }
}

/* ---- The noise --------------------------------------------------------------------------------------------------- */

static void count_values(const ast_depth_image *image, uint32_t *counts) {
    memset(counts, 0, ((size_t)UINT16_MAX + 1) * sizeof *counts);
    for (size_t v = 0; v < image->height; v += VALUE_ROWS) {
        const uint16_t *row = ast_depth_image_row(image, v);
        for (size_t u = 0; u < image->width; u++)
            counts[row[u]]++;
    }
}

void ast_planes_sum_cells(void *data, size_t row) {
    const ast_cells_job *job = data;
    const ast_depth_options *o = &job->depth->options;
    ast_noise_counts *counts = job->depth->patch_work.counts;
    if (row < job->patches->down) {
        sum_row(job, row);
        return;
    }
    count_values(job->image, counts->values);
    if (job->depth->largest_value < UINT16_MAX)
        counts->values[UINT16_MAX] = 0;
    ast_noise_set_tolerances(&job->patches->noise, counts, o->units_per_metre, o->filter_epsilon);
}

static bool is_flat(const ast_noise *noise, const ast_pixel_moments *patch, const ast_plane_fit *plane,
                    const ast_noise_sample *cell) {
    double tolerance = ast_noise_tolerance(noise, cell->s);
    double noisy = CELL_NOISE * ast_noise_variance(noise, cell->s, cell->slope2 > 0 ? cell->slope2 : 0);
    double most = tolerance * tolerance > noisy ? tolerance * tolerance : noisy;
    return plane->residual <= most * patch->n;
}

void ast_planes_judge_cells(ast_patches *p, const ast_patch_work *work) {
    size_t cells = p->across * p->down;
    ast_noise *noise = &p->noise;
    ast_noise_measure(noise, work->counts, work->samples, cells);
    for (size_t k = 0; k < cells; k++) {
        bool joins = p->moments[k].n >= CELL_LEAST && is_flat(noise, &p->moments[k], &p->fits[k], &work->samples[k]);
        p->leader[k] = joins ? (int32_t)k : -1;
    }
}
