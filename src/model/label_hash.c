/* SPDX-License-Identifier: MIT
 *
 * One number that stands for the labels of all points. Every point has a key; a cluster has the sum of its members'
 * keys, which changes with each move; the fingerprint is made of those sums and of the order of the clusters. In the
 * first pass nothing is counted: fingerprints are told relative to it, and its keys are worked out once the list of
 * clusters has changed, which in most runs never happens. */
#include "inside.h"

#include "memory.h"

#include <string.h>

uint64_t ast_label_hash(const ast_labelling *l) {
    return ast_clusters_label_hash(&l->clusters, l->clusters.order, l->clusters.live) - l->label_hash_base.first;
}

/* Axial: labels on the other side are other labels. */
uint64_t ast_key_of(size_t point, bool flipped) {
    return ast_key(point) * (flipped ? 0x9e3779b97f4a7c15u : 1);
}

/* Before the second pass: the clusters' keys count from here, and the order is that of the labels there are. */
bool ast_save_order(ast_labelling *l) {
    if (!ast_workers_reserve(l)) {
        atomic_store(&l->failed, false);
        return false;
    }
    if (!ast_reserve(&l->label_hash_base.order, &l->label_hash_base.capacity, 0, l->clusters.live,
                     sizeof *l->label_hash_base.order))
        return false;
    l->label_hash_base.live = l->clusters.live;
    l->label_hash_base.version = l->clusters.version;
    l->label_hash_base.first = 0;
    if (l->label_hash_base.live)
        memcpy(l->label_hash_base.order, l->clusters.order, l->label_hash_base.live * sizeof *l->label_hash_base.order);
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        l->clusters.keys[slot] = 0;
    l->label_hash_base.due = true;
    return true;
}

/* Keys come in groups of AST_LANES: a rank's points may begin within one. */
static void key_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->rows.chunk;
    bool grouped = !l->rows.axial && l->rows.offset % AST_LANES == 0;
    for (size_t i = base; !grouped && i < base + l->rows.chunk; i++)
        worker->bins.keys[l->labels[i]] += ast_key_of(l->rows.offset + i, l->rows.axial && ast_is_flipped(l->signs, i));
    if (grouped)
        l->rows.kernels->add_keys(l->labels + base, l->rows.chunk, l->rows.offset + base, &worker->bins);
}

static uint64_t take_key(ast_labelling *l, size_t slot) {
    uint64_t sum = 0;
    for (int w = 0; w < l->worker_count; w++) {
        const ast_bins *bins = &l->workers[w].bins;
        for (size_t copy = 0; copy < bins->copies && slot + AST_BIN_MARGIN < bins->slots; copy++) {
            sum += bins->keys[copy * bins->slots + slot];
            bins->keys[copy * bins->slots + slot] = 0;
        }
    }
    return sum;
}

bool ast_sum_keys(ast_labelling *l, uint64_t *keys) {
    if (!ast_workers_reserve(l))
        return false;
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        take_key(l, slot);
    ast_each_chunk(l, 0, l->rows.chunks, key_chunk);
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        keys[slot] += take_key(l, slot);
    return true;
}

/* What changed since the first pass, taken from what the labels say now, gives the keys of the first pass, and so its
 * fingerprint. */
void ast_gather_keys(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    bool ready = ast_workers_reserve(l), many = ast_comm_many(l->ranks.comm);
    if (ready)
        ast_each_chunk(l, 0, l->rows.chunks, key_chunk);
    for (size_t slot = 0; many && slot < c->slots; slot++) /* the packet has room for more than one number a slot */
        l->ranks.packet[slot] = ready ? take_key(l, slot) : 0;
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, c->slots);
    if (!ready)
        return;
    for (size_t slot = 0; slot < c->slots; slot++) {
        uint64_t change = c->keys[slot];
        c->keys[slot] = (many ? l->ranks.packet[slot] : take_key(l, slot)) - change;
        l->workers[0].bins.keys[slot] = change;
    }
    l->label_hash_base.due = false;
    l->label_hash_base.first = ast_clusters_label_hash(c, l->label_hash_base.order, l->label_hash_base.live);
    for (size_t slot = 0; slot < c->slots; slot++)
        c->keys[slot] += take_key(l, slot);
}
