/* SPDX-License-Identifier: MIT
 *
 * Points and labels as a page: the clusters are what the labels say, their means those of the members. */
#include "view.h"

#include <asterism.h>

#include <math.h>
#include <stdlib.h>

#include "files.h"
#include "terminal.h"

/* Clusters at most: a label far beyond the number of points is a mistake rather than a cluster. */
#define MOST_CLUSTERS ((size_t)1 << 24)

enum { REPRESENTATIVES = 5 };

typedef struct given {
    ast_input input;
    int32_t *labels;
    size_t label_count;
    ast_cluster_info *clusters;
    double *sums; /* (count, D) */
    float *means; /* (count, D) */
    size_t count;
    ast_names names;                       /* of a file */
    size_t (*nearest)[REPRESENTATIVES];    /* (count) the rows nearest to each mean, if rows have names */
    double (*similarity)[REPRESENTATIVES]; /* and their cosines */
} given;

static int count_clusters(given *work, const char *labels) {
    for (size_t i = 0; i < work->label_count; i++) {
        if (work->labels[i] >= 0 && (size_t)work->labels[i] >= work->count)
            work->count = (size_t)work->labels[i] + 1;
    }
    if (work->count > MOST_CLUSTERS)
        return ast_cli_fail("%s: the label %zu is larger than any cluster's", labels, work->count - 1);
    return -1;
}

/* The members' sum, whose direction is the mean and whose length tells the spread. */
static void add_members(given *work, double *row) {
    const ast_points *points = &work->input.points;
    for (size_t i = 0; i < points->count && i < work->label_count; i++) {
        if (work->labels[i] < 0 || !ast_unit_row(points, i, row))
            continue;
        ast_cluster_info *cluster = &work->clusters[work->labels[i]];
        double *sum = work->sums + (size_t)work->labels[i] * points->dimension;
        cluster->count++;
        cluster->weight++;
        for (size_t d = 0; d < points->dimension; d++)
            sum[d] += row[d];
    }
}

static void finish_clusters(given *work) {
    size_t size = work->input.points.dimension;
    for (size_t k = 0; k < work->count; k++) {
        ast_cluster_info *cluster = &work->clusters[k];
        double square = 0;
        for (size_t d = 0; d < size; d++)
            square += work->sums[k * size + d] * work->sums[k * size + d];
        for (size_t d = 0; d < size; d++)
            work->means[k * size + d] = square > 0 ? (float)(work->sums[k * size + d] / sqrt(square)) : 0;
        cluster->mean = cluster->count ? work->means + k * size : NULL;
        cluster->resultant = cluster->count ? fmin(1, sqrt(square) / (double)cluster->count) : NAN;
        cluster->kappa = cluster->count > 1 ? ast_vmf_kappa(size, cluster->resultant) : NAN;
        cluster->stability = NAN;
    }
}

static const ast_names *names_of(const given *work) {
    const ast_names *names = work->names.count ? &work->names : &work->input.names;
    return names->count ? names : NULL;
}

/* Puts a row where its cosine belongs among the nearest of its cluster; of equal ones the first row stays first. */
static void rank_row(given *work, size_t k, size_t row, double cosine) {
    ast_cluster_info *cluster = &work->clusters[k];
    size_t place = cluster->representative_count;
    while (place > 0 && work->similarity[k][place - 1] < cosine)
        place--;
    if (place == REPRESENTATIVES)
        return;
    cluster->representative_count += cluster->representative_count < REPRESENTATIVES;
    for (size_t i = cluster->representative_count - 1; i > place; i--) {
        work->nearest[k][i] = work->nearest[k][i - 1];
        work->similarity[k][i] = work->similarity[k][i - 1];
    }
    work->nearest[k][place] = row;
    work->similarity[k][place] = cosine;
}

