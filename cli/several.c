/* SPDX-License-Identifier: MIT
 *
 * The list of files, and the rows of one rank in memory: they are read from the files that hold them, and from no
 * other. Where the rows are larger than memory, memory.c opens the same list and reads it in parts. */
#include "several.h"

#include <depth_frames.h>
#include <fnv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli.h"
#include "files.h"
#include "ranks.h"
#include "terminal.h"

#define LOOKED_AT 1024  /* rows that the ranks compare: enough to tell one list of files from another */
#define OTHER_FILES 128 /* that may be open besides */

/* ---- Which files ------------------------------------------------------------------------------------------------- */

static int is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_npy(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcasecmp(path + length - 4, ".npy") == 0;
}

static int no_memory(void) {
    return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
}

static int add_path(ast_cli_several *several, const char *path) {
    size_t count = several->count;
    if ((count & (count - 1)) == 0) { /* a power of two: full */
        char **grown = realloc(several->paths, (count ? 2 * count : 1) * sizeof *grown);
        if (!grown)
            return no_memory();
        several->paths = grown;
    }
    several->paths[count] = strdup(path);
    if (!several->paths[count])
        return no_memory();
    several->count++;
    return -1;
}

/* The .npy files of a folder; what else it holds is not looked at. */
static int add_folder(ast_cli_several *several, const char *path) {
    ast_format_error error;
    ast_folder folder;
    if (!ast_folder_list(&folder, path, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    int code = -1;
    size_t before = several->count;
    for (size_t i = 0; i < folder.count && code < 0; i++)
        if (is_npy(folder.paths[i]))
            code = add_path(several, folder.paths[i]);
    ast_folder_free(&folder);
    if (code < 0 && several->count == before)
        code = ast_cli_fail(AST_CLI_FAILED, "%s: is a folder without an .npy file", path);
    return code;
}

/* A folder with a single file is that file. */
static int name_them(ast_cli_several *several, const char *folder) {
    if (several->count == 1) {
        several->name = several->paths[0];
        several->count = 0;
    } else if (folder) {
        several->name = strdup(folder);
    } else if (asprintf(&several->name, "%s and %zu more", several->paths[0], several->count - 1) < 0) {
        several->name = NULL;
    }
    return several->name ? -1 : no_memory();
}

int ast_cli_several_take(ast_cli_several *several, const char *command, const char *const *inputs, const char **input) {
    int code = -1;
    *input = inputs[0];
    if (!inputs[1] && (!is_folder(inputs[0]) || ast_depth_input(inputs[0])))
        return -1;
    for (size_t i = 0; inputs[i]; i++)
        if (!is_folder(inputs[i]) && !is_npy(inputs[i]))
            return ast_cli_fail(AST_CLI_USAGE,
                                "%s takes one input, not both '%s' and '%s', unless all are .npy files or folders of "
                                "them",
                                command, inputs[0], inputs[i ? i : 1]);
    for (size_t i = 0; inputs[i] && code < 0; i++)
        code = (is_folder(inputs[i]) ? add_folder : add_path)(several, inputs[i]);
    if (code < 0)
        code = name_them(several, inputs[1] ? NULL : inputs[0]);
    *input = several->name;
    return code;
}

void ast_cli_several_free(ast_cli_several *several) {
    for (size_t i = 0; i < several->count; i++)
        free(several->paths[i]);
    free(several->paths);
    free(several->name);
    *several = (ast_cli_several){0};
}

int ast_cli_several_kept(const ast_cli_several *several, const ast_cli_target *targets, size_t count) {
    int code = -1;
    for (size_t i = 0; i < several->count && code < 0; i++)
        code = ast_cli_check_kept(targets, count, several->paths[i]);
    return code;
}

/* ---- Their rows -------------------------------------------------------------------------------------------------- */

/* All of them are open at once, and many systems allow 1024 unless they are asked. */
static void allow_files(size_t count) {
    struct rlimit limit;
    rlim_t wanted = (rlim_t)count + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* whether it is enough shows on opening them */
}

bool ast_cli_several_open(const ast_cli_several *several, ast_rows *rows, ast_format_error *error) {
    allow_files(several->count);
    return ast_rows_open_all(rows, (const char *const *)several->paths, several->count, error);
}

/* Rows from everywhere, as one number; 0 where they cannot be read, which shows otherwise. */
static uint64_t glance(const ast_rows *rows, unsigned char *row) {
    const ast_source *source = &rows->source;
    uint64_t sum = ast_fnv(AST_FNV_START, &source->type, sizeof source->type);
    size_t step = source->count / LOOKED_AT + 1;
    for (size_t i = 0; i < source->count; i += step) {
        if (source->read(i, 1, row, source->data) != 0)
            return 0;
        sum = ast_fnv(sum, row, rows->row);
    }
    return sum;
}

int ast_cli_several_read(ast_rows *rows, const char *name, ast_points *points, void **data, size_t *first,
                         uint64_t *look) {
    ast_format_error error;
    const ast_source *source = &rows->source;
    size_t own;
    ast_cli_slice(source->count, first, &own);
    *data = malloc((own + 1) * rows->row);
    if (!*data)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for %zu points of %zu dimensions", name, own,
                            source->dimension);
    *look = ast_cli_ranks() ? glance(rows, *data) : 0;
    if (source->read(*first, own, *data, source->data) != 0 && ast_rows_failed(rows, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    *points = (ast_points){.size = sizeof(ast_points),
                           .data = *data,
                           .type = source->type,
                           .count = own,
                           .dimension = source->dimension,
                           .row_stride = (ptrdiff_t)rows->row,
                           .column_stride = (ptrdiff_t)(rows->row / source->dimension)};
    return -1;
}

int ast_cli_several_status(const ast_rows *rows, ast_status status, const ast_context *context, const char *input) {
    size_t own, row = ast_fault_row(context);
    if (status != AST_BAD_DATA || rows->file_count < 2 || row < 1 || row > rows->source.count)
        return ast_cli_status(status, context, input);
    const char *name = ast_rows_place(rows, row - 1, &own), *message = ast_message(context);
    char all[32]; /* the row of all files together, which the sentence begins with */
    int length = snprintf(all, sizeof all, "row %zu", row);
    return ast_cli_fail(AST_CLI_FAILED, "%s: row %zu%s", name, own + 1,
                        strncmp(message, all, (size_t)length) == 0 ? message + length : " cannot be used");
}
