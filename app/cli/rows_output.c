/* SPDX-License-Identifier: MIT
 *
 * The table of --output as .csv, .jsonl or .parquet, in parts. */
#include "rows_output.h"

#include <json.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dedup_pairs_file.h"
#include "targets.h"
#include "terminal.h"

enum { CSV, JSONL, PARQUET };
enum { DIGITS = 9, PART = 65536 };

static const char *const extensions[] = {".csv", ".jsonl", ".parquet", NULL};

static int kind_of(const char *path) {
    for (int kind = 0; extensions[kind]; kind++)
        if (ast_has_extension(path, extensions[kind]))
            return kind;
    return strcmp(path, "-") == 0 ? CSV : -1;
}

int ast_cli_check_rows_output(const ast_cli_common *common) {
    const ast_cli_target *target = ast_cli_target_of(common, "output");
    if (target && kind_of(target->path) < 0)
        return ast_cli_misuse("--output %s: a table of rows is written as .csv, .jsonl or .parquet", target->path);
    return -1;
}

/* ---- Ids --------------------------------------------------------------------------------------------------------- */

/* Whether reading the number gives the same text. */
static bool is_whole_number(const char *text) {
    char own[24];
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    snprintf(own, sizeof own, "%lld", number);
    return errno == 0 && strcmp(own, text) == 0;
}

static bool all_whole(const ast_names *ids) {
    for (size_t i = 0; ids && i < ids->count; i++)
        if (!is_whole_number(ids->list[i]))
            return false;
    return true;
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Joining by an id that stands twice gives rows that are not there. */
static int warn_twice(const ast_cli_common *common, const ast_names *ids) {
    if (common->quiet || !ids)
        return -1;
    char **sorted = malloc((ids->count + 1) * sizeof *sorted), quoted[AST_EXCERPT];
    if (!sorted)
        return ast_cli_fail("there is no memory to compare %zu ids", ids->count);
    memcpy(sorted, ids->list, ids->count * sizeof *sorted);
    qsort(sorted, ids->count, sizeof *sorted, compare);
    size_t twice = 0, first = 0;
    for (size_t i = 1; i < ids->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0 && twice++ == 0)
            first = i;
    if (twice) {
        ast_excerpt(quoted, sorted[first], strlen(sorted[first]));
        ast_cli_warn("%zu id%s repeated, such as '%s': a join by id finds such rows more than once", twice,
                     twice == 1 ? " is" : "s are", quoted);
    }
    free(sorted);
    return -1;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

int ast_cli_rows_begin(ast_cli_rows_output *rows, const ast_cli_common *common, const ast_names *ids) {
    ast_format_error error = {""};
    const ast_cli_target *target = ast_cli_target_of(common, "output");
    *rows = (ast_cli_rows_output){.output = target ? target->output : NULL, .ids = ids};
    if (!rows->output)
        return -1;
    rows->kind = kind_of(target->path);
    rows->text = !all_whole(ids);
    int code = warn_twice(common, ids);
    if (code >= 0)
        return code;
    const char *head = "id,cluster,similarity\n";
    bool good = true;
    if (rows->kind == CSV)
        good = ast_output_write(rows->output, head, strlen(head), &error);
    else if (rows->kind == PARQUET)
        good = (rows->parquet = ast_parquet_writer_open(rows->output, rows->text, &error)) != NULL;
    return good ? -1 : ast_cli_target_failed(target, &error);
}

static void put_csv(ast_text *text, const char *id, int32_t label, float similarity) {
    char numbers[64];
    ast_cli_put_field(text, id);
    if (isnan(similarity))
        snprintf(numbers, sizeof numbers, ",%d,\n", label);
    else
        snprintf(numbers, sizeof numbers, ",%d,%.*g\n", label, DIGITS, (double)similarity);
    ast_text_put(text, numbers);
}

static void put_json(ast_text *text, const char *id, bool is_text, int32_t label, float similarity) {
    ast_json_open(text, NULL, '{');
    if (is_text)
        ast_json_string(text, "id", id);
    else
        ast_json_integer(text, "id", strtoll(id, NULL, 10));
    ast_json_integer(text, "cluster", label);
    ast_json_real(text, "similarity", (double)similarity, DIGITS);
    ast_json_close(text, '}');
    ast_text_put(text, "\n");
}

static bool put_lines(ast_cli_rows_output *rows, const ast_rows_part *part, ast_format_error *error) {
    ast_text text = {0};
    char number[24];
    bool good = true;
    for (size_t i = 0; i < part->count && good; i++) {
        const char *id = part->ids ? part->ids[i] : number;
        snprintf(number, sizeof number, "%zu", part->first + i);
        if (rows->kind == CSV)
            put_csv(&text, id, part->labels[i], part->similarity[i]);
        else
            put_json(&text, id, rows->text, part->labels[i], part->similarity[i]);
        good = text.size < PART || ast_text_write(&text, rows->output, error);
    }
    good = good && ast_text_write(&text, rows->output, error);
    ast_text_free(&text);
    return good;
}

bool ast_cli_rows_put(ast_cli_rows_output *rows, size_t first, size_t count, const int32_t *labels,
                      const float *similarity, ast_format_error *error) {
    bool good = true;
    for (size_t at = 0; at < count && good && rows->output; at += PART) {
        ast_rows_part part = {first + at, count - at < PART ? count - at : PART,
                              rows->ids ? (const char *const *)rows->ids->list + first + at : NULL, labels + at,
                              similarity + at};
        good =
            rows->kind == PARQUET ? ast_parquet_write_rows(rows->parquet, &part, error) : put_lines(rows, &part, error);
    }
    return good;
}

bool ast_cli_rows_end(ast_cli_rows_output *rows, bool good, ast_format_error *error) {
    if (rows->parquet)
        good = good && ast_parquet_writer_end(rows->parquet, error);
    ast_parquet_writer_free(rows->parquet);
    rows->parquet = NULL;
    return good;
}
