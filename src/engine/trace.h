/* SPDX-License-Identifier: MIT
 *
 * What each thread of a pool does, and when: a record for measurements (bench/timeline.c). The main idea: a pool has a
 * record or none; without a record every mark costs one test of a pointer. A thread writes only to its own list, so the
 * record needs no locks, and it is read when no job runs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum ast_trace_kind {
    AST_TRACE_JOB,    /* the caller: one run of the pool, from first to last block */
    AST_TRACE_TAIL,   /* the caller: its blocks are done, other threads' are not */
    AST_TRACE_WAKE,   /* a worker: from the beginning of the job until it takes part */
    AST_TRACE_BLOCK,  /* one block of a job */
    AST_TRACE_SCORE,  /* within a block: scores of a chunk; in a first pass they include loading and sums */
    AST_TRACE_WAIT,   /* ... waiting for the turn of a chunk */
    AST_TRACE_COMMIT, /* ... the commit of a chunk */
    AST_TRACE_SUM,    /* ... adding the changes of a chunk */
    AST_TRACE_KINDS
} ast_trace_kind;

typedef struct ast_trace_span {
    double begin, end; /* as ast_seconds */
    ast_trace_kind kind;
    uint32_t faults; /* pages that were touched for the first time */
    size_t number;   /* of the block, of the chunk, or how many blocks the job has; of a wake-up 1 if it slept */
} ast_trace_span;

/* The spans of one thread. What does not fit is counted. */
typedef struct ast_trace_thread {
    ast_trace_span *spans;
    size_t count, capacity, lost;
    char apart[64]; /* threads must not share cache lines */
} ast_trace_thread;

/* (threads) lists, in the memory of the caller. */
typedef struct ast_trace {
    ast_trace_thread *threads;
} ast_trace;

/* A moment on one thread. */
typedef struct ast_trace_mark {
    double time;
    uint32_t faults;
} ast_trace_mark;

/* Now; nothing if there is no record. */
ast_trace_mark ast_trace_now(const ast_trace *trace);

/* Notes what the thread did since `since`, and returns the moment it ended. Nothing if there is no record. */
ast_trace_mark ast_trace_note(const ast_trace *trace, int thread, ast_trace_kind kind, size_t number,
                              ast_trace_mark since);
