/* SPDX-License-Identifier: MIT */
#include "late.h"

#include "rowset.h"

#include <math.h>
#include <string.h>

#define ROWS 8192           /* rows of one list */
#define NEARLY_UNIT 0x1p-16 /* |m|^2 - 1 of a mean that was rotated many times (`rigid`) */

/* Rows that one task scores together. */
typedef struct late_batch {
    const uint32_t *number; /* (count) of each row */
    size_t count;
    float rows[AST_BLOCK * AST_SMALL];
    float columns[AST_SMALL][AST_BLOCK];
    float best[AST_BLOCK], second[AST_BLOCK];
    int32_t id[AST_BLOCK];
} late_batch;

/* The counts of one task. They are added to the shared counts at its end, since atomic additions of several threads are
 * slow. */
typedef struct late_counts {
    size_t of[AST_LATE_MEANS + 1]; /* rows of mean k are at k + 1, rows without a mean at 0 */
} late_counts;

void ast_late_begin(ast_late *late) {
    ast_late_floats *floats = &late->floats;
    size_t dimension = late->points->dimension, count = 0;
    floats->known = dimension <= AST_SMALL && late->count <= AST_LATE_MEANS;
    for (size_t k = 0; k < late->count && floats->known; k++) {
        const float *mean = late->means + k * dimension;
        if (late->names && late->names[k] < 0)
            continue;
        floats->known = fabs(ast_exact_score(mean, mean, dimension) - 1) <= NEARLY_UNIT;
        for (size_t d = 0; d < dimension; d++)
            floats->means[d * AST_LATE_MEANS + count] = mean[d];
        floats->ids[count++] = (int32_t)k;
        floats->names[k + 1] = late->names ? late->names[k] : (int32_t)k;
    }
    floats->names[0] = -1;
    floats->count = count;
}

/* The index of the mean; -1 if none fits. */
static ptrdiff_t nearest(const ast_late *late, const float *row) {
    size_t dimension = late->points->dimension;
    ptrdiff_t found = -1;
    double best = late->limit;
    for (size_t k = 0; k < late->count; k++) {
        if (late->names && late->names[k] < 0)
            continue;
        double score = ast_exact_score(row, late->means + k * dimension, dimension);
        score = late->axial ? fabs(score) : score;
        if (score > best || (score == best && found < 0)) {
            best = score;
            found = (ptrdiff_t)k;
        }
    }
    return found;
}

static void set_label(ast_late *late, late_counts *counts, size_t row, ptrdiff_t mean) {
    late->labels[row] = mean < 0 ? -1 : late->names ? late->names[mean] : (int32_t)mean;
    if (mean < AST_LATE_MEANS)
        counts->of[mean + 1]++;
    else
        atomic_fetch_add_explicit(&late->counts[mean], 1, memory_order_relaxed);
}

static void add_counts(ast_late *late, const late_counts *counts) {
    for (size_t k = 0; k < late->count && k < AST_LATE_MEANS; k++)
        if (counts->of[k + 1])
            atomic_fetch_add_explicit(&late->counts[k], counts->of[k + 1], memory_order_relaxed);
    if (counts->of[0])
        atomic_fetch_add_explicit(&late->unassigned, counts->of[0], memory_order_relaxed);
}

/* ---- Float scores ------------------------------------------------------------------------------------------------ */

/* Reads the rows into columns. Most rows are unit vectors in float. The kernel lists the others, which are missing or
 * must be normalised. The id of a missing row becomes -1, that of all others -2. */
static void read_batch(const ast_late *late, late_batch *b) {
    const ast_points *points = late->points;
    size_t dimension = points->dimension, size = dimension * sizeof(float);
    bool floats = points->type == AST_F4 && points->column_stride == sizeof(float);
    uint32_t list[AST_BLOCK];
    ast_odd_rows odd = {.list = list};
    float *x[AST_SMALL] = {b->columns[0], b->columns[1], b->columns[2], b->columns[3]};
    for (size_t j = 0; j < b->count; j++) {
        float *row = b->rows + j * dimension;
        const char *at = (const char *)points->data + (ptrdiff_t)b->number[j] * points->row_stride;
        if (floats && dimension == 3) /* a size that the compiler knows */
            memcpy(row, at, 3 * sizeof *row);
        else if (floats)
            memcpy(row, at, size);
        else if (ast_read_row(points, b->number[j], row) == AST_ROW_MISSING)
            for (size_t d = 0; d < dimension; d++)
                row[d] = NAN;
    }
    late->kernels->split_columns[dimension](b->rows, b->count, x, b->id, &odd);
    for (size_t o = 0; o < odd.count; o++) {
        float *row = b->rows + list[o] * dimension;
        if (ast_read_row(points, b->number[list[o]], row) == AST_ROW_MISSING)
            b->id[list[o]] = -1;
        for (size_t d = 0; d < dimension; d++)
            x[d][list[o]] = row[d];
    }
}

