/* SPDX-License-Identifier: MIT
 *
 * Peak memory, measured in a separate process: this one also holds truths, repetitions and OpenBLAS. The child reports
 * VmHWM, which is reset at exec; ru_maxrss would include the size of its parent. */
#include "measure.h"

#include <asterism.h>
#include <formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES_A_POINT 32
#define FIXED_BYTES ((size_t)64 << 20)

int bench_memory_child(const char *file, double angle, int threads) {
    ast_input input;
    ast_format_error error;
    ast_options options;
    ast_report report = {.size = sizeof report};
    if (!ast_input_open(&input, file, NULL, &error))
        bench_die("%s", error.text);
    ast_context *context;
    ast_open(&context, threads);
    int32_t *labels = bench_alloc(input.points.count * sizeof *labels);
    ast_options_init(&options);
    options.angle = angle;
    options.max_iterations = 1000;
    if (!context || ast_cluster(context, &input.points, &options, labels, &report) != AST_OK)
        bench_die("%s: %s", file, context ? ast_message(context) : "the library could not be opened");
    printf("%zu\n", bench_status_bytes("VmHWM"));
    ast_close(context);
    ast_input_close(&input);
    free(labels);
    return 0;
}

static pid_t start_child(const char *program, const char *file, double angle, int threads, int output) {
    char angle_text[32], threads_text[16];
    snprintf(angle_text, sizeof angle_text, "%.17g", angle);
    snprintf(threads_text, sizeof threads_text, "%d", threads);
    pid_t child = fork();
    if (child == 0) {
        dup2(output, STDOUT_FILENO);
        execl(program, program, "--memory-child", file, "--angle", angle_text, "--threads", threads_text, (char *)NULL);
        _exit(127);
    }
    return child;
}

void bench_measure_memory(bench_result *result, const char *program, const char *folder) {
    const bench_workload *w = result->workload;
    char file[4096];
    int ends[2], status = 0;
    snprintf(file, sizeof file, "%s/%s.npy", folder, w->name);
    if (pipe(ends) != 0)
        bench_die("a pipe could not be created");
    pid_t child = start_child(program, file, w->angle, result->threads, ends[1]);
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    if (child < 0 || !answer || fscanf(answer, "%zu", &result->peak_memory) != 1)
        result->peak_memory = 0;
    if (answer)
        fclose(answer);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        bench_die("%s: the process that measures memory failed", w->name);
    result->memory_budget = w->count * (w->dimension * sizeof(float) + BYTES_A_POINT) + FIXED_BYTES;
}
