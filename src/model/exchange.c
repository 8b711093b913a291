/* SPDX-License-Identifier: MIT
 *
 * The messages of the ranks in a pass. Sums, counts and keys are integers, so it does not matter which rank has which
 * points. All ranks have the same number of clusters, so their messages have the same size. If one rank has no memory
 * for a message, all ranks fail. */
#include "inside.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* false: no memory, on all ranks. */
static bool reserve_packet(ast_labelling *l, size_t numbers) {
    ast_ranks *r = &l->ranks;
    if (numbers <= r->packet_capacity)
        return true;
    bool ready = ast_reserve(&r->packet, &r->packet_capacity, 0, numbers, sizeof *r->packet);
    if (ast_comm_first_rank(r->comm, !ready) < 0)
        return true;
    r->packet_capacity = 0; /* on all ranks, so that all of them call again */
    return false;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

enum { BESIDES = 6 }; /* numbers per slot besides its sum */

/* The arrays of the packet, one after the other. */
typedef struct parts {
    uint64_t *head;
    ast_sums sums;         /* (slots, D), and four times (slots) */
    uint64_t *touched;     /* (slots) */
    uint64_t *left, *came; /* (slots) members that left, and that came */
} parts;

static parts lay_out(const ast_labelling *l, size_t slots) {
    parts p = {.head = l->ranks.packet};
    int64_t *sums = (int64_t *)l->ranks.packet + AST_PACKET_HEAD, *rest = sums + slots * l->rows.dimension;
    p.sums = (ast_sums){slots, sums, rest, rest + slots, (uint64_t *)rest + 2 * slots, l->clusters.touched};
    p.touched = (uint64_t *)rest + 3 * slots;
    p.left = p.touched + slots;
    p.came = p.left + slots;
    return p;
}

static void pack(ast_labelling *l, const parts *p, size_t slots) {
    ast_merge_into(l, l->workers, l->worker_count, &p->sums);
    for (int w = 0; w < l->worker_count; w++) {
        const ast_worker *worker = &l->workers[w];
        p->head[AST_CHANGED] += worker->changed;
        p->head[AST_SCORED] += worker->chunk.scored;
        for (size_t c = 0; c < worker->undo_count; c++) {
            const ast_change *change = &worker->undo_log[c];
            p->left[change->from] += change->from != change->to;
            p->came[change->to] += change->from != change->to;
        }
    }
    for (size_t slot = 0; slot < slots; slot++)
        p->touched[slot] = l->clusters.touched[slot];
    p->head[AST_FAILURES] = atomic_load(&l->failed) || ast_pool_cancelled(l->pool) || l->ranks.pending != AST_OK;
    p->head[AST_CONFLICTS] = atomic_load(&l->ranks.conflict);
}

/* Whether a cluster had one member, or may have had one during the pass: then the order of the points matters. */
static bool may_have_had_singletons(const ast_labelling *l, const parts *p, size_t slots) {
    for (size_t slot = 0; slot < slots && !l->clusters.fixed; slot++) {
        int64_t members = l->clusters.members[slot], left = (int64_t)p->left[slot];
        if (members == 1 && (left || p->came[slot]))
            return true;
        if (left && members - left < 2)
            return true;
    }
    return false;
}

static void unpack(ast_labelling *l, const parts *p, size_t slots) {
    ast_cluster_list *c = &l->clusters;
    for (size_t i = 0; i < slots * l->rows.dimension; i++)
        c->sums[i] += p->sums.sums[i];
    for (size_t slot = 0; slot < slots; slot++) {
        c->weights[slot] += p->sums.weights[slot];
        c->keys[slot] += p->sums.keys[slot];
        c->members[slot] += p->sums.members[slot];
        c->touched[slot] = p->touched[slot] > 0;
    }
}

bool ast_allreduce_sums(ast_labelling *l, uint64_t head[AST_PACKET_HEAD], bool *had_singletons) {
    size_t slots = l->clusters.slots, numbers = AST_PACKET_HEAD + slots * (l->rows.dimension + BESIDES);
    if (!reserve_packet(l, numbers))
        return false;
    memset(l->ranks.packet, 0, numbers * sizeof *l->ranks.packet);
    parts p = lay_out(l, slots);
    pack(l, &p, slots);
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, numbers);
    memcpy(head, p.head, AST_PACKET_HEAD * sizeof *head);
    *had_singletons = may_have_had_singletons(l, &p, slots);
    unpack(l, &p, slots);
    bool holds = l->ranks.speculative && !*had_singletons && head[AST_CONFLICTS] == 0;
    for (size_t slot = 0; holds && slot < slots; slot++)
        l->clusters.members[slot] += (int64_t)(p.came[slot] - p.left[slot]);
    return true;
}

/* ---- The list of clusters ---------------------------------------------------------------------------------------- */

/* Arrays in the packet, one after the other. One rank writes them, the others read them. */
typedef struct cursor {
    char *at;
    bool writing;
} cursor;

static void copy(cursor *r, void *array, size_t size) {
    if (size > 0)
        memcpy(r->writing ? r->at : array, r->writing ? array : r->at, size);
    r->at += size;
}

/* The message before the packet, with the sizes of its arrays. */
enum { FAILED, EVENTS, SLOTS, LIVE, VERSION, FREE, MEANS, PREFACE };

static size_t births(const ast_labelling *l, size_t before) {
    size_t count = 0;
    for (size_t e = before; e < l->events.count; e++)
        count += l->events.list[e] >= 0;
    return count;
}

