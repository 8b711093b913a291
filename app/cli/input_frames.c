/* SPDX-License-Identifier: MIT
 *
 * Where inputs become frames, one after the other. */
#include "input_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "terminal.h"

/* The size of the images of the cameras that have a name. */
enum { CAMERA_WIDTH = 640, CAMERA_HEIGHT = 480, AZURE_HEIGHT = 576 };

/* Metres: medians of depth outside mean a wrong unit. */
#define FARTHEST 15.0
#define NEAREST 0.05

#define WARNINGS 3 /* about single files; then one about all */

static int is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

int ast_cli_depth_usage(const ast_cli_camera *camera, const char *input) {
    ast_depth_options options;
    if (camera->raw_type && !camera->raw[0])
        return ast_cli_misuse("--raw-type needs --raw WIDTHxHEIGHT");
    return ast_cli_camera_set(camera, input, &options);
}

/* Standard input without a format is .npy. */
static int check_tables(const ast_frame_list *list, const ast_cli_source *source) {
    int code = -1;
    for (size_t i = 0; i < list->count && code < 0; i++) {
        const ast_input_file *file = &list->files[i];
        const char *path = is_standard(file->path) && !source->format ? NULL : file->path;
        code = ast_cli_check_points(path, file->format, source);
    }
    return code;
}

