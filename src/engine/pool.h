/* SPDX-License-Identifier: MIT
 *
 * A small thread pool with one operation: run a task for blocks 0..n-1. It does not know vectors. */
#ifndef AST_POOL_H
#define AST_POOL_H

#include <stddef.h>

typedef struct ast_pool ast_pool;

/* `worker` is 0..threads-1; no two tasks run with the same worker at the same time, so it can index scratch memory. */
typedef void ast_task(void *data, size_t block, int worker);

/* Starts threads - 1 threads (the caller of ast_pool_run is the other one). NULL if they cannot be started. */
ast_pool *ast_pool_open(int threads);
void ast_pool_close(ast_pool *pool);
int ast_pool_threads(const ast_pool *pool);

/* Runs the task for every block and returns when all are done. Blocks are handed out in increasing order, so a task may
 * wait for an earlier block of the same run. In a forked child the run is serial. */
void ast_pool_run(ast_pool *pool, size_t blocks, ast_task *task, void *data);

/* The same for rows 0..rows-1, handed out `step` at a time; the task gets the number of a row. */
void ast_pool_run_rows(ast_pool *pool, size_t rows, size_t step, ast_task *task, void *data);

/* One step of a busy wait: short at first, later it yields the processor. Start with *spins = 0. */
void ast_pool_pause(unsigned *spins);

#endif
