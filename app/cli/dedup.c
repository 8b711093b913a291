/* SPDX-License-Identifier: MIT
 *
 * asterism dedup: near-duplicates. Which rows are kept, the groups, and the pairs. */
#include <asterism.h>
#include <formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "dedup_pairs_file.h"
#include "directions.h"
#include "interrupt.h"
#include "progress.h"
#include "targets.h"
#include "terminal.h"

enum { LONGEST = AST_KEEP_RANKED };
static const char *const modes[] = {"connected", "star", NULL};                 /* in the order of ast_dedup_mode */
static const char *const keeps[] = {"first", "central", "longest-named", NULL}; /* in the order of ast_dedup_keep */

typedef struct job {
    ast_cli_subject from;
    double cosine;
    int mode, keep;
    size_t memory;
    const char *names_file, *against_file;
    ast_input against;
    ast_points others; /* of --against */
    ast_names names;   /* of --names */
    double *lengths;   /* of the names */
    int32_t *groups, *numbers;
    uint8_t *kept;
    float *rows; /* for --output */
    ast_dedup_report report;
    ast_cli_pairs pairs;
    ast_cli_progress progress;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"cosine", AST_CLI_REAL, "C", "rows are near if their cosine is at least this, -1 to 1", AT(cosine), -1, 1,
     .required = "the least cosine of near rows",
     .more = "Exactly: if the cosine is at least C - 2^-20. 0.9 finds near copies in many embeddings; look at "
             "*--pairs* to choose."},
    {"mode", AST_CLI_CHOICE, "NAME",
     "connected: rows that a chain of near rows connects are one group (the default); star: every row of a "
     "group is near its kept row",
     AT(mode), .choices = modes, .standard = "connected"},
    {"keep", AST_CLI_CHOICE, "NAME",
     "which row of a group is kept: first; central: with the largest sum of cosines with its group, for star "
     "with the most near rows; longest-named: with the longest name",
     AT(keep), .choices = keeps, .standard = "first", .more = "Among equal ones it is the first."},
    {"names", AST_CLI_NAME, "FILE", "a text with one name per row, for --keep longest-named", AT(names_file),
     .needs = "keep", .excludes = "name-column"},
    {"name-column", AST_CLI_TEXT, "N|NAME",
     "the column of a text table that holds the names, by number or by its name in the header; it is no coordinate",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "transpose"},
    {"id", AST_CLI_TEXT, "NAME",
     "the column of a text table or a .parquet file that identifies the rows, in --pairs and in the text of --kept",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL,
     .excludes = "name-column names transpose"},
    {"against", AST_CLI_READ, "FILE",
     "rows that are kept already: a row near one of them is dropped, and the other rows are compared with each other",
     AT(against_file),
     .more = "Its group is the number of the nearest row of FILE; the groups of the others begin with the number of "
             "rows of FILE. *--columns* is for both files."},
    {"output", AST_CLI_TEXT, "FILE", "write the kept rows, as they are in INPUT: float32 .npy, .fbin, .fvecs, or text",
     .writes = AST_CLI_WRITES_ROWS, .more = "Names are not written: *--kept* tells which rows these are."},
    {"kept", AST_CLI_TEXT, "FILE", "write the numbers of the kept rows, from 0: int32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY},
    {"group-labels", AST_CLI_TEXT, "FILE",
     "write the number of its group for each row, -1 for missing ones: int32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .more = "Groups are numbered from 0 in order of their first row."},
    {"pairs", AST_CLI_TEXT, "FILE", "write the near pairs as i, j, cosine, i < j: .csv, .jsonl, or .npy of float64",
     .writes = AST_CLI_WRITES_OWN,
     .more = "In order of i and j. With *--against*, j - N is a row of its file, N the number of rows of INPUT. The "
             "pairs are in memory while they are found; without this option they are not."},
    {"memory", AST_CLI_AMOUNT, "SIZE",
     "copy rows that are not unit vectors of float32 only if that takes at most this much, such as 8G (default: "
     "always); otherwise they are normalised whenever they are read",
     .offset = AT(memory)},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(from.reading)), {0}};

