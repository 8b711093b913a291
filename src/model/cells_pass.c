/* SPDX-License-Identifier: MIT
 *
 * A pass over points that are sorted into cells, in three steps: finds the nearest mean of every point, in any order;
 * visits the points in order; computes the sums. */
#include "inside.h"

#include <string.h>

#define LEAF 32 /* a cell with at most so many points is not divided */

bool ast_cells_wanted(const ast_labelling *l) {
    return l->rows.small && l->rows.dimension == 3 && !l->rows.axial && !l->rule.unseen_bound && l->scorer.bounds.on &&
           l->clusters.live >= l->cells_from;
}

/* The cost of the visits depends on the number of changes. Invariant: for every point not yet visited, cells->label is
 * the live cluster that the point would join now, its own included: the cluster with the largest exact score that fits,
 * the first of equal ones, or AST_NOBODY. A birth updates the points near the new mean. A death, or a new mean, updates
 * the points that would have joined the cluster. Only the only member of a cluster searches for another cluster when it
 * is visited. */
typedef struct update {
    ast_labelling *l;
    size_t after; /* only later points are updated */
    int32_t slot;
    float mean[3];
    float limit;         /* a smaller float score does not fit */
    float search_radius; /* points at a larger distance do not fit */
    void (*apply)(const struct update *update, size_t place, float score);
} update;

static int32_t find(ast_labelling *l, const float x[3], int32_t excluded) {
    ast_mean_list means = ast_clusters_means(&l->clusters);
    return ast_mean_index_find(l->cells, &means, x, excluded);
}

/* ---- Points near a mean ------------------------------------------------------------------------------------------ */

static void update_leaf(const update *n, const ast_cell *cell) {
    const ast_cells *cells = n->l->cells;
    const float *x = cells->columns, *y = x + cells->pitch, *z = y + cells->pitch;
    for (size_t place = cell->first; place < cell->last; place++) {
        float score = x[place] * n->mean[0] + y[place] * n->mean[1] + z[place] * n->mean[2];
        if (score >= n->limit && cells->point[place] > n->after)
            n->apply(n, place, score);
    }
}

static void update_cell(const update *n, const ast_cell *cell) {
    float centre[3], radius;
    if (cell->first == cell->last)
        return;
    ast_cell_bound(cell, centre, &radius);
    float a = centre[0] - n->mean[0], b = centre[1] - n->mean[1], c = centre[2] - n->mean[2];
    if (a * a + b * b + c * c > (n->search_radius + radius) * (n->search_radius + radius))
        return;
    if (cell->last - cell->first <= LEAF || cell->level == AST_CELL_LEVELS) {
        update_leaf(n, cell);
        return;
    }
    for (uint32_t part = 0; part < 4; part++) {
        ast_cell child = ast_cell_part(n->l->cells, cell, part);
        update_cell(n, &child);
    }
}

static void update_points(update *n) {
    n->limit = (float)(n->l->scorer.fit_threshold - (double)ast_score_error(3)) - 0x1p-23f;
    n->search_radius = ast_distance_at_score((double)n->limit);
    for (uint32_t face = 0; face < 6; face++) {
        ast_cell cell = ast_cell_face(n->l->cells, face);
        update_cell(n, &cell);
    }
}

/* Gives the point the new mean if that is better than the mean it has. */
static void offer(const update *n, size_t place, float score) {
    ast_labelling *l = n->l;
    ast_cells *cells = l->cells;
    int32_t *label = &cells->label[cells->point[place]];
    if (score <= cells->best[place] - l->scorer.margin)
        return;
    float x[3];
    ast_cell_point(cells, place, x);
    double mine = ast_exact_score(x, n->mean, 3);
    if (mine < l->scorer.fit_threshold)
        return;
    if (*label >= 0) {
        double other = ast_exact_score(x, l->clusters.means + 3 * (size_t)*label, 3);
        if (mine < other ||
            (mine == other && cells->mean_index.creation_order[*label] <= cells->mean_index.creation_order[n->slot]))
            return;
    }
    *label = n->slot;
    cells->best[place] = score;
}

/* Searches another cluster for a point whose cluster died or has another mean. */
static void withdraw(const update *n, size_t place, float score) {
    ast_labelling *l = n->l;
    ast_cells *cells = l->cells;
    int32_t *label = &cells->label[cells->point[place]];
    (void)score;
    if (*label != n->slot)
        return;
    float x[3];
    ast_cell_point(cells, place, x);
    *label = find(l, x, AST_NOBODY);
    cells->best[place] = AST_NO_SCORE;
    if (*label >= 0)
        cells->best[place] = (float)ast_exact_score(x, l->clusters.means + 3 * (size_t)*label, 3);
}

static void update_near(ast_labelling *l, size_t i, int32_t slot, const float *mean,
                        void (*apply)(const update *update, size_t place, float score)) {
    update n = {.l = l, .after = i, .slot = slot, .apply = apply};
    memcpy(n.mean, mean, sizeof n.mean);
    update_points(&n);
}

/* ---- Visits ------------------------------------------------------------------------------------------------------ */

static void leave(ast_labelling *l, size_t i, int32_t from) {
    if (l->first || --l->clusters.members[from] > 0)
        return;
    float mean[3];
    memcpy(mean, l->clusters.means + 3 * (size_t)from, sizeof mean);
    ast_clusters_mark_dead(&l->clusters, from);
    ast_mean_index_remove(l->cells, from);
    update_near(l, i, from, mean, withdraw);
}

