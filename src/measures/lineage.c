/* SPDX-License-Identifier: MIT
 *
 * Matching of clusters by overlap. A pair counts if it has more than half of the rows of either cluster, so that every
 * cluster points to at most one of the other side, its majority. Along these pointers overlaps grow: two clusters that
 * point to each other end a path, and there are no other cycles. What is left is a forest, on which the matching with
 * the largest sum follows from leaves to roots. */
#include "lineage.h"

#include "memory.h"
#include "partition.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX /* of a key: the row has no label */

void ast_lineage_free(ast_lineage_of_run *lineage) {
    ast_free_all(lineage->ids, lineage->records, lineage->from);
    *lineage = (ast_lineage_of_run){0};
}

void ast_row_overlaps_free(ast_row_overlaps *o) {
    ast_free_all(o->list, o->ids, o->old_size, o->new_size);
    *o = (ast_row_overlaps){0};
}

/* ---- Overlaps ---------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b) {
    uint64_t x = ((const ast_counter_entry *)a)->key, y = ((const ast_counter_entry *)b)->key;
    return (x > y) - (x < y);
}

/* Rows without an old label come last: their key is the largest. */
static void fill(const ast_counter *counter, ast_row_overlaps *found) {
    for (size_t e = 0; e < counter->used; e++) {
        uint32_t id = (uint32_t)(counter->entries[e].key >> 32), new = (uint32_t)counter->entries[e].key;
        if (id != NOBODY && (found->olds == 0 || found->ids[found->olds - 1] != (int32_t)id))
            found->ids[found->olds++] = (int32_t)id;
        ast_row_overlap one = {id == NOBODY ? -1 : (int32_t)found->olds - 1, new == NOBODY ? -1 : (int32_t) new,
                               counter->entries[e].count};
        found->list[found->count++] = one;
        if (one.old >= 0)
            found->old_size[one.old] += one.count;
        if (one.new >= 0)
            found->new_size[one.new] += one.count;
    }
}

ast_status ast_row_overlaps_find(const int32_t *old, const int32_t *labels, size_t count, size_t news,
                                 ast_row_overlaps *found, ast_fault *fault) {
    ast_counter counter = {0};
    bool ready = true;
    *found = (ast_row_overlaps){.news = news};
    for (size_t i = 0; ready && i < count; i++) {
        uint64_t id = old[i] < 0 ? NOBODY : (uint64_t)old[i], new = labels[i] < 0 ? NOBODY : (uint64_t)labels[i];
        ready = ast_counter_add(&counter, id << 32 | new, 1, NULL);
    }
    ready = ready && ast_replace_arrays(AST_REQUEST(found->list, counter.used), AST_REQUEST(found->ids, counter.used));
    found->old_size = ready ? ast_allocate_zero(counter.used + 1, sizeof *found->old_size) : NULL;
    found->new_size = ready ? ast_allocate_zero(news + 1, sizeof *found->new_size) : NULL;
    if (found->old_size && found->new_size) {
        if (counter.used)
            qsort(counter.entries, counter.used, sizeof *counter.entries, by_key);
        fill(&counter, found);
    }
    ast_counter_free(&counter);
    return found->old_size && found->new_size ? AST_OK : ast_fail_memory(fault);
}

/* ---- The matching ------------------------------------------------------------------------------------------------ */

/* A node of the forest: old clusters first, new ones behind them. */
typedef struct node {
    int32_t number, parent; /* -1: it is a root */
    int64_t shared;         /* rows shared with the parent */
    int64_t without, gain;  /* best sum below if the node is matched with no child; what its best child adds */
    int32_t child;          /* that child; -1: none adds anything */
    int32_t match;          /* a node, or -1 */
} node;

