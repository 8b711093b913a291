/* SPDX-License-Identifier: MIT */
#include "directions.h"

#include "cli.h"
#include "terminal.h"

int ast_cli_directions_check(const ast_cli_reading *how, const ast_cli_common *common, const char *input,
                             ast_cli_kind_of_input *kind) {
    int depth = 0, code;
    *kind = AST_CLI_ROWS;
    if (how->source.several.count)
        return ast_cli_rules_of_kind(common, AST_CLI_SEVERAL, input);
    *kind = AST_CLI_SURFACE;
    if (ast_cli_cloud_sees(input, &how->source))
        return ast_cli_cloud_usage(&how->cloud);
    code = ast_cli_depth_check(&how->camera, common, (const char *const[]){input, NULL}, &depth);
    *kind = depth ? AST_CLI_IMAGES : AST_CLI_ROWS;
    return code < 0 && !depth ? ast_cli_check_points(input, &how->source) : code;
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

static int read_several(ast_cli_directions *d, const ast_cli_reading *how, const char *input) {
    ast_format_error error;
    if (!ast_cli_several_open(&how->source.several, &d->rows, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    d->all = d->rows.source.count;
    return ast_cli_several_read(&d->rows, input, &d->points, &d->input.owned, &d->first, &d->look);
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

int ast_cli_directions_read(ast_cli_directions *d, const ast_cli_reading *how, const ast_cli_common *common,
                            const char *input, ast_context *context) {
    int code = ast_cli_directions_check(how, common, input, &d->kind);
    if (code >= 0)
        return code;
    if (how->source.several.count)
        return read_several(d, how, input);
    if (d->kind == AST_CLI_ROWS) {
        code = read_table(d, how, input);
    } else if (d->kind == AST_CLI_IMAGES) {
        code = read_depth(d, how, common->command->name, input, context);
    } else {
        code = ast_cli_surface_read(&d->surface, &how->cloud, &how->source, input, context, 0);
        d->points = ast_cli_surface_points(&d->surface);
    }
    d->all = d->points.count;
    return code;
}

void ast_cli_directions_close(ast_cli_directions *d) {
    ast_input_close(&d->input);
    ast_rows_close(&d->rows);
    ast_cli_depth_close(&d->depth);
    ast_cli_surface_free(&d->surface);
}
