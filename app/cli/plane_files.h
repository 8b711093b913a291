/* SPDX-License-Identifier: MIT
 *
 * Planes in files: a list in JSON, or a table in CSV. */
#pragma once

#include <asterism_depth.h>
#include <json.h>

/* All planes as a list of JSON; `what` is the key of the number of points of a plane. `dip`: with dip direction and
 * dip.
 */
bool ast_cli_write_planes_json(ast_output *output, const ast_plane_info *planes, size_t count, const char *what,
                               bool dip, ast_format_error *error);

/* A row per plane: id, direction, nx, ny, nz, offset, area, cx, cy, cz, points, rms, dip_direction, dip. */
bool ast_cli_write_planes_csv(ast_output *output, const ast_plane_info *planes, size_t count, ast_format_error *error);
