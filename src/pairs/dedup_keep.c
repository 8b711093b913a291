/* SPDX-License-Identifier: MIT
 *
 * Numbers of groups, in order of the first row, and the row of each group that is kept. */
#include "dedup.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 64 }; /* groups per task */

/* The rows of each group, in order: those of group g are rows[starts[g]..starts[g + 1]). */
typedef struct members {
    ast_dedup_call *call;
    size_t groups, offset; /* offset: the label of group 0 */
    size_t *starts;        /* (groups + 1) */
    uint32_t *rows;
    double *sums;   /* (threads, D) */
    float *buffers; /* (threads, D) */
} members;

/* Labels all rows; returns the number of groups. numbers (rows) of roots, AST_NO_ROW at first. */
static size_t number_groups(ast_dedup_call *call, uint32_t *numbers) {
    const ast_near_rows *rows = &call->rows;
    size_t offset = rows->count - rows->first, groups = 0;
    int32_t *labels = call->labels[0];
    memset(numbers, 0xff, rows->count * sizeof *numbers);
    for (size_t i = 0; i < rows->first; i++) {
        uint32_t own = rows->same_as[i], root = own;
        if (own == AST_NO_ROW) {
            labels[i] = AST_MISSING;
            continue;
        }
        if (call->matched[own]) {
            labels[i] = (int32_t)(call->nearest[own] - rows->first);
            call->report->matched++;
            continue;
        }
        while (call->group[root] != root)
            root = call->group[root];
        if (numbers[root] == AST_NO_ROW)
            numbers[root] = (uint32_t)groups++;
        labels[i] = (int32_t)(offset + numbers[root]);
    }
    return groups;
}

static bool list_members(members *m) {
    const ast_dedup_call *call = m->call;
    const int32_t *labels = call->labels[0];
    m->starts = ast_allocate_zero(m->groups + 2, sizeof *m->starts);
    if (!m->starts || !ast_replace_arrays(AST_REQUEST(m->rows, call->rows.first)))
        return false;
    size_t *ends = m->starts + 1;
    for (size_t i = 0; i < call->rows.first; i++)
        if (labels[i] >= 0 && (size_t)labels[i] >= m->offset)
            ends[(size_t)labels[i] - m->offset + 1]++;
    for (size_t g = 0; g < m->groups; g++)
        ends[g + 1] += ends[g];
    for (size_t i = 0; i < call->rows.first; i++)
        if (labels[i] >= 0 && (size_t)labels[i] >= m->offset)
            m->rows[ends[(size_t)labels[i] - m->offset]++] = (uint32_t)i;
    return true;
}

/* The row with the largest sum of cosines with all rows of the group: its product with their sum. */
static uint32_t central_row(const members *m, const uint32_t *rows, size_t n, int worker) {
    const ast_near_rows *all = &m->call->rows;
    size_t dimension = all->dimension;
    double *sum = m->sums + (size_t)worker * dimension, best = -INFINITY;
    float *buffer = m->buffers + (size_t)worker * dimension;
    uint32_t found = rows[0];
    memset(sum, 0, dimension * sizeof *sum);
    for (size_t i = 0; i < n && n > 2; i++) {
        const float *row = ast_near_row(all, rows[i], buffer);
        for (size_t d = 0; d < dimension; d++)
            sum[d] += (double)row[d];
    }
    for (size_t i = 0; i < n && n > 2; i++) {
        const float *row = ast_near_row(all, rows[i], buffer);
        double score = 0;
        for (size_t d = 0; d < dimension; d++)
            score += (double)row[d] * sum[d];
        found = score > best ? rows[i] : found;
        best = score > best ? score : best;
    }
    return found;
}

/* The first of the rows that equal the middle of a star; for connected rows the first of all. */
static uint32_t first_row(const members *m, const uint32_t *rows, size_t n) {
    const ast_dedup_call *call = m->call;
    bool star = call->options->mode == AST_STAR;
    uint32_t middle = call->group[call->rows.same_as[rows[0]]], found = AST_NO_ROW;
    for (size_t i = 0; i < n; i++)
        if ((!star || call->rows.same_as[rows[i]] == middle) &&
            (found == AST_NO_ROW || ast_dedup_comes_before(call, rows[i], found)))
            found = rows[i];
    return found;
}

static void keep_rows(void *data, size_t block, int worker) {
    const members *m = data;
    const ast_dedup_options *o = m->call->options;
    bool central = o->keep == AST_KEEP_CENTRAL && o->mode == AST_CONNECTED;
    for (size_t group = block * STEP; group < (block + 1) * STEP && group < m->groups; group++) {
        const uint32_t *rows = m->rows + m->starts[group];
        size_t n = m->starts[group + 1] - m->starts[group];
        m->call->kept[central ? central_row(m, rows, n, worker) : first_row(m, rows, n)] = 1;
    }
}

static void fill_report(const members *m) {
    const ast_dedup_call *call = m->call;
    ast_dedup_report *report = call->report;
    report->rows = call->rows.first;
    report->kept = report->groups = m->groups;
    for (size_t g = 0; g < m->groups; g++)
        report->duplicates += m->starts[g + 1] - m->starts[g] > 1;
    for (size_t i = 0; i < call->rows.first; i++)
        report->missing += call->rows.same_as[i] == AST_NO_ROW;
    for (int t = 0; t < ast_pool_threads(call->pool); t++)
        report->pairs += call->lists[t].count;
    for (size_t i = 0; i < call->rows.first; i++)
        if (call->rows.same_as[i] == i && !call->matched[i])
            report->pairs += (uint64_t)call->rows.equal[i] * (call->rows.equal[i] - 1) / 2;
}

ast_status ast_dedup_finish(ast_dedup_call *call, ast_fault *fault) {
    size_t threads = (size_t)ast_pool_threads(call->pool);
    members m = {.call = call, .offset = call->rows.count - call->rows.first};
    uint32_t *numbers = ast_allocate(call->rows.count, sizeof *numbers);
    bool ready = numbers && ast_replace_arrays(AST_REQUEST(m.sums, threads * call->rows.dimension),
                                               AST_REQUEST(m.buffers, threads * call->rows.dimension));
    m.groups = ready ? number_groups(call, numbers) : 0;
    ready = ready && list_members(&m);
    if (ready) {
        ast_pool_run_cancellable(call->pool, (m.groups + STEP - 1) / STEP, keep_rows, &m);
        fill_report(&m);
    }
    ast_free_all(numbers, m.starts, m.rows, m.sums, m.buffers);
    return ready ? AST_OK : ast_fail_memory(fault);
}
