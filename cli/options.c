/* SPDX-License-Identifier: MIT
 *
 * Reading a command line by its table. `--name value` and `--name=value` are the same; `--` ends the options; `-` is an
 * input like any other. An option given twice is a mistake, since one of the two values would be ignored in silence. */
#include "options.h"
#include "cli.h"
#include "ranks.h"
#include "terminal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 64 };

static const ast_cli_option common_options[] = {
    {"threads", AST_CLI_COUNT, "N", "threads to work on; 0, the default, is all processors",
     offsetof(ast_cli_common, threads), 0, 256, NULL},
    {"seed", AST_CLI_SEED, "S", "seed of everything random (default 1)", offsetof(ast_cli_common, seed), 0, 0, NULL},
    {"json", AST_CLI_FLAG, NULL, "print one JSON object instead of the table for people",
     offsetof(ast_cli_common, json), 0, 0, NULL},
    {"quiet", AST_CLI_FLAG, NULL, "print no table and no progress", offsetof(ast_cli_common, quiet), 0, 0, NULL},
    {"progress", AST_CLI_FLAG, NULL, "show progress even where stderr is not a terminal",
     offsetof(ast_cli_common, progress), 0, 0, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

typedef struct parser {
    const ast_cli_command *command;
    ast_cli_group groups[AST_CLI_GROUPS];
    size_t group_count;
    void *settings;
    const char **input;
    size_t input_count;
    const ast_cli_option *seen[MOST_OPTIONS];
    size_t seen_count;
} parser;

static int parse_option(parser *state, const char *argument, const char *next, int *used_next);
static int take_input(parser *state, const char *argument);
static int is_help(const char *argument);

ast_cli_common ast_cli_common_default(void) {
    return (ast_cli_common){.seed = 1};
}

size_t ast_cli_groups(const ast_cli_command *command, ast_cli_group groups[AST_CLI_GROUPS]) {
    size_t count = 0;
    if (command->options)
        groups[count++] = (ast_cli_group){command->options, 0, "Options"};
    for (const ast_cli_group *shared = command->shared; shared && shared->options; shared++) {
        assert(count < AST_CLI_GROUPS - 1);
        groups[count++] = *shared;
    }
    groups[count++] = (ast_cli_group){common_options, 0, "Common options"};
    return count;
}

int ast_cli_parse(const ast_cli_command *command, int argc, char **argv, void *settings, const char **input) {
    parser state = {.command = command, .settings = settings, .input = input};
    state.group_count = ast_cli_groups(command, state.groups);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_help(argv[i])) {
            if (ast_cli_speaks())
                ast_cli_help(command);
            return ast_cli_flush();
        }
    }
    int only_inputs = 0;
    for (int i = 0; i < argc; i++) {
        int code = -1, used_next = 0;
        if (!only_inputs && strcmp(argv[i], "--") == 0)
            only_inputs = 1;
        else if (!only_inputs && argv[i][0] == '-' && argv[i][1] != 0)
            code = parse_option(&state, argv[i], argv[i + 1], &used_next);
        else
            code = take_input(&state, argv[i]);
        if (code >= 0)
            return code;
        i += used_next;
    }
    if (command->input && state.input_count == 0)
        return ast_cli_fail(AST_CLI_USAGE, "%s needs %s", command->name, command->input);
    return -1;
}

static int is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int take_input(parser *state, const char *argument) {
    if (!state->command->input)
        return ast_cli_fail(AST_CLI_USAGE, "%s takes options only, not '%s'", state->command->name, argument);
    if (state->input_count > 0 && !state->command->many)
        return ast_cli_fail(AST_CLI_USAGE, "%s takes one input, not both '%s' and '%s'", state->command->name,
                            *state->input, argument);
    if (!argument[0])
        return ast_cli_fail(AST_CLI_USAGE, "the name of the input is empty");
    state->input[state->input_count++] = argument;
    return -1;
}

/* ---- One option -------------------------------------------------------------------------------------------------- */

/* The option of that name and the field that receives it, or NULL. */
static const ast_cli_option *find_option(const parser *state, const char *name, size_t length, void **field) {
    for (size_t i = 0; i < state->group_count; i++) {
        for (const ast_cli_option *option = state->groups[i].options; option->name; option++) {
            if (strlen(option->name) != length || strncmp(option->name, name, length) != 0)
                continue;
            *field = (char *)state->settings + state->groups[i].offset + option->offset;
            return option;
        }
    }
    return NULL;
}

