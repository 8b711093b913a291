/* SPDX-License-Identifier: MIT */
#include "context.h"
#include "memory.h"
#include "tree_cut.h"

#include <stdlib.h>

size_t ast_number_labels(int32_t *labels, size_t count, int32_t *number, size_t numbers) {
    int32_t next = 0;
    for (size_t k = 0; k < numbers; k++)
        number[k] = -1;
    for (size_t i = 0; i < count; i++) {
        if (labels[i] < 0)
            continue;
        if (number[labels[i]] < 0)
            number[labels[i]] = next++;
        labels[i] = number[labels[i]];
    }
    return (size_t)next;
}

size_t ast_cut_joins(const ast_tree_join *joins, size_t leaves, size_t clusters, const int32_t *leaf, size_t count,
                     int32_t *group, int32_t *labels) {
    size_t made = leaves - clusters;
    for (size_t node = 0; node < leaves + made; node++)
        group[node] = (int32_t)node;
    for (size_t join = made; join-- > 0;) { /* parents come before their children */
        group[joins[join].a] = group[leaves + join];
        group[joins[join].b] = group[leaves + join];
    }
    for (size_t i = 0; i < count; i++)
        labels[i] = leaf[i] < 0 ? -1 : group[leaf[i]];
    return ast_number_labels(labels, count, group, 2 * leaves);
}

static ast_status cut(ast_context *context, const int32_t *leaves, size_t count, size_t clusters, int32_t *labels) {
    const ast_tree_of_run *tree = &context->last.tree;
    if (!tree->joins)
        return ast_fail(&context->fault, AST_BAD_OPTION, "the last run made no tree: set merge.tree");
    if (clusters < 1 || clusters > tree->clusters)
        return ast_fail(&context->fault, AST_BAD_OPTION, "the tree has %zu leaves; it has no level of %zu clusters",
                        tree->clusters, clusters);
    for (size_t i = 0; i < count; i++)
        if (leaves[i] >= 0 && (size_t)leaves[i] >= tree->clusters)
            return ast_fail(&context->fault, AST_BAD_DATA, "row %zu has leaf %d, but the tree has %zu leaves", i + 1,
                            (int)leaves[i], tree->clusters);
    int32_t *group = ast_allocate(2 * tree->clusters, sizeof *group);
    if (!group)
        return ast_fail_memory(&context->fault);
    ast_cut_joins(tree->joins, tree->clusters, clusters, leaves, count, group, labels);
    ast_free(group);
    return AST_OK;
}

ast_status ast_tree_cut(ast_context *context, const int32_t *leaves, size_t count, size_t clusters, int32_t *labels) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    return ast_leave(context, cut(context, leaves, count, clusters, labels));
}
