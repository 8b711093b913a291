/* SPDX-License-Identifier: MIT
 *
 * The messages of the ranks in a pass. Sums, counts and keys are integers, so it does not matter which rank has which
 * points. All ranks have the same number of clusters, and so messages of the same size; if memory for one runs out on a
 * rank, all ranks fail. */
#include "inside.h"

#include "memory.h"

#include <string.h>

/* false: no memory, on all ranks. */
static bool reserve_packet(ast_labelling *l, size_t numbers) {
    ast_ranks *r = &l->ranks;
    if (numbers <= r->packet_capacity)
        return true;
    bool ready = ast_reserve(&r->packet, &r->packet_capacity, 0, numbers, sizeof *r->packet);
    if (ast_comm_first_rank(r->comm, !ready) < 0)
        return true;
    r->packet_capacity = 0; /* on all ranks, so that all of them will ask again */
    return false;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

enum { BESIDES = 6 }; /* numbers per slot besides its sum */

/* The arrays of the packet, one after the other. */
typedef struct parts {
    uint64_t *head;
    ast_sum_arrays sink;   /* (slots, D), and four times (slots) */
    uint64_t *touched;     /* (slots) */
    uint64_t *left, *came; /* (slots) members that left, and that came */
} parts;

static parts lay_out(const ast_labelling *l, size_t slots) {
    parts p = {.head = l->ranks.packet};
    int64_t *sums = (int64_t *)l->ranks.packet + AST_PACKET_HEAD, *rest = sums + slots * l->rows.dimension;
    p.sink = (ast_sum_arrays){sums, rest, rest + slots, (uint64_t *)rest + 2 * slots, l->clusters.touched};
    p.touched = (uint64_t *)rest + 3 * slots;
    p.left = p.touched + slots;
    p.came = p.left + slots;
    return p;
}

static void fill(ast_labelling *l, const parts *p, size_t slots) {
    ast_merge_into(l, l->workers, l->worker_count, &p->sink);
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

/* Whether some cluster had one member, or may have had one during the pass: then the order of the points matters. */
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

static void take(ast_labelling *l, const parts *p, size_t slots) {
    ast_cluster_list *c = &l->clusters;
    for (size_t i = 0; i < slots * l->rows.dimension; i++)
        c->sums[i] += p->sink.sums[i];
    for (size_t slot = 0; slot < slots; slot++) {
        c->weights[slot] += p->sink.weights[slot];
        c->keys[slot] += p->sink.keys[slot];
        c->members[slot] += p->sink.members[slot];
        c->touched[slot] = p->touched[slot] > 0;
    }
}

bool ast_exchange(ast_labelling *l, uint64_t head[AST_PACKET_HEAD], bool *had_singletons) {
    size_t slots = l->clusters.slots, numbers = AST_PACKET_HEAD + slots * (l->rows.dimension + BESIDES);
    if (!reserve_packet(l, numbers))
        return false;
    memset(l->ranks.packet, 0, numbers * sizeof *l->ranks.packet);
    parts p = lay_out(l, slots);
    fill(l, &p, slots);
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, numbers);
    memcpy(head, p.head, AST_PACKET_HEAD * sizeof *head);
    *had_singletons = may_have_had_singletons(l, &p, slots);
    take(l, &p, slots);
    bool holds = l->ranks.speculative && !*had_singletons && head[AST_CONFLICTS] == 0;
    for (size_t slot = 0; holds && slot < slots; slot++)
        l->clusters.members[slot] += (int64_t)(p.came[slot] - p.left[slot]);
    return true;
}

/* ---- The list of clusters ---------------------------------------------------------------------------------------- */

/* Arrays in the packet, one after the other, that one rank writes and the others read. */
typedef struct reel {
    char *at;
    bool writing;
} reel;

static void pass(reel *r, void *array, size_t size) {
    if (size > 0)
        memcpy(r->writing ? r->at : array, r->writing ? array : r->at, size);
    r->at += size;
}

/* The message before it: how large it is. */
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

/* A new cluster in this slot, without points. */
static void begin_slot(ast_labelling *l, size_t slot) {
    ast_cluster_list *c = &l->clusters;
    memset(c->sums + slot * c->dimension, 0, c->dimension * sizeof *c->sums);
    c->weights[slot] = c->members[slot] = 0;
    c->keys[slot] = 0;
    c->singleton_point[slot] = UINT32_MAX;
    ast_clusters_keep_mean(c, (int32_t)slot);
    c->touched[slot] = 1;
}

static void pass_all(ast_labelling *l, reel *r, const uint64_t *preface) {
    ast_cluster_list *c = &l->clusters;
    size_t before = l->events.count - (r->writing ? preface[EVENTS] : 0), events = preface[EVENTS], known = c->slots;
    pass(r, l->events.list + before, events * sizeof *l->events.list);
    for (size_t e = before; e < before + events; e++) {
        int32_t slot = l->events.list[e];
        if (slot < 0)
            continue;
        if (!r->writing && ((size_t)slot >= known || !c->alive[slot]))
            begin_slot(l, (size_t)slot);
        pass(r, c->means + (size_t)slot * c->dimension, c->dimension * sizeof *c->means);
    }
    c->slots = preface[SLOTS];
    c->live = preface[LIVE];
    c->version = preface[VERSION];
    c->free.count = preface[FREE];
    l->events.count = before + events;
    pass(r, c->members, c->slots * sizeof *c->members);
    pass(r, c->born, c->slots * sizeof *c->born);
    pass(r, c->order, c->live * sizeof *c->order);
    pass(r, c->alive, c->slots);
    pass(r, c->touched, c->slots);
}

bool ast_share_events(ast_labelling *l, int from, size_t before) {
    const ast_cluster_list *c = &l->clusters;
    bool writing = ast_comm_rank(l->ranks.comm) == from;
    uint64_t preface[PREFACE] = {atomic_load(&l->failed), l->events.count - before, c->slots, c->live, c->version,
                                 c->free.count,           births(l, before)};
    ast_comm_broadcast(l->ranks.comm, preface, sizeof preface, from);
    size_t bytes = preface[EVENTS] * sizeof *l->events.list + preface[MEANS] * c->dimension * sizeof *c->means +
                   preface[SLOTS] * (sizeof *c->members + sizeof *c->born + 2) + preface[LIVE] * sizeof *c->order;
    if (preface[FAILED] || !reserve_packet(l, bytes / sizeof *l->ranks.packet + 1) || !make_room(l, preface)) {
        ast_labelling_fail(l);
        return false;
    }
    reel r = {(char *)l->ranks.packet, true};
    if (writing)
        pass_all(l, &r, preface);
    ast_comm_broadcast(l->ranks.comm, l->ranks.packet, bytes, from);
    r = (reel){(char *)l->ranks.packet, false};
    if (!writing)
        pass_all(l, &r, preface);
    ast_clusters_find_singletons(&l->clusters);
    ast_workers_reserve(l);
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

bool ast_ranked_rows(ast_labelling *l, const float *const *mine, size_t count, float *rows) {
    size_t dimension = l->rows.dimension;
    if (!reserve_packet(l, count * dimension))
        return false;
    memset(l->ranks.packet, 0, count * dimension * sizeof *l->ranks.packet);
    for (size_t j = 0; j < count; j++)
        for (size_t d = 0; mine[j] && d < dimension; d++) {
            uint32_t bits;
            memcpy(&bits, &mine[j][d], sizeof bits);
            l->ranks.packet[j * dimension + d] = bits;
        }
    ast_comm_allreduce(l->ranks.comm, l->ranks.packet, count * dimension);
    for (size_t i = 0; i < count * dimension; i++) {
        uint32_t bits = (uint32_t)l->ranks.packet[i];
        memcpy(&rows[i], &bits, sizeof bits);
    }
    return true;
}

/* The rows of this rank's points that are alone in their cluster: mine[at[slot]], copied to `memory`. */
static void find_singletons(ast_labelling *l, const int32_t *at, const float **mine, float *memory) {
    size_t dimension = l->rows.dimension;
    for (size_t i = 0; i < l->rows.count; i++) {
        int32_t label = l->labels[i];
        if (label < 0 || !ast_clusters_is_new_singleton(&l->clusters, label))
            continue;
        float *row = memory + (size_t)at[label] * dimension;
        mine[at[label]] =
            memcpy(row, ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, i), dimension * sizeof *row);
    }
}

static void set_singleton_means(ast_labelling *l, const float *rows) {
    ast_cluster_list *c = &l->clusters;
    for (size_t k = 0, j = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (!ast_clusters_is_new_singleton(c, slot))
            continue;
        ast_clusters_keep_mean(c, slot);
        ast_clusters_set_mean(c, slot, rows + j++ * c->dimension);
        c->touched[slot] = 0;
    }
}

ast_status ast_update_ranked_singletons(ast_labelling *l, ast_fault *fault) {
    const ast_cluster_list *c = &l->clusters;
    size_t count = 0, dimension = c->dimension;
    for (size_t k = 0; k < c->live; k++)
        count += ast_clusters_is_new_singleton(c, c->order[k]);
    (void)fault; /* a failure is told in the next pass */
    if (count == 0)
        return AST_OK;
    const float **mine = ast_allocate_zero(count, sizeof *mine);
    float *rows = ast_allocate(count * dimension, sizeof *rows);
    int32_t *at = ast_allocate(c->slots, sizeof *at);
    bool ready = ast_comm_first_rank(l->ranks.comm, !mine || !rows || !at) < 0;
    if (ready) {
        for (size_t k = 0, j = 0; k < c->live; k++)
            if (ast_clusters_is_new_singleton(c, c->order[k]))
                at[c->order[k]] = (int32_t)j++;
        find_singletons(l, at, mine, rows);
        ready = ast_ranked_rows(l, mine, count, rows);
    }
    if (ready)
        set_singleton_means(l, rows);
    else
        ast_labelling_fail(l);
    ast_free_all(mine, rows, at);
    return AST_OK;
}
