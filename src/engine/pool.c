/* SPDX-License-Identifier: MIT
 *
 * The main idea: a gate. The caller opens it for a job and workers that arrive in time enter. When all blocks are
 * handed out, the caller closes the gate and waits for the workers inside. A worker that wakes too late finds the gate
 * closed, so a short job never waits for a sleeping thread.
 *
 * Blocks have owners, the same in every job, so that the memory of a block stays in the caches of one core from job to
 * job; fetching it from another core costs up to a third of a microsecond a line. Every thread has one part of a job,
 * so that jobs over one image may cut it in different ways, or every n-th block, if blocks wait for each other. A
 * thread takes its own blocks in order, those of threads that are not inside along with them, and at the end what is
 * left of the others'.
 *
 * gate = generation << 16 | open << 15 | workers inside. */
#include "pool.h"

#include "memory.h"
#include "trace.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GATE_OPEN ((uint64_t)1 << 15)
#define GATE_INSIDE (GATE_OPEN - 1)

/* How long an idle worker checks the gate before it sleeps: about 50 microseconds, the time between two passes; then
 * IDLE_SECONDS more, the time between two steps, in which it yields the processor to other threads. */
#define IDLE_SPINS 2000
#define IDLE_SECONDS 3e-4

#define ASK_SECONDS 0.02 /* between two calls of `ask` */

/* The blocks that a thread owns, on a cache line of its own. */
typedef struct queue {
    _Alignas(AST_CACHE_LINE) _Atomic size_t next; /* the first that nobody has taken */
    _Atomic bool inside;                          /* the thread takes part in the job */
    size_t end;                                   /* none of them comes at or behind this block */
} queue;

struct ast_pool {
    int threads;          /* including the caller */
    int started;          /* running threads */
    _Atomic int numbered; /* threads that have taken their number */
    long owner;           /* the process that owns the threads; a forked child has none */
    pthread_t *workers;
    queue *queues; /* (threads) */
    _Alignas(AST_CACHE_LINE) _Atomic uint64_t gate;
    size_t step; /* from a block of a thread to its next one */
    ast_task *task;
    void *data;
    bool may_stop; /* the run ends if the pool is cancelled */
    int (*ask)(void *data);
    void *ask_data;
    double asked; /* time of the last call of `ask`, in seconds */
    _Atomic bool cancelled;
    const ast_trace *trace; /* NULL: nothing is recorded */
    double opened;          /* when the job began, for the record */
    _Atomic int sleepers;
    _Atomic bool stop;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

static void *worker_main(void *argument);

static void processor_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void ast_pool_pause(unsigned *spins) {
    if (++*spins < 200)
        processor_pause();
    else
        ast_system_yield();
}

ast_status ast_pool_open(ast_pool **opened, int threads) {
    assert(threads >= 1 && (uint64_t)threads <= GATE_INSIDE);
    ast_pool *pool = ast_allocate_zero(1, sizeof *pool);
    *opened = NULL;
    if (!pool)
        return AST_NO_MEMORY;
    pool->threads = threads;
    pool->owner = ast_system_process();
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->workers = ast_allocate_zero((size_t)threads, sizeof *pool->workers);
    pool->queues = ast_allocate_zero((size_t)threads, sizeof *pool->queues);
    ast_status status = pool->workers && pool->queues ? AST_OK : AST_NO_MEMORY;
    for (; status == AST_OK && pool->started < threads - 1; pool->started += status == AST_OK)
        if (pthread_create(&pool->workers[pool->started], NULL, worker_main, pool) != 0)
            status = AST_NO_THREADS;
    if (status == AST_OK)
        *opened = pool;
    else
        ast_pool_close(pool);
    return status;
}

void ast_pool_close(ast_pool *pool) {
    if (!pool)
        return;
    if (pool->owner ==
        ast_system_process()) { /* a forked child has no threads to join, and its copy of the mutex may be locked */
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->stop, true);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
        for (int i = 0; i < pool->started; i++)
            pthread_join(pool->workers[i], NULL);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->mutex);
    }
    ast_free(pool->workers);
    ast_free(pool->queues);
    ast_free(pool);
}

int ast_pool_threads(const ast_pool *pool) {
    return pool->threads;
}

void ast_pool_set_watch(ast_pool *pool, int (*ask)(void *data), void *data) {
    pool->ask = ask;
    pool->ask_data = data;
    pool->asked = ask ? ast_seconds() : 0;
    atomic_store(&pool->cancelled, false);
}

