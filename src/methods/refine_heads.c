/* SPDX-License-Identifier: MIT */
#include "refine_heads.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH AST_REFINE_AXES
#define ROWS AST_PRODUCT_ROWS

enum { LEAST_DIMENSION = 192, LEAST_CLUSTERS = 64 };

void ast_refine_heads_open(ast_refine_heads *h, ast_labelling *l) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *c = v.clusters;
    if (!ast_point_heads_pay(l, v.rows->dimension >= LEAST_DIMENSION && c->live >= LEAST_CLUSTERS))
        return;
    size_t room = (c->live + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    const float **means = ast_allocate(c->live, sizeof *means);
    for (size_t k = 0; means && k < c->live; k++)
        means[k] = c->means + (size_t)c->order[k] * c->dimension;
    if (means && ast_replace_arrays(AST_REQUEST(h->panels, room * WIDTH), AST_REQUEST(h->tails, room),
                                    AST_REQUEST(h->bias, room), AST_REQUEST(h->place, c->slots)))
        ast_point_heads_open(&h->points, l, means, c->live, WIDTH);
    ast_free(means);
}

void ast_refine_heads_close(ast_refine_heads *h) {
    ast_point_heads_close(&h->points);
    ast_free_all(h->panels, h->tails, h->bias, h->place);
    *h = (ast_refine_heads){0};
}

/* Columns behind the last mean have the bias -INFINITY, so that they never win. */
void ast_refine_heads_begin(ast_refine_heads *h, const ast_labelling_view *v, const ast_scales *scales) {
    const ast_cluster_list *c = v->clusters;
    float head[WIDTH] = {0};
    h->scales = scales;
    h->slack = h->points.slack + (1 + scales->max_score) * 0x1p-20f;
    for (size_t k = 0; k < scales->count || k % AST_PANEL; k++) {
        float *column = h->panels + k / AST_PANEL * AST_PANEL * WIDTH + k % AST_PANEL;
        bool mean = k < scales->count;
        const float *row = mean ? c->means + (size_t)c->order[k] * c->dimension : NULL;
        float tail = mean ? ast_point_heads_of(&h->points, v->rows->kernels, row, head) : 0;
        float scale = mean ? scales->scale[k] : 0;
        for (size_t d = 0; d < WIDTH; d++)
            column[d * AST_PANEL] = scale * head[d];
        h->tails[k] = scale * tail;
        h->bias[k] = mean ? scales->bias[k] : -INFINITY;
        if (mean)
            h->place[c->order[k]] = (int32_t)k;
    }
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* The best two scores of a point so far. Clusters whose upper bound is below `limit` are skipped. */
typedef struct best_two {
    const float *row;
    float tail, best, second, limit;
    int32_t slot;
} best_two;

static float full_score(const ast_refine_heads *h, const ast_labelling_view *v, const float *row, size_t k) {
    const float *mean = v->clusters->means + (size_t)v->clusters->order[k] * v->rows->dimension;
    float product = v->rows->kernels->dot(row, mean, v->rows->dimension);
    return h->scales->scale[k] * (v->rows->axial ? fabsf(product) : product) + h->scales->bias[k];
}

static void add_candidate(const ast_refine_heads *h, const ast_labelling_view *v, best_two *x, size_t k) {
    float score = full_score(h, v, x->row, k);
    if (score > x->best) {
        x->second = x->best;
        x->best = score;
        x->slot = v->clusters->order[k];
        x->limit = fmaxf(x->limit, score - 2 * h->scales->margin);
    } else if (score > x->second) {
        x->second = score;
    }
}

/* Scores the clusters of a panel that may be the best of a point. */
static void score_panel(const ast_refine_heads *h, const ast_labelling_view *v, best_two *x, size_t panel,
                        const float *products) {
    const float *tails = h->tails + panel * AST_PANEL, *bias = h->bias + panel * AST_PANEL;
    float upper_bound[AST_PANEL];
    int hits = 0;
    for (size_t j = 0; j < AST_PANEL; j++) {
        float product = v->rows->axial ? fabsf(products[j]) : products[j];
        upper_bound[j] = product + x->tail * tails[j] + bias[j] + h->slack;
        hits += upper_bound[j] >= x->limit;
    }
    for (size_t j = 0; hits > 0 && j < AST_PANEL; j++)
        if (upper_bound[j] >= x->limit)
            add_candidate(h, v, x, panel * AST_PANEL + j);
}

/* Compares n points with all clusters. */
static void compare(const ast_refine_heads *h, const ast_labelling_view *v, best_two *x, const size_t *points,
                    size_t n) {
    const float *heads[ROWS];
    float products[ROWS * AST_PANEL];
    for (size_t r = 0; r < ROWS; r++) /* the last rows repeat */
        heads[r] = h->points.rows + points[r < n ? r : n - 1] * WIDTH;
    for (size_t panel = 0; panel * AST_PANEL < h->scales->count; panel++) {
        v->rows->kernels->panel_products(heads, n, h->panels + panel * AST_PANEL * WIDTH, WIDTH, products);
        for (size_t r = 0; r < n; r++)
            score_panel(h, v, &x[r], panel, products + r * AST_PANEL);
    }
}

/* Starts with a limit just below the score of the point's own cluster. */
static best_two begin_best_two(const ast_refine_heads *h, const ast_labelling_view *v, const float *row, size_t point) {
    size_t own = (size_t)h->place[v->labels[point]];
    float score = full_score(h, v, row, own);
    return (best_two){row, h->points.tails[point], -INFINITY, -INFINITY, score - 2 * h->scales->margin, AST_NOBODY};
}

size_t ast_refine_heads_score(const ast_refine_heads *h, const ast_labelling_view *v, ast_chunk *c, size_t base,
                              size_t list_count, int32_t *labels) {
    size_t left = 0;
    for (size_t first = 0; first < list_count; first += ROWS) {
        size_t n = list_count - first < ROWS ? list_count - first : ROWS, points[ROWS] = {0};
        best_two x[ROWS] = {0};
        for (size_t r = 0; r < n; r++) {
            points[r] = base + c->list[first + r];
            x[r] = begin_best_two(h, v, c->rows.loaded[c->list[first + r]], points[r]);
        }
        compare(h, v, x, points, n);
        for (size_t r = 0; r < n; r++) {
            labels[points[r]] = x[r].slot;
            if (!(x[r].best - x[r].second > h->scales->margin))
                c->list[left++] = c->list[first + r];
        }
    }
    return left;
}
