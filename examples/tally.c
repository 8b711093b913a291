/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means in parts: the points of each place become a tally, the tallies travel as bytes, and the sum of them
 * gives the next means. Here the places are slices of one array, and nothing travels far; the result is compared with
 * that of ast_cluster from the same start. */
#include <asterism.h>
#include <asterism_tally.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 30000, DIMENSION = 16, CLUSTERS = 40, PLACES = 5, SHARE = POINTS / PLACES };

/* What happens in each place: its points against the means of this iteration. The bytes are to be freed. */
static void *count_there(ast_context *context, const float *means, const float *points, int place, size_t *size) {
    ast_tally *tally;
    ast_tally_open(&tally, context, means, CLUSTERS, DIMENSION, NULL);
    ast_points block = ast_points_f4(points + (size_t)place * SHARE * DIMENSION, SHARE, DIMENSION);
    const void *bytes = NULL;
    if (tally && ast_tally_add(tally, &block, (uint64_t)place * SHARE, NULL) == AST_OK)
        bytes = ast_tally_save(tally, size);
    void *sent = bytes ? malloc(*size) : NULL;
    if (sent)
        memcpy(sent, bytes, *size);
    ast_tally_close(tally);
    return sent;
}

/* What happens where they come together. Iterations done, or 0 if something failed. */
static int run(ast_context *context, const float *points, float *means, double *objective) {
    uint64_t before = 0;
    for (int iteration = 1; iteration <= 100; iteration++) {
        ast_tally *all;
        ast_tally_open(&all, context, means, CLUSTERS, DIMENSION, NULL);
        ast_tally_step step = {.size = sizeof step};
        int good = all != NULL;
        for (int place = 0; place < PLACES && good; place++) {
            size_t size = 0;
            void *bytes = count_there(context, means, points, place, &size);
            good = bytes && ast_tally_merge(all, bytes, size) == AST_OK;
            free(bytes);
        }
        good = good && ast_tally_update(all, &step) == AST_OK;
        if (good) {
            memcpy(means, step.means, sizeof(float) * CLUSTERS * DIMENSION);
            *objective = step.objective;
        }
        ast_tally_close(all);
        if (!good || (iteration > 1 && step.fingerprint == before))
            return good ? iteration : 0;
        before = step.fingerprint;
    }
    return 100;
}

static int compare(ast_context *context, const float *points, const float *means, int iterations, double objective) {
    static int32_t labels[POINTS];
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_points all = ast_points_f4(points, POINTS, DIMENSION);
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = points; /* the first points */
    options.start.means_count = CLUSTERS;
    if (ast_cluster(context, &all, &options, labels, &report) != AST_OK)
        return 0;
    int same = report.iterations == iterations && report.objective == objective;
    for (int i = 0; i < CLUSTERS * DIMENSION; i++)
        same = same && ast_means(context)[i] == means[i];
    printf("%d iterations over %d places, objective %.6f: %s\n", iterations, PLACES, objective,
           same ? "as in one place, to the bit" : "NOT as in one place");
    return same;
}

int main(void) {
    ast_mixture mixture = {
        .size = sizeof mixture, .points = POINTS, .dimension = DIMENSION, .clusters = CLUSTERS, .kappa = 60, .seed = 3};
    float *points = malloc(sizeof(float) * POINTS * DIMENSION), *means = malloc(sizeof(float) * CLUSTERS * DIMENSION);
    ast_context *context;
    ast_open(&context, 0);
    double objective = 0;
    int iterations = 0, same = 0;
    if (points && means && context && ast_sample_mixture(context, &mixture, points, NULL, NULL) == AST_OK &&
        ast_tally_start(context, points, CLUSTERS, DIMENSION, means) == AST_OK)
        iterations = run(context, points, means, &objective);
    if (iterations > 0)
        same = compare(context, points, means, iterations, objective);
    else
        fprintf(stderr, "tally: %s\n", context ? ast_message(context) : "there is no memory");
    ast_close(context);
    free(points);
    free(means);
    return same ? 0 : 1;
}
