/* SPDX-License-Identifier: MIT
 *
 * Reading a command line by its table. `--name value` and `--name=value` are the same; `--` ends the options; `-` is an
 * input like any other. An option given twice is a mistake, since one of the two values would be ignored in silence. */
#include "options.h"
#include "files.h"
#include "pages.h"
#include "ranks.h"
#include "targets.h"
#include "terminal.h"

#include <platform.h>
#include <assert.h>
#include <errno.h>
#include <frames.h>
#include <math.h>
#include <stdlib.h>
#include <images.h>
#include <number.h>
#include <string.h>

enum { MOST_OPTIONS = AST_CLI_MOST_TYPED };

static const ast_cli_option common_options[] = {
    {"threads", AST_CLI_COUNT, "N", "number of threads; 0 uses all processors", offsetof(ast_cli_common, threads), 0,
     256, .standard = "0"},
    {"seed", AST_CLI_SEED, "S", "seed of everything random", offsetof(ast_cli_common, seed), .standard = "1"},
    {"json", AST_CLI_FLAG, NULL, "print one JSON object instead of the table for people",
     offsetof(ast_cli_common, json), .more = "See `JSON`."},
    {"quiet", AST_CLI_FLAG, NULL, "print no table and no progress", .offset = offsetof(ast_cli_common, quiet)},
    {"progress", AST_CLI_FLAG, NULL, "show progress even if standard error is not a terminal",
     .offset = offsetof(ast_cli_common, progress)},
    {0}};
static const ast_cli_group common_group = {.title = "Common options", .options = common_options};

static const char *const parallels[] = {"ordered", "oir", "serial", NULL}; /* in the order of ast_parallel */

/* None of these changes a label of a run that converges, except that fewer passes may stop it before. */
#define AT(field) offsetof(ast_cli_passes, field)
static const ast_cli_option passes_options[] = {
    {"max-iterations", AST_CLI_INT, "N", "maximum number of passes of a run or a frame", AT(max_iterations), 1,
     2147483647, .standard = "100",
     .more = "A run that it stops is no failure; the result says so. `stream` and `segment` take 10 for the normals of "
             "pixels of depth images (`--smooth guided`, `tv` or `none`). For `fsd` and `crp` it counts sweeps, for "
             "`ospkm` rounds over the points, for `mbspkm` batches."},
    {"parallel", AST_CLI_CHOICE, "HOW",
     "how a pass runs: ordered, oir or serial; the labels are the same, only the time differs", AT(parallel),
     .choices = parallels, .standard = "ordered", .methods = AST_CLI_BY_PASSES,
     .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS, .more = "`oir` is optimistic iterated restarts."},
    {"no-bounds", AST_CLI_OFF, NULL,
     "compare every point with every mean in every pass: the same labels, slower; for measurements", AT(bounds),
     .methods = AST_CLI_BY_PASSES},
    {0}};

const ast_cli_group ast_cli_passes_group = {.options = passes_options};

typedef struct parser {
    const ast_cli_command *command;
    ast_cli_common *common;
    void *settings;
    size_t input_count, input_room;
    glob_t *found; /* the files that patterns stand for */
} parser;

size_t ast_cli_groups(const ast_cli_command *command, ast_cli_use groups[AST_CLI_GROUPS]) {
    size_t count = 0;
    for (const ast_cli_use *use = command->uses; use && use->group; use++) {
        assert(count < AST_CLI_GROUPS - 1);
        groups[count++] = *use;
    }
    groups[count++] = (ast_cli_use){.group = &common_group};
    return count;
}

const ast_cli_option *ast_cli_find(const ast_cli_command *command, const char *name, ast_cli_use *use) {
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups);
    for (size_t i = 0; i < count; i++) {
        for (const ast_cli_option *option = groups[i].group->options; option->name; option++) {
            if (strcmp(option->name, name) != 0)
                continue;
            if (use)
                *use = groups[i];
            return option;
        }
    }
    return NULL;
}

