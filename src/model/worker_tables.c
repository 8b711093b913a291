/* SPDX-License-Identifier: MIT
 *
 * The table of means of one thread, up to the last event of the pass. */
#include "inside.h"

/* Large tables: filling one anew after every death would cost more than the scores. So a changed mean replaces the old
 * one, and the place of a dead cluster stays vacant until the next pass. The order, which decides between equal scores,
 * is that of the clusters all the same: births are appended. */
static bool patch_table(ast_labelling *l, ast_worker *worker, size_t seen) {
    ast_mean_table *table = &worker->table;
    bool ready = seen > 0 || ast_mean_table_copy(table, &l->scorer.table);
    for (size_t e = seen; ready && e < l->events.count; e++) {
        int32_t event = l->events.list[e], slot = event < 0 ? ~event : event;
        const float *mean = ast_clusters_mean(&l->clusters, slot);
        size_t k = 0;
        while (k < table->count && table->ids[k] != slot)
            k++;
        if (!l->clusters.alive[slot]) {
            if (k < table->count)
                ast_mean_table_clear_entry(table, k);
        } else if (event >= 0 && k < table->count) {
            ast_mean_table_replace(table, k, mean);
        } else if (event >= 0) {
            ready = ast_mean_table_append(table, mean, slot);
        }
    }
    return ready;
}

/* Small tables: births are appended; after any other event the table is filled anew. A revived cluster has its old
 * place in the order, so it cannot be appended. */
static bool refill_table(ast_labelling *l, ast_worker *worker, size_t seen) {
    const ast_cluster_list *c = &l->clusters;
    const ast_events *events = &l->events;
    bool append = seen > 0 || l->scorer.table.count == 0, ready = true;
    for (size_t e = seen; e < events->count; e++)
        append = append && events->list[e] >= 0;
    if (!append)
        return ast_clusters_fill_table(c, &worker->table);
    if (seen == 0)
        ast_mean_table_clear(&worker->table, c->dimension, l->rows.axial);
    for (size_t e = seen; ready && e < events->count; e++)
        ready = ast_mean_table_append(&worker->table, ast_clusters_mean(c, events->list[e]), events->list[e]);
    return ready;
}

bool ast_sync_table(ast_labelling *l, ast_worker *worker) {
    size_t seen = ast_events_seen(l, worker);
    if (seen == l->events.count)
        return true;
    bool patch = !l->rows.small && l->clusters.tracked_slots == 0;
    bool ready = (patch ? patch_table : refill_table)(l, worker, seen);
    worker->pass = l->pass;
    worker->seen = l->events.count;
    ast_find_unseen_bound(l);
    worker->unseen_bound = worker->chunk.unseen_bound = l->events.unseen_bound;
    worker->chunk.table = &worker->table;
    if (!ready)
        ast_labelling_fail(l);
    return ready;
}