static int find_representatives(given *work) {
    const ast_points *points = &work->input.points;
    size_t size = points->dimension;
    if (!names_of(work))
        return -1;
    double *row = malloc(size * sizeof *row);
    work->nearest = calloc(work->count + 1, sizeof *work->nearest);
    work->similarity = calloc(work->count + 1, sizeof *work->similarity);
    int good = row && work->nearest && work->similarity;
    for (size_t i = 0; good && i < points->count; i++) {
        int32_t k = work->labels[i];
        double cosine = 0;
        if (k < 0 || !work->clusters[k].mean || !ast_unit_row(points, i, row))
            continue;
        for (size_t d = 0; d < size; d++)
            cosine += row[d] * (double)work->clusters[k].mean[d];
        rank_row(work, (size_t)k, i, cosine);
    }
    for (size_t k = 0; good && k < work->count; k++)
        work->clusters[k].representatives = work->nearest[k];
    free(row);
    return good ? -1 : ast_cli_no_memory("the rows nearest to each mean");
}

static int make_clusters(given *work) {
    size_t size = work->input.points.dimension;
    double *row = malloc(size * sizeof *row);
    work->clusters = calloc(work->count + 1, sizeof *work->clusters);
    work->sums = calloc(work->count * size + 1, sizeof *work->sums);
    work->means = calloc(work->count * size + 1, sizeof *work->means);
    int good = row && work->clusters && work->sums && work->means;
    if (good) {
        add_members(work, row);
        finish_clusters(work);
    }
    free(row);
    return good ? -1 : ast_cli_fail("there is no memory for %zu clusters", work->count);
}

static int make_object(const given *work, const char *labels, ast_page_head *head, ast_text *json) {
    ast_format_error error;
    size_t used = 0;
    for (size_t k = 0; k < work->count; k++)
        used += work->clusters[k].count > 0;
    ast_page_parameter(head, "labels", labels, NAN);
    ast_page_measure(head, "points", (double)work->input.points.count);
    ast_page_measure(head, "clusters", (double)used);
    ast_batch_page page = {.head = head,
                           .points = &work->input.points,
                           .labels = work->labels,
                           .label_count = work->label_count,
                           .clusters = work->clusters,
                           .count = work->count,
                           .names = names_of(work),
                           .labels_name = labels,
                           .seed = 1};
    return ast_cli_outcome(ast_batch_page_json(&page, json, &error), &error);
}

/* Labels and names are one per point. */
static int read_rows(given *work, const ast_cli_view_input *from) {
    int code = ast_cli_read_labels(from->labels, &work->labels, &work->label_count);
    if (code < 0 && work->label_count != work->input.points.count)
        return ast_cli_fail("%s has %zu labels, but there are %zu points", from->labels, work->label_count,
                            work->input.points.count);
    return code < 0 && from->names ? ast_cli_read_names(from->names, from->points, work->label_count, &work->names)
                                   : code;
}

int ast_cli_view_labels(const ast_cli_view_input *from, ast_page_head *head, ast_text *json) {
    given work = {.count = 0};
    ast_format_error error;
    char remark[AST_REMARK] = "";
    ast_input_options options = ast_cli_input_options(from->source);
    options.known = ast_format_of(from->points, NULL);
    options.remark = remark;
    int code = ast_cli_check_points(from->points, options.known, from->source);
    if (code < 0)
        code = ast_cli_outcome(ast_input_open(&work.input, from->points, &options, &error), &error);
    if (code < 0)
        ast_cli_say_remark(from->common, remark);
    if (code < 0)
        code = read_rows(&work, from);
    if (code < 0)
        code = count_clusters(&work, from->labels);
    if (code < 0)
        code = make_clusters(&work);
    if (code < 0)
        code = find_representatives(&work);
    if (code < 0)
        code = make_object(&work, from->labels, head, json);
    ast_input_close(&work.input);
    ast_names_free(&work.names);
    free(work.labels);
    free(work.clusters);
    free(work.sums);
    free(work.means);
    free(work.nearest);
    free(work.similarity);
    return code;
}