bool ast_pool_cancelled(const ast_pool *pool) {
    return atomic_load_explicit(&pool->cancelled, memory_order_relaxed);
}

bool ast_pool_poll(ast_pool *pool) {
    if (!pool->ask || ast_pool_cancelled(pool))
        return ast_pool_cancelled(pool);
    double time = ast_seconds();
    if (time - pool->asked < ASK_SECONDS)
        return false;
    atomic_store(&pool->cancelled, pool->ask(pool->ask_data) != 0);
    pool->asked = ast_seconds();
    return ast_pool_cancelled(pool);
}

bool ast_pool_stopped(ast_pool *pool, int worker) {
    return worker == 0 ? ast_pool_poll(pool) : ast_pool_cancelled(pool);
}

void ast_pool_set_trace(ast_pool *pool, const ast_trace *trace) {
    pool->trace = trace;
}

const ast_trace *ast_pool_trace(const ast_pool *pool) {
    return pool->trace;
}

/* Whether a worker begins another block. */
static bool goes_on(ast_pool *pool, int worker) {
    return !ast_pool_stopped(pool, worker) || !pool->may_stop;
}

static void run_block(const ast_pool *pool, ast_task *task, void *data, size_t block, int worker) {
    ast_trace_mark begin = ast_trace_now(pool->trace);
    task(data, block, worker);
    ast_trace_note(pool->trace, worker, AST_TRACE_BLOCK, block, begin);
}

/* The owner of the lowest block that the thread may take: its own, and those of threads that are not inside; when it
 * has none, anybody's. `block`: that block; -1: there is none. Nobody skips a block whose owner is not inside, and an
 * owner takes its blocks in order, so the lowest block of a job never waits for a thread that waits for it. */
static int choose_queue(const ast_pool *pool, int worker, size_t *block) {
    bool all_inside = (atomic_load(&pool->gate) & GATE_INSIDE) == (uint64_t)pool->started;
    size_t own = atomic_load(&pool->queues[worker].next);
    bool left = own < pool->queues[worker].end;
    int best = left ? worker : -1;
    *block = own;
    for (int w = 0; w < pool->threads && !(left && all_inside); w++) {
        const queue *q = &pool->queues[w];
        size_t next = atomic_load(&q->next);
        if (next < q->end && (best < 0 || next < *block) && !(left && atomic_load(&q->inside))) {
            *block = next;
            best = w;
        }
    }
    return best;
}

/* Takes a block; false: there are none left. */
static bool take_block(ast_pool *pool, int worker, size_t *block) {
    for (;;) {
        int owner = choose_queue(pool, worker, block);
        size_t expected = *block;
        if (owner < 0)
            return false;
        if (atomic_compare_exchange_strong(&pool->queues[owner].next, &expected, expected + pool->step))
            return true;
    }
}

static void take_blocks(ast_pool *pool, int worker) {
    size_t block;
    atomic_store(&pool->queues[worker].inside, true);
    while (goes_on(pool, worker) && take_block(pool, worker, &block))
        run_block(pool, pool->task, pool->data, block, worker);
}

/* In turn, block b belongs to thread b mod threads; otherwise every thread has a part. */
static void fill_queues(ast_pool *pool, size_t first, size_t last, bool in_turn) {
    size_t threads = (size_t)pool->threads, count = last - first;
    pool->step = in_turn ? threads : 1;
    for (size_t w = 0; w < threads; w++) {
        queue *q = &pool->queues[w];
        atomic_store(&q->next, first + (in_turn ? (w + threads - first % threads) % threads : w * count / threads));
        atomic_store(&q->inside, false);
        q->end = in_turn ? last : first + (w + 1) * count / threads;
    }
}

bool ast_pool_run_cancellable(ast_pool *pool, size_t blocks, ast_task *task, void *data) {
    pool->may_stop = true;
    ast_pool_run_in_order(pool, 0, blocks, task, data);
    pool->may_stop = false;
    return !ast_pool_cancelled(pool);
}