int ast_cli_frames_list(ast_frame_list *list, const ast_cli_camera *camera, const ast_cli_source *source,
                        const ast_cli_common *common, const char *except) {
    ast_format_error error;
    const ast_cli_input *inputs = common->inputs;
    int code = ast_cli_camera_scene(camera, inputs, list);
    if (code >= 0)
        return code;
    const char *empty = NULL;
    list->except = except;
    list->format = source->format;
    list->arrays = ast_cli_expects_depth(common);
    for (const ast_cli_input *input = inputs; input->path; input++) {
        size_t before = list->count;
        if (!ast_frame_list_add(list, input->path, input->format, ast_cli_camera_kind(input), &error))
            return ast_cli_end(list->misused ? AST_CLI_USAGE : AST_CLI_FAILED, "%s", error.text);
        if (list->count == before)
            empty = input->path;
    }
    if (list->absent > 0)
        ast_cli_warn("a depth.txt names %zu file%s that %s not there, such as %s; the other %zu are used", list->absent,
                     list->absent == 1 ? "" : "s", list->absent == 1 ? "is" : "are", list->first_absent, list->count);
    /* What a folder holds shows only here. */
    code = ast_cli_rules_of_kind(common, list->depth ? AST_CLI_DEPTH : AST_CLI_POINTS | AST_CLI_SPARSE, inputs->path);
    if (code < 0)
        code = list->depth ? ast_cli_depth_usage(camera, inputs->path) : check_tables(list, source);
    if (code < 0 && empty && (common->command->inputs & AST_CLI_POINTS))
        code = ast_cli_fail("%s: holds no file of a known format (npy, csv, tsv or txt)", empty);
    return code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int open_camera(ast_cli_frames *frames, const ast_cli_camera *camera, ast_frames_options *how) {
    const ast_frame_list *list = frames->list;
    const char *input = list->files[0].path;
    ast_depth_options *options = &frames->options;
    int code = ast_cli_camera_set(camera, input, options);
    if (code >= 0)
        return code;
    how->raw_width = camera->raw[0];
    how->raw_height = camera->raw[1];
    how->raw_floats = camera->raw_type == 1;
    frames->camera = camera->name;
    frames->file_width = camera->width;
    frames->file_height = camera->height;
    how->depth_scale = isnan(camera->scale) ? 0 : camera->scale;
    frames->scale = isnan(camera->scale) ? 1 : camera->scale;
    if (!(options->units_per_metre > 0) || list->scenes)
        options->units_per_metre = ast_frame_list_scale(list);
    if (!(options->units_per_metre > 0))
        options->units_per_metre = 1000;
    return -1;
}

int ast_cli_frames_open(ast_cli_frames *frames, ast_frame_list *list, const ast_cli_camera *camera,
                        const ast_cli_source *source, size_t raw_points, size_t raw_dimension) {
    ast_format_error error;
    ast_frames_options how = {
        .raw_points = raw_points, .raw_dimension = raw_dimension, .interrupted = ast_cli_interrupted};
    frames->list = list;
    frames->go_on &= list->depth && !list->scenes && list->count > 1;
    how.go_on = frames->go_on;
    if (source)
        how.table = ast_cli_input_options(source);
    how.table.remark = frames->remark;
    frames->unnamed = source && !source->format && !raw_points && !list->depth && is_standard(list->files[0].path);
    int code = list->depth ? open_camera(frames, camera, &how) : -1;
    if (code >= 0)
        return code;
    frames->frames = ast_frames_open(list, &how, &error);
    return ast_cli_outcome(frames->frames != NULL, &error);
}

static int is_file(const ast_input_file *file, const char *path, const char *whole_path, uint64_t number) {
    if (is_standard(file->path) || (file->scene != AST_WHOLE && file->scene != number))
        return 0;
    if (strcmp(file->path, path) == 0)
        return 1;
    char *whole = whole_path[0] ? realpath(file->path, NULL) : NULL;
    int same = whole && strcmp(whole, whole_path) == 0;
    free(whole);
    return same;
}

int ast_cli_frames_resume(ast_cli_frames *frames, const char *path, const char *whole_path, uint64_t number,
                          int counted) {
    ast_format_error error;
    const ast_frame_list *list = frames->list;
    size_t last = 0;
    while (last < list->count && !is_file(&list->files[last], path, whole_path, number))
        last++;
    if (is_standard(path) || last == list->count)
        return -1;
    bool whole = number == AST_WHOLE || list->files[last].scene != AST_WHOLE;
    bool good = ast_frames_skip_files(frames->frames, last + whole, counted, &error) &&
                (whole || ast_frames_skip(frames->frames, number + 1, &error));
    return ast_cli_outcome(good, &error);
}

static int check_size(const ast_cli_frames *frames) {
    const ast_depth_image *image = &frames->frame.image;
    if (frames->width && (image->width != frames->width || image->height != frames->height))
        return ast_cli_fail("%s is %zu x %zu pixels, but the frames before it are %zu x %zu", frames->frame.source,
                            image->width, image->height, frames->width, frames->height);
    if (frames->file_height && (image->width != frames->file_width || image->height != frames->file_height))
        return ast_cli_fail("%s is %zu x %zu pixels, but the camera.json beside it is for %zu x %zu; give --intrinsics",
                            frames->frame.source, image->width, image->height, frames->file_width, frames->file_height);
    size_t usual = frames->camera && strcmp(frames->camera, "azure-kinect") == 0 ? AZURE_HEIGHT : CAMERA_HEIGHT;
    if (frames->camera && (image->width != CAMERA_WIDTH || image->height != usual))
        return ast_cli_fail("%s is %zu x %zu pixels, but --camera %s stands for images of %d x %zu; give --intrinsics",
                            frames->frame.source, image->width, image->height, frames->camera, CAMERA_WIDTH, usual);
    return -1;
}

/* A principal point as far from the middle in x as in y is that of images of another resolution. */
static int check_camera(const ast_cli_frames *frames) {
    const ast_depth_image *image = &frames->frame.image;
    const ast_camera *camera = &frames->options.camera;
    double x = (camera->cx + 0.5) / (double)image->width, y = (camera->cy + 0.5) / (double)image->height;
    bool alike = fabs(x - y) < 0.1 * fmax(x, y) && (x < 0.35 || x > 0.7);
    if (!alike || frames->width > 0 || image->width < 64 || image->height < 48)
        return -1;
    return ast_cli_fail("%s is %zu x %zu pixels, but the principal point %g,%g is that of images of about %.0f x %.0f; "
                        "the intrinsics are for another resolution",
                        frames->frame.source, image->width, image->height, camera->cx, camera->cy, 2 * camera->cx + 1,
                        2 * camera->cy + 1);
}

/* Images of floats bring their units, which the first of them decides. */
static int check_units(ast_cli_frames *frames) {
    double units = frames->frame.units;
    if (frames->width > 0 && (units > 0) != frames->floats)
        return ast_cli_fail("%s holds %s, but the frames before it %s; all must be alike", frames->frame.source,
                            units > 0 ? "floats" : "whole numbers", units > 0 ? "whole numbers" : "floats");
    frames->floats = units > 0;
    if (units > 0)
        frames->options.units_per_metre = units;
    return -1;
}

static int compare_depths(const void *a, const void *b) {
    return (*(const uint16_t *)a > *(const uint16_t *)b) - (*(const uint16_t *)a < *(const uint16_t *)b);
}

/* The first image: a median that no depth camera sees means that its unit is another one. */
static void warn_of_scale(const ast_cli_frames *frames) {
    enum { SAMPLES = 4096 };
    const ast_depth_image *image = &frames->frame.image;
    uint16_t sample[SAMPLES];
    size_t pixels = image->width * image->height, step = 1 + pixels / SAMPLES, count = 0;
    for (size_t i = 0; i < pixels; i += step) {
        const char *row = (const char *)image->values + (ptrdiff_t)(i / image->width) * image->row_stride;
        uint16_t depth = ((const uint16_t *)(const void *)row)[i % image->width];
        if (depth > 0 && count < SAMPLES)
            sample[count++] = depth;
    }
    if (count < 64 && frames->floats)
        ast_cli_warn(
            "%s: hardly a pixel has a depth between 0 and 16 m at %g of its units per metre; --depth-scale says how "
            "many there are (1 for floats in metres)",
            frames->frame.source, frames->scale);
    if (count < 64)
        return;
    qsort(sample, count, sizeof *sample, compare_depths);
    uint16_t median = sample[count / 2];
    double metres = median / frames->options.units_per_metre;
    const char *where = metres > FARTHEST ? "beyond" : "within";
    if (metres >= NEAREST && metres <= FARTHEST)
        return;
    if (frames->floats)
        ast_cli_warn(
            "%s: half of its depth is %s %.3g m at %g of its units per metre; --depth-scale says how many there are "
            "(1 for floats in metres)",
            frames->frame.source, where, metres, frames->scale);
    else
        ast_cli_warn("%s: half of its depth is %s %.3g m at %g units per metre; --depth-scale says how many there are "
                     "(1000 for millimetres)",
                     frames->frame.source, where, metres, frames->options.units_per_metre);
}

void ast_cli_say_table(const ast_cli_common *common, const char *input, const ast_points *points) {
    size_t high = points->count, wide = points->dimension;
    bool image = high >= 120 && (4 * high == 3 * wide || 16 * high == 9 * wide || 8 * high == 5 * wide);
    if (image && !common->quiet && ast_has_extension(input, ".npy") && (common->command->inputs & AST_CLI_IMAGE))
        ast_cli_say("%s is taken for a table of %zu points in %zu dimensions; --intrinsics or --camera makes a depth "
                    "image of it",
                    input, high, wide);
}

/* As ast_frames_next, past the files that cannot be read, unless that is all of them. */
static int next_readable(ast_cli_frames *frames, ast_format_error *error) {
    int more = ast_frames_next(frames->frames, &frames->frame, error);
    while (more < 0 && frames->go_on && !ast_format_is_lack(error) && ++frames->left_out < frames->list->count) {
        if (frames->left_out <= WARNINGS)
            ast_cli_warn("a frame is left out: %s", error->text);
        more = ast_frames_next(frames->frames, &frames->frame, error);
    }
    if (more == 0 && frames->left_out > WARNINGS)
        ast_cli_warn("%zu of %zu frames could not be read and were left out", frames->left_out, frames->list->count);
    return more;
}

int ast_cli_frames_next(ast_cli_frames *frames, int *found) {
    ast_format_error error;
    int more = next_readable(frames, &error);
    *found = more > 0;
    if (more < 0)
        return ast_cli_fail("%s%s", error.text, frames->unnamed ? "; for text give --format csv (or tsv, txt)" : "");
    frames->unnamed = false;
    if (more == 0 || !frames->list->depth)
        return -1;
    int code = check_size(frames);
    if (code < 0)
        code = check_camera(frames);
    if (code < 0)
        code = check_units(frames);
    if (code < 0 && !frames->width)
        warn_of_scale(frames);
    frames->width = frames->frame.image.width;
    frames->height = frames->frame.image.height;
    return code;
}

int ast_cli_frames_single(ast_cli_frames *frames, const char *command, const char *input) {
    int found = 0;
    size_t count = ast_frames_count(frames->frames);
    if (count != 1 && frames->list->scenes)
        return ast_cli_fail("%s takes one scene, and %s has %zu; --frame N picks one, counted from 0", command, input,
                            count);
    if (count != 1 && count != SIZE_MAX)
        return ast_cli_fail("%s takes one depth image, and %s has %zu; stream and segment take many", command, input,
                            count);
    int code = ast_cli_frames_next(frames, &found);
    if (code < 0 && !found)
        code = ast_cli_interrupted() ? ast_cli_stopped() : ast_cli_fail("%s holds no depth image", ast_cli_name(input));
    return code;
}
