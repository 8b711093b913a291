/* SPDX-License-Identifier: MIT
 *
 * Products of a sample of points and means over more and more coordinates show which share of the means would remain as
 * candidates. The error of bytes is estimated from the largest coordinate: only the running time depends on it. */
#include "stage_costs.h"

#include "memory.h"

#include <math.h>
#include <string.h>

/* Costs are in units of one product within a panel. A separate product costs more by a factor, plus a fixed cost; every
 * mean has a fixed cost in the first stage. */
#define SEPARATE_PRODUCT_COST 6.0
#define FIXED 1200.0
#define LOOK 8.0
#define FORESIGHT 1.5  /* a pass may cost this factor more, if that probably makes the next pass cheap */
#define HEADROOM 1.15f /* unit of the bytes relative to the largest number of most means */

static const size_t axis_widths[] = {16, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256};
static const size_t plains[] = {0, 1, 4, 16};
enum { WIDTHS = sizeof axis_widths / sizeof *axis_widths, PLAINS = sizeof plains / sizeof *plains, ALL = PLAINS };
enum { PARTS = 8 }; /* of a raw row; their ends are the widths that are tried */

/* Lengths and largest numbers of one row between `plain` and `width` coordinates. */
typedef struct span {
    float length[PLAINS][WIDTHS], largest[PLAINS][WIDTHS], tail[WIDTHS];
} span;

/* The sample in one coordinate system. */
typedef struct view {
    const ast_trial *t;
    bool raw;
    size_t widths[WIDTHS], count; /* widths that are tried */
    float *heads;                 /* (n + m, axes) points first; NULL: raw rows */
    span *spans;                  /* (n + m) */
    float *products;              /* (n, m, count) */
    float units[PLAINS][WIDTHS];  /* units of the means' bytes */
    float longest[PLAINS][WIDTHS];
} view;

/* The share of means that remain after the first stage; [ALL]: with floats only. */
typedef double shares[PLAINS + 1][WIDTHS];

static const float *row_of(const view *v, size_t i) {
    const ast_trial *t = v->t;
    if (!v->raw)
        return v->heads + i * t->s->heads.axes.count;
    return i < t->n ? t->points[i] : t->means[i - t->n];
}

/* ---- The sample in other coordinates ----------------------------------------------------------------------------- */

static void choose_axis_widths(view *v) {
    for (size_t w = 0; w < WIDTHS && axis_widths[w] <= v->t->s->heads.axes.count; w++)
        v->widths[v->count++] = axis_widths[w];
}

static void choose_raw_widths(view *v) {
    size_t dimension = v->t->s->rows->dimension;
    for (size_t part = 2; part <= PARTS; part++) {
        size_t width = dimension * part / PARTS / 8 * 8;
        if (width > (v->count ? v->widths[v->count - 1] : 0))
            v->widths[v->count++] = width;
    }
}

static void measure_row(const view *v, const float *row, span *to) {
    const ast_basis *axes = v->raw ? NULL : &v->t->s->heads.axes;
    for (size_t p = 0; p < PLAINS; p++) {
        double squares = 0;
        float largest = 0;
        for (size_t w = 0, d = plains[p]; w < v->count; w++) {
            for (; d < v->widths[w]; d++) {
                squares += (double)row[d] * (double)row[d];
                largest = fmaxf(largest, fabsf(row[d]));
            }
            to->length[p][w] = (float)sqrt(squares);
            to->largest[p][w] = largest;
        }
    }
    for (size_t w = 0; w < v->count; w++)
        to->tail[w] = ast_tail_length(axes, row, v->widths[w]);
}

static void measure_means(view *v) {
    const ast_trial *t = v->t;
    for (size_t p = 0; p < PLAINS; p++)
        for (size_t w = 0; w < v->count; w++) {
            float sum = 0;
            for (size_t k = 0; k < t->m; k++) {
                sum += v->spans[t->n + k].largest[p][w];
                v->longest[p][w] = fmaxf(v->longest[p][w], v->spans[t->n + k].length[p][w]);
            }
            v->units[p][w] = HEADROOM * sum / ((float)t->m * AST_BYTE) + 0x1p-40f;
        }
}

static void multiply(const view *v) {
    const ast_trial *t = v->t;
    for (size_t i = 0; i < t->n; i++)
        for (size_t k = 0; k < t->m; k++) {
            const float *a = row_of(v, i), *b = row_of(v, t->n + k);
            float product = 0, *to = v->products + (i * t->m + k) * v->count;
            for (size_t w = 0, d = 0; w < v->count; d = v->widths[w++])
                to[w] = product += t->s->kernels->dot(a + d, b + d, v->widths[w] - d);
        }
}

