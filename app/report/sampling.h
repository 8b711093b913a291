/* SPDX-License-Identifier: MIT
 *
 * Uniform samples: every point has the same chance to be drawn. The same seed gives the same sample. */
#ifndef ASTERISM_REPORT_SAMPLING_H
#define ASTERISM_REPORT_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

typedef struct ast_sampling {
    uint64_t state;
} ast_sampling;

/* An integer below `limit`, which must not be 0. */
size_t ast_sampling_below(ast_sampling *sampling, size_t limit);

/* Selects items one after the other, without a list: whether to take the next one. left: items from this one on; open:
 * how many are still to be taken. */
int ast_sampling_takes(ast_sampling *sampling, size_t left, size_t open);

#endif
