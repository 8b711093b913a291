/* SPDX-License-Identifier: MIT
 *
 * Euclidean DP-means (Kulis and Jordan 2012) on the same points; ignores the sphere.
 *
 * It lowers
 *     sum_k sum_{i in k} |x_i - m_k|^2 + lambda K,    lambda = 2 - 2 cos(phi),
 * the squared chord of the angle phi, by visiting the points in order: each joins the nearest m_k, or starts a cluster
 * with m = x_i if all are farther than lambda; then every m_k becomes the plain mean of its members, which lies inside
 * the sphere. The objective that is reported is minus that sum. The reported means are the directions of the m_k.
 *
 * No mean moves within a pass. So all threads find the nearest mean of the points of a block; then the points are
 * visited in order and compared with the clusters born in the block alone. */
#include "baselines.h"

#include "memory.h"
#include "vectors.h"

#include <assert.h>
#include <math.h>

#define BLOCK ((size_t)4096)
#define SLICE ((size_t)64) /* clusters between two checks for cancellation */
#define TOLERANCE 0x1p-19  /* of a squared distance: at 0 degrees, equal points form one cluster */

typedef struct dpmeans {
    ast_labelling *l;
    int32_t *labels; /* (padded) */
    ast_run *run;
    ast_components c; /* means: the m_k; offsets: -|m_k|^2 / 2; kappas: 1, so that a logit is m.x - |m|^2 / 2 */
    ast_tiles tiles;
    double lambda;
    double *best;   /* (BLOCK) the largest logit */
    int32_t *label; /* (BLOCK) its cluster */
    size_t first;   /* point of the block */
    size_t known;   /* clusters when the block began */
    size_t changed; /* points that changed their cluster in this pass */
} dpmeans;

static void find_nearest(void *data, size_t index, int worker) {
    dpmeans *m = data;
    size_t n = m->tiles.tile, at = index * n;
    ast_tile_memory *memory = &m->tiles.memory[worker];
    ast_tile tile = ast_tile_at(&m->tiles, m->first + at, memory);
    for (size_t i = 0; i < n; i++)
        m->best[at + i] = -INFINITY;
    for (size_t first = 0; first < m->known && !ast_pool_stopped(m->tiles.v.pool, worker); first += SLICE) {
        size_t some = m->known - first < SLICE ? m->known - first : SLICE;
        m->tiles.kernels->logits(&tile, m->c.means + first * m->c.dimension, m->c.offsets + first, m->c.kappas + first,
                                 some, memory->logits);
        for (size_t k = 0; k < some; k++)
            for (size_t i = 0; i < n; i++)
                if (memory->logits[k * n + i] > m->best[at + i]) {
                    m->best[at + i] = memory->logits[k * n + i];
                    m->label[at + i] = (int32_t)(first + k);
                }
    }
}

/* ---- the visits ---- */

static void set_offset(ast_components *c, size_t k) {
    const double *mean = c->means + k * c->dimension;
    c->offsets[k] = -ast_dot(mean, mean, c->dimension) / 2;
    c->kappas[k] = 1;
    c->weights[k] = 0;
}

static bool add_cluster(dpmeans *m, const float *x) {
    ast_components *c = &m->c;
    if (c->count == c->capacity && !ast_components_reserve(c, 2 * c->capacity))
        return false;
    for (size_t d = 0; d < c->dimension; d++)
        c->means[c->count * c->dimension + d] = (double)x[d];
    set_offset(c, c->count++);
    return true;
}

/* |x - m|^2 = 1 - 2 (m.x - |m|^2 / 2) for a unit vector. */
static bool visit(dpmeans *m, size_t i) {
    float buffer[AST_MAX_DIMENSION];
    const float *x = ast_rowset_row(m->tiles.v.rows, i, buffer);
    double best = m->best[i - m->first];
    int32_t label = m->label[i - m->first];
    for (size_t k = m->known; k < m->c.count; k++) {
        double other = m->c.offsets[k] + ast_dot_row(x, m->c.means + k * m->c.dimension, m->c.dimension);
        label = other > best ? (int32_t)k : label;
        best = other > best ? other : best;
    }
    if (!(1 - 2 * best <= m->lambda + TOLERANCE)) {
        label = (int32_t)m->c.count;
        if (!add_cluster(m, x))
            return false;
    }
    m->changed += m->labels[i] != label;
    m->labels[i] = label;
    return true;
}

