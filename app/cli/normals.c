/* SPDX-License-Identifier: MIT
 *
 * asterism normals: a depth image, a cloud or a mesh in, the direction that each pixel, point or triangle looks to out.
 */

#include <math.h>
#include <stdio.h>

#include "cloud.h"
#include "frame_normals.h"
#include "targets.h"
#include "terminal.h"

typedef struct job {
    ast_cli_common common;
    ast_cli_camera camera;
    ast_cli_cloud cloud;
    ast_cli_source source; /* its format */
    const char *input;
    int solid;           /* INPUT is a 3-D file */
    ast_frame_list list; /* otherwise its images */
    ast_context *context;
    ast_cli_frames depth;
    ast_cli_frame_normals made; /* of the depth image */
    ast_cli_surface surface;    /* instead, of a 3-D file */
    size_t missing;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_TEXT, "FILE",
     "write the normals: float32 .npy of height x width x 3, of clouds and meshes N x 3, or text with one "
     "per line; NaN where there is none",
     .writes = AST_CLI_WRITES_ARRAY, .required = "such as --output normals.npy"},
    {"curvature", AST_CLI_TEXT, "FILE",
     "write how far the neighbours of each point are from a plane, 0 to 1/3: float32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .inputs = AST_CLI_CLOUD,
     .more = "It is the smallest eigenvalue of their covariance over the sum of the three."},
    {"format", AST_CLI_TEXT, "NAME",
     "the format of standard input: pcd, ply, obj, stl, las or xyz; kitti: a .bin scan of KITTI", AT(source.format),
     .inputs = AST_CLI_SOLID},
    {"columns", AST_CLI_TEXT, "LIST",
     "the columns of an .xyz cloud that are x, y and z, and with six of them the normal, such as 2-4 or X,Y,Z",
     AT(source.columns), .inputs = AST_CLI_CLOUD},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group},
                                   {&ast_cli_camera_group, .offset = AT(camera)},
                                   {&ast_cli_cloud_group, .offset = AT(cloud)},
                                   {0}};

/* An input that is no 3-D file is read as a depth image, whatever its name. */
static int check(void *data) {
    job *work = data;
    work->input = work->common.inputs[0].path;
    ast_cli_camera_resolve(&work->camera, &work->common, AST_SMOOTH_GUIDED);
    ast_cli_camera_beside(&work->camera, work->common.inputs);
    work->solid = (work->common.inputs[0].format.holds & AST_HOLDS_SOLID) != 0;
    if (work->solid)
        return -1;
    if (work->source.format)
        return ast_cli_misuse("--format must be pcd, ply, obj, stl, las, xyz or kitti, not '%s'", work->source.format);
    return ast_cli_depth_usage(&work->camera, work->input);
}

static int list_images(void *data) {
    job *work = data;
    ast_format_error error;
    const ast_cli_input *input = work->common.inputs;
    int code = work->solid ? -1 : ast_cli_camera_scene(&work->camera, input, &work->list);
    if (code >= 0 || work->solid)
        return code;
    return ast_cli_outcome(ast_frame_list_add(&work->list, input->path, input->format, AST_AS_DEPTH, &error), &error);
}

static int open_files(void *data) {
    job *work = data;
    int code = ast_cli_check_targets(&work->common, work->input);
    if (code < 0 && !work->solid)
        code = ast_cli_frames_open(&work->depth, &work->list, &work->camera, NULL, 0, 0);
    if (code < 0)
        code = ast_cli_open_context(&work->common, &work->context);
    return code < 0 ? ast_cli_open_targets(&work->common) : code;
}

