/* SPDX-License-Identifier: MIT
 *
 * The tree of joins as JSON (--tree), and the leaf of every row, in it or in a file of its own (--leaf-labels). */
#include "cluster.h"

#include <stdio.h>

#include "cli.h"
#include "terminal.h"

enum { DIGITS = 17, PART = 1 << 16 }; /* PART: bytes that are written together */

typedef ast_cli_cluster_job job;

static bool write_part(ast_text *json, size_t least, ast_output *output, ast_format_error *error) {
    if (json->failed)
        return ast_format_fail(error, "there is no memory for the tree");
    if (json->size < least)
        return true;
    bool good = ast_output_write(output, json->bytes, json->size, error);
    json->size = 0;
    return good;
}

static void put_join(const ast_tree_join *join, ast_text *json) {
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "a", (int64_t)join->a);
    ast_json_integer(json, "b", (int64_t)join->b);
    ast_json_integer(json, "into", (int64_t)join->into);
    ast_json_real(json, "loss", join->loss, DIGITS);
    ast_json_real(json, "angle", join->angle, DIGITS);
    ast_json_integer(json, "size", (int64_t)join->count);
    ast_json_close(json, '}');
}

static bool write_tree(const job *work, ast_output *output, ast_format_error *error) {
    ast_text json = {0};
    size_t count;
    const ast_tree_join *joins = ast_tree(work->context, &count);
    bool good = true;
    ast_json_open(&json, NULL, '{');
    ast_json_integer(&json, "clusters", (int64_t)work->report.merged);
    ast_json_open(&json, "joins", '[');
    for (size_t t = 0; t < count && good; t++) {
        put_join(&joins[t], &json);
        good = write_part(&json, PART, output, error);
    }
    ast_json_close(&json, ']');
    if (!work->given->leaf_labels) {
        ast_json_open(&json, "leaves", '[');
        for (size_t i = 0; i < work->points.count && good; i++) {
            ast_json_integer(&json, NULL, work->leaves[i]);
            good = write_part(&json, PART, output, error);
        }
        ast_json_close(&json, ']');
    }
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    good = good && write_part(&json, 0, output, error);
    ast_text_free(&json);
    return good;
}

int ast_cli_cluster_tree(job *work) {
    ast_format_error error;
    ast_output *output = work->targets[AST_CLI_TREE].output;
    if (!work->given->tree)
        return -1;
    if (output && !write_tree(work, output, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    work->targets[AST_CLI_LEAVES].array = ast_cli_directions_array(&work->directions, work->leaves, NULL);
    return -1;
}
