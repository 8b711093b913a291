/* SPDX-License-Identifier: MIT
 *
 * The label files of asterism stream: their names and their folder. */
#include "stream_output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "terminal.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The name without its folder and the extensions that say how to read it: 000017 of depth/000017.csv.gz. */
static const char *stem_of(const char *path, size_t *length) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    *length = strlen(name);
    if (*length > 3 && strcasecmp(name + *length - 3, ".gz") == 0)
        *length -= 3;
    for (size_t i = *length; i-- > 1;) {
        if (name[i] == '.') {
            *length = i;
            break;
        }
    }
    return name;
}

/* folder/stem.npy, to free(); NULL without memory. */
static char *target_of(const char *folder, const char *path) {
    char *target;
    size_t length;
    const char *stem = stem_of(path, &length);
    return asprintf(&target, "%s/%.*s.npy", folder, (int)length, stem) < 0 ? NULL : target;
}

static int no_memory(void) {
    return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the names of the label files");
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static int would_overwrite(const char *target, const char *path) {
    struct stat here, there;
    return stat(target, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

/* Whether the whole file is one frame, which gives its name to the labels. */
static int is_one_frame(const char *path, const ast_cli_source *how) {
    ast_format_error error;
    ast_input_options options;
    ast_input_options_init(&options);
    options.format = how->format;
    ast_frames *frames = ast_frames_open(path, &options, NULL, &error);
    int one = frames && !ast_frames_numbered(frames);
    ast_frames_close(frames);
    return one;
}

static int compare_stems(const void *a, const void *b) {
    size_t length_a, length_b;
    const char *stem_a = stem_of(*(char *const *)a, &length_a), *stem_b = stem_of(*(char *const *)b, &length_b);
    int order = memcmp(stem_a, stem_b, length_a < length_b ? length_a : length_b);
    return order ? order : (length_a > length_b) - (length_a < length_b);
}

static int check_stems(const char *folder, const ast_cli_inputs *inputs, char **sorted) {
    memcpy(sorted, inputs->paths, inputs->count * sizeof *sorted);
    qsort(sorted, inputs->count, sizeof *sorted, compare_stems);
    for (size_t i = 1; i < inputs->count; i++) {
        size_t length;
        const char *stem = stem_of(sorted[i], &length);
        if (compare_stems(&sorted[i - 1], &sorted[i]) == 0 && is_one_frame(sorted[i - 1], inputs->how) &&
            is_one_frame(sorted[i], inputs->how))
            return ast_cli_fail(AST_CLI_FAILED, "the labels of %s and %s would both be %s/%.*s.npy", sorted[i - 1],
                                sorted[i], folder, (int)length, stem);
    }
    return -1;
}

/* The folder and those above it. */
static int make_folder(const char *folder) {
    struct stat status;
    char *path = strdup(folder);
    if (!path)
        return no_memory();
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        mkdir(path, 0777); /* whether it worked shows at the end */
        *slash = '/';
    }
    free(path);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ast_cli_fail(AST_CLI_FAILED, "--labels: the folder %s cannot be made: %s", folder, strerror(errno));
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return ast_cli_fail(AST_CLI_FAILED, "--labels: %s is no folder", folder);
    return -1;
}

int ast_cli_labels_prepare(const char *folder, const ast_cli_inputs *inputs) {
    for (size_t i = 0; i < inputs->count; i++) {
        char *target = target_of(folder, inputs->paths[i]);
        if (!target)
            return no_memory();
        int bad = would_overwrite(target, inputs->paths[i]) && is_one_frame(inputs->paths[i], inputs->how);
        free(target);
        if (bad)
            return ast_cli_fail(AST_CLI_FAILED, "--labels %s would overwrite the input %s", folder, inputs->paths[i]);
    }
    char **sorted = malloc((inputs->count + 1) * sizeof *sorted);
    if (!sorted)
        return no_memory();
    int code = check_stems(folder, inputs, sorted);
    free(sorted);
    return code < 0 ? make_folder(folder) : code;
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

int ast_cli_labels_write(const char *folder, int durable, const ast_cli_inputs *inputs, uint64_t frame,
                         const int32_t *labels, size_t count) {
    ast_format_error error;
    char *target = NULL;
    if (inputs->number == AST_CLI_WHOLE)
        target = target_of(folder, inputs->path);
    else if (asprintf(&target, "%s/%06" PRIu64 ".npy", folder, frame) < 0)
        target = NULL;
    if (!target)
        return no_memory();
    if (would_overwrite(target, inputs->path)) {
        free(target);
        return ast_cli_fail(AST_CLI_FAILED, "--labels %s would overwrite the input %s", folder, inputs->path);
    }
    ast_output *output = ast_output_open_sole(target, durable, &error);
    free(target);
    int good = output != NULL;
    if (good && !ast_write_labels(output, labels, count, &error)) {
        ast_output_abandon(output);
        good = 0;
    }
    good = good && ast_output_commit(output, &error);
    return good ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
}