static int make(void *data) {
    job *work = data;
    ast_points points;
    if (work->solid) {
        int code = ast_cli_surface_read(&work->surface, &work->cloud, work->common.inputs, work->context,
                                        ast_cli_typed(&work->common, "curvature") != NULL);
        work->missing = work->surface.missing;
        return code;
    }
    int code = ast_cli_frames_single(&work->depth, "normals", work->input);
    if (code >= 0)
        return code;
    code = ast_cli_frame_points(&work->made, &work->depth, work->context, &points);
    for (size_t i = 0; i < points.count && code < 0; i++)
        work->missing += isnan(work->made.normals[3 * i]);
    return code;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    const ast_cli_frames *depth = &work->depth;
    const ast_cli_surface *surface = &work->surface;
    if (work->solid) {
        ast_json_integer(json, "points", (int64_t)surface->count);
        ast_json_integer(json, "missing", (int64_t)work->missing);
        ast_json_string(json, "normals", ast_cli_surface_word(surface));
        ast_json_real(json, "seconds", surface->seconds, 17);
        return;
    }
    ast_json_integer(json, "width", (int64_t)depth->width);
    ast_json_integer(json, "height", (int64_t)depth->height);
    ast_json_integer(json, "points", (int64_t)(depth->width * depth->height));
    ast_json_integer(json, "missing", (int64_t)work->missing);
    ast_json_real(json, "seconds", work->made.seconds, 17);
    if (depth->frame.number != AST_WHOLE)
        ast_json_integer(json, "frame", (int64_t)depth->frame.number);
}

static void print_table(const void *data) {
    const job *work = data;
    char text[AST_GROUPED], time[AST_CLI_DURATION], line[AST_CLI_SURFACE_TEXT], name[AST_CLI_SHOWN];
    size_t count = work->solid ? work->surface.count : work->depth.width * work->depth.height;
    if (work->solid)
        printf("%s\n", ast_cli_surface_text(&work->surface, line));
    else if (work->depth.frame.number != AST_WHOLE)
        printf("%s: ", ast_cli_shown(work->depth.frame.source, name));
    if (!work->solid)
        printf("%zu x %zu pixels, ", work->depth.width, work->depth.height);
    printf("%s normals, ", ast_grouped(count - work->missing, text));
    printf("%s missing, %s\n", ast_grouped(work->missing, text),
           ast_cli_duration(work->solid ? work->surface.seconds : work->made.seconds, time));
}

static int deliver(void *data) {
    job *work = data;
    const ast_cli_surface *surface = &work->surface;
    const ast_cli_common *common = &work->common;
    ast_array image = {
        .reals = work->made.normals, .dimensions = 3, .sizes = {work->depth.height, work->depth.width, 3}};
    ast_cli_fill_target(common, "output", work->solid ? ast_value_array(surface->normals, surface->count, 3) : image);
    ast_cli_fill_target(common, "curvature", ast_value_array(surface->curvature, surface->count, 0));
    return ast_cli_deliver(common, &(ast_cli_printer){print_json, print_table, work});
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void end(void *data) {
    job *work = data;
    ast_cli_frame_normals_close(&work->made);
    ast_frames_close(work->depth.frames);
    ast_cli_surface_free(&work->surface);
    ast_close(work->context);
    ast_frame_list_free(&work->list);
}

static ast_cli_step *const steps[] = {check, list_images, open_files, make, deliver, NULL};

const ast_cli_command ast_cli_normals = {
    .name = "normals",
    .summary = "turn a depth image, a cloud or a mesh into surface normals",
    .usage = "normals INPUT --intrinsics FX,FY,CX,CY --output FILE.npy [options]\n"
             "normals INPUT --camera NAME --output FILE.npy [options]\n"
             "normals CLOUD|MESH --output FILE.npy [options]",
    .about =
        "Turns a depth image, a 16-bit PNG or PGM, into unit normals in the camera's coordinates (x to the "
        "right, y down, z forward), which point to the camera; a cloud of points (PCD, PLY, OBJ, LAS, XYZ) into one "
        "normal per point, a mesh (PLY, OBJ, STL) into one per triangle. cluster takes the same files and "
        "makes the same normals; stream and segment take depth images and use --smooth planes.",
    .examples = "asterism normals frame.png --intrinsics 525,525,319.5,239.5 --output normals.npy\n"
                "asterism normals frame.png --camera tum-fr1 --smooth tv --output normals.npy\n"
                "asterism normals room.pcd --neighbours 30 --viewpoint 0,0,1.5 --output normals.npy\n"
                "camera | asterism normals - --raw 640x480 --camera kinect --output normals.npy",
    .input = "an INPUT image, cloud or mesh, or - for standard input",
    .inputs = AST_CLI_DEPTH | AST_CLI_SOLID,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
