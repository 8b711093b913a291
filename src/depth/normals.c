/* SPDX-License-Identifier: MIT
 *
 * Normals by differences on the organised cloud, averaged over a window (Holz et al. 2011). A point of the surface is P
 * = (x, y, 1) / s with x = (u - cx) / fx, y = (v - cy) / fy. The cross product of its tangents along u and v is, up to
 * a positive factor,
 *
 *     n = -(fx s_u, fy s_v, s - (u - cx) s_u - (v - cy) s_v),   n . P = -1 < 0: towards the camera.
 *
 * So two averages of differences of s replace six averages of points, and a plane, on which s is linear, gives its
 * exact normal. A difference counts if neither pixel is a hole and there is no edge between them; an edge is a step of
 * more than jump max(1, s). A pixel with differences along both axes enters the averages with weight 1/4 per valid
 * side. Pixels at an edge are excluded, because they are the least reliable.
 *
 * If the window around a pixel contains edges or holes, the surface beyond them must not contribute. Then the centred
 * window is replaced by the heaviest of the eight shifted windows that have the pixel on their border. Condition: the
 * plane through the pixel with the slopes of the shifted window must agree with the surface at the centre and the sides
 * of that window. */
#include "depth.h"

#include <math.h>
#include <string.h>

/* The share of the full weight at which a window is good enough. A single hole costs the weight of two pixels, which
 * does not justify another window. An edge costs more than that before pixels beyond it get any weight. */
#define ENOUGH 0.96875f /* 31/32 */

/* The working memory of a band. Rings hold 2 w + 1 rows, row y at y mod (2 w + 1). */
typedef struct band {
    const ast_depth *depth;
    size_t radius, rows; /* w, 2 w + 1 */
    float *s;            /* ring of 3 w + 2 rows */
    ast_slopes slopes;   /* of one row */
    ast_slopes across;   /* rings: slopes summed over the columns of the window; in complete blocks these become suffix
                            sums over rows */
    ast_slopes prefix;   /* sums over the rows of the current block so far */
    float *zero;
    ast_slopes sums;   /* rings: summed over rows too */
    float *has_slopes; /* ring: 1 for pixels with differences */
    float *guided;     /* (W, 3) with spans.partial: guided normals of the row, copied where the pixel has none */
} band;

typedef struct finding {
    ast_depth *depth;
    uint8_t *late;
    float *normals;
} finding;

static void normals_block(void *data, size_t block, int worker);

void ast_depth_find_normals(ast_depth *depth, uint8_t *late, float *normals) {
    finding a = {depth, late, normals};
    ast_pool_run(depth->pool, ast_depth_bands(depth), normals_block, &a);
}

static size_t ring_rows(const ast_depth *depth) {
    return 2 * (size_t)depth->options.window + 1;
}

size_t ast_depth_normals_scratch_rows(const ast_depth *depth) {
    return 7 * ring_rows(depth) + 3 * (size_t)depth->options.window + 2 + 3 + 4;
}

static ast_slopes take_slopes(ast_scratch_rows *rows, size_t count) {
    return (ast_slopes){
        {ast_scratch_rows_take(rows, count), ast_scratch_rows_take(rows, count), ast_scratch_rows_take(rows, count)}};
}

/* The ring spans from w rows above the row of normals to 2 w + 1 rows below it, the last row that it needs. */
static size_t ring_s(const band *b) {
    return 3 * b->radius + 2;
}

static band band_open(const ast_depth *depth, int worker) {
    ast_scratch_rows rows = ast_scratch_rows_of(depth, worker);
    band b = {.depth = depth, .radius = (size_t)depth->options.window, .rows = ring_rows(depth)};
    b.s = ast_scratch_rows_take(&rows, ring_s(&b));
    b.slopes = take_slopes(&rows, 1);
    b.across = take_slopes(&rows, b.rows);
    b.prefix = take_slopes(&rows, 1);
    b.zero = memset(ast_scratch_rows_take(&rows, 1), 0, (depth->row - 2 * depth->pad) * sizeof *b.zero);
    b.sums = take_slopes(&rows, b.rows);
    b.has_slopes = ast_scratch_rows_take(&rows, b.rows);
    b.guided = depth->spans.partial ? depth->spans.normals + (size_t)worker * 3 * depth->width : NULL;
    return b;
}

