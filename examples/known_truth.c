/* SPDX-License-Identifier: MIT
 *
 * From points to a model and back: draws two batches of embedding-like points from one mixture, finds the clusters of
 * the first without being told how many there are, and labels the second with the means it learned. Both are compared
 * with the truth. */
#include <asterism.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 20000, LEARN = 15000, DIMENSION = 64, CLUSTERS = 12 };

/* Everything that can fail returns its status; the context holds the sentence. */
static ast_status learn_and_apply(ast_context *context, const float *points, const int32_t *truth, int32_t *labels) {
    ast_options options;
    ast_options_init(&options);
    options.angle = 60;
    ast_points first = ast_points_f4(points, LEARN, DIMENSION);
    ast_report report = {.size = sizeof report};
    ast_status status = ast_cluster(context, &first, &options, labels, &report);
    if (status != AST_OK)
        return status;
    printf("learned %zu clusters from %d points in %d passes\n", report.clusters, LEARN, report.iterations);

    /* The means are the context's until the next call with it: copy what is to be kept. */
    float *means = malloc(report.clusters * DIMENSION * sizeof *means);
    if (!means)
        return AST_NO_MEMORY;
    for (size_t i = 0; i < report.clusters * DIMENSION; i++)
        means[i] = ast_means(context)[i];
    ast_points second = ast_points_f4(points + (size_t)LEARN * DIMENSION, POINTS - LEARN, DIMENSION);
    ast_assign_options known = ast_assign_to(means, report.clusters);
    status = ast_assign(context, &second, &known, labels + LEARN, NULL);
    free(means);

    ast_agreement old = {.size = sizeof old}, new = {.size = sizeof new};
    if (status == AST_OK)
        status = ast_compare(context, labels, truth, LEARN, &old);
    if (status == AST_OK)
        status = ast_compare(context, labels + LEARN, truth + LEARN, POINTS - LEARN, &new);
    if (status == AST_OK)
        printf("agreement with the truth (NMI): %.3f where it learned, %.3f on new points\n", old.nmi, new.nmi);
    return status;
}

int main(void) {
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = POINTS,
                           .dimension = DIMENSION,
                           .clusters = CLUSTERS,
                           .kappa = 300, /* a cosine of about 0.9 to the own mean */
                           .seed = 5};
    float *points = malloc(sizeof(float) * POINTS * DIMENSION);
    int32_t *truth = malloc(sizeof(int32_t) * POINTS), *labels = malloc(sizeof(int32_t) * POINTS);
    ast_context *context;
    ast_status status = ast_open(&context, 0);
    if (status == AST_OK && !(points && truth && labels))
        status = AST_NO_MEMORY;
    if (status == AST_OK)
        status = ast_sample_mixture(context, &mixture, points, truth, NULL);
    if (status == AST_OK)
        status = learn_and_apply(context, points, truth, labels);
    if (status != AST_OK)
        fprintf(stderr, "%s\n", context ? ast_message(context) : "no memory");
    ast_close(context);
    free(labels);
    free(truth);
    free(points);
    return status != AST_OK;
}
