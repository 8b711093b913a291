/* SPDX-License-Identifier: MIT
 *
 * NMI and ARI of two labellings.
 *
 * The main idea: both follow from how often each pair (label, truth) occurs. Only pairs that occur are stored, so
 * memory is O(N) at most, for any number of clusters. */
#include "measures.h"

#include "partition.h"

#include <assert.h>
#include <math.h>

/* Counts of two labellings. */
typedef struct contingency {
    ast_counter pairs, rows, columns; /* pairs by label << 32 | truth */
    size_t points;
} contingency;

static bool count_pairs(contingency *table, const ast_comm *comm, const int32_t *labels, const int32_t *truth,
                        size_t count);
static bool measure(contingency *table, ast_agreement *agreement);

ast_status ast_agreement_of(ast_fault *fault, const ast_comm *comm, const int32_t *labels, const int32_t *truth,
                            size_t count, ast_agreement *agreement) {
    contingency table = {0};
    bool ready = count_pairs(&table, comm, labels, truth, count) && measure(&table, agreement);
    ast_counter_free(&table.pairs);
    ast_counter_free(&table.rows);
    ast_counter_free(&table.columns);
    return ast_comm_agree(comm, ready ? AST_OK : ast_fail_memory(fault), fault);
}

/* Pairs are in order of first appearance, on one rank and on many: sums over them have the same bits. */
static bool count_pairs(contingency *table, const ast_comm *comm, const int32_t *labels, const int32_t *truth,
                        size_t count) {
    bool ready = true;
    for (size_t i = 0; ready && i < count; i++)
        if (labels[i] >= 0 && truth[i] >= 0)
            ready = ast_counter_add(&table->pairs, (uint64_t)labels[i] << 32 | (uint32_t)truth[i], 1, NULL);
    ready = ast_comm_first_rank(comm, !ready) < 0 && ast_counter_share(&table->pairs, comm);
    for (size_t i = 0; ready && i < table->pairs.used; i++) {
        ast_counter_entry pair = table->pairs.entries[i];
        table->points += pair.count;
        ready = ast_counter_add(&table->rows, pair.key >> 32, pair.count, NULL) &&
                ast_counter_add(&table->columns, (uint32_t)pair.key, pair.count, NULL);
    }
    return ready;
}

static double entropy(const ast_counter *counter, double points) {
    double sum = 0;
    for (size_t i = 0; i < counter->used; i++) {
        double share = (double)counter->entries[i].count / points;
        sum -= share * log(share);
    }
    return sum;
}

/* I(X; Y) = sum of p(x,y) log(p(x,y) / (p(x) p(y))). False if memory runs out: the hash table may grow on a lookup. */
static bool mutual_information(contingency *table, double *information) {
    double points = (double)table->points, sum = 0;
    for (size_t i = 0; i < table->pairs.used; i++) {
        ast_counter_entry pair = table->pairs.entries[i];
        uint32_t row, column;
        if (!ast_counter_add(&table->rows, pair.key >> 32, 0, &row) ||
            !ast_counter_add(&table->columns, (uint32_t)pair.key, 0, &column))
            return false;
        double both = (double)pair.count, across = (double)table->columns.entries[column].count;
        sum += both / points * log(both / ((double)table->rows.entries[row].count / points * across));
    }
    *information = sum;
    return true;
}

/* The number of pairs of points in the same entry: below 2^61 for fewer than 2^31 points. */
static __int128 pairs_within(const ast_counter *counter) {
    __int128 sum = 0;
    for (size_t i = 0; i < counter->used; i++)
        sum += (__int128)counter->entries[i].count * (counter->entries[i].count - 1) / 2;
    return sum;
}

/* Hubert and Arabie (1985): (S - E) / ((A + B) / 2 - E) with E = A B / T, in integers up to the last division. */
static double adjusted_rand(const contingency *table) {
    __int128 together = pairs_within(&table->pairs), a = pairs_within(&table->rows), b = pairs_within(&table->columns);
    __int128 all = (__int128)table->points * (table->points - 1) / 2;
    __int128 numerator = 2 * (together * all - a * b), denominator = (a + b) * all - 2 * a * b;
    return (double)((long double)numerator / (long double)denominator);
}

static bool measure(contingency *table, ast_agreement *agreement) {
    size_t pairs = table->pairs.used, rows = table->rows.used, columns = table->columns.used;
    assert(rows <= pairs && columns <= pairs && pairs <= table->points);
    *agreement = (ast_agreement){
        .size = sizeof *agreement, .nmi = 1, .ari = 1, .points = table->points, .clusters = rows, .truths = columns};
    if (pairs == rows && pairs == columns) /* equal partitions: exactly 1, and no 0 / 0 below */
        return true;
    agreement->ari = adjusted_rand(table);
    agreement->nmi = 0;
    if (rows == 1 || columns == 1)
        return true;
    double information, points = (double)table->points;
    if (!mutual_information(table, &information))
        return false;
    double entropies = sqrt(entropy(&table->rows, points) * entropy(&table->columns, points));
    agreement->nmi = fmin(1, fmax(0, information / entropies));
    return true;
}
