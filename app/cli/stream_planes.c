/* SPDX-License-Identifier: MIT
 *
 * Planes of depth frames. They are found after the frame is clustered, so a plane knows its direction. */
#include "stream_planes.h"

#include <stdlib.h>

#include "plane_files.h"
#include "terminal.h"

#define AT(field) offsetof(ast_cli_stream_plane_settings, field)
static const ast_cli_option options[] = {
    {"planes", AST_CLI_NAME, "DIR",
     "write the planes of each frame, one JSON file per frame, named after the image; a plane keeps its id", AT(planes),
     .more =
         "docs/planes.md describes the files. Lengths are metres, in the world with --poses, otherwise in the camera."},
    {"plane-labels", AST_CLI_NAME, "DIR",
     "write one int32 .npy of plane ids per frame, of the image's shape, -1 for pixels on no plane",
     .offset = AT(labels)},
    {"plane-area", AST_CLI_REAL, "A", "smallest area of a new plane, square metres", AT(area), 0, 1e6,
     .standard = "0.05"},
    {"plane-offset", AST_CLI_REAL, "D", "how far apart the planes of two frames may be to count as one, metres",
     AT(offset), 1e-6, 1e6, .standard = "0.1"},
    {0}};

const ast_cli_group ast_cli_stream_plane_group = {
    .title = "Options for planes", .options = options, .inputs = AST_CLI_DEPTH};

int ast_cli_planes_wanted(const ast_cli_stream_plane_settings *given) {
    return given->planes || given->labels || given->wanted;
}

int ast_cli_stream_planes_open(ast_cli_stream_planes *planes, const ast_cli_stream_plane_settings *given,
                               ast_context *context, int durable) {
    ast_plane_options how;
    ast_plane_options_init(&how);
    planes->given = given;
    if (!ast_cli_planes_wanted(given))
        return -1;
    how.area = given->area;
    how.offset = given->offset;
    planes->lists = (ast_cli_frame_files){
        .option = "planes", .folder = given->planes, .extension = "json", .what = "planes", .durable = durable};
    planes->images = (ast_cli_frame_files){
        .option = "plane-labels", .folder = given->labels, .extension = "npy", .what = "plane ids", .durable = durable};
    return ast_cli_status(ast_plane_map_open(&planes->map, context, &how), context, NULL);
}

int ast_cli_stream_planes_check(const ast_cli_stream_planes *planes, const ast_cli_frames *inputs) {
    int code = ast_cli_frame_files_check(&planes->lists, inputs);
    return code < 0 ? ast_cli_frame_files_check(&planes->images, inputs) : code;
}

int ast_cli_stream_planes_begin(const ast_cli_stream_planes *planes) {
    int code = ast_cli_frame_files_make(&planes->lists);
    return code < 0 ? ast_cli_frame_files_make(&planes->images) : code;
}

static int make_room(ast_cli_stream_planes *planes, const ast_cli_frames *inputs) {
    size_t pixels = inputs->width * inputs->height;
    if (planes->of && pixels <= planes->capacity)
        return -1;
    free(planes->of);
    planes->of = malloc(pixels * sizeof *planes->of);
    planes->capacity = planes->of ? pixels : 0;
    return planes->of
               ? -1
               : ast_cli_fail("%s: there is no memory for the planes of %zu pixels", inputs->frame.source, pixels);
}

static int write_files(const ast_cli_stream_planes *planes, const ast_cli_frames *inputs, uint64_t number) {
    ast_format_error error;
    ast_output *output;
    int code = -1;
    if (planes->given->planes) {
        code = ast_cli_frame_files_open(&planes->lists, &inputs->frame, number, &output);
        if (code < 0)
            code = ast_cli_frame_files_close(
                output, ast_cli_write_planes_json(output, planes->planes, planes->count, "pixels", false, &error),
                &error);
    }
    if (code < 0 && planes->given->labels) {
        code = ast_cli_frame_files_open(&planes->images, &inputs->frame, number, &output);
        if (code < 0)
            code = ast_cli_frame_files_close(
                output, ast_write_array(output, ast_label_array(planes->of, inputs->height, inputs->width), &error),
                &error);
    }
    return code;
}

int ast_cli_stream_planes_take(ast_cli_stream_planes *planes, const ast_cli_frames *inputs,
                               const ast_depth_frame *frame, ast_context *context, const ast_cli_poses *poses,
                               const int32_t *labels, uint64_t number) {
    int code = planes->map ? make_room(planes, inputs) : -1;
    if (!planes->map || code >= 0)
        return code;
    code = poses ? ast_cli_poses_matrix(poses, &inputs->frame, planes->pose) : -1;
    if (code < 0)
        code = ast_cli_status(ast_plane_map_frame(planes->map, frame, labels, poses ? planes->pose : NULL, planes->of),
                              context, inputs->frame.source);
    if (code >= 0)
        return code;
    planes->planes = ast_plane_list(planes->map, &planes->count);
    return write_files(planes, inputs, number);
}

int ast_cli_stream_planes_save(const ast_cli_stream_planes *planes, ast_context *context, const void **bytes,
                               size_t *size) {
    *bytes = planes->map ? ast_plane_map_save(planes->map, size) : NULL;
    return planes->map && !*bytes ? ast_cli_fail("%s", ast_message(context)) : -1;
}

int ast_cli_stream_planes_load(ast_cli_stream_planes *planes, ast_context *context, const char *path, const void *bytes,
                               size_t size) {
    if (!planes->map != !bytes)
        return ast_cli_fail("%s: the state was made with%s planes, and this run is with%s", path, bytes ? "" : "out",
                            bytes ? "out" : "");
    if (!planes->map || ast_plane_map_load(planes->map, bytes, size) == AST_OK)
        return -1;
    return ast_cli_fail("%s: %s", path, ast_message(context));
}

void ast_cli_stream_planes_close(ast_cli_stream_planes *planes) {
    ast_plane_map_close(planes->map);
    free(planes->of);
    *planes = (ast_cli_stream_planes){0};
}
