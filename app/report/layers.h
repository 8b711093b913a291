/* SPDX-License-Identifier: MIT
 *
 * Layers: the levels of a tree of joins that stand out, coarse to fine. Each cluster of a layer lies within one of the
 * layer before it. */
#pragma once

#include <asterism.h>

#include "json.h"

typedef struct ast_layers {
    size_t count, points;
    ast_tune_level *levels; /* (count) */
    int32_t *labels;        /* (count, points) */
} ast_layers;

/* Cuts the tree of the last run of the context, which has so many leaves, at the levels that its last ast_tune found to
 * stand out. leaves: (points) of the run. Start with zeros, and free the layers in any case. */
ast_status ast_layers_cut(ast_layers *layers, ast_context *context, const int32_t *leaves, size_t points,
                          size_t leaf_count);
void ast_layers_free(ast_layers *layers);

/* Appends the members of a layer: clusters, stability, excess, and `parents`: the cluster of the layer before that has
 * the rows of each cluster. */
void ast_json_layer(const ast_layers *layers, size_t layer, ast_text *json);

/* Appends `layers` for a page: besides these members the `sizes` of the clusters, and `of`: the label, of the run's
 * labels (points), that most rows of each cluster have if any has more than half, else that of some of its rows. */
void ast_json_layers(const ast_layers *layers, const int32_t *labels, ast_text *json);
