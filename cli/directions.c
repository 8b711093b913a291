/* SPDX-License-Identifier: MIT */
#include "directions.h"

ast_cli_reading ast_cli_reading_default(void) {
    return (ast_cli_reading){.camera = ast_cli_camera_default()};
}

const char *ast_cli_reading_given(const ast_cli_reading *how) {
    const char *name = ast_cli_source_given(&how->source);
    if (!name)
        name = ast_cli_camera_given(&how->camera);
    if (!name)
        name = ast_cli_cloud_given(&how->cloud);
    return name ? name : ast_cli_sparse_given(&how->sparse);
}

int ast_cli_directions_check(const ast_cli_reading *how, const char *input, ast_cli_kind_of_input *kind) {
    int depth = 0, code;
    *kind = AST_CLI_SOLID;
    if (ast_cli_cloud_sees(input, &how->source)) {
        code = ast_cli_camera_unused(&how->camera, input);
        if (code < 0)
            code = ast_cli_sparse_unused(&how->sparse, input);
        return code < 0 ? ast_cli_cloud_usage(&how->cloud, &how->source, input) : code;
    }
    code = ast_cli_depth_check(&how->camera, &how->source, (const char *const[]){input, NULL}, &depth);
    *kind = depth ? AST_CLI_DEPTH : AST_CLI_TABLE;
    if (code < 0)
        code = ast_cli_cloud_unused(&how->cloud, input);
    if (code < 0 && depth)
        code = ast_cli_sparse_unused(&how->sparse, input);
    if (code < 0 && !depth)
        code = ast_cli_check_points(input, &how->source);
    return code;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int read_table(ast_cli_directions *d, const ast_cli_reading *how, const char *input) {
    int code = ast_cli_open_points(&d->input, input, &how->source);
    if (code < 0)
        code = ast_cli_sparse_apply(&how->sparse, input, &d->input);
    d->points = d->input.points;
    d->height = d->input.height;
    d->width = d->input.width;
    return code;
}

static int read_depth(ast_cli_directions *d, const ast_cli_reading *how, const char *command, const char *input,
                      ast_context *context) {
    int code = ast_cli_depth_open(&d->depth, &how->camera, (const char *const[]){input, NULL});
    if (code < 0)
        code = ast_cli_depth_single(&d->depth, command, input);
    if (code < 0)
        code = ast_cli_depth_normals(&d->depth, context, &d->points);
    d->height = d->depth.height;
    d->width = d->depth.width;
    return code;
}

int ast_cli_directions_read(ast_cli_directions *d, const ast_cli_reading *how, const char *command, const char *input,
                            ast_context *context) {
    int code = ast_cli_directions_check(how, input, &d->kind);
    if (code >= 0)
        return code;
    if (d->kind == AST_CLI_TABLE)
        return read_table(d, how, input);
    if (d->kind == AST_CLI_DEPTH)
        return read_depth(d, how, command, input, context);
    code = ast_cli_surface_read(&d->surface, &how->cloud, &how->source, input, context, 0);
    d->points = ast_cli_surface_points(&d->surface);
    return code;
}

void ast_cli_directions_close(ast_cli_directions *d) {
    ast_input_close(&d->input);
    ast_cli_depth_close(&d->depth);
    ast_cli_surface_free(&d->surface);
}
