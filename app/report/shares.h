/* SPDX-License-Identifier: MIT
 *
 * What the chart sees of the shares. */
#ifndef ASTERISM_REPORT_SHARES_H
#define ASTERISM_REPORT_SHARES_H

#include "report.h"

typedef struct ast_shares_frame {
    uint64_t number;
    char *source;
    size_t first, count; /* its entries */
} ast_shares_frame;

typedef struct ast_share {
    int32_t id;
    size_t count; /* points */
    double share;
} ast_share;

struct ast_shares {
    ast_shares_frame *frames;
    size_t frame_count, frame_capacity;
    ast_share *entries; /* frame by frame, in order of id */
    size_t entry_count, entry_capacity;
};

/* A cluster in a frame. */
typedef struct ast_sight {
    int32_t id;
    size_t frame; /* index of the frame */
    double share;
} ast_sight;

/* (entry_count) all entries by id, then by frame, from malloc(); NULL if memory runs out. */
ast_sight *ast_shares_sights(const ast_shares *shares);

#endif
