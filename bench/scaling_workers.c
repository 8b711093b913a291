/* SPDX-License-Identifier: MIT
 *
 * The same run on threads of one process and on processes of one thread. The processes are those of mpirun
 * asterism-mpi, as users call it; the time is the reported one, without reading. */
#include "scaling.h"

#include "asterism.h"

#include <formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIMENSION 300
#define CLUSTERS 200

/* Both variables are for machines where this runs as root. */
#define MPIRUN "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --bind-to none"

static void write_points(const char *path, size_t count) {
    ast_format_error error;
    ast_context *context;
    ast_open(&context, 0);
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = count,
                           .dimension = DIMENSION,
                           .clusters = CLUSTERS,
                           .kappa = ast_vmf_kappa(DIMENSION, 0.5),
                           .seed = 4};
    float *points = bench_alloc(count * DIMENSION * sizeof *points), *means = bench_alloc(CLUSTERS * DIMENSION * 4);
    int32_t *truth = bench_alloc(count * sizeof *truth);
    if (!context || ast_sample_mixture(context, &mixture, points, truth, means) != AST_OK)
        bench_die("no points: %s", context ? ast_message(context) : "no memory");
    ast_output *output = ast_output_open(path, false, &error);
    if (!output || !ast_write_array(output, ast_value_array(points, count, DIMENSION), &error) || !ast_output_commit(output, &error))
        bench_die("%s", error.text);
    ast_close(context);
    free(points);
    free(means);
    free(truth);
}

/* The seconds that the command reports; negative if it could not run. */
static double run_command(int ranks, int threads, const char *path) {
    char command[4096], text[4096], rest[4096];
    snprintf(command, sizeof command,
             MPIRUN " -n %d %s cluster %s --method spkm --clusters %d --init random --no-bounds --max-iterations 6 "
                    "--threads %d --json 2>/dev/null",
             ranks, BENCH_MPI, path, CLUSTERS, threads);
    FILE *pipe = popen(command, "r"); // NOLINT(bugprone-command-processor,cert-env33-c): all of it is ours
    size_t length = pipe ? fread(text, 1, sizeof text - 1, pipe) : 0;
    while (pipe &&
           fread(rest, 1, sizeof rest, pipe) > 0) /* the means: they must be written somewhere, but are not used */
        continue;
    text[length] = 0;
    bool good = pipe && pclose(pipe) == 0;
    const char *seconds = good ? strstr(text, "\"seconds\":") : NULL;
    return seconds ? strtod(seconds + strlen("\"seconds\":"), NULL) : -1;
}

static void repeat(bench_scaling *s, const char *path, int processors) {
    bench_panel *panel = &s->panel[BENCH_BY_WORKERS];
    for (int n = 1; n <= processors && !s->without[0]; n *= 2) {
        double threads = run_command(1, n, path), ranks = run_command(n, 1, path);
        if (threads < 0 || ranks < 0) {
            snprintf(s->without, sizeof s->without, "mpirun asterism-mpi could not run: no processes were measured");
            return;
        }
        bench_curve_note(bench_panel_curve(panel, "threads of one process", 1), n, threads);
        bench_curve_note(bench_panel_curve(panel, "processes of one thread", 1), n, ranks);
    }
}

void bench_scaling_workers(bench_scaling *s) {
    char path[4096];
    const char *base = getenv("TMPDIR");
    if (access(BENCH_MPI, X_OK) != 0) {
        snprintf(s->without, sizeof s->without, "asterism-mpi was not built here: no processes were measured");
        return;
    }
    snprintf(path, sizeof path, "%s/asterism-scaling-%ld.npy", base && *base ? base : P_tmpdir, (long)getpid());
    write_points(path, s->full ? 100000 : 20000);
    for (int r = 0; r < s->repetitions; r++)
        repeat(s, path, (int)sysconf(_SC_NPROCESSORS_ONLN));
    unlink(path);
}
