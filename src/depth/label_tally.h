/* SPDX-License-Identifier: MIT
 *
 * The most frequent label of many, in one pass and without memory (Misra and Gries): a label that more than one in
 * AST_TALLY_LABELS + 1 have is among those counted, and up to AST_TALLY_LABELS different labels are counted exactly. */
#pragma once

#include <stdint.h>

enum { AST_TALLY_LABELS = 16 };

/* Initially all zero. */
typedef struct ast_label_tally {
    int32_t labels[AST_TALLY_LABELS];
    int32_t counts[AST_TALLY_LABELS];
} ast_label_tally;

/* Negative labels are not counted. */
static inline void ast_tally_label(ast_label_tally *t, int32_t label) {
    int32_t *room = NULL;
    for (int i = 0; i < AST_TALLY_LABELS && label >= 0; i++) {
        if (t->counts[i] > 0 && t->labels[i] == label) {
            t->counts[i]++;
            return;
        }
        room = !room && t->counts[i] == 0 ? &t->counts[i] : room;
    }
    if (room) {
        t->labels[room - t->counts] = label;
        *room = 1;
    }
    for (int i = 0; i < AST_TALLY_LABELS && !room && label >= 0; i++)
        t->counts[i]--;
}

/* The lowest of equals; -1 if none was counted. */
static inline int32_t ast_most_frequent_label(const ast_label_tally *t) {
    int32_t most = 0, label = -1;
    for (int i = 0; i < AST_TALLY_LABELS; i++)
        if (t->counts[i] > most || (t->counts[i] == most && most > 0 && t->labels[i] < label)) {
            most = t->counts[i];
            label = t->labels[i];
        }
    return label;
}
