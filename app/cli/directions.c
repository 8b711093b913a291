/* SPDX-License-Identifier: MIT
 *
 * From INPUT to directions. The files are listed once and opened once; whether a table fits into memory is seen from
 * the open file. */
#include "directions.h"

#include <platform.h>
#include <fnv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "memory.h"
#include "ranks.h"
#include "terminal.h"

#define HASHED_ROWS 1024 /* rows that the ranks compare: enough to tell one list of files from another */
#define OTHER_FILES 128  /* that may be open besides */

/* ---- What it is -------------------------------------------------------------------------------------------------- */

/* Several inputs are files of one binary format, and folders of them. */
static int check_inputs(const char *command, const ast_cli_input *inputs) {
    const struct ast_format *first = NULL;
    for (size_t i = 0; inputs[1].path && inputs[i].path; i++) {
        ast_file_format format = inputs[i].format;
        if (ast_is_folder(inputs[i].path))
            continue;
        if (!ast_format_has_rows(format) || (first && format.row != first))
            return ast_cli_misuse(
                "%s takes one input, not both '%s' and '%s', unless all are files of one binary format, "
                "such as .npy, or folders of them",
                command, inputs[0].path, inputs[i ? i : 1].path);
        first = format.row;
    }
    return -1;
}

/* Keeps the files of one binary format among those of a folder, which begin at `first`: .npy files if there are any,
 * otherwise the format of the first file. */
static int keep_tables(ast_frame_list *list, size_t first, const char *input) {
    const struct ast_format *wanted = NULL, *npy = ast_format_of("-", "npy").row;
    size_t kept = first;
    for (size_t i = first; i < list->count; i++) {
        ast_file_format format = list->files[i].format;
        wanted = ast_format_has_rows(format) && (!wanted || format.row == npy) ? format.row : wanted;
    }
    for (size_t i = first; i < list->count; i++) {
        ast_file_format format = list->files[i].format;
        if (ast_format_has_rows(format) && format.row == wanted)
            list->files[kept++] = list->files[i];
        else
            free(list->files[i].path);
    }
    list->count = kept;
    return kept > first ? -1 : ast_cli_fail("%s: is a folder without an .npy file or another binary table", input);
}

static int name_them(ast_cli_reading *how, const char **input) {
    const ast_frame_list *list = how->list;
    const ast_cli_input *inputs = how->inputs;
    *input = list->files[0].path; /* a folder with a single file is that file */
    if (list->count == 1)
        return -1;
    if (!inputs[1].path)
        how->name = strdup(inputs[0].path);
    else if (asprintf(&how->name, "%s and %zu more", list->files[0].path, list->count - 1) < 0)
        how->name = NULL;
    *input = how->name;
    return how->name ? -1 : ast_cli_no_memory("the list of inputs");
}

static int add_input(ast_cli_reading *how, const ast_cli_input *input, bool several) {
    ast_format_error error;
    ast_frame_list *list = how->list;
    size_t before = list->count;
    ast_frame_kind kind = several ? AST_AS_TABLES : ast_cli_camera_kind(input);
    if (!ast_frame_list_add(list, input->path, input->format, kind, &error))
        return ast_cli_end(list->misused ? AST_CLI_USAGE : AST_CLI_FAILED, "%s", error.text);
    bool file = list->count == before + 1 && strcmp(list->files[before].path, input->path) == 0;
    return list->depth || file ? -1 : keep_tables(list, before, input->path);
}

static int list_inputs(ast_cli_reading *how, const ast_cli_common *common, const char **input) {
    const ast_cli_input *inputs = how->inputs;
    bool several = inputs[1].path;
    *input = inputs[0].path;
    how->kind = AST_CLI_SURFACE;
    if (!several && (inputs[0].format.holds & AST_HOLDS_SOLID))
        return -1;
    int code = check_inputs(common->command->name, inputs);
    if (code < 0 && !(how->list = calloc(1, sizeof *how->list)))
        code = ast_cli_no_memory("the list of inputs");
    if (code < 0)
        code = ast_cli_camera_scene(&how->camera, inputs, how->list);
    for (size_t i = 0; inputs[i].path && code < 0; i++)
        code = add_input(how, &inputs[i], several);
    if (code >= 0)
        return code;
    how->kind = how->list->depth ? AST_CLI_IMAGES : AST_CLI_ROWS;
    return how->list->depth ? -1 : name_them(how, input);
}

int ast_cli_reading_find(ast_cli_reading *how, const ast_cli_common *common, const char **input) {
    how->inputs = common->inputs;
    ast_cli_camera_resolve(&how->camera, common, AST_SMOOTH_GUIDED);
    if (!how->inputs[0].path)
        return -1;
    ast_cli_camera_beside(&how->camera, how->inputs);
    return list_inputs(how, common, input);
}

void ast_cli_reading_free(ast_cli_reading *how) {
    if (how->list)
        ast_frame_list_free(how->list);
    free(how->list);
    free(how->name);
}

