/* SPDX-License-Identifier: MIT
 *
 * asterism-larger: clusters a file of eight times the memory budget out of core, and compares the time with reading the
 * file once per pass by the same pread into a buffer. The two alternate, so that a slow moment affects both. The labels
 * are compared with those of the file mapped into memory.
 *
 *     asterism-larger [MIB [DIMENSION [FOLDER]]]      256 MiB of 256 dimensions in /var/tmp */
#include <asterism.h>
#include <formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURNS = 3, CLUSTERS = 30, BUFFER = 1 << 19, SHARE = 8 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void must(int good, const char *sentence) {
    if (good)
        return;
    fprintf(stderr, "asterism-larger: %s\n", sentence);
    exit(1);
}

/* Draws the points in parts, so that the file may be as large as the disk. */
static void write_points(ast_context *context, const char *path, size_t count, size_t dimension) {
    enum { PART = 1 << 16 };
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    must(output != NULL, error.text);
    float *points = malloc((size_t)PART * dimension * sizeof *points);
    must(points != NULL, "there is not enough memory");
    for (size_t first = 0; first < count; first += PART) {
        size_t n = count - first < PART ? count - first : PART;
        ast_mixture mixture = {.size = sizeof mixture,
                               .points = n,
                               .dimension = dimension,
                               .clusters = CLUSTERS,
                               .separation = 20,
                               .seed = 5};
        mixture.kappa = dimension < 5 ? 400 : 4 * (double)dimension;
        must(ast_sample_mixture(context, &mixture, points, NULL, NULL) == AST_OK, ast_message(context));
        ast_array part = ast_value_array(points, count, dimension);
        must(ast_write_array_part(output, part, first * dimension, n * dimension, &error), error.text);
    }
    free(points);
    must(ast_output_commit(output, &error), error.text);
}

static double read_all(const ast_input *rows, void *buffer) {
    size_t step = BUFFER / ast_source_row(&rows->source);
    double start = now();
    for (size_t first = 0; first < rows->source.count; first += step) {
        size_t left = rows->source.count - first;
        must(rows->source.read(first, left < step ? left : step, buffer, rows->source.data) == 0,
             "the file cannot be read");
    }
    return now() - start;
}

static int keep(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy((int32_t *)data + first, labels, count * sizeof *labels);
    return 0;
}

static int give(size_t first, size_t count, int32_t *labels, void *data) {
    memcpy(labels, (const int32_t *)data + first, count * sizeof *labels);
    return 0;
}

static void compare(ast_context *context, const char *path, const ast_options *options, const int32_t *labels) {
    ast_input input;
    ast_format_error error;
    ast_report report = {.size = sizeof report};
    must(ast_input_open(&input, path, NULL, &error), error.text);
    int32_t *mapped = malloc(input.points.count * sizeof *mapped);
    must(mapped && ast_cluster(context, &input.points, options, mapped, &report) == AST_OK, ast_message(context));
    must(memcmp(mapped, labels, input.points.count * sizeof *mapped) == 0, "the labels differ from those in memory");
    printf("in memory       %8.3f s, the same labels\n", report.seconds);
    free(mapped);
    ast_input_close(&input);
}

static void measure(ast_context *context, ast_input *rows, const char *path) {
    const ast_source *source = &rows->source;
    void *buffer = malloc(BUFFER + ast_source_row(&rows->source));
    int32_t *labels = malloc(source->count * sizeof *labels);
    ast_label_store store = {.size = sizeof store, .write = keep, .read = give, .data = labels};
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_plan plan = {.size = sizeof plan};
    size_t memory = ast_source_row(&rows->source) * source->count / SHARE;
    double reading = 1e9, parts = 1e9;
    ast_options_init(&options);
    options.angle = source->dimension < 5 ? 15 : 60;
    must(buffer && labels, "there is not enough memory");
    must(ast_plan_source(context, source, &options, memory, &plan) == AST_OK, ast_message(context));
    for (int turn = 0; turn < TURNS; turn++) {
        double once = read_all(rows, buffer);
        must(ast_cluster_source(context, source, &options, memory, &store, &report) == AST_OK, ast_message(context));
        reading = once < reading ? once : reading;
        parts = report.seconds < parts ? report.seconds : parts;
    }
    double all = reading * report.iterations;
    printf("%zu x %zu, %zu clusters, %d passes, %.1f MiB of memory at most, labels of %zu points at a time%s\n",
           source->count, source->dimension, report.clusters, report.iterations, (double)plan.memory / 0x1p20,
           plan.rows, plan.bounds ? ", with bounds" : "");
    printf("reading         %8.3f s for %d passes\nin parts        %8.3f s, %.2f x\n", all, report.iterations, parts,
           parts / all);
    compare(context, path, &options, labels);
    free(buffer);
    free(labels);
}

int main(int argc, char **argv) {
    double mebibytes = argc > 1 ? strtod(argv[1], NULL) : 256;
    size_t dimension = argc > 2 ? strtoul(argv[2], NULL, 10) : 256;
    char path[4096];
    must(mebibytes >= 32 && dimension >= 2 && dimension <= 4096, "asterism-larger [MIB [DIMENSION [FOLDER]]]");
    snprintf(path, sizeof path, "%s/asterism-larger.npy", argc > 3 ? argv[3] : "/var/tmp");
    ast_context *context;
    ast_open(&context, 0);
    ast_format_error error;
    ast_input rows;
    must(context != NULL, "threads cannot be started");
    write_points(context, path, (size_t)(mebibytes * 0x1p20 / (double)(dimension * sizeof(float))), dimension);
    must(ast_input_begin(&rows, &(ast_input_file){.path = path}, 1, NULL, &error), error.text);
    measure(context, &rows, path);
    ast_input_close(&rows);
    ast_close(context);
    remove(path);
    return 0;
}
