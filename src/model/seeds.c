/* SPDX-License-Identifier: MIT
 *
 * Starts for a fixed number of clusters: k-means++ on 1 - cosine, or random points.
 *
 * In three dimensions and with many starts, a new start is compared only with the points of the cells that it may be
 * nearest to. The draws are the same, and each start takes less time than the one before.
 *
 * Ranks draw the starts that one process would draw: they use the same random numbers and add up distances in blocks of
 * all points, in order. If a block spans several ranks, they exchange the distances of its points. Points of a source
 * are read window by window; with several windows the label array holds the distances. */
#include "seeds.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SEED_BLOCK                                                                                                     \
    1024 /* points whose distances are added up together: fixed, so that sums do not depend on threads                 \
          */

#define FARTHEST 4.0f /* before anything was measured */

typedef struct seeding {
    ast_labelling *l;
    float *mean;     /* (D) the latest */
    float *distance; /* (count) 1 - cosine to the nearest mean so far; NULL: several windows */
    size_t first;    /* the block of all points that this rank's first point is in */
    size_t blocks;   /* that this rank has points of */
    size_t all_blocks;
    size_t together;         /* blocks that a task looks at: those of a chunk, which is read as a whole */
    size_t everyone, before; /* points that there are on all ranks; on those before this one */
    double *sum;             /* (all_blocks) weight * distance together; before the ranks met: of this rank's points */
    double part[SEED_BLOCK]; /* of one block: weight * distance, 0 for missing points */
    uint64_t *shared;        /* (all_blocks) how many ranks have points of the block; NULL: alone */
    ast_status status;       /* of opening windows */
    ast_fault *fault;
    ast_cell_peaks peaks; /* of the distances; closed: every point is compared */
    uint8_t *stale;       /* (blocks) where there are peaks: the sum has changed */
} seeding;

/* This rank's points of a block: `*n` of them from the one that is returned on. */
static size_t points_of(const seeding *s, size_t block, size_t *n) {
    size_t offset = s->l->rows.offset, end = offset + s->l->rows.count;
    size_t from = block * SEED_BLOCK, to = from + SEED_BLOCK;
    from = from > offset ? from : offset;
    to = to < end ? to : end;
    *n = to > from ? to - from : 0;
    return from - offset;
}

/* A distance is no negative number, and as bits no label either. */
static float distance_of(const seeding *s, size_t i) {
    int32_t bits = s->l->labels[i];
    float distance = FARTHEST;
    if (!s->distance && bits >= 0)
        memcpy(&distance, &bits, sizeof bits);
    return s->distance ? s->distance[i] : distance;
}

static void set_distance(seeding *s, size_t i, float distance) {
    if (s->distance)
        s->distance[i] = distance;
    else
        memcpy(&s->l->labels[i], &distance, sizeof distance);
}

static double part_of(const seeding *s, size_t i) {
    const ast_labelling *l = s->l;
    return (l->rows.weights ? l->rows.weights[i] : 1) * (double)distance_of(s, i);
}

/* Whether the point is nearer to the latest mean. */
static bool lower_distance(seeding *s, size_t i, int index) {
    ast_labelling *l = s->l;
    double cosine = ast_rows_walk_dot(&l->rows, &l->workers[index].chunk.rows, i, s->mean);
    float away = (float)fmax(0, 1 - (l->rows.axial ? fabs(cosine) : cosine));
    bool nearer = away < distance_of(s, i);
    if (nearer)
        set_distance(s, i, away);
    return nearer;
}

static void sum_block(seeding *s, size_t block) {
    const ast_labelling *l = s->l;
    size_t n, first = points_of(s, s->first + block, &n);
    double sum = 0;
    for (size_t i = first; i < first + n; i++)
        if (l->labels[i] != AST_MISSING)
            sum += part_of(s, i);
    s->sum[s->first + block] = sum;
}

static void seed_block(void *data, size_t block, int index) {
    seeding *s = data;
    size_t n, first = points_of(s, s->first + block, &n);
    for (size_t i = first; i < first + n; i++)
        if (s->l->labels[i] != AST_MISSING)
            lower_distance(s, i, index);
    sum_block(s, block);
}

static void seed_blocks(void *data, size_t task, int index) {
    const seeding *s = data;
    for (size_t b = task * s->together; b < (task + 1) * s->together && b < s->blocks; b++)
        seed_block(data, b, index);
}