static bool open_view(view *v) {
    const ast_trial *t = v->t;
    const ast_basis *axes = &t->s->heads.axes;
    (v->raw ? choose_raw_widths : choose_axis_widths)(v);
    if (v->count == 0 ||
        !ast_replace_arrays(AST_REQUEST(v->heads, v->raw ? 0 : (t->n + t->m) * axes->count),
                            AST_REQUEST(v->spans, t->n + t->m), AST_REQUEST(v->products, t->n * t->m * WIDTHS)))
        return false;
    if (!v->raw) {
        ast_heads_project(axes, t->s->kernels, t->points, t->n, axes->count, v->heads);
        ast_heads_project(axes, t->s->kernels, t->means, t->m, axes->count, v->heads + t->n * axes->count);
    }
    for (size_t i = 0; i < t->n + t->m; i++)
        measure_row(v, row_of(v, i), &v->spans[i]);
    measure_means(v);
    multiply(v);
    return true;
}

/* ---- Prices ------------------------------------------------------------------------------------------------------ */

/* Estimates the error of a product that is due to rounding to bytes. */
static float byte_error(const view *v, size_t p, size_t w, const span *point) {
    float count = v->widths[w] > plains[p] ? (float)(v->widths[w] - plains[p]) : 0, each = sqrtf(count / 12);
    return each * (point->largest[p][w] / AST_BYTE * v->longest[p][w] + point->length[p][w] * v->units[p][w]);
}

static void count_candidates(const view *v, float keep_within, shares out) {
    const ast_trial *t = v->t;
    const ast_heads *h = &t->s->heads;
    memset(out, 0, sizeof(shares));
    for (size_t i = 0; i < t->n; i++) {
        float goal = fmaxf(t->best[i], h->floor) - keep_within - h->slack, error[PLAINS + 1][WIDTHS] = {0};
        for (size_t p = 0; p < PLAINS; p++)
            for (size_t w = 0; w < v->count; w++)
                error[p][w] = byte_error(v, p, w, &v->spans[i]);
        for (size_t k = 0; k < t->m; k++)
            for (size_t w = 0; w < v->count; w++) {
                float product = v->products[(i * t->m + k) * v->count + w];
                float upper_bound =
                    (t->s->rows->axial ? fabsf(product) : product) + v->spans[i].tail[w] * v->spans[t->n + k].tail[w];
                for (size_t p = 0; p <= ALL; p++)
                    out[p][w] += upper_bound + error[p][w] >= goal;
            }
    }
    for (size_t p = 0; p <= ALL; p++)
        for (size_t w = 0; w < v->count; w++)
            out[p][w] /= (double)(t->n * t->m);
}

/* The time per point and mean. */
static double cost_of(const view *v, const shares share, size_t p, size_t first, size_t second) {
    const ast_rowset *rows = v->t->s->rows;
    double dimension = (double)rows->dimension, expected = (double)v->t->expected_means;
    double width = (double)v->widths[first], plain = p == ALL ? width : (double)plains[p];
    /* the share of passes that compute the heads of points */
    double finding = rows->reader || !v->t->s->keeps_scores ? 1 : 0.25;
    double cost = LOOK + plain + (double)v->t->s->kernels->heads.byte_cost * (width - plain);
    double full = FIXED + SEPARATE_PRODUCT_COST * dimension;
    if (v->raw)
        return cost + (share[p][first] + 2 / expected) * full;
    double last = (double)v->widths[second];
    return cost + share[p][first] * (FIXED + SEPARATE_PRODUCT_COST * last) +
           (share[ALL][second] + 2 / expected) * full + finding * dimension * last / expected;
}

static double choose(const view *v, float keep_within, size_t second_width, ast_stages *to) {
    shares share;
    double least = INFINITY;
    count_candidates(v, keep_within, share);
    for (size_t second = 0; second < v->count; second++) {
        if (v->raw ? second > 0 : second_width && v->widths[second] != second_width)
            continue;
        for (size_t first = 0; first < v->count && (v->raw || first <= second); first++)
            for (size_t p = 0; p <= ALL; p++) {
                double cost = cost_of(v, (const double(*)[WIDTHS])share, p, first, second);
                if (cost >= least || (p < ALL && plains[p] >= v->widths[first]))
                    continue;
                least = cost;
                *to = (ast_stages){.raw = v->raw,
                                   .plain = p == ALL ? v->widths[first] : plains[p],
                                   .first = v->widths[first],
                                   .second = v->raw ? 0 : v->widths[second],
                                   .unit = p == ALL ? 1 : v->units[p][first],
                                   .keep_within = keep_within};
            }
    }
    return least;
}

/* The likely increase of another mean's score over two passes, if means move as in the last pass. */
static float likely_increase(const ast_trial *t) {
    float sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += ast_upper_bound_after_move(t->best[i], t->s->moves.slow.most[0]) - t->best[i];
    return 2 * sum / (float)t->n;
}

/* Means that cannot win now, but may in the next pass, are also scored if that costs little: then the bounds decide
 * most points in the next pass. */
double ast_cheapest_stages(const ast_trial *t, bool raw, size_t second, ast_stages *stages) {
    view v = {.t = t, .raw = raw};
    float keep_within = 2 * t->s->margin;
    double cost = INFINITY;
    if (open_view(&v)) {
        cost = choose(&v, keep_within, second, stages);
        ast_stages wide;
        if (t->labelled && choose(&v, keep_within + likely_increase(t), second, &wide) < FORESIGHT * cost)
            *stages = wide;
    }
    ast_free_all(v.heads, v.spans, v.products);
    return cost;
}
