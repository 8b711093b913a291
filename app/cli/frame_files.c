/* SPDX-License-Identifier: MIT
 *
 * The files that are written for each frame: their names and their folder. */
#include "frame_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets.h"
#include "terminal.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The name without its folder and the extensions that say how to read it: 000017 of depth/000017.csv.gz. */
const char *ast_cli_stem(const char *path, size_t *length) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    *length = strlen(name);
    if (ast_has_extension(name, ".gz"))
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
static char *target_of(const ast_cli_frame_files *files, const char *path) {
    char *target;
    size_t length;
    const char *stem = ast_cli_stem(path, &length);
    return asprintf(&target, "%s/%.*s.%s", files->folder, (int)length, stem, files->extension) < 0 ? NULL : target;
}

static int overwrites(const ast_cli_frame_files *files, const char *path) {
    return ast_cli_fail("--%s %s would overwrite the input %s", files->option, files->folder, path);
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

/* Whether the whole file is one frame, which gives its name to the labels. */
static int is_one_frame(const ast_input_file *file, const ast_cli_frames *inputs) {
    return inputs->list->depth ? !ast_frames_numbered(inputs->frames) : ast_frames_single(file);
}

/* Of two ast_input_file, for qsort. */
static int compare_stems(const void *a, const void *b) {
    size_t length_a, length_b;
    const char *stem_a = ast_cli_stem(((const ast_input_file *)a)->path, &length_a),
               *stem_b = ast_cli_stem(((const ast_input_file *)b)->path, &length_b);
    int order = memcmp(stem_a, stem_b, length_a < length_b ? length_a : length_b);
    return order ? order : (length_a > length_b) - (length_a < length_b);
}

/* `sorted` has room for the files. */
static int check_stems(const ast_cli_frame_files *files, const ast_cli_frames *inputs, ast_input_file *sorted) {
    size_t count = inputs->list->count, length;
    memcpy(sorted, inputs->list->files, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_stems);
    for (size_t i = 1; i < count; i++) {
        const ast_input_file *one = &sorted[i - 1], *other = &sorted[i];
        const char *stem = ast_cli_stem(other->path, &length);
        if (compare_stems(one, other) == 0 && is_one_frame(one, inputs) && is_one_frame(other, inputs))
            return ast_cli_fail("the %s of %s and %s would both be %s/%.*s.%s", files->what, one->path, other->path,
                                files->folder, (int)length, stem, files->extension);
    }
    return -1;
}

int ast_cli_frame_files_check(const ast_cli_frame_files *files, const ast_cli_frames *inputs) {
    const ast_frame_list *list = inputs->list;
    if (!files->folder)
        return -1;
    int code = ast_cli_check_folder(files->option, files->folder);
    if (code >= 0)
        return code;
    for (size_t i = 0; i < list->count; i++) {
        const char *path = list->files[i].path;
        char *target = target_of(files, path);
        if (!target)
            return ast_cli_no_memory("the names of the files to write");
        int bad = ast_same_file(target, path) && is_one_frame(&list->files[i], inputs);
        free(target);
        if (bad)
            return overwrites(files, path);
    }
    ast_input_file *sorted = malloc((list->count + 1) * sizeof *sorted);
    if (!sorted)
        return ast_cli_no_memory("the names of the files to write");
    code = check_stems(files, inputs, sorted);
    free(sorted);
    return code;
}

int ast_cli_frame_files_make(const ast_cli_frame_files *files) {
    return files->folder ? ast_cli_make_folder(files->option, files->folder) : -1;
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

int ast_cli_frame_files_open(const ast_cli_frame_files *files, const ast_input_frame *frame, uint64_t number,
                             ast_output **output) {
    ast_format_error error;
    char *target = NULL;
    if (frame->number == AST_WHOLE)
        target = target_of(files, frame->path);
    else if (asprintf(&target, "%s/%06" PRIu64 ".%s", files->folder, number, files->extension) < 0)
        target = NULL;
    if (!target)
        return ast_cli_no_memory("the names of the files to write");
    if (ast_same_file(target, frame->path)) {
        free(target);
        return overwrites(files, frame->path);
    }
    *output = ast_output_open_sole(target, files->durable, &error);
    free(target);
    return ast_cli_outcome(*output != NULL, &error);
}

int ast_cli_frame_files_close(ast_output *output, bool good, ast_format_error *error) {
    return ast_cli_outcome(ast_output_close(output, good, error), error);
}
