/* SPDX-License-Identifier: MIT
 *
 * --layers and --layer-labels: the levels of the tree of joins that stand out, coarse to fine. Each cluster of a layer
 * lies within one of the layer before it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cluster.h"
#include "directions.h"
#include "files.h"
#include "targets.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

/* Layer number l has the labels (points) from labels + l * points on. */
static int cut_layers(job *work) {
    size_t levels, points = work->points.count;
    const ast_tune_level *level = ast_tune_levels(work->context, &levels);
    work->layers = malloc((levels * points + 1) * sizeof *work->layers);
    work->layer_levels = malloc((levels + 1) * sizeof *work->layer_levels);
    if (!work->layers || !work->layer_levels)
        return ast_cli_no_memory("the layers");
    for (const ast_tune_level *end = level + levels; level < end; level++) {
        if (!level->local_peak || level->clusters > work->report.merged)
            continue;
        ast_status status = ast_tree_cut(work->context, work->leaves, points, level->clusters,
                                         work->layers + work->layer_count * points);
        if (status != AST_OK)
            return ast_cli_status(status, work->context, work->given->input);
        work->layer_levels[work->layer_count++] = *level;
    }
    return -1;
}

static void put_integers(const char *name, const int32_t *numbers, size_t count, ast_text *json) {
    ast_json_open(json, name, '[');
    for (size_t i = 0; i < count; i++)
        ast_json_integer(json, NULL, numbers[i]);
    ast_json_close(json, ']');
}

/* parents (clusters): the cluster of the layer before that has the rows of each cluster. */
static void put_layer(const job *work, size_t l, int32_t *parents, ast_text *json) {
    size_t points = work->points.count;
    const ast_tune_level *level = &work->layer_levels[l];
    const int32_t *labels = work->layers + l * points;
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "clusters", (int64_t)level->clusters);
    ast_json_real(json, "stability", level->stability, 17);
    ast_json_real(json, "excess", level->excess, 17);
    for (size_t i = 0; l > 0 && i < points; i++)
        if (labels[i] >= 0)
            parents[labels[i]] = labels[i - points];
    put_integers("parents", parents, l > 0 ? level->clusters : 0, json);
    if (!ast_cli_target_of(&work->given->common, "layer-labels"))
        put_integers("labels", labels, points, json);
    ast_json_close(json, '}');
}

static int write_layers(const job *work, ast_output *output) {
    ast_format_error error;
    ast_text json = {0};
    size_t most = work->layer_count ? work->layer_levels[work->layer_count - 1].clusters : 0;
    int32_t *parents = calloc(most + 1, sizeof *parents);
    bool good = true;
    if (!parents)
        return ast_cli_no_memory("the layers");
    ast_json_open(&json, NULL, '{');
    ast_json_open(&json, "layers", '[');
    for (size_t l = 0; l < work->layer_count && good; l++) {
        put_layer(work, l, parents, &json);
        good = ast_text_write(&json, output, &error);
    }
    ast_json_close(&json, ']');
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    good = good && ast_text_write(&json, output, &error);
    ast_text_free(&json);
    free(parents);
    return ast_cli_outcome(good, &error);
}

int ast_cli_cluster_layers(void *data) {
    job *work = data;
    const ast_cli_common *common = &work->given->common;
    ast_output *output = ast_cli_output_of(common, "layers");
    if (!ast_cli_target_of(common, "layers"))
        return -1;
    int code = cut_layers(work);
    if (code >= 0 || !output)
        return code;
    ast_cli_fill_target(common, "layer-labels", ast_label_array(work->layers, work->layer_count, work->points.count));
    return write_layers(work, output);
}
