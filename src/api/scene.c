/* SPDX-License-Identifier: MIT
 *
 * Entry points of the scene with a known answer: check, call. */
#include "context.h"

#include "scene.h"

#include <math.h>

#define MAX_PIXELS ((size_t)1 << 27) /* as ast_depth_image says */

void ast_hallway_init(ast_hallway *hallway) {
    *hallway = (ast_hallway){.frames = 120,
                             .width = 640,
                             .height = 480,
                             .camera = {.fx = 525, .fy = 525, .cx = 319.5, .cy = 239.5},
                             .noise = 1,
                             .seed = 1};
}

const char *ast_hallway_problem(const ast_hallway *hallway) {
    const ast_camera *camera = &hallway->camera;
    if (hallway->frames < 1 || hallway->frames > INT32_MAX)
        return "the number of frames must be between 1 and 2147483647";
    if (hallway->width < 1 || hallway->height < 1 || hallway->width > MAX_PIXELS / hallway->height)
        return "width and height must be at least 1, and 134217728 pixels together at most";
    if (!(camera->fx > 0 && camera->fy > 0) || isinf(camera->fx) || isinf(camera->fy))
        return "the focal lengths of the camera must be more than 0 and finite";
    if (!isfinite(camera->cx) || !isfinite(camera->cy))
        return "the principal point of the camera must be finite";
    return NULL;
}

const double *ast_hallway_directions(size_t *count) {
    static const double directions[AST_SCENE_DIRECTIONS][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                                               {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    *count = AST_SCENE_DIRECTIONS;
    return directions[0];
}

ast_status ast_hallway_render(ast_context *context, const ast_hallway *hallway, size_t index, uint16_t *depth,
                              int32_t *truth, ast_hallway_frame *frame) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    const char *problem = hallway && depth ? ast_hallway_problem(hallway) : "the scene or the depth is NULL";
    ast_status status = AST_OK;
    if (problem)
        status = ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem);
    else if (index >= hallway->frames)
        status = ast_fail(&context->fault, AST_BAD_OPTION, "there is no frame %zu: the walk has %zu, counted from 0",
                          index, hallway->frames);
    else
        status = ast_scene_render(&context->fault, context->pool, hallway, index, depth, truth, frame);
    return ast_leave(context, status);
}