static void join(ast_labelling *l, size_t i, int32_t from, int32_t to) {
    l->cells->label[i] = to;
    if (to == from)
        return;
    if (!l->first)
        l->clusters.members[to]++;
    leave(l, i, from);
}

static void stay_singleton(ast_labelling *l, size_t i, const float row[3]) {
    int32_t own = l->labels[i];
    float *mean = l->clusters.means + 3 * (size_t)own, old[3];
    l->cells->label[i] = own;
    memcpy(old, mean, sizeof old);
    if (memcmp(old, row, sizeof old) == 0) // NOLINT(bugprone-suspicious-memory-comparison): -0 is not 0 here
        return;
    memcpy(mean, row, sizeof old);
    l->clusters.touched[own] = 1;
    l->clusters.singleton_point[own] = (uint32_t)i;
    ast_mean_index_move(l->cells, own);
    update_near(l, i, own, old, withdraw);
    update_near(l, i, own, row, offer);
}

static void start_cluster(ast_labelling *l, size_t i, const float row[3]) {
    int32_t born = ast_clusters_add(&l->clusters, row, (uint32_t)i);
    ast_mean_list means = ast_clusters_means(&l->clusters);
    if (born < 0 || !ast_mean_index_add(l->cells, &means, born)) {
        ast_labelling_fail(l);
        return;
    }
    update_near(l, i, born, row, offer);
    join(l, i, l->labels[i], born);
}

static void visit(ast_labelling *l, size_t i) {
    int32_t own = l->labels[i], to = l->cells->label[i];
    bool singleton = !l->first && l->clusters.members[own] == 1;
    float row[3] = {l->rows.column[0][i], l->rows.column[1][i], l->rows.column[2][i]};
    if (singleton)
        to = find(l, row, own);
    if (to >= 0)
        join(l, i, own, to);
    else if (ast_unfit_action(singleton) == AST_STAY_SINGLETON)
        stay_singleton(l, i, row);
    else
        start_cluster(l, i, row);
}

static void visit_all(ast_labelling *l, size_t from) {
    const int32_t *label = l->cells->label, *labels = l->labels;
    const int64_t *members = l->clusters.members;
    for (size_t i = from; i < l->rows.count && !l->cells->mean_index.failed; i++) {
        if (labels[i] == AST_MISSING)
            continue;
        bool stays = l->first ? label[i] >= 0 : label[i] == labels[i] && members[labels[i]] != 1;
        if (stays)
            continue;
        if (ast_labelling_stopped(l, 0))
            return;
        visit(l, i);
        members = l->clusters.members; /* a birth may have moved it */
    }
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static void apply_change(ast_labelling *l, ast_worker *worker, size_t i, int32_t to) {
    ast_change change = {(uint32_t)i, l->labels[i], to, false, false};
    ast_add_change(l, worker, &change);
    l->labels[i] = to;
    worker->changed++;
    if (l->clusters.fixed) {
        worker->joined[change.from]--;
        worker->joined[to]++;
    }
}

static void add_chunk_changes(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t last = (chunk + 1) * l->rows.chunk;
    worker->chunk.rows.is_loaded = false;
    for (size_t i = chunk * l->rows.chunk; l->first && i < last; i++)
        if (l->labels[i] != AST_MISSING)
            l->labels[i] = l->cells->label[i];
    if (l->first) {
        ast_add_chunk(l, worker, chunk);
        return;
    }
    for (size_t i = chunk * l->rows.chunk; i < last && i < l->rows.count; i++)
        if (l->labels[i] != AST_MISSING && l->labels[i] != l->cells->label[i])
            apply_change(l, worker, i, l->cells->label[i]);
}

/* Invalidates the bounds that other passes keep per point. */
static void forget(ast_labelling *l) {
    ast_forget_gaps(&l->scorer, 0, l->rows.padded);
    for (size_t b = 0; b < l->rows.padded / AST_BLOCK; b++)
        l->scorer.bounds.blocks[b].mask = 0;
    for (size_t chunk = 0; chunk < l->rows.chunks; chunk++)
        l->scorer.bounds.chunk_seen[chunk] = 0;
    l->events.count = 0;
}

void ast_cells_pass(ast_labelling *l, size_t from) {
    ast_mean_list means = ast_clusters_means(&l->clusters);
    ast_rowset_fill(&l->rows, l->pool);
    bool ready = ast_cells_load(&l->cells, &l->scorer, l->pool) && ast_mean_index_build(l->cells, &means) &&
                 ast_cells_nearest_within_angle(l->cells, from, !l->clusters.fixed);
    if (ready && !l->clusters.fixed)
        visit_all(l, from);
    ast_clusters_remove_dead(&l->clusters);
    ready = ready && !atomic_load(&l->failed) && !l->cells->mean_index.failed && ast_workers_reserve(l);
    if (!ready) {
        ast_labelling_fail(l);
        return;
    }
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].chunk.scored += l->cells->scratch[w].scored;
        l->cells->scratch[w].scored = 0;
    }
    ast_each_chunk(l, from / l->rows.chunk, l->rows.chunks, add_chunk_changes);
    forget(l);
}
