/* SPDX-License-Identifier: MIT
 *
 * A tally as bytes, with the layout of asterism_tally.h. Tallies are merged only if they are complete and of the same
 * iteration. */
#include "tally.h"

#include "checksum.h"
#include "memory.h"
#include "saved.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

#define MAGIC 0x31594c4c41545341u /* "ASTALLY1" in memory */
#define VERSION 2
#define LONGEST 1.001f /* a row of length 1 and more than rounding can add to it */

typedef struct tally_header {
    uint64_t magic, version, size, dimension, clusters, axial;
    double smallest_weight, total_weight;
    uint64_t means; /* their checksum */
    uint64_t points, missing, changed, label_hash;
    uint64_t worst, nearest; /* how many */
} tally_header;

static size_t filled_up(size_t size) {
    return (size + 7) / 8 * 8;
}

static size_t list_bytes(size_t count, size_t dimension) {
    return count * sizeof(ast_kept_point) + filled_up(count * dimension * sizeof(float));
}

/* `worst` and `nearest` are no more than K, so that nothing here overflows that fits memory. */
static size_t all_bytes(const tally_header *h) {
    size_t clusters = (size_t)h->clusters, dimension = (size_t)h->dimension;
    return sizeof *h + clusters * (dimension + 2) * sizeof(int64_t) + list_bytes((size_t)h->worst, dimension) +
           list_bytes((size_t)h->nearest, dimension) + sizeof(uint64_t);
}

static tally_header describe(const ast_tally *t) {
    tally_header h = {.magic = MAGIC,
                      .version = VERSION,
                      .dimension = t->clusters.dimension,
                      .clusters = t->clusters.live,
                      .axial = t->options.axial != 0,
                      .smallest_weight = t->options.smallest_weight,
                      .total_weight = t->options.smallest_weight > 0 ? t->options.total_weight : 0,
                      .means =
                          ast_checksum(t->clusters.means, t->clusters.live * t->clusters.dimension * sizeof(float)),
                      .points = t->all.points,
                      .missing = t->all.missing,
                      .changed = t->all.changed,
                      .label_hash = t->all.label_hash,
                      .worst = t->all.worst.count,
                      .nearest = t->all.nearest.count};
    h.size = all_bytes(&h);
    return h;
}

/* With zeros up to a multiple of 8 bytes. */
static unsigned char *put(unsigned char *at, const void *bytes, size_t size) {
    ast_saved_put(at, bytes, size);
    memset(at + size, 0, filled_up(size) - size);
    return at + filled_up(size);
}

static unsigned char *put_list(unsigned char *at, const ast_kept_point_list *list, size_t dimension) {
    at = put(at, list->items, list->count * sizeof *list->items);
    return put(at, list->rows, list->count * dimension * sizeof *list->rows);
}

static ast_status save(ast_tally *t, size_t *size) {
    tally_header h = describe(t);
    size_t clusters = t->clusters.live, dimension = t->clusters.dimension;
    ast_status status = ast_check_pointer(size, "size", t->fault);
    if (status != AST_OK)
        return status;
    ast_free(t->bytes);
    t->bytes = ast_allocate(h.size, 1);
    if (!t->bytes)
        return ast_fail_memory(t->fault);
    unsigned char *at = put(t->bytes, &h, sizeof h);
    at = put(at, t->all.sums, clusters * dimension * sizeof *t->all.sums);
    at = put(at, t->all.weights, clusters * sizeof *t->all.weights);
    at = put(at, t->all.members, clusters * sizeof *t->all.members);
    at = put_list(at, &t->all.worst, dimension);
    at = put_list(at, &t->all.nearest, dimension);
    ast_saved_close(t->bytes, at);
    *size = h.size;
    return AST_OK;
}

