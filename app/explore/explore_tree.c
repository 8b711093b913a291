/* SPDX-License-Identifier: MIT
 *
 * The tree of joins as a page draws it: the last joins, and below them what they join, each a leaf or a part of the
 * tree that is folded into one. */
#include "explore_parts.h"

#include <stdlib.h>

enum { MOST_LEAVES = 200 };

typedef struct tree {
    const ast_tree_join *joins;
    size_t joined, leaves; /* number of joins, and of leaves */
    size_t *sizes;         /* (leaves + joined) points of each node */
    int32_t *labels;       /* (leaves + joined) the cluster of its first leaf's first row, -1: none */
} tree;

static void fill_leaves(tree *of, const int32_t *leaves, const int32_t *labels, size_t count) {
    for (size_t node = 0; node < of->leaves + of->joined; node++)
        of->labels[node] = -1;
    for (size_t i = 0; i < count; i++) {
        if (leaves[i] < 0)
            continue;
        size_t leaf = (size_t)leaves[i];
        of->sizes[leaf]++;
        if (of->labels[leaf] < 0)
            of->labels[leaf] = labels[i];
    }
}

static void fill_joins(tree *of) {
    for (size_t t = 0; t < of->joined; t++) {
        const ast_tree_join *join = &of->joins[t];
        of->sizes[join->into] = join->count;
        of->labels[join->into] = of->labels[of->sizes[join->a] >= of->sizes[join->b] ? join->a : join->b];
    }
}

static void put_node(const tree *of, size_t node, ast_text *json) {
    ast_json_open(json, NULL, '[');
    ast_json_integer(json, NULL, (int64_t)node);
    ast_json_integer(json, NULL, (int64_t)of->sizes[node]);
    ast_json_integer(json, NULL, of->labels[node]);
    ast_json_close(json, ']');
}

/* Nodes below the drawn joins that no drawn join makes. */
static void put_ends(const tree *of, size_t first, ast_text *json) {
    ast_json_open(json, "ends", '[');
    for (size_t t = first; t < of->joined; t++) {
        const size_t parts[] = {of->joins[t].a, of->joins[t].b};
        for (size_t i = 0; i < 2; i++)
            if (parts[i] < of->leaves + first)
                put_node(of, parts[i], json);
    }
    ast_json_close(json, ']');
}

static void put_joins(const tree *of, size_t first, ast_text *json) {
    ast_json_open(json, "joins", '[');
    for (size_t t = first; t < of->joined; t++) {
        const ast_tree_join *join = &of->joins[t];
        ast_json_open(json, NULL, '[');
        ast_json_integer(json, NULL, (int64_t)join->a);
        ast_json_integer(json, NULL, (int64_t)join->b);
        ast_json_integer(json, NULL, (int64_t)join->into);
        ast_json_number(json, NULL, join->loss, 6);
        ast_json_number(json, NULL, join->angle, 5);
        ast_json_integer(json, NULL, (int64_t)join->count);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
}

void ast_explore_put_tree(const ast_context *context, const int32_t *leaves, const int32_t *labels, size_t count,
                          ast_text *json) {
    tree of = {.joins = NULL};
    of.joins = ast_tree(context, &of.joined);
    if (of.joined == 0)
        return;
    of.leaves = of.joined + 1;
    of.sizes = calloc(of.leaves + of.joined, sizeof *of.sizes);
    of.labels = calloc(of.leaves + of.joined, sizeof *of.labels);
    json->failed |= !of.sizes || !of.labels;
    if (of.sizes && of.labels) {
        size_t first = of.joined < MOST_LEAVES ? 0 : of.joined - (MOST_LEAVES - 1);
        fill_leaves(&of, leaves, labels, count);
        fill_joins(&of);
        ast_json_open(json, "tree", '{');
        ast_json_integer(json, "leaves", (int64_t)of.leaves);
        put_ends(&of, first, json);
        put_joins(&of, first, json);
        ast_json_close(json, '}');
    }
    free(of.sizes);
    free(of.labels);
}
