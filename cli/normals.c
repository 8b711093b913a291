/* SPDX-License-Identifier: MIT
 *
 * asterism normals: a depth image in, the direction that each pixel's surface faces out. */
#include <asterism_depth.h>

#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "depth.h"
#include "json.h"
#include "targets.h"
#include "terminal.h"

enum { NORMALS, TARGETS };

typedef struct settings {
    ast_cli_common common;
    ast_cli_camera camera;
    const char *input, *output;
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {{"output", AST_CLI_TEXT, "FILE",
                                                "write the normals: float32 .npy of height x width x 3, or\n"
                                                "text with a pixel a line; NaN where there is none",
                                                AT(output), 0, 0, NULL},
                                               {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group shared_options[] = {{ast_cli_camera_options, AT(camera), "Options for the camera"},
                                               {NULL, 0, NULL}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_normals = {
    .name = "normals",
    .summary = "turn a depth image into surface normals",
    .usage = "normals INPUT --intrinsics FX,FY,CX,CY --output FILE.npy [options]\n"
             "normals INPUT --camera NAME --output FILE.npy [options]",
    .about = "Turns a depth image, a 16-bit PNG or PGM, into unit normals in the camera's coordinates\n"
             "(x to the right, y down, z forward), which point to the camera. cluster, stream and\n"
             "segment take depth images themselves and make the same normals.",
    .examples = "asterism normals frame.png --intrinsics 525,525,319.5,239.5 --output normals.npy\n"
                "asterism normals frame.png --camera tum-fr1 --smooth tv --output normals.npy\n"
                "camera | asterism normals - --raw 640x480 --camera kinect --output normals.npy",
    .input = "an INPUT image, or - for standard input",
    .options = options_table,
    .shared = shared_options,
    .run = run};

typedef struct job {
    const settings *given;
    ast_context *context;
    ast_cli_depth depth;
    size_t missing;
    ast_cli_target targets[TARGETS];
} job;

static int check(const job *work);
static int make(job *work);
static int deliver(job *work);

static int run(int argc, char **argv) {
    settings given = {.common = ast_cli_common_default(), .camera = ast_cli_camera_default()};
    int code = ast_cli_parse(&ast_cli_normals, argc, argv, &given, &given.input);
    if (code >= 0)
        return code;
    job work = {.given = &given, .targets = {[NORMALS] = {.option = "output", .path = given.output}}};
    code = check(&work);
    if (code < 0)
        code = ast_cli_depth_open(&work.depth, &given.camera, (const char *const[]){given.input, NULL});
    if (code < 0)
        code = ast_cli_open_context(&given.common, &work.context);
    if (code < 0)
        code = ast_cli_open_targets(work.targets, TARGETS);
    if (code < 0)
        code = make(&work);
    if (code < 0)
        code = deliver(&work);
    ast_cli_abandon_targets(work.targets, TARGETS);
    ast_cli_depth_close(&work.depth);
    ast_close(work.context);
    return code;
}

static int check(const job *work) {
    const settings *given = work->given;
    if (!given->output)
        return ast_cli_fail(AST_CLI_USAGE, "normals needs --output FILE, such as --output normals.npy");
    /* Whatever its name, it is to be read as a depth image; what it is shows on opening it. */
    int code = ast_cli_depth_usage(&given->camera, (const char *const[]){given->input, NULL});
    if (code < 0)
        code = ast_cli_check_targets(work->targets, TARGETS, given->input, given->common.json);
    return code;
}

static int make(job *work) {
    ast_points points;
    int code = ast_cli_depth_single(&work->depth, "normals", work->given->input);
    if (code >= 0)
        return code;
    code = ast_cli_depth_normals(&work->depth, work->context, &points);
    for (size_t i = 0; i < points.count && code < 0; i++)
        work->missing += isnan(work->depth.normals[3 * i]);
    return code;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static int print_json(const void *data) {
    const job *work = data;
    size_t count = work->depth.width * work->depth.height;
    return ast_cli_print_object(json_pack("{sI sI sI sI sf}", "width", (json_int_t)work->depth.width, "height",
                                          (json_int_t)work->depth.height, "points", (json_int_t)count, "missing",
                                          (json_int_t)work->missing, "seconds", work->depth.seconds));
}

static void print_table(const void *data) {
    const job *work = data;
    char text[AST_CLI_GROUPED], time[AST_CLI_DURATION];
    size_t count = work->depth.width * work->depth.height;
    printf("%zu x %zu pixels, ", work->depth.width, work->depth.height);
    printf("%s normals, ", ast_cli_grouped(count - work->missing, text));
    printf("%s missing, %s\n", ast_cli_grouped(work->missing, text), ast_cli_duration(work->depth.seconds, time));
}

static int deliver(job *work) {
    ast_cli_printer printer = {print_json, print_table, work};
    ast_cli_fill_normals(&work->targets[NORMALS], work->depth.normals, work->depth.height, work->depth.width);
    return ast_cli_deliver(work->targets, TARGETS, &work->given->common, &printer);
}