static int unknown_option(const parser *state, const char *argument, size_t length) {
    const char *names[MOST_OPTIONS + 1];
    size_t count = 0;
    for (size_t i = 0; i < state->group_count; i++) {
        for (const ast_cli_option *option = state->groups[i].options; option->name && count < MOST_OPTIONS; option++)
            names[count++] = option->name;
    }
    names[count] = NULL;
    char word[64] = "";
    const char *start = argument + strspn(argument, "-");
    size_t rest = length - (size_t)(start - argument);
    memcpy(word, start, rest < sizeof word ? rest : sizeof word - 1);
    const char *near = ast_cli_nearest(word, names);
    if (near)
        return ast_cli_fail(AST_CLI_USAGE, "%s has no option %.*s; did you mean --%s?", state->command->name,
                            (int)length, argument, near);
    return ast_cli_fail(AST_CLI_USAGE, "%s has no option %.*s; 'asterism %s --help' lists them", state->command->name,
                        (int)length, argument, state->command->name);
}

static int store(const ast_cli_option *option, const char *value, void *field);

static int is_number(const char *word) {
    return word && word[0] && !word[strspn(word, "0123456789")];
}

static int parse_option(parser *state, const char *argument, const char *next, int *used_next) {
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
    const ast_cli_option *option = NULL;
    void *field = NULL;
    if (length > 2 && strncmp(argument, "--", 2) == 0)
        option = find_option(state, argument + 2, length - 2, &field);
    if (!option)
        return unknown_option(state, argument, length);
    for (size_t i = 0; i < state->seen_count; i++) {
        if (state->seen[i] == option)
            return ast_cli_fail(AST_CLI_USAGE, "--%s is given twice", option->name);
    }
    if (state->seen_count < MOST_OPTIONS)
        state->seen[state->seen_count++] = option;
    const char *value = equals ? equals + 1 : NULL;
    if (option->kind == AST_CLI_FLAG) {
        if (value)
            return ast_cli_fail(AST_CLI_USAGE, "--%s takes no value, not '%s'", option->name, value);
    } else if (!value && option->kind == AST_CLI_MAYBE) {
        *used_next = is_number(next);
        value = *used_next ? next : "0";
    } else if (!value) {
        if (!next || strncmp(next, "--", 2) == 0)
            return ast_cli_fail(AST_CLI_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                                option->value);
        value = next;
        *used_next = 1;
    }
    return store(option, value, field);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int store_text(const ast_cli_option *option, const char *value, const char **field) {
    if (!value[0])
        return ast_cli_fail(AST_CLI_USAGE, "--%s is empty; it needs %s", option->name, option->value);
    *field = value;
    return -1;
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
            return ast_cli_fail(AST_CLI_USAGE, "--%s must be a number of at least %g, not '%s'", option->name,
                                option->low, value);
        return ast_cli_fail(AST_CLI_USAGE, "--%s must be a number from %g to %g%s%s, not '%s'", option->name,
                            option->low, option->high, word ? " or " : "", word ? word : "", value);
    }
    *field = number;
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
    if (!whole_number(value, &number) || (double)number < option->low || (double)number > option->high)
        return ast_cli_fail(AST_CLI_USAGE, "--%s must be a whole number from %.0f to %.0f, not '%s'", option->name,
                            option->low, option->high, value);
    *field = (size_t)number;
    return -1;
}

static int store_seed(const ast_cli_option *option, const char *value, uint64_t *field) {
    if (!whole_number(value, field))
        return ast_cli_fail(AST_CLI_USAGE, "--%s must be a whole number from 0 to 18446744073709551615, not '%s'",
                            option->name, value);
    return -1;
}

static int store_choice(const ast_cli_option *option, const char *value, int *field) {
    char list[256] = "";
    size_t used = 0;
    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *field = i;
            return -1;
        }
        const char *separator = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", separator, option->choices[i]);
        if (used >= sizeof list)
            used = sizeof list - 1;
    }
    return ast_cli_fail(AST_CLI_USAGE, "--%s must be %s, not '%s'", option->name, list, value);
}

static int store(const ast_cli_option *option, const char *value, void *field) {
    switch (option->kind) {
    case AST_CLI_FLAG:
        *(int *)field = 1;
        return -1;
    case AST_CLI_TEXT:
        return store_text(option, value, field);
    case AST_CLI_REAL:
        return store_real(option, value, field);
    case AST_CLI_COUNT:
    case AST_CLI_MAYBE:
        return store_count(option, value, field);
    case AST_CLI_SEED:
        return store_seed(option, value, field);
    case AST_CLI_CHOICE:
        return store_choice(option, value, field);
    }
    return -1;
}