/* ---- By cells ---------------------------------------------------------------------------------------------------- */

/* Below so many starts each is near a large part of the points. */
#define FEW_STARTS 64

static bool wants_cells(const seeding *s, size_t starts) {
    const ast_labelling *l = s->l;
    return l->rows.small && l->rows.dimension == 3 && !l->rows.axial && !s->shared && !l->rows.reader &&
           l->scorer.bounds.on && starts >= (l->crowd.from < FEW_STARTS ? l->crowd.from : FEW_STARTS);
}

static float lower_and_note(void *data, size_t i) {
    seeding *s = data;
    if (lower_distance(s, i, 0))
        s->stale[i / SEED_BLOCK] = 1;
    return distance_of(s, i);
}

static void seed_cells(seeding *s) {
    ast_cell_peaks_lower(&s->peaks, s->mean, lower_and_note, s);
    for (size_t block = 0; block < s->blocks; block++) {
        if (s->stale[block])
            sum_block(s, block);
        s->stale[block] = 0;
    }
}

static bool open_cells(seeding *s) {
    s->stale = ast_allocate(s->blocks, sizeof *s->stale);
    if (!s->stale)
        return false;
    memset(s->stale, 1, s->blocks); /* the latest start is at no distance from itself, which no sum knows yet */
    return ast_cells_load(&s->l->crowd.cells, &s->l->scorer, s->l->pool) &&
           ast_cell_peaks_open(&s->peaks, s->l->crowd.cells);
}

/* ---- Several ranks ----------------------------------------------------------------------------------------------- */

/* Doubles that one rank knows, and the others have as 0, for all of them. */
static void tell(const ast_comm *comm, double *values, size_t count) {
    if (ast_comm_many(comm))
        ast_comm_sum(comm, (uint64_t *)(void *)values, count);
}

/* The window that has a block, or the number-th. */
static void open_window(seeding *s, size_t number) {
    if (s->status == AST_OK)
        s->status = ast_windows_open(s->l, number, s->fault);
}

static size_t window_of(const seeding *s, size_t block) {
    return s->l->windows.count > 1 ? block * SEED_BLOCK / s->l->windows.rows : 0;
}

/* The parts of all points of a block. */
static void load_parts(seeding *s, size_t block) {
    ast_labelling *l = s->l;
    open_window(s, window_of(s, block));
    size_t n, first = points_of(s, block, &n);
    memset(s->part, 0, sizeof s->part);
    for (size_t i = first; i < first + n; i++)
        if (l->labels[i] != AST_MISSING)
            s->part[l->rows.offset + i - block * SEED_BLOCK] = part_of(s, i);
    tell(l->ranks.comm, s->part, SEED_BLOCK);
}

/* The sums of all blocks: those of one rank as they are, those of several by their parts, in order. */
static void meet(seeding *s) {
    if (!s->shared)
        return;
    for (size_t b = 0; b < s->all_blocks; b++) {
        size_t n;
        points_of(s, b, &n);
        s->sum[b] = n > 0 && s->shared[b] == 1 ? s->sum[b] : 0;
    }
    tell(s->l->ranks.comm, s->sum, s->all_blocks);
    for (size_t b = 0; b < s->all_blocks; b++) {
        if (s->shared[b] < 2)
            continue;
        load_parts(s, b);
        for (size_t j = 0; j < SEED_BLOCK; j++)
            s->sum[b] += s->part[j];
    }
}

/* Makes this rank's point i, or that of another (SIZE_MAX here), known to all. */
static ast_status tell_row(ast_labelling *l, size_t i, float *row, ast_fault *fault) {
    const float *mine = i < l->rows.count ? ast_rows_upright(&l->rows, &l->workers[0].chunk.rows, i) : NULL;
    if (ast_comm_many(l->ranks.comm))
        return ast_ranked_rows(l, &mine, 1, row) ? AST_OK : ast_fail_memory(fault);
    memcpy(row, mine, l->rows.dimension * sizeof *row);
    return AST_OK;
}

/* ---- k-means++ --------------------------------------------------------------------------------------------------- */

