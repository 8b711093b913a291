/* SPDX-License-Identifier: MIT
 *
 * asterism sample --scene: frames of a depth camera whose true directions are known. */
#pragma once

#include "options.h"

typedef struct ast_cli_scene {
    int name; /* -1: no scene */
    size_t frames;
    size_t size[2]; /* of a frame: width and height */
    int no_noise;
} ast_cli_scene;

extern const ast_cli_group ast_cli_scene_group;

/* Makes the frames in the folder that --output names: the exit code. */
int ast_cli_scene_run(const ast_cli_common *common, const ast_cli_scene *scene);
