/* SPDX-License-Identifier: MIT
 *
 * A sample of the rows of several ranks, the one that a single process would draw. The ranks select in turn, each from
 * where the one before stopped, and tell all others what they took. */
#include "angular.h"

#include <stdlib.h>
#include <string.h>

static void read_gathered(void *data, size_t first, size_t count, float *rows) {
    const ast_gathered *sample = data;
    size_t dimension = sample->rows.dimension;
    memcpy(rows, sample->values + first * dimension, count * dimension * sizeof *rows);
}

/* This rank's turn: its rows from number `at` of the sample on. */
static void take_own(const ast_rows *rows, const ast_partition *partition, ast_selection *selection, uint32_t *chosen,
                     size_t at, ast_gathered *sample) {
    size_t taken = ast_select_rows(selection, partition->cluster, rows->count, chosen);
    for (size_t j = 0; j < taken; j++) {
        rows->read(rows->data, chosen[j], 1, sample->values + (at + j) * rows->dimension);
        sample->cluster[at + j] = partition->cluster[chosen[j]];
    }
}

static void take_in_turn(const ast_rows *rows, const ast_partition *partition, ast_selection *selection,
                         uint32_t *chosen, ast_gathered *sample) {
    const ast_comm *comm = rows->comm;
    size_t wanted = selection->wanted;
    for (int turn = 0; turn < comm->ranks; turn++) {
        size_t at = wanted - selection->wanted, dimension = rows->dimension;
        if (turn == comm->rank)
            take_own(rows, partition, selection, chosen, at, sample);
        ast_comm_broadcast(comm, selection, sizeof *selection, turn);
        size_t taken = wanted - selection->wanted - at;
        ast_comm_broadcast(comm, sample->values + at * dimension, taken * dimension * sizeof(float), turn);
        ast_comm_broadcast(comm, sample->cluster + at, taken * sizeof *sample->cluster, turn);
    }
}

ast_status ast_gather_sample(ast_fault *fault, const ast_rows *rows, const ast_partition *partition, uint64_t seed,
                             ast_gathered *sample) {
    ast_selection selection;
    ast_selection_open(&selection, partition, seed);
    size_t count = selection.wanted;
    uint32_t *chosen = malloc((count + 1) * sizeof *chosen);
    *sample = (ast_gathered){.values = malloc((count * rows->dimension + 1) * sizeof(float)),
                             .cluster = malloc((count + 1) * sizeof *sample->cluster)};
    bool ready = ast_comm_lowest(rows->comm, !chosen || !sample->values || !sample->cluster) < 0;
    if (ready)
        take_in_turn(rows, partition, &selection, chosen, sample);
    free(chosen);
    sample->rows = *rows;
    sample->rows.read = read_gathered;
    sample->rows.data = sample;
    sample->rows.count = count;
    sample->rows.columns = NULL;
    sample->partition = (ast_partition){.cluster = sample->cluster, .clusters = partition->clusters, .points = count};
    return ready ? AST_OK : ast_fail_memory(fault);
}

void ast_gathered_free(ast_gathered *sample) {
    free(sample->values);
    free(sample->cluster);
}
