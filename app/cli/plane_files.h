/* SPDX-License-Identifier: MIT
 *
 * Planes in files: a list in JSON, or a table in CSV. */
#ifndef AST_CLI_PLANE_FILES_H
#define AST_CLI_PLANE_FILES_H

#include <asterism_depth.h>
#include <formats.h>
#include <json.h>

/* The options about planes, where a subcommand has them. */
typedef struct ast_cli_plane_settings {
    double distance, area; /* NaN: not given */
} ast_cli_plane_settings;

/* For the library. */
ast_plane_options ast_cli_plane_options(const ast_cli_plane_settings *given);

/* The rows of both options. */
#define AST_CLI_PLANE_OPTIONS(at, with)                                                                                \
    {"plane-distance",                                                                                                 \
     AST_CLI_REAL,                                                                                                     \
     "D",                                                                                                              \
     "how far a point may be from its plane, in the unit of the points (default: from their noise)",                   \
     (at) + offsetof(ast_cli_plane_settings, distance),                                                                \
     0,                                                                                                                \
     1e9,                                                                                                              \
     .needs = (with),                                                                                                  \
     .more = "A mesh has no noise; its default is 0.0001 of its size."},                                               \
    {                                                                                                                  \
        "plane-area", AST_CLI_REAL, "A", "leave out planes with a smaller area (default: a thousandth of all)",        \
            (at) + offsetof(ast_cli_plane_settings, area), 0, 1e18, .needs = (with)                                    \
    }

/* A plane as an object of JSON; `count` is the key of the number of its points. `dip`: with dip direction and dip. */
void ast_cli_put_plane(ast_text *json, const ast_plane_info *plane, const char *count, bool dip);

/* All planes as a list of JSON. */
bool ast_cli_write_planes_json(ast_output *output, const ast_plane_info *planes, size_t count, const char *what,
                               bool dip, ast_format_error *error);

/* A row per plane: id, direction, nx, ny, nz, offset, area, cx, cy, cz, points, rms, dip_direction, dip. */
bool ast_cli_write_planes_csv(ast_output *output, const ast_plane_info *planes, size_t count, ast_format_error *error);

#endif