static bool make_room(ast_labelling *l, const uint64_t *preface) {
    ast_events *e = &l->events;
    bool ready = ast_clusters_reserve(&l->clusters, preface[SLOTS]) &&
                 ast_reserve(&e->list, &e->capacity, e->count, e->count + preface[EVENTS], sizeof *e->list);
    return ast_comm_first_rank(l->ranks.comm, !ready) < 0;
}

static void copy_changes(ast_labelling *l, cursor *r, const uint64_t *preface) {
    ast_cluster_list *c = &l->clusters;
    size_t before = l->events.count - (r->writing ? preface[EVENTS] : 0), events = preface[EVENTS], known = c->slots;
    copy(r, l->events.list + before, events * sizeof *l->events.list);
    c->slots = preface[SLOTS];
    for (size_t e = before; e < before + events; e++) {
        int32_t slot = l->events.list[e];
        if (slot < 0)
            continue;
        if (!r->writing && ((size_t)slot >= known || !c->alive[slot]))
            ast_clusters_clear_slot(c, slot);
        copy(r, ast_clusters_mean(c, slot), c->dimension * sizeof *c->means);
    }
    c->live = preface[LIVE];
    c->version = preface[VERSION];
    c->free_count = preface[FREE];
    l->events.count = before + events;
    copy(r, c->members, c->slots * sizeof *c->members);
    copy(r, c->born, c->slots * sizeof *c->born);
    copy(r, c->order, c->live * sizeof *c->order);
    copy(r, c->alive, c->slots);
    copy(r, c->touched, c->slots);
}

bool ast_share_events(ast_labelling *l, int from, size_t before) {
    const ast_cluster_list *c = &l->clusters;
    bool writing = ast_comm_rank(l->ranks.comm) == from;
    uint64_t preface[PREFACE] = {atomic_load(&l->failed), l->events.count - before, c->slots, c->live, c->version,
                                 c->free_count,           births(l, before)};
    ast_comm_broadcast(l->ranks.comm, preface, sizeof preface, from);
    size_t bytes = preface[EVENTS] * sizeof *l->events.list + preface[MEANS] * c->dimension * sizeof *c->means +
                   preface[SLOTS] * (sizeof *c->members + sizeof *c->born + 2) + preface[LIVE] * sizeof *c->order;
    if (preface[FAILED] || !reserve_packet(l, bytes / sizeof *l->ranks.packet + 1) || !make_room(l, preface)) {
        ast_labelling_fail(l);
        return false;
    }
    cursor r = {(char *)l->ranks.packet, writing};
    if (writing)
        copy_changes(l, &r, preface);
    ast_comm_broadcast(l->ranks.comm, l->ranks.packet, bytes, from);
    if (!writing)
        copy_changes(l, &r, preface);
    ast_clusters_find_singletons(&l->clusters);
    ast_workers_reserve(l);
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

bool ast_reserve_rows(ast_labelling *l, size_t count) {
    size_t numbers = count * l->rows.dimension;
    bool ready = reserve_packet(l, numbers);
    if (ready)
        memset(l->ranks.packet, 0, numbers * sizeof *l->ranks.packet);
    return ready;
}

void ast_put_row(ast_labelling *l, size_t j, const float *row) {
    for (size_t d = 0; d < l->rows.dimension; d++)
        memcpy(&l->ranks.packet[j * l->rows.dimension + d], &row[d], sizeof *row);
}

void ast_share_rows(ast_labelling *l, size_t count) {
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, count * l->rows.dimension);
}

void ast_get_row(const ast_labelling *l, size_t j, float *row) {
    for (size_t d = 0; d < l->rows.dimension; d++)
        memcpy(&row[d], &l->ranks.packet[j * l->rows.dimension + d], sizeof *row);
}

/* Puts the rows of this rank's points that are the only member of their cluster; at (slots): the place of each row. */
static void put_singletons(ast_labelling *l, const int32_t *at) {
    for (size_t i = 0; i < l->rows.count; i++) {
        int32_t label = l->labels[i];
        if (label >= 0 && ast_clusters_is_new_singleton(&l->clusters, label))
            ast_put_row(l, (size_t)at[label], ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, i));
    }
}

static void set_singleton_means(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    float mean[AST_MAX_DIMENSION];
    for (size_t k = 0, j = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (!ast_clusters_is_new_singleton(c, slot))
            continue;
        ast_get_row(l, j++, mean);
        ast_clusters_set_mean(c, slot, mean);
        c->touched[slot] = 0;
    }
}

/* The next pass reports a failure. */
ast_status ast_update_ranked_singletons(ast_labelling *l, ast_fault *fault) {
    const ast_cluster_list *c = &l->clusters;
    size_t count = 0;
    (void)fault;
    for (size_t k = 0; k < c->live; k++)
        count += ast_clusters_is_new_singleton(c, c->order[k]);
    if (count == 0)
        return AST_OK;
    int32_t *at = ast_allocate(c->slots, sizeof *at);
    bool ready = ast_comm_first_rank(l->ranks.comm, !at) < 0 && ast_reserve_rows(l, count);
    for (size_t k = 0, j = 0; ready && k < c->live; k++)
        if (ast_clusters_is_new_singleton(c, c->order[k]))
            at[c->order[k]] = (int32_t)j++;
    if (ready) {
        put_singletons(l, at);
        ast_share_rows(l, count);
        set_singleton_means(l);
    } else {
        ast_labelling_fail(l);
    }
    ast_free(at);
    return AST_OK;
}
