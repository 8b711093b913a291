/* SPDX-License-Identifier: MIT
 *
 * Writes a walk through the ray-cast hallway as a folder that the other commands read: depth images, the true direction
 * of every pixel, the camera's poses and its intrinsics. Files are put in place one by one, each whole; the poses come
 * last, so that a folder that has them is complete. */
#include "sample_scene.h"

#include <platform.h>
#include <images.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "camera.h"
#include "private/asterism_hallway.h"
#include "interrupt.h"
#include "progress.h"
#include "targets.h"
#include "terminal.h"

enum { MOST_FRAMES = 1000000 }; /* names have six digits */

static const char *const scenes[] = {"hallway", NULL};

#define AT(field) offsetof(ast_cli_scene, field)
static const ast_cli_option options_table[] = {
    {"scene", AST_CLI_CHOICE, "NAME",
     "hallway: frames of a depth camera that walks through a corridor; --output is the folder they are "
     "written into",
     AT(name), .choices = scenes},
    {"frames", AST_CLI_COUNT, "N", "frames of the whole walk", AT(frames), 1, MOST_FRAMES, .standard = "120",
     .needs = "scene"},
    {"size", AST_CLI_PIXELS, "WxH", "pixels of a frame", AT(size), .standard = "640x480", .needs = "scene"},
    {"no-noise", AST_CLI_FLAG, NULL, "exact depth, without the sensor's noise and holes", AT(no_noise),
     .needs = "scene"},
    {0}};

const ast_cli_group ast_cli_scene_group = {.title = "Options for a scene", .options = options_table};

typedef struct job {
    const ast_cli_common *common;
    const char *folder;
    ast_hallway hallway;
    ast_context *context;
    ast_hallway_frame *frames; /* (hallway.frames) */
    uint16_t *depth;
    int32_t *truth;
    ast_cli_progress progress;
} job;

