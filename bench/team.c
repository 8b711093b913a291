/* SPDX-License-Identifier: MIT
 *
 * A team of threads that spin between jobs. One generation number starts a job, one counter ends it. While the team
 * exists, each thread is pinned to a processor: on a busy machine Linux starts two threads on one processor and needs
 * longer than a pass to separate them. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct member {
    bench_team *team;
    pthread_t thread;
    int worker;
} member;

struct bench_team {
    _Alignas(64) atomic_uint generation;
    _Alignas(64) atomic_int working;
    _Alignas(64) bench_job *job; /* NULL ends the threads */
    void *data;
    int threads;
    cpu_set_t allowed; /* the processors that the caller may use */
    member members[BENCH_MAX_THREADS];
};

/* Spins first, then yields: with fewer free processors than threads, spinning alone would wait for a time slice. */
static void pause_a_little(unsigned *spins) {
    if (++*spins > 20000)
        sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    else
        __builtin_ia32_pause();
#endif
}

static void *member_main(void *argument) {
    member *self = argument;
    bench_team *team = self->team;
    for (unsigned seen = 0;; seen++) {
        unsigned spins = 0;
        while (atomic_load_explicit(&team->generation, memory_order_acquire) == seen)
            pause_a_little(&spins);
        if (!team->job)
            return NULL;
        team->job(team->data, self->worker, team->threads);
        atomic_fetch_sub_explicit(&team->working, 1, memory_order_release);
    }
}

/* With fewer processors than threads, threads are not pinned. */
static void keep_to_processor(const bench_team *team, pthread_t thread, int worker) {
    int left = worker;
    if (CPU_COUNT(&team->allowed) < team->threads)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &team->allowed) && left-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(thread, sizeof one, &one);
            return;
        }
}

static void start(bench_team *team, bench_job *job, void *data) {
    team->job = job;
    team->data = data;
    atomic_store_explicit(&team->working, team->threads - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&team->generation, 1, memory_order_release);
}

bench_team *bench_team_open(int threads) {
    if (threads < 1 || threads > BENCH_MAX_THREADS)
        bench_die("%d threads: a team has 1 to %d", threads, BENCH_MAX_THREADS);
    bench_team *team = bench_alloc(sizeof *team);
    team->threads = threads;
    sched_getaffinity(0, sizeof team->allowed, &team->allowed);
    for (int i = 1; i < threads; i++) {
        team->members[i] = (member){.team = team, .worker = i};
        if (pthread_create(&team->members[i].thread, NULL, member_main, &team->members[i]) != 0)
            bench_die("thread %d of %d could not be started", i + 1, threads);
        keep_to_processor(team, team->members[i].thread, i);
    }
    if (threads > 1)
        keep_to_processor(team, pthread_self(), 0);
    return team;
}

void bench_team_close(bench_team *team) {
    if (!team)
        return;
    start(team, NULL, NULL);
    for (int i = 1; i < team->threads; i++)
        pthread_join(team->members[i].thread, NULL);
    if (team->threads > 1)
        sched_setaffinity(0, sizeof team->allowed, &team->allowed);
    free(team);
}

int bench_team_threads(const bench_team *team) {
    return team->threads;
}

void bench_team_run(bench_team *team, bench_job *job, void *data) {
    unsigned spins = 0;
    start(team, job, data);
    job(data, 0, team->threads);
    while (atomic_load_explicit(&team->working, memory_order_acquire) != 0)
        pause_a_little(&spins);
}
