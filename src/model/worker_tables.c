/* SPDX-License-Identifier: MIT
 *
 * The table of means of one thread, brought up to the last event of the pass. */
#include "inside.h"

static size_t place_of(const ast_mean_table *table, int32_t slot) {
    size_t k = 0;
    while (k < table->count && table->ids[k] != slot)
        k++;
    return k;
}

/* A large table that is filled anew for one cluster that died costs more than the scores. So a mean that changed is
 * written over the old one, and a dead one's place stays vacant until the next pass. The order, which decides between
 * equals, is that of the clusters either way: births stand at its end. */
static bool patch_table(ast_labelling *l, ast_worker *worker, size_t seen, bool mine) {
    ast_mean_table *table = &worker->table;
    bool ready = mine || ast_mean_table_copy(table, &l->scorer.table);
    for (size_t e = seen; ready && e < l->events.count; e++) {
        int32_t slot = l->events.list[e] < 0 ? ~l->events.list[e] : l->events.list[e];
        const float *mean = l->clusters.means + (size_t)slot * l->rows.dimension;
        size_t k = place_of(table, slot);
        if (!l->clusters.alive[slot]) {
            if (k < table->count)
                ast_mean_table_clear_entry(table, k);
        } else if (l->events.list[e] >= 0 && k < table->count) {
            ast_mean_table_replace(table, k, mean);
        } else if (l->events.list[e] >= 0) {
            ready = ast_mean_table_append(table, mean, slot);
        }
    }
    return ready;
}

/* Small tables: births are appended; for anything else it is filled anew. Clusters that outlive their points come back
 * at their old place in the order, which only filling finds. */
static bool refill_table(ast_labelling *l, ast_worker *worker, size_t seen, bool mine) {
    const ast_cluster_list *c = &l->clusters;
    const ast_events *events = &l->events;
    bool append = mine || l->scorer.table.count == 0, ready = true;
    for (size_t e = seen; e < events->count; e++)
        append = append && events->list[e] >= 0;
    if (!append)
        return ast_clusters_fill_table(c, &worker->table);
    if (!mine)
        ast_mean_table_clear(&worker->table, c->dimension, l->rows.axial);
    for (size_t e = seen; ready && e < events->count; e++)
        ready =
            ast_mean_table_append(&worker->table, c->means + (size_t)events->list[e] * c->dimension, events->list[e]);
    return ready;
}

bool ast_sync_table(ast_labelling *l, ast_worker *worker) {
    bool mine = worker->pass == l->pass && worker->seen > 0;
    size_t seen = mine ? worker->seen : 0;
    if (seen == l->events.count)
        return true;
    bool patch = !l->rows.small && l->clusters.tracked_slots == 0;
    bool ready = (patch ? patch_table : refill_table)(l, worker, seen, mine);
    worker->pass = l->pass;
    worker->seen = l->events.count;
    ast_find_unseen_bound(l);
    worker->unseen_bound = worker->chunk.unseen_bound = l->events.unseen_bound;
    worker->chunk.table = &worker->table;
    if (!ready)
        ast_labelling_fail(l);
    return ready;
}