int ast_cli_reading_check(const ast_cli_reading *how, const ast_cli_common *common, const char *input) {
    static const unsigned kinds[] = {[AST_CLI_ROWS] = AST_CLI_POINTS | AST_CLI_SPARSE,
                                     [AST_CLI_IMAGES] = AST_CLI_DEPTH,
                                     [AST_CLI_SURFACE] = AST_CLI_SOLID};
    int code = ast_cli_rules_of_kind(common, how->name ? AST_CLI_SEVERAL : kinds[how->kind], input);
    if (code < 0 && how->kind == AST_CLI_IMAGES)
        code = ast_cli_depth_usage(&how->camera, input);
    if (code < 0 && how->kind == AST_CLI_ROWS && !how->name)
        code = ast_cli_check_points(input, how->list->files[0].format, &how->source);
    if (code < 0)
        code = ast_cli_check_targets(common, input);
    for (size_t i = 0; how->name && i < how->list->count && code < 0; i++)
        code = ast_cli_check_overwrite(common, how->list->files[i].path);
    return code;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* All files are open at once, and many systems allow only 1024 unless a process asks for more. */
static void allow_files(size_t count) {
    ast_allow_open_files(count + OTHER_FILES);
}

static int open_table(ast_cli_directions *d, const ast_cli_reading *how) {
    ast_format_error error;
    const ast_frame_list *list = how->list;
    ast_input_options options = ast_cli_input_options(&how->source);
    options.remark = d->remark;
    allow_files(list->count);
    d->joined = list->count > 1;
    return ast_cli_outcome(ast_input_begin(&d->input, list->files, list->count, &options, &error), &error);
}

/* The numbers of a text take less memory than its bytes, but at least a third of it. */
static int refuse_large_text(const ast_cli_directions *d, const char *input) {
    char text[2][AST_CLI_BYTES];
    double size = (double)d->input.size;
    if (size / 3 <= (double)d->allowed)
        return -1;
    return ast_cli_fail("%s has %s and does not fit into the memory budget of %s; only .npy files in C order and other "
                        "binary tables (.fbin, .fvecs, .safetensors, .h5 and so on) may be larger",
                        input, ast_cli_bytes(size, text[0]), ast_cli_bytes((double)d->allowed, text[1]));
}

/* Whether the table is to be read in parts. */
static int fit(ast_cli_directions *d, const ast_cli_reading *how, const char *input, const ast_cli_budget *budget) {
    ast_format_error error;
    const ast_source *source = &d->input.source;
    if (!budget)
        return -1;
    d->allowed = budget->memory ? budget->memory : ast_cli_memory_free();
    d->input.allowed = d->allowed;
    if (d->input.size == 0)
        return -1;
    if (source->count == 0)
        return refuse_large_text(d, input);
    double row = (double)ast_source_row(source) + budget->point + budget->component * (double)source->dimension;
    if ((double)source->count * row <= (double)d->allowed)
        return -1;
    d->in_parts = 1;
    d->points = (ast_points){.size = sizeof(ast_points), .count = source->count, .dimension = source->dimension};
    if (!ast_input_by_rows(&d->input, &error))
        return ast_cli_fail("%s", error.text);
    if (ast_cli_field_notation(&how->source))
        return ast_cli_fail("%s: does not fit into memory, and tables of angles must", input);
    return -1;
}

/* A hash of rows spread over the whole table; 0 if they cannot be read, which another call reports. */
static uint64_t hash_some_rows(const ast_source *source) {
    size_t size = ast_source_row(source), step = source->count / HASHED_ROWS + 1;
    uint64_t sum = ast_fnv(AST_FNV_START, &source->type, sizeof source->type);
    unsigned char *row = malloc(size);
    for (size_t i = 0; row && i < source->count && sum; i += step)
        sum = source->read(i, 1, row, source->data) == 0 ? ast_fnv(sum, row, size) : 0;
    free(row);
    return row ? sum : 0;
}

/* Reads the rows of several files that belong to this rank; on one rank all rows. */
static int read_joined(ast_cli_directions *d) {
    ast_format_error error;
    size_t own;
    ast_cli_slice(d->input.source.count, &d->first, &own);
    d->rows_hash = ast_cli_ranks() ? hash_some_rows(&d->input.source) : 0;
    if (!ast_input_read_rows(&d->input, d->first, own, &error))
        return ast_cli_fail("%s", error.text);
    d->points = d->input.points;
    return -1;
}

/* Where reading takes memory, a rank of a command that can take files in parts reads the rows that are its own. */
static int in_shares(const ast_cli_directions *d, const ast_cli_reading *how, const ast_cli_common *common) {
    ast_format_error unused;
    return ast_cli_ranks() && d->input.unmapped && (common->command->inputs & AST_CLI_SEVERAL) &&
           !ast_cli_field_notation(&how->source) && ast_input_by_rows(&d->input, &unused);
}

static int read_table(ast_cli_directions *d, const ast_cli_reading *how, const ast_cli_common *common,
                      const char *input, const ast_cli_budget *budget) {
    int code = open_table(d, how);
    if (code < 0)
        code = fit(d, how, input, budget);
    if (code < 0)
        d->joined |= in_shares(d, how, common);
    if (code < 0 && d->joined && !d->in_parts)
        code = read_joined(d);
    if (code < 0 && !d->joined && !d->in_parts) {
        code = ast_cli_read_points(&d->input, input, &how->source);
        ast_cli_say_remark(common, d->remark);
        if (code < 0)
            code = ast_cli_sparse_apply(&how->sparse, input, &d->input);
        d->points = d->input.points;
        if (code < 0)
            ast_cli_say_table(common, input, &d->points);
    }
    d->transposed = how->source.transpose;
    d->height = d->input.height;
    d->width = d->input.width;
    d->all = d->joined ? d->input.source.count : d->points.count;
    return code;
}

/* ---- Anything ---------------------------------------------------------------------------------------------------- */

static int read_depth(ast_cli_directions *d, const ast_cli_reading *how, const char *command, const char *input,
                      ast_context *context) {
    int code = ast_cli_frames_open(&d->depth, how->list, &how->camera, NULL, 0, 0);
    if (code < 0)
        code = ast_cli_frames_single(&d->depth, command, input);
    if (code < 0)
        code = ast_cli_frame_points(&d->made, &d->depth, context, &d->points);
    d->height = d->depth.height;
    d->width = d->depth.width;
    d->all = d->points.count;
    return code;
}

int ast_cli_directions_read(ast_cli_directions *d, const ast_cli_reading *how, const ast_cli_common *common,
                            const char *input, ast_context *context, const ast_cli_budget *budget) {
    d->kind = how->kind;
    if (d->kind == AST_CLI_ROWS)
        return read_table(d, how, common, input, budget);
    if (d->kind == AST_CLI_IMAGES)
        return read_depth(d, how, common->command->name, input, context);
    int code = ast_cli_surface_read(&d->surface, &how->cloud, how->inputs, context, 0);
    d->points = ast_cli_surface_points(&d->surface);
    d->all = d->points.count;
    return code;
}

ast_array ast_cli_directions_array(const ast_cli_directions *d, const int32_t *labels, const float *values) {
    return (ast_array){.integers = labels,
                       .reals = values,
                       .dimensions = d->width ? 2 : 1,
                       .sizes = {d->width ? d->height : d->all, d->width}};
}

int ast_cli_directions_status(const ast_cli_directions *d, ast_status status, const ast_context *context,
                              const char *input) {
    ast_format_error error;
    size_t own, row = ast_fault_row(context);
    if (status == AST_NO_INPUT && ast_input_failed(&d->input, &error))
        return ast_cli_fail("%s", error.text);
    if (status == AST_BAD_DATA && row == 0 && d->kind == AST_CLI_ROWS && !d->joined && !d->transposed &&
        d->points.dimension > d->points.count)
        return ast_cli_fail("%s: %s; if each column is a point, give --transpose", ast_cli_name(input),
                            ast_message(context));
    if (status != AST_BAD_DATA || !d->joined || row < 1 || row > d->input.source.count)
        return ast_cli_status(status, context, input);
    const char *name = ast_input_row_file(&d->input, row - 1, &own), *message = ast_message(context);
    char all[32]; /* the row of all files together, which the sentence begins with */
    int length = snprintf(all, sizeof all, "row %zu", row);
    return ast_cli_fail("%s: row %zu%s", name, own + 1,
                        strncmp(message, all, (size_t)length) == 0 ? message + length : " cannot be used");
}

void ast_cli_directions_close(ast_cli_directions *d) {
    ast_input_close(&d->input);
    ast_cli_frame_normals_close(&d->made);
    ast_frames_close(d->depth.frames);
    ast_cli_surface_free(&d->surface);
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

int ast_cli_subject_find(void *data) {
    ast_cli_subject *subject = data;
    subject->axial |= subject->reading.cloud.undirected;
    return ast_cli_reading_find(&subject->reading, &subject->common, &subject->input);
}

int ast_cli_subject_check(void *data) {
    const ast_cli_subject *subject = data;
    return ast_cli_reading_check(&subject->reading, &subject->common, subject->input);
}

int ast_cli_subject_read_within(ast_cli_subject *subject, const ast_cli_budget *budget) {
    int code = ast_cli_open_context(&subject->common, &subject->context);
    return code < 0 ? ast_cli_directions_read(&subject->directions, &subject->reading, &subject->common, subject->input,
                                              subject->context, budget)
                    : code;
}

int ast_cli_subject_read(void *data) {
    return ast_cli_subject_read_within(data, NULL);
}

void ast_cli_subject_end(void *data) {
    ast_cli_subject *subject = data;
    ast_cli_directions_close(&subject->directions);
    ast_cli_reading_free(&subject->reading);
    ast_close(subject->context);
}
