/* SPDX-License-Identifier: MIT
 *
 * One number that stands for the labels of all points. Every point has a key. A cluster has the sum of its members'
 * keys, which changes with each move. The hash is made of these sums and of the order of the clusters.
 *
 * The first pass computes no keys, and hashes are relative to its labels. Its keys are computed from the labels once
 * the list of clusters changes, which never happens in most runs. With several windows the labels are in memory only
 * within the pass, so the first pass adds the keys window by window. */
#include "inside.h"

#include "memory.h"

#include <string.h>

/* Axial: a point with the other sign has another key. */
uint64_t ast_key_of(size_t point, bool flipped) {
    return ast_key(point) * (flipped ? 0x9e3779b97f4a7c15u : 1);
}

bool ast_save_hash_base(ast_labelling *l) {
    ast_label_hash_base *base = &l->label_hash_base;
    if (!ast_workers_reserve(l)) {
        atomic_store(&l->failed, false);
        return false;
    }
    if (!ast_reserve(&base->order, &base->capacity, 0, l->clusters.live, sizeof *base->order))
        return false;
    base->live = l->clusters.live;
    base->version = l->clusters.version;
    base->due = l->windows.count == 1;
    if (base->live)
        memcpy(base->order, l->clusters.order, base->live * sizeof *base->order);
    for (size_t slot = 0; base->due && slot < l->clusters.slots; slot++)
        l->clusters.keys[slot] = 0;
    base->first = base->due ? 0 : ast_clusters_label_hash(&l->clusters, base->order, base->live);
    return true;
}

/* The kernel computes keys in groups of AST_LANES. The points of a rank may begin within a group. */
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

void ast_add_window_keys(ast_labelling *l) {
    if (!ast_workers_reserve(l))
        return;
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        take_key(l, slot); /* what workers have is incomplete */
    ast_each_chunk(l, 0, l->rows.chunks, key_chunk);
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        l->clusters.keys[slot] += take_key(l, slot);
}

/* The keys of the first pass are the keys of the labels now, without the changes since. */
void ast_compute_first_hash(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    ast_label_hash_base *base = &l->label_hash_base;
    bool ready = ast_workers_reserve(l), many = ast_comm_many(l->ranks.comm);
    if (ready)
        ast_each_chunk(l, 0, l->rows.chunks, key_chunk);
    for (size_t slot = 0; many && slot < c->slots; slot++) /* the packet has room for more than one number per slot */
        l->ranks.packet[slot] = ready ? take_key(l, slot) : 0;
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, c->slots);
    if (!ready)
        return;
    for (size_t slot = 0; slot < c->slots; slot++) {
        uint64_t change = c->keys[slot];
        c->keys[slot] = (many ? l->ranks.packet[slot] : take_key(l, slot)) - change;
        l->workers[0].bins.keys[slot] = change;
    }
    base->due = false;
    base->first = ast_clusters_label_hash(c, base->order, base->live);
    for (size_t slot = 0; slot < c->slots; slot++)
        c->keys[slot] += take_key(l, slot);
}
