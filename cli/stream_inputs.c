/* SPDX-License-Identifier: MIT
 *
 * The sequence of frames: which files there are, where a resumed run begins, and one frame after the other. Files are
 * opened when their turn comes, so that a long list costs nothing. */
#include "stream_inputs.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "terminal.h"

enum { WAIT_MILLISECONDS = 200 };

static int is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

static int no_memory(void) {
    return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static int add_path(ast_cli_inputs *inputs, const char *path) {
    size_t count = inputs->count;
    if ((count & (count - 1)) == 0) { /* a power of two: full */
        char **grown = realloc(inputs->paths, (count ? 2 * count : 1) * sizeof *grown);
        if (!grown)
            return no_memory();
        inputs->paths = grown;
    }
    inputs->paths[count] = strdup(path);
    if (!inputs->paths[count])
        return no_memory();
    inputs->count++;
    return -1;
}

static int same_file(const char *a, const char *b) {
    struct stat one, other;
    return b && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int add_folder(ast_cli_inputs *inputs, const char *path, const char *except) {
    ast_format_error error;
    ast_folder folder;
    if (!ast_folder_list(&folder, path, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    int code = -1, found = 0;
    for (size_t i = 0; i < folder.count && code < 0; i++) {
        if (!ast_input_check(folder.paths[i], NULL, &error) || same_file(folder.paths[i], except))
            continue;
        code = add_path(inputs, folder.paths[i]);
        found = 1;
    }
    ast_folder_free(&folder);
    if (code < 0 && !found)
        code = ast_cli_fail(AST_CLI_FAILED, "%s: holds no file of a known format (npy, csv, tsv or txt)", path);
    return code;
}

static int add_standard(ast_cli_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        if (is_standard(inputs->paths[i]))
            return ast_cli_fail(AST_CLI_USAGE, "standard input can be read once, but - is given twice");
    }
    return add_path(inputs, "-");
}

/* The files of the frames; raw frames and scenes have no other name than that of the input. */
static int list_depth(ast_cli_inputs *inputs, const char *const *given) {
    int code = ast_cli_depth_open(&inputs->depth, inputs->camera, given);
    if (code >= 0)
        return code;
    size_t count = ast_depth_frames_count(inputs->depth.frames);
    if (ast_cli_inputs_numbered(inputs))
        return add_path(inputs, given[0]);
    for (size_t i = 0; i < count && code < 0; i++)
        code = add_path(inputs, ast_depth_frames_path(inputs->depth.frames, i));
    return code;
}

int ast_cli_inputs_numbered(const ast_cli_inputs *inputs) {
    return inputs->camera &&
           (ast_depth_frames_count(inputs->depth.frames) == SIZE_MAX || ast_depth_frames_scenes(inputs->depth.frames));
}

size_t ast_cli_inputs_frames(const ast_cli_inputs *inputs) {
    return inputs->camera ? ast_depth_frames_count(inputs->depth.frames) : SIZE_MAX;
}

int ast_cli_inputs_list(ast_cli_inputs *inputs, const char *const *given, const char *except) {
    int code = -1;
    if (inputs->camera)
        return list_depth(inputs, given);
    for (; *given && code < 0; given++) {
        struct stat status;
        if (is_standard(*given)) {
            code = ast_cli_check_points(inputs->how->format ? "-" : NULL, inputs->how);
            if (code < 0)
                code = add_standard(inputs);
        } else if (stat(*given, &status) == 0 && S_ISDIR(status.st_mode)) {
            code = ast_cli_check_points(NULL, inputs->how);
            if (code < 0)
                code = add_folder(inputs, *given, except);
        } else {
            code = ast_cli_check_points(*given, inputs->how);
            if (code < 0)
                code = add_path(inputs, *given);
        }
    }
    return code;
}

void ast_cli_inputs_free(ast_cli_inputs *inputs) {
    ast_cli_depth_close(&inputs->depth);
    ast_frames_close(inputs->frames);
    for (size_t i = 0; i < inputs->count; i++)
        free(inputs->paths[i]);
    free(inputs->paths);
    free(inputs->source);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int open_file(ast_cli_inputs *inputs) {
    ast_format_error error;
    const char *path = inputs->paths[inputs->position];
    ast_input_options options;
    ast_input_options_init(&options);
    options.format = inputs->how->format;
    options.columns = inputs->how->columns;
    options.transpose = inputs->how->transpose;
    inputs->frames = ast_frames_open(path, &options, is_standard(path) ? &inputs->raw : NULL, &error);
    inputs->in_file = 0;
    if (!inputs->frames)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return -1;
}

static void close_file(ast_cli_inputs *inputs) {
    ast_frames_close(inputs->frames);
    inputs->frames = NULL;
    inputs->position++;
}

/* Skips `count` frames of the file whose turn it is; its end is no error. */
static int skip_frames(ast_cli_inputs *inputs, uint64_t count) {
    ast_format_error error;
    int code = open_file(inputs);
    if (code >= 0)
        return code;
    size_t all = ast_frames_count(inputs->frames);
    count = count < all ? count : all;
    if (!ast_frames_skip(inputs->frames, (size_t)count, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    inputs->in_file = count;
    inputs->rows += count;
    return -1;
}

static int find_path(const ast_cli_inputs *inputs, const char *path, const char *whole_path, size_t *index) {
    for (*index = 0; *index < inputs->count; ++*index) {
        const char *candidate = inputs->paths[*index];
        if (is_standard(candidate))
            continue;
        if (strcmp(candidate, path) == 0)
            return 1;
        char *whole = whole_path[0] ? realpath(candidate, NULL) : NULL;
        int found = whole && strcmp(whole, whole_path) == 0;
        free(whole);
        if (found)
            return 1;
    }
    return 0;
}

/* Images are skipped file by file, scenes by their number: of one that is picked by --frame there is no other. */
static void skip_depth(ast_cli_inputs *inputs, size_t last, uint64_t number) {
    int one = 0;
    uint64_t scene, count = number == AST_CLI_WHOLE ? last + 1 : number + 1;
    if (number != AST_CLI_WHOLE && ast_cli_camera_frame(inputs->camera, &one, &scene) < 0 && one)
        count = number == scene;
    ast_depth_frames_skip(inputs->depth.frames, count);
}

int ast_cli_inputs_resume(ast_cli_inputs *inputs, const char *path, const char *whole_path, uint64_t number,
                          int counted) {
    size_t last;
    int code = -1;
    if (is_standard(path) || !find_path(inputs, path, whole_path, &last))
        return -1;
    if (inputs->camera) {
        skip_depth(inputs, last, number);
        return -1;
    }
    while (inputs->position < last && code < 0) {
        if (counted)
            code = skip_frames(inputs, UINT64_MAX);
        if (code < 0)
            close_file(inputs);
    }
    if (code < 0 && (counted || number != AST_CLI_WHOLE))
        code = skip_frames(inputs, number == AST_CLI_WHOLE ? UINT64_MAX : number + 1);
    if (code < 0 && number == AST_CLI_WHOLE)
        close_file(inputs);
    return code;
}

/* Waits until standard input has something to read, so that a signal is heard while nothing comes. Compressed input may
 * already stand in a buffer, and a regular file is always ready. */
static void wait_for_input(const ast_cli_inputs *inputs) {
    const char *format = inputs->how->format;
    size_t length = format ? strlen(format) : 0;
    if (!is_standard(inputs->paths[inputs->position]) || (length > 3 && strcasecmp(format + length - 3, ".gz") == 0))
        return;
    struct pollfd standard = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!ast_cli_interrupted()) {
        int ready = poll(&standard, 1, WAIT_MILLISECONDS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return;
    }
}

static int name_frame(ast_cli_inputs *inputs) {
    char *name = NULL;
    inputs->path = inputs->paths[inputs->position];
    inputs->number = ast_frames_numbered(inputs->frames) ? inputs->in_file : AST_CLI_WHOLE;
    if (inputs->number == AST_CLI_WHOLE)
        name = strdup(inputs->path);
    else if (asprintf(&name, "%s#%" PRIu64, inputs->path, inputs->number) < 0)
        name = NULL;
    free(inputs->source);
    inputs->source = name;
    return name ? -1 : no_memory();
}

static int next_depth(ast_cli_inputs *inputs, ast_context *context, ast_points *points, int *found) {
    int code = ast_cli_depth_next(&inputs->depth, found);
    if (code >= 0 || !*found)
        return code;
    const ast_depth_frame *frame = &inputs->depth.frame;
    free(inputs->source);
    inputs->source = strdup(frame->source);
    if (!inputs->source)
        return no_memory();
    inputs->path = frame->path;
    inputs->number = frame->number == AST_DEPTH_WHOLE ? AST_CLI_WHOLE : frame->number;
    inputs->row = frame->index;
    return ast_cli_depth_normals(&inputs->depth, context, points);
}

int ast_cli_inputs_next(ast_cli_inputs *inputs, ast_context *context, ast_points *points, int *found) {
    ast_format_error error;
    *found = 0;
    if (inputs->camera)
        return next_depth(inputs, context, points, found);
    while (inputs->position < inputs->count) {
        wait_for_input(inputs);
        if (ast_cli_interrupted())
            return -1;
        int code = inputs->frames ? -1 : open_file(inputs);
        if (code >= 0)
            return code;
        int more = ast_frames_next(inputs->frames, points, &error);
        if (more < 0)
            return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
        if (more > 0) {
            code = name_frame(inputs);
            inputs->in_file++;
            inputs->row = inputs->rows++;
            *found = 1;
            return code;
        }
        close_file(inputs);
    }
    return -1;
}
