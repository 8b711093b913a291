/* SPDX-License-Identifier: MIT
 *
 * --layers and --layer-labels: the levels of the tree of joins that stand out (layers.h). */
#include "cli.h"
#include "cluster.h"
#include "directions.h"
#include "files.h"
#include "targets.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

static void put_labels(const job *work, size_t layer, ast_text *json) {
    const ast_layers *layers = &work->layers;
    ast_json_open(json, "labels", '[');
    for (size_t i = 0; i < layers->points; i++)
        ast_json_integer(json, NULL, layers->labels[layer * layers->points + i]);
    ast_json_close(json, ']');
}

static int write_layers(const job *work, ast_output *output) {
    ast_format_error error;
    ast_text json = {0};
    bool good = true;
    ast_json_open(&json, NULL, '{');
    ast_json_open(&json, "layers", '[');
    for (size_t l = 0; l < work->layers.count && good; l++) {
        ast_json_open(&json, NULL, '{');
        ast_json_layer(&work->layers, l, &json);
        if (!ast_cli_target_of(&work->given->common, "layer-labels"))
            put_labels(work, l, &json);
        ast_json_close(&json, '}');
        good = ast_text_write(&json, output, &error);
    }
    ast_json_close(&json, ']');
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    good = good && ast_text_write(&json, output, &error);
    ast_text_free(&json);
    return ast_cli_outcome(good, &error);
}

int ast_cli_cluster_layers(void *data) {
    job *work = data;
    const ast_cli_common *common = &work->given->common;
    ast_output *output = ast_cli_output_of(common, "layers");
    if (!ast_cli_target_of(common, "layers"))
        return -1;
    ast_status status =
        ast_layers_cut(&work->layers, work->context, work->leaves, work->points.count, work->report.merged);
    if (status == AST_NO_MEMORY)
        return ast_cli_no_memory("the layers");
    if (status != AST_OK)
        return ast_cli_status(status, work->context, work->given->input);
    if (!output)
        return -1;
    ast_cli_fill_target(common, "layer-labels",
                        ast_label_array(work->layers.labels, work->layers.count, work->points.count));
    return write_layers(work, output);
}