static void label_batch(ast_late *late, late_batch *b, late_counts *counts) {
    size_t dimension = late->points->dimension;
    const ast_mean_table table = {.dimension = dimension,
                                  .count = late->floats.count,
                                  .capacity = AST_LATE_MEANS,
                                  .ids = late->floats.ids,
                                  .means = late->floats.means,
                                  .axial = late->axial};
    const float *x[AST_SMALL] = {b->columns[0], b->columns[1], b->columns[2], b->columns[3]};
    double close = 2 * ((double)ast_score_error(dimension) + NEARLY_UNIT);
    int32_t kinds[AST_BLOCK];
    read_batch(late, b);
    memcpy(kinds, b->id, b->count * sizeof *kinds);
    late->kernels->score_columns[dimension](x, b->count, &table, (ast_scores){b->best, b->second, b->id});
    for (size_t j = 0; j < b->count; j++) {
        double best = (double)b->best[j];
        int out = best < late->limit - close; /* no branch, since the processor could not predict it */
        int in = (best > late->limit + close) & (best - (double)b->second[j] > close);
        ptrdiff_t mean = in ? b->id[j] : -1;
        if (!(in | out))
            mean = nearest(late, b->rows + j * dimension);
        if (kinds[j] != -1) {
            late->labels[b->number[j]] = late->floats.names[mean + 1];
            counts->of[mean + 1]++;
        }
    }
}

static void label_in_floats(ast_late *late, const uint32_t *list, size_t count, late_counts *counts) {
    late_batch b;
    for (size_t first = 0; first < count; first += AST_BLOCK) {
        b.number = list + first;
        b.count = count - first < AST_BLOCK ? count - first : AST_BLOCK;
        label_batch(late, &b, counts);
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void label_exactly(ast_late *late, const uint32_t *list, size_t count, late_counts *counts) {
    float row[AST_MAX_DIMENSION];
    for (size_t j = 0; j < count; j++)
        if (ast_read_row(late->points, list[j], row) != AST_ROW_MISSING)
            set_label(late, counts, list[j], nearest(late, row));
}

static size_t append_late(const uint8_t *late, size_t first, size_t last, uint32_t *list, size_t count) {
    for (size_t i = first; i < last; i++) { /* no branch depends on a row, since the processor could not predict it */
        list[count] = (uint32_t)i;
        count += late[i] != 0;
    }
    return count;
}

/* Late rows are few and mostly adjacent, so most rows are skipped in groups. */
static size_t list_late(const uint8_t *late, size_t first, size_t last, uint32_t *list) {
    enum { WORD = 8, GROUP = 8 };
    uint64_t words[GROUP];
    size_t count = 0, i = first;
    for (; i + sizeof words <= last; i += sizeof words) {
        uint64_t any = 0;
        memcpy(words, late + i, sizeof words);
        for (size_t w = 0; w < GROUP; w++)
            any |= words[w];
        for (size_t w = 0; w < GROUP && any; w++)
            if (words[w])
                count = append_late(late, i + w * WORD, i + (w + 1) * WORD, list, count);
    }
    return append_late(late, i, last, list, count);
}

void ast_late_label_rows(void *data, size_t first, size_t last) {
    ast_late *late = data;
    uint32_t list[ROWS + 1] = {0}; /* append_late writes one row too many */
    late_counts counts = {0};
    for (; first < last; first += ROWS) {
        size_t count = list_late(late->points->late, first, last - first < ROWS ? last : first + ROWS, list);
        (late->floats.known ? label_in_floats : label_exactly)(late, list, count, &counts);
    }
    add_counts(late, &counts);
}

void ast_label_late(ast_late *late, ast_pool *pool) {
    ast_late_begin(late);
    ast_pool_ranges(pool, late->points->count, ROWS, ast_late_label_rows, late);
}