static int by_shared(const void *a, const void *b) {
    const node *x = *(node *const *)a, *y = *(node *const *)b;
    if ((x->parent < 0) != (y->parent < 0))
        return x->parent < 0 ? 1 : -1;
    if (x->shared != y->shared)
        return x->shared > y->shared ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static void link_nodes(const ast_row_overlaps *o, node *nodes) {
    for (size_t v = 0; v < o->olds + o->news; v++)
        nodes[v] = (node){.number = (int32_t)v, .parent = -1, .child = -1, .match = -1};
    for (const ast_row_overlap *e = o->list; e < o->list + o->count; e++) {
        if (e->old < 0 || e->new < 0)
            continue;
        node *old = &nodes[e->old], *new = &nodes[o->olds + (size_t)e->new];
        if (2 * e->count > o->new_size[e->new]) {
            new->parent = old->number;
            new->shared = (int64_t)e->count;
        } else if (2 * e->count > o->old_size[e->old]) {
            old->parent = new->number;
            old->shared = (int64_t)e->count;
        }
    }
}

/* From the leaves to the roots: sorted is in ascending order of what is shared, so that children come first. */
static void sum_up(node *nodes, node *const *sorted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const node *v = sorted[i];
        if (v->parent < 0)
            continue;
        node *parent = &nodes[v->parent];
        int64_t gain = v->shared - v->gain;
        parent->without += v->without + v->gain;
        if (gain > parent->gain || (gain == parent->gain && gain > 0 && v->number < parent->child)) {
            parent->gain = gain;
            parent->child = v->number;
        }
    }
}

ast_status ast_row_overlaps_match(const ast_row_overlaps *o, int32_t *same, ast_fault *fault) {
    size_t count = o->olds + o->news;
    node *nodes = ast_allocate(count, sizeof *nodes),
         **sorted = ast_allocate(count, sizeof(node *)); /* NOLINT(bugprone-sizeof-expression) */
    bool ready = nodes && sorted;
    for (size_t v = 0; ready && v < count; v++)
        sorted[v] = &nodes[v];
    if (ready && count) {
        link_nodes(o, nodes);
        qsort(sorted, count, sizeof(node *), by_shared); // NOLINT(bugprone-sizeof-expression)
        sum_up(nodes, sorted, count);
    }
    for (size_t i = count; ready && i-- > 0;) { /* a parent chooses before its children */
        node *v = sorted[i];
        if (v->match < 0 && v->child >= 0) {
            v->match = v->child;
            nodes[v->child].match = v->number;
        }
    }
    for (size_t k = 0; ready && k < o->news; k++)
        same[k] = nodes[o->olds + k].match;
    ast_free_all(nodes, sorted);
    return ready ? AST_OK : ast_fail_memory(fault);
}

/* ---- Ids and records --------------------------------------------------------------------------------------------- */

typedef struct named {
    int32_t id;
    size_t cluster; /* new */
} named;

static int by_id(const void *a, const void *b) {
    int32_t x = ((const named *)a)->id, y = ((const named *)b)->id;
    return (x > y) - (x < y);
}

/* Where the majority of each cluster is, and what follows from that. */
typedef struct majorities {
    int32_t *inside;  /* (olds) the new cluster with more than half of the old one, or -1 */
    int32_t *of;      /* (news) the old cluster that is more than half of the new one, or -1 */
    uint64_t *pieces; /* (olds) new clusters that are mostly of the old one */
    uint64_t *cover;  /* (olds) its rows in them */
    uint64_t *joined; /* (news) old clusters mostly inside */
    bool *lives;      /* (olds) it is in a record of a new cluster */
} majorities;

