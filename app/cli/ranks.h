/* SPDX-License-Identifier: MIT
 *
 * The command on several ranks (asterism-mpi): all ranks run it, each on its own points, and the first one prints. If
 * one rank fails all of them stop, and the sentence is that of the lowest failing rank. On one rank these functions do
 * nothing. */
#pragma once

#include <asterism_ranks.h>
#include <formats.h>

/* Before ast_cli_main, once; `comm` must live as long as the command. */
void ast_cli_set_ranks(const ast_comm *comm);

const ast_comm *ast_cli_ranks(void); /* NULL: one rank */
int ast_cli_is_first_rank(void);     /* whether this is the rank that prints and writes; true on one rank */

/* Holds the first sentence of this rank until the ranks agree on an exit code. */
void ast_cli_hold_sentence(const char *sentence);

/* On all ranks the exit code of the lowest failing rank, which prints its sentence; `code` if none failed. A collective
 * call until the first failure. */
int ast_cli_agree(int code);

/* The part of `count` points that this rank has; the whole on one rank. */
void ast_cli_slice(size_t count, size_t *first, size_t *own);

/* Whether all ranks see the same points, and more of them than there are ranks. */
int ast_cli_same_points(const ast_points *points, const char *input);
int ast_cli_same_rows(size_t count, size_t dimension, uint64_t rows_hash, const char *input);
int ast_cli_same_labels(const int32_t *labels, size_t count, const char *path);

/* Reduces the points to those of this rank; `*first` is the number of the first one. */
void ast_cli_cut(ast_points *points, size_t *first);

/* Sums doubles rank after rank, so that the result has the bits of one process. */
double ast_cli_sum_in_turn(double (*add)(double so_far, const void *data), const void *data);

/* Writes the array of all ranks to one file: each rank its own `count` numbers from number `first` on, into the
 * temporary file of `output`, which rank 0 has open. */
int ast_cli_write_ranks(ast_output *output, const char *path, ast_array own, size_t first, size_t count);
