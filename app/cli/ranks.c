/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <fnv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

#define HASHED_ROWS 1024 /* rows that the ranks compare: enough to tell one file from another */
#define PART ((size_t)1 << 16)

/* Global as the flag of signals is: main sets it before the command runs. */
static const ast_comm *ranks;
static char kept[4096]; /* the first sentence of this rank */
static int agreed = -1; /* the exit code of all ranks, once one of them has failed */

void ast_cli_set_ranks(const ast_comm *comm) {
    ranks = comm->ranks > 1 ? comm : NULL;
}

const ast_comm *ast_cli_ranks(void) {
    return ranks;
}

int ast_cli_is_first_rank(void) {
    return !ranks || ranks->rank == 0;
}

void ast_cli_hold_sentence(const char *sentence) {
    if (!kept[0])
        snprintf(kept, sizeof kept, "%s", sentence);
}

/* The lowest rank with something to tell, or -1. */
static int lowest(int mine) {
    for (int first = 0; first < ranks->ranks; first += 64) {
        uint64_t told[64] = {0};
        if (mine && ranks->rank >= first && ranks->rank < first + 64)
            told[ranks->rank - first] = 1;
        ranks->sum(ranks->data, told, 64);
        for (int i = 0; i < 64; i++)
            if (told[i])
                return first + i;
    }
    return -1;
}

int ast_cli_agree(int code) {
    if (!ranks)
        return code;
    if (agreed >= 0)
        return agreed;
    int who = lowest(code > AST_CLI_DONE);
    if (who < 0)
        return code;
    ranks->broadcast(ranks->data, &code, sizeof code, who);
    if (who == ranks->rank && kept[0])
        fprintf(stderr, "asterism: %s\n", kept);
    return agreed = code;
}

/* Labels and keys come in groups of eight, silhouettes in blocks of 512: a part begins with one where there are many
 * points. */
void ast_cli_slice(size_t count, size_t *first, size_t *own) {
    size_t size = ranks ? (size_t)ranks->ranks : 1, rank = ranks ? (size_t)ranks->rank : 0;
    size_t each = count / size, grain = each >= 65536 ? 512 : each >= 64 ? 8 : 1;
    size_t from = (size_t)((__uint128_t)count * rank / size), to = (size_t)((__uint128_t)count * (rank + 1) / size);
    *first = from / grain * grain;
    *own = (rank + 1 == size ? count : to / grain * grain) - *first;
}

/* ---- The same file ----------------------------------------------------------------------------------------------- */

static uint64_t hash_some_rows(const ast_points *points, double *row) {
    uint64_t sum = AST_FNV_START;
    size_t step = points->count / HASHED_ROWS + 1;
    for (size_t i = 0; i < points->count; i += step) {
        ast_points_row(points, i, row);
        sum = ast_fnv(sum, row, points->dimension * sizeof *row);
    }
    return sum;
}

/* Whether all ranks have the numbers of rank 0. */
static bool same_as_first(const uint64_t *own, uint64_t *first, size_t count) {
    memcpy(first, own, count * sizeof *own);
    ranks->broadcast(ranks->data, first, count * sizeof *own, 0);
    return memcmp(own, first, count * sizeof *own) == 0;
}

static int compare(int code, size_t count, size_t dimension, uint64_t rows_hash, const char *input) {
    uint64_t first[3];
    if (!same_as_first((const uint64_t[]){count, dimension, rows_hash}, first, 3) && code < 0)
        code = ast_cli_fail("%s is another file on rank %d (%zu x %zu) than on rank 0 (%zu x %zu)", input, ranks->rank,
                            count, dimension, (size_t)first[0], (size_t)first[1]);
    if (code < 0 && count < (size_t)ranks->ranks)
        code = ast_cli_fail("%s has %zu point%s, fewer than the %d ranks; start at most that many", input, count,
                            count == 1 ? "" : "s", ranks->ranks);
    return ast_cli_agree(code);
}

int ast_cli_same_points(const ast_points *points, const char *input) {
    if (!ranks)
        return -1;
    double *row = malloc((points->dimension + 1) * sizeof *row);
    int code = row ? -1 : ast_cli_fail("there is no memory to look at %s", input);
    uint64_t rows_hash = row ? hash_some_rows(points, row) : 0;
    free(row);
    return compare(code, points->count, points->dimension, rows_hash, input);
}