/* false: no memory, or cancelled. */
static bool visit_all(dpmeans *m) {
    size_t count = m->tiles.v.rows->count;
    assert(m->tiles.tile > 0);
    m->changed = 0;
    for (m->first = 0; m->first < count; m->first += BLOCK) {
        size_t last = m->first + BLOCK < count ? m->first + BLOCK : count;
        m->known = m->c.count;
        if (!ast_pool_run_cancellable(m->tiles.v.pool, (last - m->first + m->tiles.tile - 1) / m->tiles.tile,
                                      find_nearest, m))
            return false;
        for (size_t i = m->first; i < last; i++)
            if (m->tiles.v.labels[i] != AST_MISSING && (ast_pool_stopped(m->tiles.v.pool, 0) || !visit(m, i)))
                return false;
    }
    return true;
}

/* ---- the means ---- */

/* m_k from the sums, and the objective: sum |x|^2 - |s_k|^2 / n_k over the members of k. */
static void update_means(dpmeans *m) {
    const ast_cluster_list *list = m->tiles.v.clusters;
    ast_components *c = &m->c;
    double loss = 0;
    for (size_t k = 0; k < c->count; k++) {
        double n = ast_clusters_weight(list, (int32_t)k), squared = 0;
        for (size_t d = 0; d < c->dimension; d++) {
            double sum = (double)list->sums[k * c->dimension + d] / list->unit;
            squared += sum * sum;
            c->means[k * c->dimension + d] = sum / n;
        }
        loss += n - squared / n;
        set_offset(c, k);
    }
    m->run->objective = -(loss + m->lambda * (double)c->count);
}

/* Directions for the result. A mean at the origin has none and gets the first axis. */
static void normalise_means(ast_components *c) {
    for (size_t k = 0; k < c->count; k++) {
        double *mean = c->means + k * c->dimension, length = sqrt(-2 * c->offsets[k]);
        bool centre = length < 0x1p-20;
        for (size_t d = 0; d < c->dimension; d++)
            mean[d] = centre ? d == 0 : mean[d] / length;
    }
}

static ast_status iterate(dpmeans *m, ast_fault *fault) {
    ast_run *run = m->run;
    while (!run->converged && run->iterations < run->options->max_iterations) {
        run->pass_start = ast_seconds();
        if (!visit_all(m))
            return ast_pool_cancelled(m->tiles.v.pool) ? ast_fail_cancelled(fault) : ast_fail_memory(fault);
        ast_status status = ast_components_keep_used(&m->c, m->l, fault);
        if (status != AST_OK)
            return status;
        update_means(m);
        run->iterations++;
        run->converged = m->changed == 0;
        status = ast_run_report_pass(run, m->c.count, m->changed, m->tiles.v.present, run->objective, fault);
        if (status != AST_OK)
            return status;
    }
    return AST_OK;
}

static ast_status add_given_means(dpmeans *m, ast_fault *fault) {
    const ast_cluster_list *list = m->tiles.v.clusters;
    ast_status status = ast_start_given(m->l, m->run->options, fault);
    if (status != AST_OK)
        return status;
    if (!ast_components_open(&m->c, list->live + 16, m->tiles.v.rows->dimension))
        return ast_fail_memory(fault);
    m->c.count = list->live;
    for (size_t j = 0; j < list->live * list->dimension; j++)
        m->c.means[j] = (double)list->means[j];
    for (size_t k = 0; k < m->c.count; k++)
        set_offset(&m->c, k);
    return AST_OK;
}

ast_status ast_run_dpmeans(ast_labelling *l, ast_run *run, ast_fault *fault) {
    dpmeans m = {
        .l = l, .labels = ast_labelling_labels(l), .run = run, .lambda = 2 - 2 * ast_cosine(run->options->angle)};
    bool ready = ast_replace_arrays(AST_REQUEST(m.best, BLOCK), AST_REQUEST(m.label, BLOCK)) &&
                 ast_tiles_open(&m.tiles, l, SLICE, false);
    ast_status status = ready ? add_given_means(&m, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        status = iterate(&m, fault);
    if (status == AST_OK) {
        normalise_means(&m.c);
        status = ast_components_to_clusters(&m.c, l, fault);
    }
    ast_tiles_free(&m.tiles);
    ast_components_free(&m.c);
    ast_free_all(m.best, m.label);
    return status;
}