const void *ast_tally_save(ast_tally *t, size_t *size) {
    if (!ast_enter(t ? t->context : NULL))
        return NULL;
    return ast_leave(t->context, save(t, size)) == AST_OK ? t->bytes : NULL;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Which of the things that must be equal differs, or NULL. */
static const char *other(const tally_header *a, const tally_header *b) {
    return a->dimension != b->dimension               ? "dimension"
           : a->clusters != b->clusters               ? "number of clusters"
           : a->axial != b->axial                     ? "setting of axial"
           : a->smallest_weight != b->smallest_weight ? "smallest_weight"
           : a->total_weight != b->total_weight       ? "total_weight"
           : a->means != b->means                     ? "set of means: an iteration has one"
                                                      : NULL;
}

static const ast_saved_format format = {.magic = MAGIC,
                                        .version = VERSION,
                                        .head = sizeof(tally_header),
                                        .unit = 8,
                                        .name = "tally",
                                        .no_magic =
                                            "these bytes are no tally, or one of a machine with another byte order",
                                        .on_version = ""};

static ast_status check(const ast_tally *t, const void *bytes, size_t size, tally_header *h) {
    tally_header mine = describe(t);
    ast_status status = ast_saved_check(&format, bytes, size, t->fault);
    if (status != AST_OK)
        return status;
    memcpy(h, bytes, sizeof *h);
    const char *what = other(h, &mine);
    if (what)
        return ast_fail(t->fault, AST_BAD_DATA, "the tally was made with another %s", what);
    if (h->worst > h->clusters || h->nearest > h->clusters || size != all_bytes(h))
        return ast_fail(t->fault, AST_BAD_DATA, "the tally is damaged: its size does not match what it should hold");
    return AST_OK;
}

/* Whether no cluster has more points in the list than members, and the order is right. left: (K) scratch memory. */
static bool is_ordered(const ast_tally_sums *part, size_t clusters, int64_t *left) {
    const ast_kept_point *items = part->worst.items;
    memcpy(left, part->members, clusters * sizeof *left);
    for (size_t i = 0; i < part->worst.count; i++) {
        if (items[i].label < 0 || (size_t)items[i].label >= clusters || left[items[i].label]-- == 0)
            return false;
        if (i > 0 && !(items[i - 1].score <= items[i].score))
            return false;
    }
    return true;
}

/* Whether the lists have the points that an iteration needs with these members. */
static bool lists_complete(const ast_tally_sums *part, size_t clusters) {
    size_t empty = ast_tally_empty(part->members, clusters), near = 0;
    uint64_t members = 0;
    for (size_t k = 0; k < clusters; k++) {
        uint64_t count = (uint64_t)part->members[k];
        if (count > part->points)
            return false;
        members += count;
        if (count > 0 && count <= empty + 1 &&
            (near == part->nearest.count || part->nearest.items[near++].label != (int32_t)k))
            return false;
    }
    size_t wanted = empty == 0 ? 0 : members < clusters ? (size_t)members : clusters;
    return members <= part->points && near == part->nearest.count && part->worst.count == wanted;
}

/* Whether every number of a list of points is one that rows and weights can have; *weight is their sum, in units of
 * sums. */
static bool has_rows(const ast_kept_point_list *list, size_t dimension, double unit, double *weight) {
    bool good = true;
    *weight = 0;
    for (size_t i = 0; i < list->count; i++) {
        good &= list->items[i].weight >= 0;
        *weight += list->items[i].weight * unit;
    }
    for (size_t j = 0; j < list->count * dimension; j++)
        good &= fabsf(list->rows[j]) <= LONGEST;
    return good;
}

/* Whether the sums are those of unit vectors with these weights, and none overflows when they are added to the tally
 * and points move to empty clusters. */
static bool is_possible(const ast_tally *t, const ast_tally_sums *part) {
    const ast_cluster_list *c = &t->clusters;
    double scale = c->unit / c->weight_unit, total = 0, before = 0, worst, nearest;
    for (size_t k = 0; k < c->live; k++) {
        double most = LONGEST * scale * (double)part->weights[k] + (double)part->members[k];
        if (part->weights[k] < 0)
            return false;
        for (size_t d = 0; d < c->dimension; d++)
            if (!(fabs((double)part->sums[k * c->dimension + d]) <= most))
                return false;
        total += scale * (double)part->weights[k];
        before += scale * (double)t->all.weights[k];
    }
    return part->points <= UINT32_MAX && total + before <= 0x1p62 &&
           has_rows(&part->worst, c->dimension, c->unit, &worst) &&
           has_rows(&part->nearest, c->dimension, c->unit, &nearest) && worst <= LONGEST * total + (double)c->live &&
           nearest <= LONGEST * total + (double)c->live;
}

static unsigned char *get_list(unsigned char *at, size_t count, size_t dimension, ast_kept_point_list *list) {
    list->count = count;
    list->items = (ast_kept_point *)(void *)at;
    list->rows = (float *)(void *)(at + count * sizeof *list->items);
    return at + list_bytes(count, dimension);
}

static ast_status merge(ast_tally *t, const void *bytes, size_t size) {
    tally_header h = {0};
    ast_status status = ast_check_pointer(bytes, "bytes", t->fault);
    if (status == AST_OK)
        status = check(t, bytes, size, &h);
    if (status != AST_OK)
        return status;
    size_t clusters = t->clusters.live, dimension = t->clusters.dimension;
    unsigned char *copy = NULL; /* the caller's bytes may have any alignment */
    int64_t *scratch = NULL;
    if (!ast_replace_arrays(AST_REQUEST(copy, size), AST_REQUEST(scratch, clusters)))
        return ast_fail_memory(t->fault);
    memcpy(copy, bytes, size);
    ast_tally_sums part = {.points = h.points, .missing = h.missing, .changed = h.changed, .label_hash = h.label_hash};
    part.sums = (int64_t *)(void *)(copy + sizeof h);
    part.weights = part.sums + clusters * dimension;
    part.members = part.weights + clusters;
    unsigned char *at = get_list((unsigned char *)(part.members + clusters), (size_t)h.worst, dimension, &part.worst);
    get_list(at, (size_t)h.nearest, dimension, &part.nearest);
    bool many = (double)t->all.points + (double)h.points > UINT32_MAX; /* which is refused by its own sentence */
    if (many || (lists_complete(&part, clusters) && is_ordered(&part, clusters, scratch) && is_possible(t, &part)))
        status = ast_tally_add_part(t, &part);
    else
        status = ast_fail(t->fault, AST_BAD_DATA, "the tally is damaged: its points do not match its counts");
    ast_free_all(copy, scratch);
    return status;
}

ast_status ast_tally_merge(ast_tally *t, const void *bytes, size_t size) {
    return ast_enter(t ? t->context : NULL) ? ast_leave(t->context, merge(t, bytes, size)) : AST_BAD_OPTION;
}
