/* SPDX-License-Identifier: MIT */
#include "layers.h"

#include <stdlib.h>

ast_status ast_layers_cut(ast_layers *layers, ast_context *context, const int32_t *leaves, size_t points,
                          size_t leaf_count) {
    size_t count;
    const ast_tune_level *levels = ast_tune_levels(context, &count);
    layers->points = points;
    layers->labels = malloc((count * points + 1) * sizeof *layers->labels);
    layers->levels = malloc((count + 1) * sizeof *layers->levels);
    ast_status status = layers->labels && layers->levels ? AST_OK : AST_NO_MEMORY;
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        if (!levels[i].local_peak || levels[i].clusters > leaf_count)
            continue;
        status = ast_tree_cut(context, leaves, points, levels[i].clusters, layers->labels + layers->count * points);
        layers->levels[layers->count++] = levels[i];
    }
    return status;
}

void ast_layers_free(ast_layers *layers) {
    free(layers->levels);
    free(layers->labels);
    *layers = (ast_layers){0};
}

static void put_parents(const ast_layers *layers, size_t layer, ast_text *json) {
    size_t clusters = layer > 0 ? layers->levels[layer].clusters : 0, points = layers->points;
    const int32_t *labels = layers->labels + layer * points;
    int32_t *parents = calloc(clusters + 1, sizeof *parents);
    json->failed |= !parents;
    for (size_t i = 0; parents && clusters && i < points; i++)
        if (labels[i] >= 0)
            parents[labels[i]] = labels[i - points];
    ast_json_open(json, "parents", '[');
    for (size_t k = 0; parents && k < clusters; k++)
        ast_json_integer(json, NULL, parents[k]);
    ast_json_close(json, ']');
    free(parents);
}

void ast_json_layer(const ast_layers *layers, size_t layer, ast_text *json) {
    const ast_tune_level *level = &layers->levels[layer];
    ast_json_integer(json, "clusters", (int64_t)level->clusters);
    ast_json_real(json, "stability", level->stability, 17);
    ast_json_real(json, "excess", level->excess, 17);
    put_parents(layers, layer, json);
}

/* Boyer and Moore's vote: what is left is the majority, if there is one. */
static void put_votes(const ast_layers *layers, size_t layer, const int32_t *run, ast_text *json) {
    size_t clusters = layers->levels[layer].clusters, points = layers->points;
    const int32_t *labels = layers->labels + layer * points;
    size_t *sizes = calloc(clusters + 1, sizeof *sizes), *votes = calloc(clusters + 1, sizeof *votes);
    int32_t *of = calloc(clusters + 1, sizeof *of);
    bool good = sizes && votes && of;
    json->failed |= !good;
    for (size_t i = 0; good && i < points; i++) {
        if (labels[i] < 0)
            continue;
        size_t k = (size_t)labels[i];
        sizes[k]++;
        if (votes[k] == 0)
            of[k] = run[i];
        votes[k] += of[k] == run[i] ? 1 : (size_t)-1;
    }
    ast_json_open(json, "sizes", '[');
    for (size_t k = 0; good && k < clusters; k++)
        ast_json_integer(json, NULL, (int64_t)sizes[k]);
    ast_json_close(json, ']');
    ast_json_open(json, "of", '[');
    for (size_t k = 0; good && k < clusters; k++)
        ast_json_integer(json, NULL, of[k]);
    ast_json_close(json, ']');
    free(sizes);
    free(votes);
    free(of);
}

void ast_json_layers(const ast_layers *layers, const int32_t *labels, ast_text *json) {
    ast_json_open(json, "layers", '[');
    for (size_t l = 0; l < layers->count; l++) {
        ast_json_open(json, NULL, '{');
        ast_json_layer(layers, l, json);
        put_votes(layers, l, labels, json);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
