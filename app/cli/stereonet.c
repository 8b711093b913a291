/* SPDX-License-Identifier: MIT */
#include "stereonet.h"

#include <net.h>

#include <stdio.h>
#include <string.h>

#include "terminal.h"

int ast_cli_stereonet_check(const ast_cli_common *common) {
    const char *path = ast_cli_typed(common, "stereonet");
    if (path && !ast_has_extension(path, ".svg") && !ast_has_extension(path, ".png"))
        return ast_cli_misuse("--stereonet writes SVG or PNG: its name must end in .svg or .png, not be '%s'", path);
    return -1;
}

/* The last part of the path. */
static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int ast_cli_stereonet_write(const ast_cli_stereonet *drawn) {
    ast_format_error error;
    ast_output *output = ast_cli_output_of(drawn->common, "stereonet");
    size_t dimension = drawn->points->dimension;
    if (!output)
        return -1;
    if ((dimension != 2 && dimension != 3) || drawn->points->starts)
        return ast_cli_fail("--stereonet is for directions in two or three dimensions, and %s has %zu",
                            ast_cli_name(drawn->input), dimension);
    ast_stereonet net = {.title = name_of(ast_cli_name(drawn->input)),
                         .points = drawn->points,
                         .labels = drawn->labels,
                         .clusters = drawn->clusters,
                         .axial = drawn->axial,
                         .equal_angle = drawn->equal_angle,
                         .notation = drawn->notation,
                         .orientation = drawn->orientation,
                         .means = drawn->means};
    bool png = ast_has_extension(ast_cli_typed(drawn->common, "stereonet"), ".png");
    return ast_cli_outcome(ast_stereonet_write(&net, png, output, &error), &error);
}
