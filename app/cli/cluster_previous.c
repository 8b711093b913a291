/* SPDX-License-Identifier: MIT
 *
 * With --previous: what an earlier run has found, the ids that clusters keep, and what became of them. */
#include "cluster.h"

#include <platform.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "model_file.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

static const char *const events[] = {[AST_LINEAGE_KEPT] = "kept",
                                     [AST_LINEAGE_BORN] = "born",
                                     [AST_LINEAGE_MERGED] = "merged",
                                     [AST_LINEAGE_SPLIT] = "split",
                                     [AST_LINEAGE_DIED] = "died"};
enum { EVENTS = sizeof events / sizeof *events };

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int read_model(job *work, const char *path) {
    const ast_options *options = &work->given->options;
    int code = ast_cli_read_model(path, work->context, work->points.dimension, &work->previous_model);
    work->previous.model = work->previous_model;
    if (code >= 0)
        return code;
    if (options->center || options->metric)
        return ast_cli_misuse("--previous %s says how the rows are centred or mapped: leave --%s out", path,
                              options->center ? "center" : "metric");
    if (isinf(options->angle))
        return ast_cli_misuse("--angle auto would choose another map than that of --previous %s: give degrees, such as "
                              "--angle 60",
                              path);
    return -1;
}

/* Labels are one whole number for each row; everything else is means. */
static int read_array(job *work, const char *path) {
    ast_format_error error;
    float *values = NULL;
    size_t count, rows = 0, columns = 0, dimension = work->points.dimension;
    bool whole = ast_read_labels(path, NULL, &work->previous_labels, &count, &error);
    work->previous.labels = work->previous_labels;
    if (whole && count == work->points.count)
        return -1;
    bool means = !whole || (ast_read_matrix(path, NULL, &values, &rows, &columns, &error) && columns == dimension);
    free(values);
    work->previous.labels = NULL;
    if (!means)
        return ast_cli_fail("%s has %zu labels, but %s has %zu points: labels are those of the same rows", path, count,
                            ast_cli_name(work->given->input), work->points.count);
    int code = ast_cli_read_means(path, dimension, &work->previous_means, &work->previous.means_count);
    work->previous.means = work->previous_means;
    return code;
}

int ast_cli_cluster_read_previous(void *data) {
    job *work = data;
    const char *path = work->given->previous;
    char magic[9] = "";
    if (!path)
        return -1;
    FILE *file = fopen(path, "rb");
    if (!file)
        return ast_cli_fail("%s: cannot be opened: no such file, or no permission", path);
    size_t size = fread(magic, 1, 8, file);
    fclose(file);
    work->previous.size = sizeof work->previous;
    work->previous.angle = NAN;
    work->options.previous = &work->previous;
    return size == 8 && strcmp(magic, "AST_MDL1") == 0 ? read_model(work, path) : read_array(work, path);
}

/* ---- The ids ----------------------------------------------------------------------------------------------------- */

int ast_cli_cluster_take_ids(void *data) {
    job *work = data;
    size_t clusters = 0;
    if (!work->options.previous)
        return -1;
    work->lineage = ast_lineage_records(work->context, sizeof *work->lineage, &work->lineage_count);
    work->ids = malloc((work->report.clusters + 1) * sizeof *work->ids);
    if (!work->ids)
        return ast_cli_fail("there is no memory for %zu ids", work->report.clusters);
    for (size_t i = 0; i < work->lineage_count; i++)
        if (work->lineage[i].event != AST_LINEAGE_DIED)
            work->ids[clusters++] = work->lineage[i].id;
    return -1;
}

int32_t ast_cli_cluster_id(const job *work, size_t cluster) {
    return work->ids ? work->ids[cluster] : (int32_t)cluster;
}

void ast_cli_cluster_name_labels(job *work) {
    for (size_t i = 0; work->ids && i < work->points.count; i++)
        work->labels[i] = work->labels[i] < 0 ? work->labels[i] : work->ids[work->labels[i]];
}

/* ---- What became of them ----------------------------------------------------------------------------------------- */

void ast_cli_cluster_put_lineage(const job *work, ast_text *json) {
    if (!work->ids)
        return;
    ast_text_put(json, ",\n ");
    ast_json_open(json, "lineage", '[');
    for (const ast_lineage *one = work->lineage; one < work->lineage + work->lineage_count; one++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "id", one->id);
        ast_json_string(json, "event", events[one->event]);
        ast_json_open(json, "from", '[');
        for (size_t i = 0; i < one->from_count; i++)
            ast_json_integer(json, NULL, one->from[i]);
        ast_json_close(json, ']');
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

void ast_cli_cluster_print_lineage(const job *work) {
    size_t counts[EVENTS] = {0};
    const char *before = "";
    if (!work->ids)
        return;
    for (size_t i = 0; i < work->lineage_count; i++)
        counts[work->lineage[i].event]++;
    printf("clusters of %s: ", work->given->previous);
    for (size_t e = 0; e < EVENTS; e++)
        if (counts[e]) {
            printf("%s%zu %s", before, counts[e], events[e]);
            before = ", ";
        }
    puts("");
}
