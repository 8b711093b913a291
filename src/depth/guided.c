/* SPDX-License-Identifier: MIT
 *
 * The guided filter of He, Sun and Tang (2010) on inverse depth, guided by itself. In the window around pixel k, over
 * the n pixels that are not holes, with mean m, the output is a linear function of the input:
 *
 *     a s + (1 - a) m,   a = var / (var + epsilon^2):
 *
 * the mean where depth varies less than epsilon, the input itself at an edge. Surfaces are slanted, so var is the
 * variance that remains after subtracting the window's least-squares plane, with slopes x and y. A window with holes,
 * or cut by the border of the image, has no plane: x = y = 0.
 *
 * A pixel averages the functions of all windows that contain it. We use a weighted average, with the weight n (1 - a):
 * near an edge the windows that do not cross it dominate, so that noise is removed up to the edge. Incomplete windows
 * get a small weight (AST_INCOMPLETE_WINDOW_WEIGHT), which matters only where there are no complete windows. If the
 * dominating windows lie to one side of the pixel, the mean of the slopes moves the average back from their centre to
 * the pixel.
 *
 * With f = 1 - a = epsilon^2 / (var + epsilon^2), sums over the windows that contain a pixel, at offsets u and v, are
 * sufficient:
 *
 *     weight = sum n f,   fit_weight = sum n f f,   level = sum n f f m,   slope = sum n f f (x, y),
 *     centre = sum n f f (u, v),   s' = (s (weight - fit_weight) + level - slope . centre / fit_weight) / weight. */
#include "depth.h"

#include <math.h>
#include <string.h>

/* The working memory of a band. Rings hold 2 r + 1 rows, row y at y mod (2 r + 1). */
typedef struct band {
    const ast_depth *depth;
    const ast_depth_image *image;
    ast_depth_range range;
    size_t radius, rows;        /* r, 2 r + 1 */
    float *s;                   /* ring */
    ast_fits fits;              /* rings */
    ast_fits sums;              /* sums of columns of fits */
    float *row_moment;          /* sums of columns of fit_weight times row */
    ast_column_moments moments; /* sums of columns of s */
    float *out;                 /* output row for kernels that would otherwise write past the end of the image row */
} band;

typedef struct filtering {
    ast_depth *depth;
    const ast_depth_image *image;
    ast_depth_range range;
} filtering;

static ast_depth_range range_of(const ast_depth_options *o);
static void invert_block(void *data, size_t block);
static void filter_block(void *data, size_t block, int worker);

void ast_depth_invert(ast_depth *depth, const ast_depth_image *image) {
    filtering f = {depth, image, ast_depth_range_of(depth)};
    ast_pool_each(depth->pool, ast_depth_bands(depth), 1, invert_block, &f);
}

void ast_depth_filter(ast_depth *depth, const ast_depth_image *image) {
    filtering f = {depth, image, ast_depth_range_of(depth)};
    ast_pool_run(depth->pool, ast_depth_bands(depth), filter_block, &f);
}

ast_depth_range ast_depth_range_of(const ast_depth *depth) {
    ast_depth_range range = range_of(&depth->options);
    range.highest = range.highest < depth->largest_value ? range.highest : depth->largest_value;
    return range;
}

/* The values that are neither holes nor out of range, judged by the quotient value / units_per_metre. */
static ast_depth_range range_of(const ast_depth_options *o) {
    double lowest = floor(o->nearest * o->units_per_metre), highest = ceil(o->farthest * o->units_per_metre);
    if (lowest > UINT16_MAX || highest < 1)
        return (ast_depth_range){1, 0, 1};
    lowest = lowest < 1 ? 1 : lowest;
    highest = highest > UINT16_MAX ? UINT16_MAX : highest;
    while (lowest <= UINT16_MAX && lowest / o->units_per_metre < o->nearest)
        lowest++;
    while (highest >= 1 && highest / o->units_per_metre > o->farthest)
        highest--;
    if (lowest > highest)
        return (ast_depth_range){1, 0, 1};
    return (ast_depth_range){(uint16_t)lowest, (uint16_t)highest, (float)o->units_per_metre};
}

static void invert_block(void *data, size_t block) {
    const filtering *f = data;
    const ast_depth *depth = f->depth;
    for (size_t v = ast_band_first(depth, block); v < ast_band_first(depth, block + 1); v++)
        depth->kernels->invert(ast_depth_image_row(f->image, v), depth->width, f->range,
                               depth->inverse + v * depth->width);
}

static size_t ring_rows(const ast_depth *depth) {
    return 2 * (size_t)depth->options.filter_radius + 1;
}

size_t ast_depth_filter_scratch_rows(const ast_depth *depth) {
    return 6 * ring_rows(depth) + 6 + 2 + 1;
}

static band band_open(const filtering *f, int worker) {
    ast_scratch_rows rows = ast_scratch_rows_of(f->depth, worker);
    band b = {.depth = f->depth,
              .image = f->image,
              .range = f->range,
              .radius = (size_t)f->depth->options.filter_radius,
              .rows = ring_rows(f->depth)};
    b.s = ast_scratch_rows_take(&rows, b.rows);
    for (int i = 0; i < 5; i++) {
        b.fits.rows[i] = ast_scratch_rows_take(&rows, b.rows);
        b.sums.rows[i] = ast_scratch_rows_take(&rows, 1);
    }
    b.row_moment = ast_scratch_rows_take(&rows, 1);
    b.moments = (ast_column_moments){ast_scratch_rows_take(&rows, 1), ast_scratch_rows_take(&rows, 1),
                                     ast_double_row(f->depth, worker, 0), ast_double_row(f->depth, worker, 1)};
    b.out = ast_scratch_rows_take(&rows, 1);
    return b;
}

