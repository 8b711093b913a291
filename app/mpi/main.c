/* SPDX-License-Identifier: MIT
 *
 * asterism-mpi: the command on as many processes as mpirun starts. It adds two functions over MPI, and a message if a
 * rank dies: otherwise ranks that wait for it would wait silently until mpirun kills them. */
#include <asterism_ranks.h>
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "ranks.h"

/* MPI counts in int. */
#define MOST ((size_t)1 << 28)

#define PATIENCE 4 /* tenths of a second; mpirun waits ten */

static atomic_uint calls; /* odd: waiting for other ranks */
static atomic_int *said;  /* shared by the ranks of a machine: whether one of them has printed the message */

static void sum(void *data, uint64_t *values, size_t count) {
    (void)data;
    atomic_fetch_add(&calls, 1);
    for (size_t at = 0; at < count; at += MOST) {
        size_t n = count - at < MOST ? count - at : MOST;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    atomic_fetch_add(&calls, 1);
}

static void broadcast(void *data, void *bytes, size_t size, int from) {
    (void)data;
    atomic_fetch_add(&calls, 1);
    for (size_t at = 0; at < size; at += MOST) {
        size_t n = size - at < MOST ? size - at : MOST;
        MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD);
    }
    atomic_fetch_add(&calls, 1);
}

/* When a rank has died, mpirun asks the others to stop, and kills them a second later. Ranks that compute stop by
 * themselves. Ranks that stay in one call wait in vain, and one of them prints a message. No rank exits by itself:
 * mpirun may miss an exit between its two signals and wait forever. */
static void *watch(void *data) {
    unsigned last = 0;
    (void)data;
    for (int patience = PATIENCE; patience > 0; patience--) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        unsigned now = atomic_load(&calls);
        if (!ast_cli_interrupted() || now % 2 == 0 || now != last)
            patience = PATIENCE + 1;
        last = now;
    }
    if (said && atomic_exchange(said, 1) == 0)
        fputs("asterism: a rank has died, or mpirun was told to stop; no result was written\n", stderr);
    sleep(10);
    _exit(AST_CLI_FAILED);
}

/* Only one rank prints: the first one on the machine of rank 0 that notices. */
static void begin_watch(void) {
    MPI_Comm machine;
    MPI_Win window;
    int zero, rank, world;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    zero = world == 0;
    MPI_Bcast(&zero, 1, MPI_INT, 0, machine);
    MPI_Aint size = rank == 0 ? (MPI_Aint)sizeof *said : 0;
    int unit;
    void *place;
    MPI_Win_allocate_shared(size, sizeof *said, MPI_INFO_NULL, machine, &place, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &place);
    said = zero ? place : NULL;
    if (rank == 0)
        atomic_init((atomic_int *)place, 0);
    MPI_Barrier(machine);
    pthread_t watcher;
    ast_cli_watch_signals();
    if (pthread_create(&watcher, NULL, watch, NULL) == 0)
        pthread_detach(watcher);
}

/* A waiting rank yields the processor: if cores are shared, the rank it waits for may need it. Open MPI does so by
 * default only if it knows of more ranks than cores. */
static void wait_kindly(void) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/* MPI's default error handler ends all processes, so errors of calls need no check here. */
int main(int argc, char **argv) {
    ast_comm comm = {.size = sizeof comm, .sum = sum, .broadcast = broadcast};
    int given;
    wait_kindly();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.ranks);
    ast_cli_set_ranks(&comm);
    if (comm.ranks > 1)
        begin_watch();
    int code = ast_cli_main(argc, argv);
    MPI_Finalize();
    return code;
}
