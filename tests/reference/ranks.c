/* SPDX-License-Identifier: MIT */
#include "reference/ranks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* What the threads share. Every call is: all put down what they have, all meet, all take, all meet. */
struct ref_ranks {
    int size;
    pthread_barrier_t barrier;
    const void *given[MOST];
    size_t count[MOST];
};

typedef struct member {
    ref_ranks *all;
    ast_comm comm;
    void (*work)(const ast_comm *comm, void *data);
    void *data;
    size_t sums, broadcasts;
} member;

/* assert is not there in every build. */
static void need(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "ranks as threads: %s\n", what);
    abort();
}

static void put_down(member *m, const void *given, size_t count) {
    m->all->given[m->comm.rank] = given;
    m->all->count[m->comm.rank] = count;
    pthread_barrier_wait(&m->all->barrier);
    for (int r = 0; r < m->all->size; r++) /* ranks that do not make the same call would hang elsewhere */
        need(m->all->count[r] == count, "they do not make the same call");
}

static void sum(void *data, uint64_t *values, size_t count) {
    member *m = data;
    uint64_t *total = calloc(count, sizeof *total);
    need(total != NULL, "no memory");
    put_down(m, values, count);
    for (int r = 0; r < m->all->size; r++)
        for (size_t i = 0; i < count; i++)
            total[i] += ((const uint64_t *)m->all->given[r])[i];
    pthread_barrier_wait(&m->all->barrier);
    memcpy(values, total, count * sizeof *total);
    free(total);
    m->sums++;
}

static void broadcast(void *data, void *bytes, size_t size, int from) {
    member *m = data;
    put_down(m, bytes, size);
    if (m->comm.rank != from)
        memcpy(bytes, m->all->given[from], size);
    pthread_barrier_wait(&m->all->barrier);
    m->broadcasts++;
}

static void *run(void *data) {
    member *m = data;
    m->work(&m->comm, m->data);
    return NULL;
}

void ref_ranks_run(int size, void (*work)(const ast_comm *comm, void *data), void *data) {
    need(size <= MOST, "too many");
    ref_ranks all = {.size = size};
    member members[MOST];
    pthread_t threads[MOST];
    pthread_barrier_init(&all.barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        members[r] = (member){.all = &all, .work = work, .data = data};
        members[r].comm = (ast_comm){sizeof(ast_comm), r, size, sum, broadcast, &members[r]};
    }
    for (int r = 0; r < size; r++)
        need(pthread_create(&threads[r], NULL, run, &members[r]) == 0, "no thread");
    for (int r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    pthread_barrier_destroy(&all.barrier);
}

size_t ref_ranks_sums(const ast_comm *comm) {
    return ((const member *)comm->data)->sums;
}

size_t ref_ranks_broadcasts(const ast_comm *comm) {
    return ((const member *)comm->data)->broadcasts;
}