static float *ring(const band *b, float *rows, ptrdiff_t y) {
    return rows + ast_ring_index(y, b->rows) * b->depth->row;
}

static void read_row(const band *b, ptrdiff_t y) {
    float *s = ring(b, b->s, y);
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_READ, y);
    if (!ast_depth_has_row(b->depth, y))
        memset(s, 0, b->depth->width * sizeof *s);
    else
        for (const ast_column_span *span = spans.first; span < spans.end; span++)
            b->depth->kernels->invert(ast_depth_image_row(b->image, (size_t)y) + span->first, span->last - span->first,
                                      b->range, s + span->first);
}

/* The rows of a ring around row y, from a column on. */
static void ring_around(const band *b, float *rows, ptrdiff_t y, size_t column, const float **out) {
    for (size_t k = 0; k < b->rows; k++)
        out[k] = ring(b, rows, y - (ptrdiff_t)b->radius + (ptrdiff_t)k) + column;
}

static ast_fits fits_from(ast_fits fits, size_t column) {
    for (int i = 0; i < 5; i++)
        fits.rows[i] += column;
    return fits;
}

static ast_column_moments moments_from(ast_column_moments m, size_t column) {
    return (ast_column_moments){m.count + column, m.row_moment + column, m.sum + column, m.square + column};
}

/* The fits of the windows around row y; needs s from row y - r to y + r. */
static void fit_row(const band *b, ptrdiff_t y) {
    size_t n = b->depth->width;
    ast_fits fits;
    for (int i = 0; i < 5; i++)
        fits.rows[i] = ring(b, b->fits.rows[i], y);
    const float *rows[2 * AST_DEPTH_MOST_RADIUS + 1];
    if (!ast_depth_has_row(b->depth, y)) {
        for (int i = 0; i < 5; i++)
            memset(fits.rows[i], 0, n * sizeof *fits.rows[i]);
        return;
    }
    double epsilon2 = b->depth->options.filter_epsilon * b->depth->options.filter_epsilon;
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_READ, y);
    for (const ast_column_span *span = spans.first; span < spans.end; span++) {
        ring_around(b, b->s, y, span->first, rows);
        b->depth->kernels->moments(rows, b->radius, span->last - span->first, moments_from(b->moments, span->first));
    }
    spans = ast_spans_of_row(b->depth, AST_SPANS_COMPUTED, y);
    for (const ast_column_span *span = spans.first; span < spans.end; span++)
        b->depth->kernels->fit(moments_from(b->moments, span->first), b->radius, (float)epsilon2,
                               span->last - span->first, fits_from(fits, span->first));
    for (int i = 0; i < 5; i++)
        ast_row_clear_tail(fits.rows[i], n);
}

/* A span of row y of the result; needs the fits from row y - r to y + r. */
static void write_span(const band *b, ptrdiff_t y, const ast_column_span *span) {
    const ast_image_kernels *kernels = b->depth->kernels;
    size_t n = span->last - span->first;
    const float *rows[2 * AST_DEPTH_MOST_RADIUS + 1];
    ast_fits sums = fits_from(b->sums, span->first);
    float *from[] = {b->fits.weight, b->fits.level, b->fits.x, b->fits.y};
    float *to[] = {sums.weight, sums.level, sums.x, sums.y}, *row_moment = b->row_moment + span->first;
    for (int i = 0; i < 4; i++) {
        ring_around(b, from[i], y, span->first, rows);
        kernels->sum_rows(rows, b->rows, n, to[i]);
    }
    ring_around(b, b->fits.fit_weight, y, span->first, rows);
    kernels->row_moments(rows, b->radius, n, sums.fit_weight, row_moment);
    float *row = b->depth->inverse + (size_t)y * b->depth->width + span->first,
          *out = n % AST_LANES == 0 ? row : b->out;
    kernels->guide(sums, row_moment, b->radius, ring(b, b->s, y) + span->first, n, out);
    if (out != row)
        memcpy(row, out, n * sizeof *row);
}

static void write_row(const band *b, ptrdiff_t y) {
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_COMPUTED, y);
    for (const ast_column_span *span = spans.first; span < spans.end; span++)
        write_span(b, y, span);
}

static void filter_block(void *data, size_t block, int worker) {
    const filtering *f = data;
    band b = band_open(f, worker);
    ptrdiff_t r = (ptrdiff_t)b.radius, first = (ptrdiff_t)ast_band_first(f->depth, block);
    ptrdiff_t last = (ptrdiff_t)ast_band_first(f->depth, block + 1);
    for (ptrdiff_t y = first - 2 * r; y < last + 2 * r; y++) {
        read_row(&b, y);
        if (y >= first)
            fit_row(&b, y - r);
        if (y >= first + 2 * r)
            write_row(&b, y - 2 * r);
    }
}