/* A point of all with probability proportional to weight * distance; SIZE_MAX where all distances are zero. */
static size_t draw(seeding *s, ast_random *random) {
    double total = 0, at = ast_random_uniform(random);
    for (size_t b = 0; b < s->all_blocks; b++)
        total += s->sum[b];
    at *= total;
    for (size_t b = 0; b < s->all_blocks; b++) {
        if (at >= s->sum[b] && b + 1 < s->all_blocks) {
            at -= s->sum[b];
            continue;
        }
        size_t last = SIZE_MAX;
        load_parts(s, b);
        for (size_t j = 0; j < SEED_BLOCK; j++) {
            if (s->part[j] <= 0)
                continue;
            last = b * SEED_BLOCK + j;
            if (at < s->part[j])
                return last;
            at -= s->part[j];
        }
        if (last != SIZE_MAX) /* rounding ran past the end of its block */
            return last;
    }
    return SIZE_MAX;
}

/* The n-th point that is there, of all; SIZE_MAX if another rank has it. */
static size_t nth_point(seeding *s, uint64_t n) {
    const ast_labelling *l = s->l;
    if (n < s->before)
        return SIZE_MAX;
    n -= s->before;
    for (size_t number = 0; number < l->windows.count && s->status == AST_OK; number++) {
        open_window(s, number);
        for (size_t i = 0; i < l->rows.count; i++)
            if (l->labels[i] != AST_MISSING && n-- == 0)
                return i;
    }
    return SIZE_MAX;
}

/* The next start, as one of this rank's points, or of the window that is open then; or SIZE_MAX. */
static size_t next_start(seeding *s, size_t k, ast_random *random) {
    const ast_labelling *l = s->l;
    size_t drawn = k == 0 ? SIZE_MAX : draw(s, random);
    if (drawn == SIZE_MAX)
        return nth_point(s, ast_random_below(random, s->everyone));
    return drawn >= l->rows.offset && drawn - l->rows.offset < l->rows.count ? drawn - l->rows.offset : SIZE_MAX;
}

/* What was measured in a window is kept, if it could be. */
static void close_window(seeding *s) {
    if (s->status == AST_OK)
        s->status = ast_windows_save(s->l, s->fault);
}

static void find_blocks(seeding *s) {
    const ast_labelling *l = s->l;
    s->first = l->rows.offset / SEED_BLOCK;
    s->blocks = l->rows.count ? (l->rows.offset + l->rows.count + SEED_BLOCK - 1) / SEED_BLOCK - s->first : 0;
}

/* Compares every point with the latest start: as long as there is one to come. */
static ast_status measure_distances(seeding *s, ast_fault *fault) {
    if (!s->peaks.peak && wants_cells(s, s->l->clusters.live) && !open_cells(s))
        return ast_fail_memory(fault);
    if (s->peaks.peak)
        seed_cells(s);
    for (size_t number = 0; !s->peaks.peak && number < s->l->windows.count && s->status == AST_OK; number++) {
        open_window(s, number);
        find_blocks(s);
        ast_pool_try(s->l->pool, (s->blocks + s->together - 1) / s->together, seed_blocks, s);
        close_window(s);
    }
    if (s->status != AST_OK)
        return s->status;
    meet(s);
    return ast_pool_cancelled(s->l->pool) ? ast_fail_cancelled(fault) : AST_OK;
}

static ast_status open_seeding(seeding *s, ast_fault *fault) {
    ast_labelling *l = s->l;
    uint64_t total, points;
    bool many = ast_comm_many(l->ranks.comm);
    ast_comm_before(l->ranks.comm, l->windows.points, &total);
    s->before = ast_comm_before(l->ranks.comm, l->present, &points);
    s->everyone = points;
    find_blocks(s);
    s->together = l->rows.chunk > SEED_BLOCK ? l->rows.chunk / SEED_BLOCK : 1;
    s->all_blocks = (total + SEED_BLOCK - 1) / SEED_BLOCK;
    bool apart = l->windows.count == 1;
    s->distance = apart ? ast_allocate(l->rows.count, sizeof *s->distance) : NULL;
    s->sum = ast_allocate(s->all_blocks, sizeof *s->sum);
    s->shared = many ? ast_allocate_zero(s->all_blocks, sizeof *s->shared) : NULL;
    s->mean = ast_allocate(l->rows.dimension, sizeof *s->mean);
    bool ready = s->mean && (s->distance || !apart) && s->sum && (s->shared || !many);
    ast_status status = ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    for (size_t i = 0; status == AST_OK && apart && i < l->rows.count; i++)
        s->distance[i] = FARTHEST;
    for (size_t b = 0; status == AST_OK && many && b < s->blocks; b++)
        s->shared[s->first + b] = 1;
    if (status == AST_OK && many)
        ast_comm_sum(l->ranks.comm, s->shared, s->all_blocks);
    return status;
}