int ast_cli_same_rows(size_t count, size_t dimension, uint64_t rows_hash, const char *input) {
    return ranks ? compare(-1, count, dimension, rows_hash, input) : -1;
}

int ast_cli_same_labels(const int32_t *labels, size_t count, const char *path) {
    uint64_t own[2] = {count, ast_fnv(AST_FNV_START, labels, count * sizeof *labels)}, first[2];
    if (!ranks || same_as_first(own, first, 2))
        return ranks ? ast_cli_agree(-1) : -1;
    return ast_cli_agree(ast_cli_fail("%s is another file on rank %d (%zu labels) than on rank 0 (%zu)", path,
                                      ranks->rank, count, (size_t)first[0]));
}

void ast_cli_cut(ast_points *points, size_t *first) {
    size_t own;
    ast_cli_slice(points->count, first, &own);
    points->data = (const char *)points->data + (ptrdiff_t)*first * points->row_stride;
    points->weights = points->weights ? points->weights + *first : NULL;
    points->late = points->late ? points->late + *first : NULL;
    points->count = own;
}

double ast_cli_sum_in_turn(double (*add)(double so_far, const void *data), const void *data) {
    double total = 0;
    for (int turn = 0; ranks && turn < ranks->ranks; turn++) {
        if (turn == ranks->rank)
            total = add(total, data);
        ranks->broadcast(ranks->data, &total, sizeof total, turn);
    }
    return ranks ? total : add(0, data);
}

/* ---- One file of labels ------------------------------------------------------------------------------------------ */

/* This rank's bytes of the file. */
static bool render(const char *path, ast_array own, size_t first, size_t count, unsigned char **bytes, size_t *size,
                   ast_format_error *error) {
    ast_output *memory = ast_output_open_memory(path, error);
    if (!memory)
        return false;
    if (ast_write_array_part(memory, own, first, count, error))
        return ast_output_take(memory, bytes, size, error);
    ast_output_abandon(memory);
    return false;
}

/* Where this rank's bytes begin. */
static uint64_t bytes_before(size_t size) {
    uint64_t before = 0;
    for (int turn = 0; turn < ranks->ranks; turn++) {
        uint64_t told = size;
        ranks->broadcast(ranks->data, &told, sizeof told, turn);
        before += turn < ranks->rank ? told : 0;
    }
    return before;
}

/* A pipe or a device: everything goes through rank 0. */
static bool pass_through(ast_output *output, const unsigned char *bytes, size_t size, ast_format_error *error) {
    unsigned char part[PART];
    bool good = true;
    for (int turn = 0; turn < ranks->ranks; turn++) {
        uint64_t left = size;
        ranks->broadcast(ranks->data, &left, sizeof left, turn);
        for (uint64_t at = 0, n; at < left; at += n) {
            n = left - at < PART ? left - at : PART;
            if (turn == ranks->rank)
                memcpy(part, bytes + at, n);
            ranks->broadcast(ranks->data, part, n, turn);
            good = good && (!output || ast_output_write(output, part, n, error));
        }
    }
    return good;
}

int ast_cli_write_ranks(ast_output *output, const char *path, ast_array own, size_t first, size_t count) {
    ast_format_error error;
    unsigned char *bytes = NULL;
    size_t size = 0;
    char name[4096] = "";
    bool good = render(path, own, first, count, &bytes, &size, &error);
    if (good && output)
        good = ast_output_share(output, name, sizeof name, &error);
    int code = ast_cli_agree(ast_cli_outcome(good, &error));
    if (code < 0) {
        ranks->broadcast(ranks->data, name, sizeof name, 0);
        uint64_t before = bytes_before(size);
        if (!name[0])
            good = pass_through(output, bytes, size, &error);
        else
            good = output ? ast_output_write(output, bytes, size, &error)
                          : ast_write_part(name, before, bytes, size, &error);
        const char *reason = good ? NULL : strstr(error.text, ": ");
        if (reason && !output) /* behind the name of a temporary file, which means nothing to anybody */
            code = ast_cli_fail("%s: rank %d%s", path, ranks->rank, reason);
        else if (!good)
            code = ast_cli_fail("%s", error.text);
        code = ast_cli_agree(code);
    }
    free(bytes);
    return code;
}
