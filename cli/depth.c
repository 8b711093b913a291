/* SPDX-License-Identifier: MIT
 *
 * Where depth images become points. All frames of a run come from one camera and have one size. */
#include "depth.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "interrupt.h"
#include "progress.h"
#include "terminal.h"

/* What the known cameras are known for. */
enum { CAMERA_WIDTH = 640, CAMERA_HEIGHT = 480 };

/* ---- The command line -------------------------------------------------------------------------------------------- */

int ast_cli_depth_check(const ast_cli_camera *camera, const ast_cli_common *common, const char *const *inputs,
                        int *depth) {
    *depth = ast_cli_camera_sees(camera, inputs[0]);
    for (size_t i = 1; inputs[i]; i++) {
        if (ast_cli_camera_sees(camera, inputs[i]) != *depth)
            return ast_cli_fail(AST_CLI_USAGE, "%s is depth images and %s is not; the inputs must be of one kind",
                                ast_cli_name(inputs[*depth ? 0 : i]), ast_cli_name(inputs[*depth ? i : 0]));
    }
    /* What a folder holds shows only here. */
    int code = ast_cli_rules_of_kind(common, *depth ? AST_CLI_DEPTH : AST_CLI_POINTS | AST_CLI_SPARSE, inputs[0]);
    return code < 0 && *depth ? ast_cli_depth_usage(camera, inputs) : code;
}

int ast_cli_depth_usage(const ast_cli_camera *camera, const char *const *inputs) {
    ast_depth_options options;
    size_t width, height;
    int one, code = ast_cli_camera_set(camera, inputs[0], &options);
    uint64_t scene;
    if (code < 0)
        code = ast_cli_camera_frame(camera, &one, &scene);
    if (code < 0)
        code = ast_cli_camera_raw(camera, &width, &height);
    return code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

int ast_cli_depth_open(ast_cli_depth *depth, const ast_cli_camera *camera, const char *const *inputs) {
    ast_format_error error;
    ast_depth_frames_options how = {.interrupted = ast_cli_interrupted};
    int one = 0, code = ast_cli_camera_set(camera, inputs[0], &depth->options);
    if (code < 0)
        code = ast_cli_camera_raw(camera, &how.raw_width, &how.raw_height);
    if (code < 0)
        code = ast_cli_camera_frame(camera, &one, &how.scene);
    if (code >= 0)
        return code;
    how.one_scene = one;
    depth->camera = ast_cli_camera_called(camera, inputs[0]);
    depth->frames = ast_depth_frames_open(inputs, &how, &error);
    if (!depth->frames)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    if (!(depth->options.units_per_metre > 0) || ast_depth_frames_scenes(depth->frames))
        depth->options.units_per_metre = ast_depth_frames_scale(depth->frames);
    if (!(depth->options.units_per_metre > 0))
        depth->options.units_per_metre = 1000;
    return -1;
}

static int check_size(const ast_cli_depth *depth) {
    const ast_depth_image *image = &depth->frame.image;
    if (depth->width && (image->width != depth->width || image->height != depth->height))
        return ast_cli_fail(AST_CLI_FAILED, "%s is %zu x %zu pixels, but the frames before it are %zu x %zu",
                            depth->frame.source, image->width, image->height, depth->width, depth->height);
    if (depth->camera && (image->width != CAMERA_WIDTH || image->height != CAMERA_HEIGHT))
        return ast_cli_fail(
            AST_CLI_FAILED, "%s is %zu x %zu pixels, but --camera %s stands for images of %d x %d; give --intrinsics",
            depth->frame.source, image->width, image->height, depth->camera, CAMERA_WIDTH, CAMERA_HEIGHT);
    return -1;
}

int ast_cli_depth_next(ast_cli_depth *depth, int *found) {
    ast_format_error error;
    int more = ast_depth_frames_next(depth->frames, &depth->frame, &error);
    *found = more > 0;
    if (more < 0)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    if (more == 0)
        return -1;
    int code = check_size(depth);
    depth->width = depth->frame.image.width;
    depth->height = depth->frame.image.height;
    return code;
}

int ast_cli_depth_single(ast_cli_depth *depth, const char *command, const char *input) {
    int found = 0;
    size_t count = ast_depth_frames_count(depth->frames);
    if (count != 1 && ast_depth_frames_scenes(depth->frames))
        return ast_cli_fail(AST_CLI_FAILED, "%s takes one scene, and %s has %zu; --frame N picks one, counted from 0",
                            command, input, count);
    if (count != 1 && count != SIZE_MAX)
        return ast_cli_fail(AST_CLI_FAILED, "%s takes one depth image, and %s has %zu; stream and segment take many",
                            command, input, count);
    int code = ast_cli_depth_next(depth, &found);
    if (code < 0 && !found)
        code = ast_cli_interrupted() ? ast_cli_stopped()
                                     : ast_cli_fail(AST_CLI_FAILED, "%s holds no depth image", ast_cli_name(input));
    return code;
}

int ast_cli_depth_scenes(const ast_cli_camera *camera, const char *input, size_t *count) {
    ast_cli_depth depth = {0};
    int code = ast_cli_depth_open(&depth, camera, (const char *const[]){input, NULL});
    *count = code < 0 ? ast_depth_frames_count(depth.frames) : 0;
    ast_cli_depth_close(&depth);
    return code;
}

/* ---- Normals ----------------------------------------------------------------------------------------------------- */

int ast_cli_depth_normals(ast_cli_depth *depth, ast_context *context, ast_points *points) {
    size_t count = depth->width * depth->height;
    if (!depth->maker) {
        ast_depth_open(&depth->maker, context, &depth->options);
        if (!depth->maker)
            return ast_cli_fail(AST_CLI_FAILED, "%s: %s", depth->frame.source, ast_message(context));
        depth->normals = malloc(3 * count * sizeof *depth->normals);
    }
    if (!depth->normals)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for its normals", depth->frame.source);
    double start = ast_cli_now();
    ast_status status = ast_depth_compute(depth->maker, &depth->frame.image, NULL, NULL, depth->normals);
    depth->seconds += ast_cli_now() - start;
    *points = ast_points_f4(depth->normals, count, 3);
    return ast_cli_status(status, context, depth->frame.source);
}

void ast_cli_depth_close(ast_cli_depth *depth) {
    ast_depth_close(depth->maker);
    ast_depth_frames_close(depth->frames);
    free(depth->normals);
}