const char *ast_cli_typed(const ast_cli_common *common, const char *name) {
    for (size_t i = 0; i < common->typed_count; i++)
        if (strcmp(common->typed[i]->name, name) == 0)
            return common->values[i] ? common->values[i] : "";
    return NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int is_number(const char *word) {
    return word && word[0] && !word[strspn(word, "0123456789")];
}

static int store_text(const ast_cli_option *option, const char *value, const char **field) {
    if (!value[0])
        return ast_cli_misuse("--%s is empty; it needs %s", option->name, option->value);
    *field = value;
    if (option->kind == AST_CLI_PAGE)
        return ast_cli_report_check(option->name, value);
    if (option->kind == AST_CLI_READ)
        return ast_cli_check_read(option->name, value);
    if (option->kind == AST_CLI_NAME && strcmp(value, "-") == 0)
        return ast_cli_misuse("--%s needs a name: - is for the points alone", option->name);
    return -1;
}

static int store_numbers(const ast_cli_option *option, const char *value, double *field) {
    int count = (int)option->low;
    const char *at = value;
    for (int i = 0; i < count; i++) {
        char *end;
        field[i] = strtod(at, &end);
        if (end == at || !isfinite(field[i]) || *end != (i + 1 < count ? ',' : 0))
            return ast_cli_misuse("--%s must be %d numbers %s, not '%s'", option->name, count, option->value, value);
        at = end + 1;
    }
    return -1;
}

/* Digits alone, up to 2^27: what asterism_depth.h takes. */
static int store_pixels(const ast_cli_option *option, const char *value, size_t *field) {
    uint64_t width, height = 0;
    const char *end = ast_whole_parse(value, NULL, &width);
    end = end && *end == 'x' ? ast_whole_parse(end + 1, NULL, &height) : NULL;
    if (!end || *end || !width || !height || width > AST_PIXELS_MOST / height)
        return ast_cli_misuse("--%s must be WIDTHxHEIGHT in pixels, such as 640x480, not '%s'", option->name, value);
    field[0] = width;
    field[1] = height;
    return -1;
}

static int store_bytes(const ast_cli_option *option, const char *value, size_t *field) {
    static const char units[] = "KMGT";
    char *end;
    double number = strtod(value, &end);
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        number *= 1024;
    end += unit ? 1 : 0;
    if (unit && strcasecmp(end, "iB") == 0)
        end += 2;
    if (end == value || *end || !(number >= 0x1p20) || number > 0x1p62)
        return ast_cli_misuse("--%s must be a size of at least 1M, such as 512M or 8G, not '%s'", option->name, value);
    *field = (size_t)number;
    return -1;
}

/* Rounded, so that round cosines are round angles: 0.5 is 60 degrees, as if 60 had been typed. */
static double degrees_of(double cosine) {
    return rint(acos(cosine) * (180 / 3.14159265358979323846) * 1e11) / 1e11;
}

static int store_real(const ast_cli_option *option, const char *value, double *field) {
    char *end;
    const char *word = option->choices ? option->choices[0] : NULL;
    if (word && strcmp(value, word) == 0) {
        *field = INFINITY;
        return -1;
    }
    double number = strtod(value, &end);
    /* Written so that NaN is outside every range. */
    if (end == value || *end || !(number >= option->low && number <= option->high)) {
        if (isinf(option->high))
            return ast_cli_misuse("--%s must be a number of at least %g, not '%s'", option->name, option->low, value);
        return ast_cli_misuse("--%s must be a number from %g to %g%s%s, not '%s'", option->name, option->low,
                              option->high, word ? " or " : "", word ? word : "", value);
    }
    *field = option->kind == AST_CLI_COSINE ? degrees_of(number) : number;
    return -1;
}

/* Digits alone: strtoull would take spaces and signs too. 0 if it is no such number. */
static int whole_number(const char *text, uint64_t *number) {
    if (!is_number(text))
        return 0;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return errno == 0;
}

static int store_count(const ast_cli_option *option, const char *value, size_t *field) {
    uint64_t number;
    const char *word = option->choices ? option->choices[0] : NULL;
    if (word && strcmp(value, word) == 0) {
        *field = SIZE_MAX;
        return -1;
    }
    if (!whole_number(value, &number) || (double)number < option->low || (double)number > option->high)
        return ast_cli_misuse("--%s must be a whole number from %.0f to %.0f%s%s, not '%s'", option->name, option->low,
                              option->high, word ? " or " : "", word ? word : "", value);
    *field = (size_t)number;
    return -1;
}

static int store_seed(const ast_cli_option *option, const char *value, uint64_t *field) {
    if (!whole_number(value, field))
        return ast_cli_misuse("--%s must be a whole number from 0 to 18446744073709551615, not '%s'", option->name,
                              value);
    return -1;
}

/* "a, b or c" */
static const char *list_choices(const char *const *choices, char list[AST_CLI_LIST]) {
    size_t count = 0;
    while (choices[count])
        count++;
    return ast_cli_join(list, choices, count, " or ");
}

static int store_choice(const ast_cli_option *option, const char *value, int *field) {
    char list[AST_CLI_LIST];
    *field = ast_find_word(option->choices, value);
    if (*field >= 0)
        return -1;
    return ast_cli_misuse("--%s must be %s, not '%s'", option->name, list_choices(option->choices, list), value);
}

static int store(const ast_cli_option *option, const char *value, void *field) {
    switch (option->kind) {
    case AST_CLI_FLAG:
    case AST_CLI_OFF:
        *(int *)field = option->kind == AST_CLI_FLAG;
        return -1;
    case AST_CLI_TEXT:
    case AST_CLI_READ:
    case AST_CLI_NAME:
    case AST_CLI_PAGE:
        return store_text(option, value, field);
    case AST_CLI_NUMBERS:
        return store_numbers(option, value, field);
    case AST_CLI_PIXELS:
        return store_pixels(option, value, field);
    case AST_CLI_AMOUNT:
        return store_bytes(option, value, field);
    case AST_CLI_REAL:
    case AST_CLI_COSINE:
        return store_real(option, value, field);
    case AST_CLI_COUNT:
    case AST_CLI_MAYBE:
        return store_count(option, value, field);
    case AST_CLI_INT: {
        size_t count;
        int code = store_count(option, value, &count);
        *(int *)field = code < 0 ? (int)count : 0;
        return code;
    }
    case AST_CLI_SEED:
        return store_seed(option, value, field);
    case AST_CLI_CHOICE:
        return store_choice(option, value, field);
    }
    return -1;
}

void ast_cli_defaults(const ast_cli_option *option, void *settings) {
    for (; option->name; option++) {
        void *field = (char *)settings + option->offset;
        int code = option->standard ? store(option, option->standard, field) : -1;
        assert(code < 0);
        if (code >= 0 || option->standard)
            continue;
        if (option->kind == AST_CLI_REAL || option->kind == AST_CLI_NUMBERS)
            *(double *)field = NAN;
        else if (option->kind == AST_CLI_CHOICE || option->kind == AST_CLI_OFF)
            *(int *)field = option->kind == AST_CLI_OFF ? 1 : -1;
        else if (option->kind == AST_CLI_MAYBE)
            *(size_t *)field = SIZE_MAX;
    }
}

/* ---- One option -------------------------------------------------------------------------------------------------- */

static int unknown_option(const parser *state, const char *argument, size_t length) {
    const char *names[MOST_OPTIONS + 1];
    size_t count = 0;
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t group_count = ast_cli_groups(state->command, groups);
    for (size_t i = 0; i < group_count; i++) {
        for (const ast_cli_option *option = groups[i].group->options; option->name && count < MOST_OPTIONS; option++)
            names[count++] = option->name;
    }
    names[count] = NULL;
    char word[64] = "";
    const char *start = argument + strspn(argument, "-");
    size_t rest = length - (size_t)(start - argument);
    memcpy(word, start, rest < sizeof word ? rest : sizeof word - 1);
    const char *near = ast_cli_nearest(word, names);
    if (near)
        return ast_cli_misuse("%s has no option %.*s; did you mean --%s?", state->command->name, (int)length, argument,
                              near);
    return ast_cli_misuse("%s has no option %.*s; 'asterism %s --help' lists them", state->command->name, (int)length,
                          argument, state->command->name);
}

/* The value of the option: what stands behind the equals sign, or the next word. */
static int take_value(const ast_cli_option *option, const char *next, const char **value, int *used_next) {
    if (option->kind == AST_CLI_FLAG || option->kind == AST_CLI_OFF) {
        if (*value)
            return ast_cli_misuse("--%s takes no value, not '%s'", option->name, *value);
    } else if (!*value && option->kind == AST_CLI_MAYBE) {
        *used_next = is_number(next);
        *value = *used_next ? next : "0";
    } else if (!*value) {
        if (!next || strncmp(next, "--", 2) == 0)
            return ast_cli_misuse("--%s needs a value: --%s %s", option->name, option->name, option->value);
        *value = next;
        *used_next = 1;
    }
    return -1;
}

static int parse_option(parser *state, const char *argument, const char *next, int *used_next) {
    ast_cli_common *common = state->common;
    const char *equals = strchr(argument, '='), *value = equals ? equals + 1 : NULL;
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    char name[64] = "";
    ast_cli_use use = {0};
    const ast_cli_option *option = NULL;
    if (length > 2 && length < sizeof name && strncmp(argument, "--", 2) == 0) {
        memcpy(name, argument + 2, length - 2);
        option = ast_cli_find(state->command, name, &use);
    }
    if (!option)
        return unknown_option(state, argument, length);
    if (ast_cli_typed(common, name))
        return ast_cli_misuse("--%s is given twice", name);
    int code = take_value(option, next, &value, used_next);
    if (code >= 0)
        return code;
    assert(common->typed_count < AST_CLI_MOST_TYPED);
    common->typed[common->typed_count] = option;
    common->values[common->typed_count++] = value;
    if (!option->writes)
        return store(option, value, (char *)state->settings + use.offset + option->offset);
    ast_cli_target *target = &common->targets[common->target_count++];
    *target = (ast_cli_target){.option = option->name, .writes = option->writes};
    return store(option, value, &target->path);
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

static int is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* A zeroed input ends the list. */
static int add_input(parser *state, const char *path) {
    ast_cli_input **inputs = &state->common->inputs;
    if (!ast_array_grow(inputs, &state->input_room, state->input_count + 2, sizeof **inputs))
        return ast_cli_no_memory("the command line");
    (*inputs)[state->input_count++] = (ast_cli_input){.path = path};
    (*inputs)[state->input_count] = (ast_cli_input){0};
    return -1;
}

static int compare_paths(const void *a, const void *b) {
    return ast_natural_compare(*(char *const *)a, *(char *const *)b);
}

/* A pattern in quotes, which no shell has replaced by the files that it stands for. */
static int take_pattern(parser *state, const char *pattern) {
    size_t first = state->found->gl_pathc;
    int result = glob(pattern, first ? GLOB_APPEND : 0, NULL, state->found);
    if (result == GLOB_NOSPACE)
        return ast_cli_no_memory("the command line");
    if (result != 0 || state->found->gl_pathc == first)
        return ast_cli_misuse("no file matches '%s'", pattern);
    qsort(state->found->gl_pathv + first, state->found->gl_pathc - first, sizeof *state->found->gl_pathv,
          compare_paths);
    int code = -1;
    for (size_t i = first; i < state->found->gl_pathc && code < 0; i++)
        code = add_input(state, state->found->gl_pathv[i]);
    return code;
}

static int take_input(parser *state, const char *argument) {
    if (!state->command->input)
        return ast_cli_misuse("%s takes options only, not '%s'; 'asterism %s --help' lists them", state->command->name,
                              argument, state->command->name);
    if (state->input_count > 0 && !state->command->many)
        return ast_cli_misuse("%s takes one input, not both '%s' and '%s'", state->command->name,
                              state->common->inputs[0].path, argument);
    if (!argument[0])
        return ast_cli_misuse("the name of the input is empty");
    if (state->command->many && strpbrk(argument, "*?[") && access(argument, F_OK) != 0)
        return take_pattern(state, argument);
    return add_input(state, argument);
}

static int parse_arguments(parser *state, int argc, char **argv) {
    int only_inputs = 0;
    for (int i = 0; i < argc; i++) {
        int code = -1, used_next = 0;
        if (!only_inputs && strcmp(argv[i], "--") == 0)
            only_inputs = 1;
        else if (!only_inputs && argv[i][0] == '-' && argv[i][1] != 0)
            code = parse_option(state, argv[i], argv[i + 1], &used_next);
        else
            code = take_input(state, argv[i]);
        if (code >= 0)
            return code;
        i += used_next;
    }
    return -1;
}

/* Where the positional argument names the method. */
static int choose_method(const ast_cli_command *command, void *settings, const char *name) {
    char list[AST_CLI_LIST];
    const char *const *names = command->methods->names;
    int *method = (int *)((char *)settings + command->method);
    *method = ast_find_word(names, name);
    return *method >= 0 ? -1 : ast_cli_misuse("%s takes %s, not '%s'", command->name, list_choices(names, list), name);
}

int ast_cli_steps(ast_cli_step *const *steps, void *job) {
    int code = -1;
    for (; *steps && code < 0; steps++)
        code = (*steps)(job);
    return code;
}

/* Once all options are known. Files that are read as one have no --format. */
static void look_up(parser *state) {
    const ast_cli_command *command = state->command;
    ast_cli_common *common = state->common;
    int several = state->input_count > 1 && (command->inputs & AST_CLI_SEVERAL);
    const char *format = several ? NULL : ast_cli_typed(common, "format");
    if (command->data)
        common->inputs[0].path = ast_cli_typed(common, command->data);
    for (ast_cli_input *input = common->inputs; input->path; input++)
        *input = ast_cli_look_up(common, input->path, format);
}

static int parse(const ast_cli_command *command, void *settings, size_t input_room, glob_t *found) {
    parser state = {
        .command = command, .common = settings, .settings = settings, .input_room = input_room, .found = found};
    int argc = state.common->argc;
    char **argv = state.common->argv;
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t group_count = ast_cli_groups(command, groups);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_help(argv[i])) {
            if (ast_cli_is_first_rank())
                ast_cli_help(command);
            return ast_cli_flush();
        }
    }
    state.common->command = command;
    for (size_t i = 0; i < group_count; i++)
        ast_cli_defaults(groups[i].group->options, (char *)settings + groups[i].offset);
    int code = parse_arguments(&state, argc, argv);
    if (code < 0 && command->input && state.input_count == 0)
        return ast_cli_misuse("%s needs %s", command->name, command->input);
    if (code < 0 && command->methods && command->input && !command->inputs)
        code = choose_method(command, settings, state.common->inputs[0].path);
    if (code >= 0)
        return code;
    look_up(&state);
    return ast_cli_rules(command, state.common);
}

int ast_cli_run(const ast_cli_command *command, int argc, char **argv) {
    ast_cli_common *job = calloc(1, command->job);
    ast_cli_input *inputs = calloc((size_t)argc + 2, sizeof *inputs);
    ast_cli_target *targets = calloc((size_t)argc + 1, sizeof *targets);
    glob_t found = {0};
    int code = job && inputs && targets ? -1 : ast_cli_no_memory("the command line");
    if (code < 0) {
        job->argc = argc;
        job->argv = argv;
        job->inputs = inputs;
        job->targets = targets;
        if (command->defaults)
            command->defaults(job);
        code = parse(command, job, (size_t)argc + 2, &found);
        inputs = job->inputs;
    }
    if (code < 0)
        code = ast_cli_steps(command->steps, job);
    if (job)
        ast_cli_abandon_targets(job);
    if (job && command->end)
        command->end(job);
    globfree(&found);
    free(targets);
    free(inputs);
    free(job);
    return code;
}