/* An image of another size is the same view through coarser or finer pixels. */
static void set_hallway(job *work, const ast_cli_scene *scene) {
    ast_hallway *hallway = &work->hallway;
    ast_hallway_init(hallway);
    hallway->seed = work->common->seed;
    hallway->noise = !scene->no_noise;
    hallway->frames = scene->frames;
    double usual = (double)hallway->width;
    hallway->width = scene->size[0];
    hallway->height = scene->size[1];
    hallway->camera.fx *= (double)hallway->width / usual;
    hallway->camera.fy = hallway->camera.fx;
    hallway->camera.cx = ((double)hallway->width - 1) / 2;
    hallway->camera.cy = ((double)hallway->height - 1) / 2;
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

/* folder/part, or folder/part/000017.extension where there is an extension. To free(); NULL without memory. */
static char *name_of(const job *work, const char *part, size_t index, const char *extension) {
    char *name;
    int length = extension ? asprintf(&name, "%s/%s/%06zu.%s", work->folder, part, index, extension)
                           : asprintf(&name, "%s/%s", work->folder, part);
    return length < 0 ? NULL : name;
}

/* Frames of a longer walk that was written here before would be taken for frames of this one. */
static int prepare_part(const job *work, const char *part, const char *extension) {
    struct stat status;
    char *folder = name_of(work, part, 0, NULL), *after = name_of(work, part, work->hallway.frames, extension);
    int code = folder && after ? -1 : ast_cli_no_memory("the names of the files");
    if (code < 0 && lstat(after, &status) == 0)
        code = ast_cli_fail("%s is of a longer walk: choose another folder, or remove this one", after);
    if (code < 0)
        code = ast_cli_make_folder("output", folder);
    free(folder);
    free(after);
    return code;
}

static int prepare(void *data) {
    job *work = data;
    const ast_hallway *hallway = &work->hallway;
    size_t pixels = hallway->width * hallway->height;
    work->depth = malloc(pixels * sizeof *work->depth);
    work->truth = malloc(pixels * sizeof *work->truth);
    work->frames = malloc(hallway->frames * sizeof *work->frames);
    if (!work->depth || !work->truth || !work->frames)
        return ast_cli_fail("there is no memory for frames of %zu x %zu pixels", hallway->width, hallway->height);
    int code = ast_cli_open_context(work->common, &work->context);
    if (code < 0)
        code = prepare_part(work, "depth", "png");
    if (code < 0)
        code = prepare_part(work, "truth", "npy");
    if (code < 0)
        ast_cli_watch_signals();
    return code;
}

/* ---- The frames -------------------------------------------------------------------------------------------------- */

typedef bool writer(ast_output *output, const job *work, ast_format_error *error);

static bool write_depth(ast_output *output, const job *work, ast_format_error *error) {
    return ast_write_depth(output, work->depth, work->hallway.width, work->hallway.height, error);
}

static bool write_truth(ast_output *output, const job *work, ast_format_error *error) {
    return ast_write_array(output, ast_label_array(work->truth, work->hallway.height, work->hallway.width), error);
}

/* Writes a file and puts it in place; frees the name. */
static int write_file(const job *work, char *name, writer *write) {
    ast_format_error error;
    if (!name)
        return ast_cli_no_memory("the names of the files");
    ast_output *output = ast_output_open_sole(name, false, &error);
    free(name);
    return ast_cli_outcome(ast_output_close(output, output && write(output, work, &error), &error), &error);
}

static int make_frame(job *work, size_t index) {
    ast_status status =
        ast_hallway_render(work->context, &work->hallway, index, work->depth, work->truth, &work->frames[index]);
    int code = ast_cli_status(status, work->context, NULL);
    if (code < 0)
        code = write_file(work, name_of(work, "depth", index, "png"), write_depth);
    if (code < 0)
        code = write_file(work, name_of(work, "truth", index, "npy"), write_truth);
    return code;
}

static int make_frames(void *data) {
    job *work = data;
    size_t index = 0, count = work->hallway.frames;
    int code = -1;
    ast_cli_progress_start(&work->progress, work->common, 0);
    while (code < 0 && index < count && !ast_cli_interrupted()) {
        code = make_frame(work, index);
        index += code < 0;
        ast_cli_progress_left(&work->progress, index, count, "frames");
    }
    ast_cli_progress_end(&work->progress);
    if (code < 0 && index < count)
        return ast_cli_end(AST_CLI_SIGNAL + ast_cli_interrupted(), "stopped after %zu of %zu frames", index, count);
    return code;
}

/* ---- What belongs to all of them --------------------------------------------------------------------------------- */

static void put_camera(ast_text *json, const ast_camera *camera) {
    ast_json_real(json, "fx", camera->fx, 17);
    ast_json_real(json, "fy", camera->fy, 17);
    ast_json_real(json, "cx", camera->cx, 17);
    ast_json_real(json, "cy", camera->cy, 17);
}

static void put_directions(ast_text *json) {
    size_t count;
    const double *of = ast_hallway_directions(&count);
    ast_json_open(json, "directions", '[');
    for (size_t i = 0; i < count; i++, of += 3) {
        ast_json_open(json, NULL, '[');
        for (int d = 0; d < 3; d++)
            ast_json_real(json, NULL, of[d], 17);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
}

/* What has to be known to use the files: intrinsics, depth units, what the numbers of the truth stand for. */
static bool write_camera(ast_output *output, const job *work, ast_format_error *error) {
    ast_text json = {0};
    ast_json_open(&json, NULL, '{');
    put_camera(&json, &work->hallway.camera);
    ast_json_integer(&json, "width", (int64_t)work->hallway.width);
    ast_json_integer(&json, "height", (int64_t)work->hallway.height);
    ast_json_integer(&json, "depth_scale", 1000);
    ast_json_integer(&json, "frames_per_second", 30);
    put_directions(&json);
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool good = ast_text_write(&json, output, error);
    ast_text_free(&json);
    return good;
}

static bool write_poses(ast_output *output, const job *work, ast_format_error *error) {
    for (size_t i = 0; i < work->hallway.frames; i++) {
        const ast_hallway_frame *frame = &work->frames[i];
        const double *p = frame->position, *q = frame->rotation;
        char line[256];
        int length = snprintf(line, sizeof line, "%.6f %.9f %.9f %.9f %.9f %.9f %.9f %.9f\n", frame->seconds, p[0],
                              p[1], p[2], q[0], q[1], q[2], q[3]);
        if (!ast_output_write(output, line, (size_t)length, error))
            return false;
    }
    return true;
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    const ast_hallway *hallway = &work->hallway;
    ast_json_string(json, "scene", scenes[0]);
    ast_json_integer(json, "frames", (int64_t)hallway->frames);
    ast_json_integer(json, "width", (int64_t)hallway->width);
    ast_json_integer(json, "height", (int64_t)hallway->height);
    ast_json_open(json, "camera", '{');
    put_camera(json, &hallway->camera);
    ast_json_close(json, '}');
    ast_json_boolean(json, "noise", hallway->noise);
    ast_json_string(json, "output", work->folder);
}

/* The files are the result. Only a person at a terminal is told so. */
static void print_line(const void *data) {
    const job *work = data;
    char name[AST_CLI_SHOWN];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%zu frame%s of %zu x %zu pixels: %s\n", work->hallway.frames,
                work->hallway.frames == 1 ? "" : "s", work->hallway.width, work->hallway.height,
                ast_cli_shown(work->folder, name));
}

static int finish(void *data) {
    job *work = data;
    ast_cli_printer printer = {print_json, print_line, work};
    int code = write_file(work, name_of(work, "camera.json", 0, NULL), write_camera);
    if (code < 0)
        code = write_file(work, name_of(work, "poses.txt", 0, NULL), write_poses);
    return code < 0 ? ast_cli_print(work->common, &printer) : code;
}

static int check(void *data) {
    const job *work = data;
    if (!work->folder)
        return ast_cli_misuse("sample --scene needs --output DIR, the folder for its frames");
    if (strcmp(work->folder, "-") == 0)
        return ast_cli_misuse("--output: a scene is a folder of files, which standard output cannot be");
    return ast_cli_check_folder("output", work->folder);
}

int ast_cli_scene_run(const ast_cli_common *common, const ast_cli_scene *scene) {
    static ast_cli_step *const steps[] = {check, prepare, make_frames, finish, NULL};
    job work = {.common = common, .folder = ast_cli_typed(common, "output")};
    set_hallway(&work, scene);
    int code = ast_cli_steps(steps, &work);
    ast_close(work.context);
    free(work.frames);
    free(work.depth);
    free(work.truth);
    return code;
}
