/* SPDX-License-Identifier: MIT
 *
 * The thread pool: every block once, in order, no worker twice at a time, after a fork, and all of it often; what it
 * records. */
#include "pool.h"
#include "trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_THREADS 9

/* The thread sanitizer ends a forked child that starts threads; in the address sanitizer's allocator one may wait for a
 * lock that nobody holds any more. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MAY_START_THREADS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define MAY_START_THREADS 0
#endif
#endif
#ifndef MAY_START_THREADS
#define MAY_START_THREADS 1
#endif

/* What a run leaves behind. Asserts belong to the main thread only: tasks note, tests look. */
typedef struct record {
    size_t blocks;
    int threads;
    _Atomic int *runs;               /* (blocks) */
    _Atomic bool busy[MOST_THREADS]; /* worker is in a task */
    _Atomic int wrong;               /* a worker out of range or twice at a time, a block out of range */
    _Atomic size_t sum;
} record;

static void note(void *data, size_t block, int worker) {
    record *r = data;
    if (worker < 0 || worker >= r->threads || block >= r->blocks) {
        atomic_fetch_add(&r->wrong, 1);
        return;
    }
    if (atomic_exchange(&r->busy[worker], true))
        atomic_fetch_add(&r->wrong, 1);
    atomic_fetch_add(&r->runs[block], 1);
    atomic_fetch_add(&r->sum, block);
    atomic_store(&r->busy[worker], false);
}

static void run_and_check(ast_pool *pool, size_t blocks) {
    record r = {.blocks = blocks, .threads = ast_pool_threads(pool)};
    r.runs = calloc(blocks + 1, sizeof *r.runs);
    ast_pool_run(pool, blocks, note, &r);
    assert_int_equal(r.wrong, 0);
    for (size_t block = 0; block < blocks; block++)
        assert_int_equal(r.runs[block], 1);
    free(r.runs);
}

static void test_every_block_exactly_once(void **state) {
    (void)state;
    const size_t counts[] = {0, 1, 2, 3, 7, 64, 1000, 20000};
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        ast_pool *pool;
        ast_pool_open(&pool, threads);
        assert_non_null(pool);
        assert_int_equal(ast_pool_threads(pool), threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            run_and_check(pool, counts[i]);
        ast_pool_close(pool);
    }
}

/* Each block waits for the one before: this ends only if blocks are handed out in order. */
typedef struct chain {
    _Atomic size_t done;
    size_t order[3000];
} chain;

static void wait_for_turn(void *data, size_t block, int worker) {
    chain *c = data;
    (void)worker;
    for (unsigned spins = 0; atomic_load(&c->done) != block;)
        ast_pool_pause(&spins);
    c->order[block] = block;
    atomic_store(&c->done, block + 1);
}

static void test_blocks_may_wait_for_earlier_ones(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        ast_pool *pool;
        ast_pool_open(&pool, threads);
        chain *c = calloc(1, sizeof *c);
        ast_pool_run_in_order(pool, 0, 3000, wait_for_turn, c);
        assert_int_equal(c->done, 3000);
        for (size_t i = 0; i < 3000; i++)
            assert_int_equal(c->order[i], i);
        free(c);
        ast_pool_close(pool);
    }
}

/* Jobs need not begin with block 0, and their blocks may wait for earlier ones all the same. */
static void test_jobs_from_any_block(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        ast_pool *pool;
        ast_pool_open(&pool, threads);
        chain *c = calloc(1, sizeof *c);
        for (size_t first = 0; first < 40; first++) {
            atomic_store(&c->done, first);
            ast_pool_run_in_order(pool, first, first + 5 * (first % 9), wait_for_turn, c);
            assert_int_equal(c->done, first + 5 * (first % 9));
        }
        free(c);
        ast_pool_close(pool);
    }
}

/* A job is over when run returns: what it wrote is there, and the next one does not mix with it. */
static void add_one(void *data, size_t block, int worker) {
    (void)worker;
    ((int *)data)[block]++;
}

