/* SPDX-License-Identifier: MIT
 *
 * Command lines as tables: a subcommand states its options once, with kind, range and help, and gets from it the
 * parsing, the sentences about what is wrong and the text of --help. The values land in the subcommand's own settings
 * struct, whose defaults the subcommand fills in first. */
#ifndef AST_CLI_OPTIONS_H
#define AST_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* What an option takes, and the type of the field that receives it. */
typedef enum ast_cli_kind {
    AST_CLI_FLAG,  /* nothing; int becomes 1 */
    AST_CLI_TEXT,  /* const char *, not empty */
    AST_CLI_REAL,  /* double within low..high; choices[0], if there are choices, is infinity */
    AST_CLI_COUNT, /* size_t within low..high */
    AST_CLI_MAYBE, /* the same or nothing: a next word of digits alone is its value; without one it is 0 */
    AST_CLI_SEED,  /* uint64_t */
    AST_CLI_CHOICE /* int: the index in choices */
} ast_cli_kind;

typedef struct ast_cli_option {
    const char *name; /* without its dashes; NULL ends a table */
    ast_cli_kind kind;
    const char *value; /* what help calls its value, such as "DEG" */
    const char *help;  /* lines break at \n */
    size_t offset;     /* of the field in the settings */
    double low, high;
    const char *const *choices; /* NULL-terminated */
} ast_cli_option;

/* What every subcommand takes; the first field of every settings struct. */
typedef struct ast_cli_common {
    int json, quiet, progress;
    size_t threads;
    uint64_t seed;
} ast_cli_common;

/* Options that several subcommands share, with the struct that receives them at `offset` in the settings. */
typedef struct ast_cli_group {
    const ast_cli_option *options; /* NULL ends a list of groups */
    size_t offset;
    const char *title; /* the heading in --help; NULL: no new one */
} ast_cli_group;

typedef struct ast_cli_command {
    const char *name, *summary;
    const char *usage;             /* one line or more, without the program's name */
    const char *about;             /* a paragraph */
    const char *examples;          /* lines, without the indent */
    const char *input;             /* what the one positional argument is, for a sentence; NULL if there is none */
    int many;                      /* there may be more than one of it */
    const ast_cli_option *options; /* its own, or NULL; the common ones are added */
    const ast_cli_group *shared;   /* what it takes besides, or NULL */
    int (*run)(int argc, char **argv);
} ast_cli_command;

/* The defaults of the common options. */
ast_cli_common ast_cli_common_default(void);

/* Reads the arguments after the subcommand's name into `settings`, and the positional one into `input`. Returns -1 to
 * go on, or the exit code: after --help 0, after a mistake 2 with its sentence printed. Where the subcommand takes many
 * inputs, `input` has room for argc of them. */
int ast_cli_parse(const ast_cli_command *command, int argc, char **argv, void *settings, const char **input);

/* Prints what --help prints. */
void ast_cli_help(const ast_cli_command *command);

/* The one of `names` (NULL-terminated) that `word` was probably meant to be, or NULL. */
const char *ast_cli_nearest(const char *word, const char *const *names);

/* The options of a command, group by group: its own, the shared ones, the common ones. Returns how many groups. */
enum { AST_CLI_GROUPS = 12 };
size_t ast_cli_groups(const ast_cli_command *command, ast_cli_group groups[AST_CLI_GROUPS]);

#endif