static bool find_majorities(const ast_row_overlaps *o, majorities *m) {
    if (!ast_replace_arrays(AST_REQUEST(m->inside, o->olds), AST_REQUEST(m->of, o->news)))
        return false;
    m->pieces = ast_allocate_zero(o->olds + 1, sizeof *m->pieces);
    m->cover = ast_allocate_zero(o->olds + 1, sizeof *m->cover);
    m->joined = ast_allocate_zero(o->news + 1, sizeof *m->joined);
    m->lives = ast_allocate_zero(o->olds + 1, sizeof *m->lives);
    if (!m->pieces || !m->cover || !m->joined || !m->lives)
        return false;
    memset(m->inside, -1, o->olds * sizeof *m->inside);
    memset(m->of, -1, o->news * sizeof *m->of);
    for (const ast_row_overlap *e = o->list; e < o->list + o->count; e++) {
        if (e->old < 0 || e->new < 0)
            continue;
        if (2 * e->count > o->old_size[e->old]) {
            m->inside[e->old] = e->new;
            m->joined[e->new]++;
        }
        if (2 * e->count > o->new_size[e->new]) {
            m->of[e->new] = e->old;
            m->pieces[e->old]++;
            m->cover[e->old] += e->count;
        }
    }
    return true;
}

/* What became of a new cluster; its old clusters go to the end of the list. */
static ast_lineage describe(const ast_row_overlaps *o, const majorities *m, int32_t id, size_t k, int32_t same,
                            int32_t *from) {
    int32_t of = m->of[k];
    ast_lineage one = {.id = id, .event = same >= 0 ? AST_LINEAGE_KEPT : AST_LINEAGE_BORN, .from = from};
    bool split = of >= 0 && m->pieces[of] > 1 && 2 * m->cover[of] > o->old_size[of] && (same < 0 || same == of);
    if (m->joined[k] > 1) {
        one.event = AST_LINEAGE_MERGED;
        for (size_t old = 0; old < o->olds; old++)
            if (m->inside[old] == (int32_t)k || (int32_t)old == same) {
                from[one.from_count++] = o->ids[old];
                m->lives[old] = true;
            }
        return one;
    }
    int32_t old = split ? of : same;
    one.event = split ? AST_LINEAGE_SPLIT : one.event;
    if (old >= 0) {
        from[one.from_count++] = o->ids[old];
        m->lives[old] = true;
    }
    return one;
}

static int by_record(const void *a, const void *b) {
    int32_t x = ((const ast_lineage *)a)->id, y = ((const ast_lineage *)b)->id;
    return (x > y) - (x < y);
}

static void write_records(const ast_row_overlaps *o, const majorities *m, const int32_t *same, const size_t *order,
                          ast_lineage_of_run *l) {
    size_t used = 0;
    for (size_t at = 0; at < o->news; at++) {
        l->records[l->count] = describe(o, m, l->ids[at], order[at], same[order[at]], l->from + used);
        used += l->records[l->count++].from_count;
    }
    for (size_t old = 0; old < o->olds; old++)
        if (!m->lives[old]) {
            l->from[used] = o->ids[old];
            l->records[l->count++] = (ast_lineage){o->ids[old], AST_LINEAGE_DIED, l->from + used, 1};
            used++;
        }
    if (l->count)
        qsort(l->records, l->count, sizeof *l->records, by_record);
}

ast_status ast_lineage_make(const ast_row_overlaps *o, const int32_t *same, int32_t next_id, size_t *order,
                            ast_lineage_of_run *l, ast_fault *fault) {
    majorities m = {0};
    size_t news = o->news;
    named *list = ast_allocate(news, sizeof *list);
    *l = (ast_lineage_of_run){.next_id = next_id};
    bool ready = list && find_majorities(o, &m) &&
                 ast_replace_arrays(AST_REQUEST(l->ids, news), AST_REQUEST(l->records, o->olds + news),
                                    AST_REQUEST(l->from, 2 * o->olds + 2 * news));
    for (size_t k = 0; ready && k < news; k++)
        list[k] = (named){same[k] >= 0 ? o->ids[same[k]] : l->next_id++, k};
    if (ready && news)
        qsort(list, news, sizeof *list, by_id);
    for (size_t at = 0; ready && at < news; at++) {
        order[at] = list[at].cluster;
        l->ids[at] = list[at].id;
    }
    if (ready)
        write_records(o, &m, same, order, l);
    ast_free_all(list, m.inside, m.of, m.pieces, m.cover, m.joined, m.lives);
    return ready ? AST_OK : ast_fail_memory(fault);
}
