/* SPDX-License-Identifier: MIT
 *
 * A small thread pool with one operation: run a task for blocks 0..n-1. It does not know vectors. */
#pragma once

#include "asterism.h"
#include "system.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ast_pool ast_pool;
struct ast_trace; /* trace.h */

/* `worker` is 0..threads-1; no two tasks run with the same worker at the same time, so it can index scratch memory. */
typedef void ast_task(void *data, size_t block, int worker);

/* Starts threads - 1 threads (the caller of ast_pool_run is the other one). AST_NO_THREADS or AST_NO_MEMORY, and
 * *opened is NULL, if this fails. */
ast_status ast_pool_open(ast_pool **opened, int threads);
void ast_pool_close(ast_pool *pool);
int ast_pool_threads(const ast_pool *pool);

/* Runs the task for every block and returns when all are done. Every thread has a part of the blocks, and helps others
 * when it is done. In a forked child the run is serial. */
void ast_pool_run(ast_pool *pool, size_t blocks, ast_task *task, void *data);

/* Like ast_pool_run for blocks first..last-1, but the threads start them in this order. A task may wait for an earlier
 * block of the same run: it is running, or will be run by a thread that waits for no later block. If the threads keep
 * pace, a block is run by the same thread in all jobs, so jobs over the same memory should give it the same number. */
void ast_pool_run_in_order(ast_pool *pool, size_t first, size_t last, ast_task *task, void *data);

/* The same for items 0..count-1, handed out `step` at a time, for tasks that need no scratch memory: one call for the
 * items first..last-1 that were handed out together, or one for each item. */
typedef void ast_range_task(void *data, size_t first, size_t last);
typedef void ast_item_task(void *data, size_t item);
void ast_pool_ranges(ast_pool *pool, size_t count, size_t step, ast_range_task *task, void *data);
void ast_pool_each(ast_pool *pool, size_t count, size_t step, ast_item_task *task, void *data);

/* ---- Cancellation ------------------------------------------------------------------------------------------------ */

/* Every run calls `ask` between blocks, on the caller's thread, about every 20 ms. When it returns non-zero the pool is
 * cancelled until the next ast_pool_set_watch. NULL: runs are not cancelled. */
void ast_pool_set_watch(ast_pool *pool, int (*ask)(void *data), void *data);

/* Whether the pool is cancelled. May be called from any task. */
bool ast_pool_cancelled(const ast_pool *pool);

/* Calls `ask` if it is due, and returns ast_pool_cancelled: for long loops on the caller's thread outside a run. */
bool ast_pool_poll(ast_pool *pool);

/* For long loops within a task: ast_pool_poll for worker 0, the caller's thread; ast_pool_cancelled for the others. */
bool ast_pool_stopped(ast_pool *pool, int worker);

/* Like ast_pool_run_in_order, but starts no more blocks once the pool is cancelled. false: some blocks were not run. */
bool ast_pool_run_cancellable(ast_pool *pool, size_t blocks, ast_task *task, void *data);

/* ---- Measurement ------------------------------------------------------------------------------------------------- */

/* From now on, records what the threads do; NULL: no longer. While no job runs. `trace` has a list for every thread. */
void ast_pool_set_trace(ast_pool *pool, const struct ast_trace *trace);
const struct ast_trace *ast_pool_trace(const ast_pool *pool); /* NULL: there is none */

/* Lowers *least to `value` if that is smaller. */
static inline void ast_keep_least(_Atomic uint64_t *least, uint64_t value) {
    uint64_t before = atomic_load(least);
    while (value < before && !atomic_compare_exchange_weak(least, &before, value))
        ;
}

/* One step of a busy wait: short at first, later it yields the processor. Start with *spins = 0. */
void ast_pool_pause(unsigned *spins);