static ast_slopes ring(const band *b, ast_slopes rows, ptrdiff_t y) {
    size_t at = ast_ring_index(y, b->rows) * b->depth->row;
    return (ast_slopes){{rows.x + at, rows.y + at, rows.weight + at}};
}

static void clear(const band *b, ast_slopes slopes) {
    for (int i = 0; i < 3; i++)
        memset(slopes.rows[i], 0, b->depth->width * sizeof *slopes.rows[i]);
}

static float *row_s(const band *b, ptrdiff_t y) {
    return b->s + ast_ring_index(y, ring_s(b)) * b->depth->row;
}

static void read_row(const band *b, ptrdiff_t y) {
    size_t n = b->depth->width;
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_COMPUTED, y);
    if (!ast_depth_has_row(b->depth, y))
        memset(row_s(b, y), 0, n * sizeof(float));
    else
        for (const ast_column_span *span = spans.first; span < spans.end; span++)
            memcpy(row_s(b, y) + span->first, b->depth->inverse + (size_t)y * n + span->first,
                   (span->last - span->first) * sizeof(float));
}

static ast_slopes slopes_from(ast_slopes slopes, size_t column) {
    return (ast_slopes){{slopes.x + column, slopes.y + column, slopes.weight + column}};
}

/* The differences of row y, summed over columns; needs s from row y - 1 to y + 1. */
static void slopes_row(const band *b, ptrdiff_t y) {
    const ast_image_kernels *kernels = b->depth->kernels;
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_COMPUTED, y);
    ast_slopes to = ring(b, b->across, y);
    if (!ast_depth_has_row(b->depth, y)) {
        clear(b, to);
        return;
    }
    for (const ast_column_span *span = spans.first; span < spans.end; span++) {
        size_t u = span->first, n = span->last - u;
        ast_slopes from = slopes_from(b->slopes, u);
        kernels->slopes(row_s(b, y - 1) + u, row_s(b, y) + u, row_s(b, y + 1) + u, (float)b->depth->options.jump, n,
                        from, b->has_slopes + ast_ring_index(y, b->rows) * b->depth->row + u);
        for (int i = 0; i < 3; i++)
            kernels->sum_columns(from.rows[i], b->radius, n, to.rows[i] + u);
    }
}

/* Turns the across rows of a complete block into sums from the row to the end of the block. */
static void sum_suffixes(const band *b, ptrdiff_t middle) {
    float *rows[3][2 * AST_DEPTH_MOST_RADIUS + 1];
    for (size_t k = 0; k < b->rows; k++) {
        ast_slopes row = ring(b, b->across, (ptrdiff_t)k);
        for (int i = 0; i < 3; i++)
            rows[i][k] = row.rows[i];
    }
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_READ, middle);
    for (const ast_column_span *span = spans.first; span < spans.end; span++)
        for (int i = 0; i < 3; i++) {
            float *part[2 * AST_DEPTH_MOST_RADIUS + 1];
            for (size_t k = 0; k < b->rows; k++)
                part[k] = rows[i][k] + span->first;
            b->depth->kernels->suffix_sums(part, b->rows, span->last - span->first);
        }
}

/* The sums over the 2 w + 1 rows up to y, which belong to row y - w. Blocks of 2 w + 1 rows, counted from row 0 of the
 * image, reduce this to two additions per row for any w (van Herk 1992): a window is a suffix of one block plus a
 * prefix of the next; the suffix sums are computed when the block is complete. Unlike a running sum this neither
 * cancels nor depends on the band. */