static void open_gate(ast_pool *pool) {
    uint64_t generation = (atomic_load(&pool->gate) >> 16) + 1;
    atomic_store(&pool->gate, generation << 16 | GATE_OPEN);
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void run_on_threads(ast_pool *pool, ast_task *task, void *data) {
    assert((atomic_load(&pool->gate) & (GATE_OPEN | GATE_INSIDE)) == 0); /* no run within a run */
    pool->task = task;
    pool->data = data;
    open_gate(pool);
    take_blocks(pool, 0);
    ast_trace_mark end = ast_trace_now(pool->trace);
    atomic_fetch_and(&pool->gate, ~GATE_OPEN);
    for (unsigned spins = 0; atomic_load(&pool->gate) & GATE_INSIDE;)
        ast_pool_pause(&spins);
    ast_trace_note(pool->trace, 0, AST_TRACE_TAIL, 0, end);
    size_t left;
    assert(pool->may_stop || !take_block(pool, 0, &left));
}

static void run(ast_pool *pool, size_t first, size_t last, bool in_turn, ast_task *task, void *data) {
    ast_trace_mark begin = ast_trace_now(pool->trace);
    if (pool->threads == 1 || last <= first + 1 || pool->owner != ast_system_process()) {
        for (size_t block = first; block < last && goes_on(pool, 0); block++)
            run_block(pool, task, data, block, 0);
    } else {
        pool->opened = begin.time;
        fill_queues(pool, first, last, in_turn);
        run_on_threads(pool, task, data);
    }
    ast_trace_note(pool->trace, 0, AST_TRACE_JOB, last - first, begin);
}

void ast_pool_run(ast_pool *pool, size_t blocks, ast_task *task, void *data) {
    run(pool, 0, blocks, false, task, data);
}

void ast_pool_run_in_order(ast_pool *pool, size_t first, size_t last, ast_task *task, void *data) {
    run(pool, first, last, true, task, data);
}

typedef struct range_job {
    ast_range_task *task;
    void *data;
    size_t count, step;
} range_job;

static void run_range(void *data, size_t block, int worker) {
    const range_job *job = data;
    size_t first = block * job->step, last = first + job->step;
    (void)worker;
    job->task(job->data, first, last < job->count ? last : job->count);
}

void ast_pool_ranges(ast_pool *pool, size_t count, size_t step, ast_range_task *task, void *data) {
    assert(step > 0);
    range_job job = {task, data, count, step};
    ast_pool_run(pool, (count + step - 1) / step, run_range, &job);
}

typedef struct item_job {
    ast_item_task *task;
    void *data;
} item_job;

static void run_items(void *data, size_t first, size_t last) {
    const item_job *job = data;
    for (size_t item = first; item < last; item++)
        job->task(job->data, item);
}

void ast_pool_each(ast_pool *pool, size_t count, size_t step, ast_item_task *task, void *data) {
    item_job job = {task, data};
    ast_pool_ranges(pool, count, step, run_items, &job);
}

/* Enters if the gate is open for a job that this worker has not seen. */
static bool enter(ast_pool *pool, uint64_t *seen) {
    uint64_t gate = atomic_load(&pool->gate);
    while ((gate & GATE_OPEN) && gate >> 16 != *seen)
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate + 1)) {
            *seen = gate >> 16;
            return true;
        }
    return false;
}

static bool sleep_until_work(ast_pool *pool, uint64_t seen) {
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    for (;;) {
        uint64_t gate = atomic_load(&pool->gate);
        if (atomic_load(&pool->stop) || ((gate & GATE_OPEN) && gate >> 16 != seen))
            break;
        pthread_cond_wait(&pool->wake, &pool->mutex);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
    return !atomic_load(&pool->stop);
}

static void note_wake_up(const ast_pool *pool, int worker, bool slept) {
    ast_trace_mark opened = ast_trace_now(pool->trace);
    opened.time = pool->opened;
    ast_trace_note(pool->trace, worker, AST_TRACE_WAKE, slept, opened);
}

static void *worker_main(void *argument) {
    ast_pool *pool = argument;
    uint64_t seen = 0;
    int worker = 1 + atomic_fetch_add(&pool->numbered, 1), idle = 0;
    double since = 0; /* when it began to yield the processor */
    bool slept = false;
    while (!atomic_load(&pool->stop)) {
        if (enter(pool, &seen)) {
            note_wake_up(pool, worker, slept);
            slept = false;
            take_blocks(pool, worker);
            atomic_fetch_sub(&pool->gate, 1);
            idle = 0;
        } else if (++idle < IDLE_SPINS) {
            processor_pause();
        } else if (idle == IDLE_SPINS) {
            since = ast_seconds();
        } else if (ast_seconds() - since < IDLE_SECONDS) {
            ast_system_yield();
        } else {
            if (!sleep_until_work(pool, seen))
                break;
            slept = true;
            idle = 0;
        }
    }
    return NULL;
}
