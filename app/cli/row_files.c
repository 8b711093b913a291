/* SPDX-License-Identifier: MIT
 *
 * One file of numbers per frame. */
#include "row_files.h"

#include <platform.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "frame_files.h"
#include "terminal.h"

static const char *const extensions[] = {"npy", "csv", "txt"};

/* folder/stem.npy, or 000017 as the stem of frames of an array or of standard input; to free(), NULL without memory. */
static char *name_of(const char *folder, const ast_input_frame *frame, uint64_t number, const char *extension) {
    char *name;
    size_t length;
    const char *stem = ast_cli_stem(frame->path, &length);
    int written = frame->number == AST_WHOLE ? asprintf(&name, "%s/%.*s.%s", folder, (int)length, stem, extension)
                                             : asprintf(&name, "%s/%06" PRIu64 ".%s", folder, number, extension);
    return written < 0 ? NULL : name;
}

/* The file of the frame that is there: .npy before .csv before .txt. */
static int find(const char *option, const char *folder, const ast_input_frame *frame, uint64_t number, char **path) {
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
        *path = name_of(folder, frame, number, extensions[e]);
        if (!*path)
            return ast_cli_no_memory("the names of the files to read");
        if (access(*path, R_OK) == 0)
            return -1;
        free(*path);
    }
    *path = name_of(folder, frame, number, "npy");
    int code = ast_cli_fail("%s: no such file (nor .csv or .txt), and --%s needs one for every frame with points",
                            *path ? *path : folder, option);
    free(*path);
    *path = NULL;
    return code;
}

/* One number per point. *numbers is the caller's to free(). */
static int read_numbers(const char *option, const char *folder, const ast_input_frame *frame, uint64_t number,
                        size_t count, double **numbers) {
    ast_format_error error;
    char remark[AST_REMARK] = "", *path;
    size_t read = 0;
    int code = find(option, folder, frame, number, &path);
    if (code >= 0)
        return code;
    bool good = ast_read_numbers(path, &(ast_input_options){.remark = remark}, numbers, &read, &error);
    if (!good)
        code = ast_cli_fail("%s", error.text);
    else if (read != count)
        code = ast_cli_fail("%s has %zu number%s, but %s has %zu point%s: it needs one for each", path, read,
                            read == 1 ? "" : "s", frame->source, count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && code < 0; i++)
        if (!isfinite((*numbers)[i]) || (*numbers)[i] < 0)
            code = ast_cli_fail("%s: number %zu is %g; it must be finite and not negative", path, i + 1, (*numbers)[i]);
    free(path);
    return code;
}

static int read_late(ast_cli_row_files *files, const ast_input_frame *frame, uint64_t number, size_t count) {
    double *numbers = NULL;
    int code = read_numbers("late", files->late, frame, number, count, &numbers);
    files->is_late = code < 0 ? malloc(count) : NULL;
    if (code < 0 && !files->is_late)
        code = ast_cli_no_memory("which points are late");
    for (size_t i = 0; i < count && code < 0; i++)
        files->is_late[i] = numbers[i] != 0;
    free(numbers);
    return code;
}

int ast_cli_row_files_read(ast_cli_row_files *files, const ast_input_frame *frame, uint64_t number,
                           ast_points *points) {
    int code = -1;
    ast_cli_row_files_free(files);
    if (points->count == 0)
        return -1;
    if (files->weights)
        code = read_numbers("weights", files->weights, frame, number, points->count, &files->weight);
    if (code < 0 && files->late)
        code = read_late(files, frame, number, points->count);
    points->weights = files->weight;
    points->late = files->late ? files->is_late : points->late;
    return code;
}

void ast_cli_row_files_free(ast_cli_row_files *files) {
    free(files->weight);
    free(files->is_late);
    files->weight = NULL;
    files->is_late = NULL;
}