static void sum_row(const band *b, ptrdiff_t y) {
    const ast_image_kernels *kernels = b->depth->kernels;
    size_t n = b->depth->width, place = ast_ring_index(y, b->rows);
    bool opens = place == 0, closes = place + 1 == b->rows;
    const ast_slopes none = {{b->zero, b->zero, b->zero}}, before = opens ? none : b->prefix;
    ast_slopes row = ring(b, b->across, y), rest = closes ? none : ring(b, b->across, y + 1);
    ast_slopes out = ring(b, b->sums, y - (ptrdiff_t)b->radius);
    ptrdiff_t last = (ptrdiff_t)b->depth->height - 1, nearest = y < 0 ? 0 : y > last ? last : y;
    ast_span_list spans = ast_spans_of_row(b->depth, AST_SPANS_COMPUTED, nearest);
    for (const ast_column_span *span = spans.first; span < spans.end; span++)
        for (int i = 0; i < 3; i++)
            kernels->sliding_sum(before.rows[i] + span->first, row.rows[i] + span->first, rest.rows[i] + span->first,
                                 span->last - span->first, b->prefix.rows[i] + span->first, out.rows[i] + span->first);
    if (closes)
        sum_suffixes(b, y - (ptrdiff_t)b->radius);
    if (!ast_depth_has_row(b->depth, y - (ptrdiff_t)b->radius))
        clear(b, out);
    for (int i = 0; i < 3; i++)
        ast_row_clear_tail(out.rows[i], n);
}

/* What the normals of row y depend on: its sums and those w rows above and below. */
static ast_normals_input input_of(const band *b, ptrdiff_t y) {
    ptrdiff_t w = (ptrdiff_t)b->radius;
    return (ast_normals_input){.s = {row_s(b, y - w), row_s(b, y), row_s(b, y + w)},
                               .sums = {ring(b, b->sums, y - w), ring(b, b->sums, y), ring(b, b->sums, y + w)},
                               .has_slopes = b->has_slopes + ast_ring_index(y, b->rows) * b->depth->row,
                               .radius = b->radius,
                               .enough_weight = ENOUGH * (float)(b->rows * b->rows),
                               .jump = (float)b->depth->options.jump};
}

/* Pixels of a row of a cell with depth but no normal yet get the normal of b->guided. */
static void fill_cell(const band *b, const finding *a, size_t y, size_t first, size_t last) {
    size_t width = b->depth->width;
    for (size_t u = first; u < last; u++) {
        float *normal = a->normals + 3 * (y * width + u);
        const float *guided = b->guided + 3 * u;
        uint8_t *late = &a->late[y * width + u];
        if (!isnan(normal[0]) || *late == AST_LATE_NO_NORMAL || isnan(guided[0])) {
            *late = *late == AST_LATE_NO_NORMAL ? 0 : *late;
            continue;
        }
        memcpy(normal, guided, 3 * sizeof *guided);
        *late = 1;
    }
}

static void write_row(const band *b, const finding *a, ptrdiff_t y) {
    const ast_depth *depth = b->depth;
    const ast_camera *camera = &depth->camera;
    size_t first_cell = (size_t)y / AST_CELL * ast_cells_along(depth->width);
    ast_normals_input from = input_of(b, y);
    ast_row_camera view = {(float)camera->fx, (float)camera->fy, (float)camera->cx, (float)((double)y - camera->cy)};
    if (!depth->spans.partial)
        depth->kernels->normals(&from, view, 0, depth->width, a->normals + 3 * (size_t)y * depth->width);
    for (size_t first = 0; depth->spans.partial && first < depth->width; first += AST_CELL) {
        size_t last = first + AST_CELL < depth->width ? first + AST_CELL : depth->width;
        if (!depth->patch_work.has_unassigned[first_cell + first / AST_CELL])
            continue;
        depth->kernels->normals(&from, view, first, last, b->guided);
        fill_cell(b, a, (size_t)y, first, last);
    }
}

static void normals_block(void *data, size_t block, int worker) {
    const finding *a = data;
    band b = band_open(a->depth, worker);
    ptrdiff_t w = (ptrdiff_t)b.radius, first = (ptrdiff_t)ast_band_first(a->depth, block);
    ptrdiff_t last = (ptrdiff_t)ast_band_first(a->depth, block + 1);
    read_row(&b, first - 2 * w - 1);
    read_row(&b, first - 2 * w);
    for (ptrdiff_t y = first - 2 * w; y < last + 2 * w; y++) {
        read_row(&b, y + 1);
        slopes_row(&b, y);
        sum_row(&b, y);
        if (y >= first + 2 * w)
            write_row(&b, a, y - 2 * w);
    }
}