/* Several windows: labels stand where they belong again. */
static void clear_windows(seeding *s) {
    ast_labelling *l = s->l;
    for (size_t number = 0; !s->distance && number < l->windows.count && s->status == AST_OK; number++) {
        open_window(s, number);
        for (size_t i = 0; i < l->rows.count; i++)
            l->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
        close_window(s);
    }
}

/* Adds the start that is drawn next to the clusters. */
static ast_status add_start(seeding *s, size_t k, ast_random *random, ast_fault *fault) {
    ast_labelling *l = s->l;
    size_t i = next_start(s, k, random);
    ast_status status = s->status == AST_OK ? tell_row(l, i, s->mean, fault) : s->status;
    if (status == AST_OK && i < l->rows.count)
        set_distance(s, i, 0);
    if (s->stale && i < l->rows.count)
        s->stale[i / SEED_BLOCK] = 1;
    if (status == AST_OK) {
        close_window(s);
        status = s->status;
    }
    bool added = status == AST_OK && ast_clusters_add(&l->clusters, s->mean, UINT32_MAX) >= 0;
    return status == AST_OK ? ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(fault), fault) : status;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ast_status ast_seed_plusplus(ast_labelling *l, size_t clusters, ast_random *random, ast_seed_teller *tell_caller,
                             const void *data, ast_fault *fault) {
    seeding s = {.l = l, .fault = fault};
    ast_status status = open_seeding(&s, fault);
    l->windows.plain = true;
    for (size_t k = 0; status == AST_OK && k < clusters; k++) {
        status = add_start(&s, k, random, fault);
        if (status != AST_OK || k + 1 == clusters)
            break;
        double began = seconds_now();
        status = measure_distances(&s, fault);
        if (status == AST_OK)
            status = tell_caller(data, seconds_now() - began, l->clusters.live, l->everyone, fault);
        status = ast_labelling_agree(l, status, fault);
    }
    if (status == AST_OK) {
        clear_windows(&s);
        status = s.status;
    }
    l->windows.plain = false;
    free(s.mean);
    free(s.distance);
    free(s.sum);
    free(s.shared);
    free(s.stale);
    ast_cell_peaks_close(&s.peaks);
    return status;
}

/* ---- Random points ----------------------------------------------------------------------------------------------- */

/* Moves *i to the next point that is not missing, into the next window if need be; false: there is none. */
static bool find_next(ast_labelling *l, size_t *i, ast_status *status, ast_fault *fault) {
    for (;; *i = 0) {
        while (*i < l->rows.count && l->labels[*i] == AST_MISSING)
            ++*i;
        size_t next = l->windows.current + 1;
        if (*i < l->rows.count || next >= l->windows.count || *status != AST_OK)
            return *i < l->rows.count;
        *status = ast_windows_open(l, next, fault);
    }
}

/* `clusters` of the points, each at most once, by selection sampling: in the order of the points. */
ast_status ast_seed_random(ast_labelling *l, size_t clusters, ast_random *random, ast_fault *fault) {
    uint64_t left, before = ast_comm_before(l->ranks.comm, l->present, &left), wanted = clusters;
    float *row = ast_allocate(l->rows.dimension, sizeof *row);
    ast_status status = ast_comm_agree(l->ranks.comm, row ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        status = ast_windows_open(l, 0, fault);
    for (size_t i = 0, number = 0; status == AST_OK && left > 0 && wanted > 0; number++) {
        bool mine = number >= before && find_next(l, &i, &status, fault);
        bool taken = ast_random_below(random, left--) < wanted;
        if (taken && status == AST_OK) {
            wanted--;
            status = tell_row(l, mine ? i : SIZE_MAX, row, fault);
            bool added = status == AST_OK && ast_clusters_add(&l->clusters, row, UINT32_MAX) >= 0;
            if (status == AST_OK)
                status = ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(fault), fault);
        }
        i += mine;
    }
    free(row);
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}