static int check(void *data) {
    job *work = data;
    bool named = work->names_file || work->from.reading.source.names;
    if (work->keep == LONGEST && !named)
        return ast_cli_misuse("--keep longest-named needs the names: give --names FILE or --name-column N");
    if (work->keep != LONGEST && work->names_file)
        return ast_cli_misuse("--names is for --keep longest-named");
    const ast_cli_target *pairs = ast_cli_target_of(&work->from.common, "pairs");
    if (pairs && !ast_cli_pairs_check(pairs->path))
        return ast_cli_misuse("%s: pairs can be written with the extensions .csv, .jsonl and .npy", pairs->path);
    return ast_cli_subject_check(data);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Characters of UTF-8. */
static double count_characters(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return (double)count;
}

static int measure_names(job *work) {
    size_t count = work->from.directions.points.count;
    const ast_names *names = work->names_file ? &work->names : &work->from.directions.input.names;
    int code = work->names_file ? ast_cli_read_names(work->names_file, work->from.input, count, &work->names) : -1;
    if (code >= 0)
        return code;
    work->lengths = malloc(count * sizeof *work->lengths);
    if (!work->lengths)
        return ast_cli_fail("there is no memory for %zu names", count);
    for (size_t i = 0; i < count; i++)
        work->lengths[i] = i < names->count ? count_characters(names->list[i]) : 0;
    return -1;
}

static int read_against(job *work) {
    ast_format_error error;
    const ast_input_options options = {.columns = work->from.reading.source.columns,
                                       .names = work->from.reading.source.names,
                                       .tensor = work->from.reading.source.tensor,
                                       .dataset = work->from.reading.source.dataset};
    size_t dimension = work->from.directions.points.dimension;
    if (!ast_input_open(&work->against, work->against_file, &options, &error))
        return ast_cli_fail("%s", error.text);
    work->others = work->against.points;
    if (work->others.dimension != dimension)
        return ast_cli_fail("%s has rows of %zu components, but %s has rows of %zu", work->against_file,
                            work->others.dimension, ast_cli_name(work->from.input), dimension);
    return -1;
}

static int read_inputs(void *data) {
    job *work = data;
    int code = ast_cli_subject_read(work);
    size_t count = work->from.directions.points.count;
    if (code < 0 && work->keep == LONGEST)
        code = measure_names(work);
    if (code < 0 && work->against_file)
        code = read_against(work);
    if (code >= 0)
        return code;
    work->groups = malloc(count * sizeof *work->groups + 1);
    work->numbers = malloc(count * sizeof *work->numbers + 1);
    work->kept = malloc(count + 1);
    return work->groups && work->numbers && work->kept ? -1 : ast_cli_fail("there is no memory for %zu rows", count);
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static int show_progress(double done, void *data) {
    job *work = data;
    size_t count = work->from.directions.points.count;
    ast_cli_progress_share(&work->progress, (size_t)(done * (double)count), count, "rows", done);
    return ast_cli_interrupted();
}

static int take_pair(size_t i, size_t j, double cosine, void *data) {
    job *work = data;
    return !ast_cli_pairs_add(&work->pairs, i, j, cosine) || ast_cli_interrupted();
}

static ast_dedup_options options_of(job *work) {
    ast_dedup_options options;
    ast_dedup_options_init(&options);
    options.cosine = work->cosine;
    options.mode = (ast_dedup_mode)work->mode;
    options.keep = (ast_dedup_keep)work->keep;
    options.rank = work->lengths;
    options.against = work->against_file ? &work->others : NULL;
    options.memory = work->memory;
    options.pair = work->pairs.output ? take_pair : NULL;
    options.pair_data = work;
    options.progress = show_progress;
    options.progress_data = work;
    return options;
}

/* Of --id; NULL: rows are told by their numbers. */
static const ast_names *ids_of(const job *work) {
    return ast_cli_typed(&work->from.common, "id") ? &work->from.directions.input.names : NULL;
}

static int find_groups(void *data) {
    job *work = data;
    const ast_points *points = &work->from.directions.points;
    int code = ast_cli_open_targets(&work->from.common);
    if (code >= 0)
        return code;
    const ast_cli_target *target = ast_cli_target_of(&work->from.common, "pairs");
    if (target)
        ast_cli_pairs_open(&work->pairs, target->path, target->output);
    if (ids_of(work)) {
        work->pairs.ids = ids_of(work);
        work->pairs.other_ids = &work->against.names;
    }
    ast_dedup_options options = options_of(work);
    work->report.size = sizeof work->report;
    ast_cli_progress_start(&work->progress, &work->from.common, points->count);
    ast_status status = ast_dedup(work->from.context, points, &options, work->groups, work->kept, &work->report);
    ast_cli_progress_end(&work->progress);
    if (work->pairs.failed || (status == AST_OK && target && !ast_cli_pairs_end(&work->pairs)))
        return ast_cli_target_failed(target, &work->pairs.error);
    if (status == AST_BAD_DATA && work->against_file && ast_fault_row(work->from.context) > 0)
        return ast_cli_fail("%s or %s: %s", ast_cli_name(work->from.input), work->against_file,
                            ast_message(work->from.context));
    code = ast_cli_directions_status(&work->from.directions, status, work->from.context, work->from.input);
    if (code < 0 && work->report.missing == points->count)
        return ast_cli_no_usable_row(work->from.input);
    return code;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static void print_json(const void *data, ast_text *json) {
    const ast_dedup_report *report = &((const job *)data)->report;
    ast_json_integer(json, "rows", (int64_t)report->rows);
    ast_json_integer(json, "missing", (int64_t)report->missing);
    ast_json_integer(json, "kept", (int64_t)report->kept);
    ast_json_integer(json, "groups", (int64_t)report->groups);
    ast_json_integer(json, "duplicates", (int64_t)report->duplicates);
    ast_json_integer(json, "matched", (int64_t)report->matched);
    ast_json_integer(json, "pairs", (int64_t)report->pairs);
    ast_json_real(json, "seconds", report->seconds, 6);
}

static void print_table(const void *data) {
    const job *work = data;
    const ast_dedup_report *report = &work->report;
    char text[AST_GROUPED], name[AST_CLI_SHOWN];
    printf("%14s row%s\n", ast_grouped(report->rows, text), report->rows == 1 ? "" : "s");
    printf("%14s kept\n", ast_grouped(report->kept, text));
    printf("%14s group%s of two and more rows\n", ast_grouped(report->duplicates, text),
           report->duplicates == 1 ? "" : "s");
    if (work->against_file)
        printf("%14s near a row of %s\n", ast_grouped(report->matched, text), ast_cli_shown(work->against_file, name));
    printf("%14s near pair%s, cosine %g and more\n", ast_grouped(report->pairs, text), report->pairs == 1 ? "" : "s",
           work->cosine);
    printf("%14s missing\n", ast_grouped(report->missing, text));
}

/* The kept rows as floats. */
static int copy_rows(job *work, size_t kept) {
    const ast_points *points = &work->from.directions.points;
    double *row = malloc(points->dimension * sizeof *row);
    work->rows = malloc(kept * points->dimension * sizeof *work->rows + 1);
    if (!row || !work->rows) {
        free(row);
        return ast_cli_fail("there is no memory for %zu rows", kept);
    }
    for (size_t i = 0; i < kept; i++) {
        ast_points_row(points, (size_t)work->numbers[i], row);
        for (size_t d = 0; d < points->dimension; d++)
            work->rows[i * points->dimension + d] = (float)row[d];
    }
    free(row);
    return -1;
}

/* The ids of the kept rows, if --kept is a text; otherwise their numbers. */
static int write_kept(job *work, size_t kept) {
    ast_cli_target *target = ast_cli_target_of(&work->from.common, "kept");
    const ast_names *ids = ids_of(work);
    ast_format_error error;
    ast_text text = {0};
    ast_cli_fill_target(&work->from.common, "kept", ast_label_array(work->numbers, kept, 0));
    if (!target || !ids || ast_has_extension(target->path, ".npy"))
        return -1;
    target->writes = AST_CLI_WRITES_OWN;
    for (size_t i = 0; i < kept; i++) {
        ast_cli_put_field(&text, ids->list[work->numbers[i]]);
        ast_text_put(&text, "\n");
    }
    bool good = ast_text_write(&text, target->output, &error);
    ast_text_free(&text);
    return good ? -1 : ast_cli_target_failed(target, &error);
}

static int deliver(void *data) {
    job *work = data;
    const ast_cli_common *common = data;
    size_t kept = 0, count = work->from.directions.points.count;
    for (size_t i = 0; i < count; i++)
        if (work->kept[i])
            work->numbers[kept++] = (int32_t)i;
    int code = ast_cli_target_of(common, "output") ? copy_rows(work, kept) : -1;
    if (code >= 0)
        return code;
    ast_cli_fill_target(common, "output", ast_value_array(work->rows, kept, work->from.directions.points.dimension));
    code = write_kept(work, kept);
    if (code >= 0)
        return code;
    ast_cli_fill_target(common, "group-labels", ast_label_array(work->groups, count, 0));
    return ast_cli_deliver(common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    free(work->lengths);
    free(work->groups);
    free(work->numbers);
    free(work->kept);
    free(work->rows);
    ast_cli_pairs_free(&work->pairs);
    ast_names_free(&work->names);
    ast_input_close(&work->against);
    ast_cli_subject_end(data);
}

static ast_cli_step *const steps[] = {ast_cli_subject_find, check, read_inputs, find_groups, deliver, NULL};

const ast_cli_command ast_cli_dedup = {
    .name = "dedup",
    .summary = "find near-duplicates: all pairs of rows with a large cosine",
    .usage = "dedup INPUT... --cosine C [options]",
    .about = "Finds all pairs of rows whose cosine is at least C, exactly, and keeps one row of each group of near "
             "rows. The time grows slowly with the number of pairs, and equal rows cost nothing.",
    .more = "The rows are compared in blocks of similar rows by bounds that include every rounding error, so the "
            "result is that of comparing all pairs. It takes about 300 bytes per row besides the rows. Rows of a "
            ".npy that are float32 unit vectors are used where they are in the file, which may be larger than memory.",
    .examples = "asterism dedup embeddings.npy --cosine 0.9 --output kept.npy\n"
                "asterism dedup embeddings.npy --cosine 0.95 --mode star --keep central --kept rows.txt\n"
                "asterism dedup titles.csv --name-column 1 --cosine 0.9 --keep longest-named --pairs pairs.csv\n"
                "asterism dedup new.npy --cosine 0.9 --against kept.npy --output more.npy",
    .input = "an INPUT file, or - for standard input",
    .many = 1,
    .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
