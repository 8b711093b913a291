/* SPDX-License-Identifier: MIT
 *
 * asterism-mpi: the command on as many processes as mpirun starts. Two functions over MPI are all that it adds. */
#include <asterism_ranks.h>
#include <mpi.h>

#include <stdlib.h>

#include "cli.h"
#include "ranks.h"

/* MPI counts in int. */
#define MOST ((size_t)1 << 28)

static void sum(void *data, uint64_t *values, size_t count) {
    (void)data;
    for (size_t at = 0; at < count; at += MOST) {
        size_t n = count - at < MOST ? count - at : MOST;
        MPI_Allreduce(MPI_IN_PLACE, values + at, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void broadcast(void *data, void *bytes, size_t size, int from) {
    (void)data;
    for (size_t at = 0; at < size; at += MOST) {
        size_t n = size - at < MOST ? size - at : MOST;
        MPI_Bcast((char *)bytes + at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD);
    }
}

/* A rank that waits lets others run: where cores are shared one of them may be the rank that it waits for. Open MPI
 * does so by itself only where it was told of more ranks than cores. */
static void wait_kindly(void) {
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/* MPI's own handler of errors ends all processes: what cannot be sent need not be looked at here. */
int main(int argc, char **argv) {
    ast_comm comm = {.sum = sum, .broadcast = broadcast};
    int given;
    wait_kindly();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &comm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm.size);
    ast_cli_set_ranks(&comm);
    int code = ast_cli_main(argc, argv);
    MPI_Finalize();
    return code;
}