static void test_many_tiny_jobs(void **state) {
    (void)state;
    ast_pool *pool;
    ast_pool_open(&pool, 3);
    int cells[5] = {0};
    for (int job = 0; job < 50000; job++) {
        ast_pool_run(pool, 1 + (size_t)job % 5, add_one, cells);
        assert_int_equal(cells[0], job + 1);
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(cells[i], 50000 - i * 10000);
    ast_pool_close(pool);
}

/* After a pause the workers sleep; a job must still find them, or do without. */
static void test_jobs_after_sleep(void **state) {
    (void)state;
    ast_pool *pool;
    ast_pool_open(&pool, 4);
    for (int i = 0; i < 20; i++) {
        usleep(3000);
        run_and_check(pool, 50);
    }
    ast_pool_close(pool);
}

static void hold(void *data, size_t block, int worker) {
    _Atomic int *inside = data;
    (void)block;
    (void)worker;
    atomic_fetch_add(inside, 1);
    for (unsigned spins = 0; atomic_load(inside) < 3;)
        ast_pool_pause(&spins);
}

/* Three tasks that wait for each other need three threads at once. */
static void test_threads_work_at_the_same_time(void **state) {
    (void)state;
    ast_pool *pool;
    ast_pool_open(&pool, 3);
    for (int i = 0; i < 200; i++) {
        _Atomic int inside = 0;
        ast_pool_run(pool, 3, hold, (void *)&inside);
        assert_int_equal(inside, 3);
    }
    ast_pool_close(pool);
}

static void test_open_and_close_often(void **state) {
    (void)state;
    for (int i = 0; i < 500; i++) {
        ast_pool *pool;
        ast_pool_open(&pool, 1 + i % 6);
        assert_non_null(pool);
        if (i % 3)
            run_and_check(pool, 10);
        ast_pool_close(pool);
    }
    ast_pool_close(NULL);
}

/* A child has no threads of the pool: it runs alone, and closes without waiting for anybody. */
static void test_forked_child(void **state) {
    (void)state;
    ast_pool *pool;
    ast_pool_open(&pool, 4);
    run_and_check(pool, 100);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            int cells[40] = {0};
            alarm(20); /* a child that hangs dies, and fails the test */
            ast_pool_run(pool, 40, add_one, cells);
            bool fine = true;
            for (int c = 0; c < 40; c++)
                fine = fine && cells[c] == 1;
            ast_pool *own = pool;
            if (MAY_START_THREADS) /* and may have a pool of its own */
                ast_pool_open(&own, 2);
            if (own)
                ast_pool_run(own, 40, add_one, cells);
            for (int c = 0; c < 40; c++)
                fine = fine && cells[c] == 2;
            if (own != pool)
                ast_pool_close(own);
            ast_pool_close(pool);
            _exit(fine ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        run_and_check(pool, 100); /* the parent's threads are none the worse */
    }
    ast_pool_close(pool);
}

/* Every block is recorded once, within its job; what does not fit is counted; without a record nothing is. */
static void test_record(void **state) {
    (void)state;
    enum { THREADS = 3, ROOM = 40 };
    ast_trace_span spans[THREADS][ROOM];
    ast_trace_thread lists[THREADS] = {0};
    ast_trace trace = {lists};
    ast_pool *pool;
    int cells[100] = {0};
    ast_pool_open(&pool, THREADS);
    for (int w = 0; w < THREADS; w++)
        lists[w] = (ast_trace_thread){.spans = spans[w], .capacity = ROOM};
    ast_pool_set_trace(pool, &trace);
    for (size_t blocks = 1; blocks <= 100; blocks = 10 * blocks) {
        size_t seen = 0, lost = 0;
        ast_pool_run(pool, blocks, add_one, cells);
        for (int w = 0; w < THREADS; w++) {
            for (size_t i = 0; i < lists[w].count; i++) {
                assert_true(spans[w][i].begin <= spans[w][i].end);
                seen += spans[w][i].kind == AST_TRACE_BLOCK;
            }
            lost += lists[w].lost;
            lists[w].count = lists[w].lost = 0;
        }
        assert_true(seen <= blocks && seen + lost >= blocks);
        assert_true(blocks == 100 || lost == 0);
    }
    ast_pool_set_trace(pool, NULL);
    ast_pool_run(pool, 100, add_one, cells);
    for (int w = 0; w < THREADS; w++)
        assert_int_equal(lists[w].count, 0);
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_block_exactly_once),
        cmocka_unit_test(test_blocks_may_wait_for_earlier_ones),
        cmocka_unit_test(test_jobs_from_any_block),
        cmocka_unit_test(test_many_tiny_jobs),
        cmocka_unit_test(test_jobs_after_sleep),
        cmocka_unit_test(test_threads_work_at_the_same_time),
        cmocka_unit_test(test_open_and_close_often),
        cmocka_unit_test(test_forked_child),
        cmocka_unit_test(test_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
