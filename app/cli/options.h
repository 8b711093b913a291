/* SPDX-License-Identifier: MIT
 *
 * Command lines as tables. A subcommand states each option once, as a row with its kind, range, default and help, and
 * with the methods, inputs and modes it is for. Parsing, the sentences about mistakes, --help and the man page all come
 * from the rows. Values go into the subcommand's own settings struct; which options were typed is in
 * `ast_cli_common`. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "methods.h"

/* What an option takes, and the type of the field that receives it. Without a default an option that is not typed
 * leaves the value in brackets. */
typedef enum ast_cli_kind {
    AST_CLI_FLAG,    /* nothing; int becomes 1 (0) */
    AST_CLI_OFF,     /* nothing; int becomes 0 (1) */
    AST_CLI_TEXT,    /* const char *, not empty (NULL) */
    AST_CLI_REAL,    /* double within low..high; choices[0], if there are choices, is infinity (NaN) */
    AST_CLI_COSINE,  /* double: the angle in degrees of a cosine within low..high. Its field is that of an option in
                        degrees, whose default stays */
    AST_CLI_COUNT,   /* size_t within low..high; choices[0], if there are choices, is SIZE_MAX (0) */
    AST_CLI_INT,     /* int or uint32_t within low..high (0) */
    AST_CLI_MAYBE,   /* size_t, the same or nothing: a next word of digits alone is its value; without one it is 0
                        (SIZE_MAX) */
    AST_CLI_SEED,    /* uint64_t (0) */
    AST_CLI_CHOICE,  /* int: the index in choices (-1) */
    AST_CLI_NUMBERS, /* double[low], finite, with commas between them (NaN in the first) */
    AST_CLI_PIXELS,  /* size_t[2]: WIDTHxHEIGHT (0) */
    AST_CLI_AMOUNT,  /* size_t: 512M or 8G; K, M, G and T are powers of 1024 (0) */
    AST_CLI_READ,    /* const char *: a file that is read, of a known format (NULL) */
    AST_CLI_NAME,    /* const char *: a file or folder, not - (NULL) */
    AST_CLI_PAGE     /* const char *: a report, .html (NULL) */
} ast_cli_kind;

/* Kinds of input, as bits, the first ones those of AST_HOLDS_TABLE and so on (formats.h). A name that does not tell its
 * kind has the bits of all kinds it may be. */
enum {
    AST_CLI_TABLE = 1,
    AST_CLI_SPARSE = 2,
    AST_CLI_IMAGE = 4,             /* depth images */
    AST_CLI_SCENE = 8,             /* of the NYU v2 .mat */
    AST_CLI_CLOUD = 16,            /* a 3-D file without faces */
    AST_CLI_MESH = 32,             /* and with them */
    AST_CLI_SEVERAL = 64,          /* multiple files that are one table */
    AST_CLI_STANDARD_POINTS = 128, /* standard input */
    AST_CLI_STANDARD_DEPTH = 256,
    AST_CLI_POINTS = AST_CLI_TABLE | AST_CLI_STANDARD_POINTS,
    AST_CLI_DEPTH = AST_CLI_IMAGE | AST_CLI_SCENE | AST_CLI_STANDARD_DEPTH,
    AST_CLI_SOLID = AST_CLI_CLOUD | AST_CLI_MESH,
    AST_CLI_ANY_INPUT = 511
};

/* An input as typed, and its format (files.h). A file to write (targets.h). */
typedef struct ast_cli_input ast_cli_input;
typedef struct ast_cli_target ast_cli_target;

/* What goes into a file that an option names. */
enum {
    AST_CLI_WRITES_ARRAY = 1,
    AST_CLI_WRITES_ROWS,  /* of floats, which can be .fvecs and .fbin too */
    AST_CLI_WRITES_OWN,   /* what the subcommand writes itself, whatever the extension */
    AST_CLI_WRITES_STATE, /* the same; the file is not opened with the others */
};

/* Modes of a run that follow from more than one typed option, as bits. */
enum {
    AST_CLI_ON_RANKS = 1, /* multiple processes */
    AST_CLI_IN_PARTS = 2, /* the input does not fit into memory */
    AST_CLI_AUTO = 4      /* --angle auto */
};

typedef struct ast_cli_option {
    const char *name; /* without its dashes; NULL ends a table */
    ast_cli_kind kind;
    const char *value; /* what help calls its value, such as "DEG" */
    const char *help;  /* wrapped by --help; \n breaks a line */
    size_t offset;     /* of the field in the settings */
    double low, high;
    const char *const *choices; /* NULL-terminated */
    const char *standard;       /* its default, as one would type it; NULL: none */
    const char *more;           /* further sentences for the man page, behind help (markup: docs/man_page.c), or NULL */
    unsigned writes;            /* it names a file to write, which is a target and has no field; 0: it does not */
    unsigned methods;           /* it is for; 0: all */
    unsigned inputs;            /* it is for; 0: those of its group */
    unsigned not_in;            /* modes it is not for */
    const char *needs;          /* names of options, blanks between them, one of which must be typed too */
    const char *excludes;       /* names of options that must not be typed too */
    const char *required;       /* it must be typed where the method has it: what it is, for the sentence */
} ast_cli_option;

/* Options that belong together. Several subcommands may use one group. */
typedef struct ast_cli_group {
    const char *title;             /* the heading in --help; NULL: no new one */
    const ast_cli_option *options; /* ended by a row without a name */
    unsigned inputs;               /* they are for; 0: all */
    const char *more;              /* a paragraph for the man page, or NULL */
} ast_cli_group;

/* A group and where the struct that receives it is in the settings. */
typedef struct ast_cli_use {
    const ast_cli_group *group; /* NULL ends a list */
    size_t offset;
    unsigned methods; /* that they are for here; 0: all */
} ast_cli_use;

typedef struct ast_cli_command ast_cli_command;

/* A step of a run: returns -1 to go on, or the exit code that ends the run. */
typedef int ast_cli_step(void *job);

/* Takes the steps (NULL-terminated) one after the other until one ends the run. -1: all of them went on. */
int ast_cli_steps(ast_cli_step *const *steps, void *job);

enum { AST_CLI_MOST_TYPED = 96 };

/* What every subcommand takes, and what was typed; the first field of every job. */
typedef struct ast_cli_common {
    int json, quiet, progress;
    size_t threads;
    uint64_t seed;
    const ast_cli_command *command;
    int argc; /* the words behind the subcommand's name */
    char **argv;
    ast_cli_input *inputs; /* the positional arguments, or the value of the option that names the data; a list */
    const ast_cli_option *typed[AST_CLI_MOST_TYPED];
    const char *values[AST_CLI_MOST_TYPED]; /* as typed; NULL for flags */
    size_t typed_count;
    ast_cli_target *targets; /* (target_count) the files to write */
    size_t target_count;
} ast_cli_common;

/* How the passes over the points are run: cluster, stream and segment have these options alike. */
typedef struct ast_cli_passes {
    int max_iterations;
    int parallel; /* an ast_parallel */
    int bounds;
} ast_cli_passes;

extern const ast_cli_group ast_cli_passes_group;

struct ast_cli_command {
    const char *name, *summary;
    const char *usage;              /* one line or more, without the program's name */
    const char *about;              /* paragraphs, wrapped by --help; an empty line between them */
    const char *more;               /* further paragraphs for the man page, behind about, or NULL */
    const char *examples;           /* lines, without the indent */
    const char *input;              /* what the one positional argument is, for a sentence; NULL if there is none */
    int many;                       /* there may be more than one of it */
    unsigned inputs;                /* kinds of data that it reads; 0: none */
    const char *data;               /* the option that names the data; NULL: the positional argument does */
    const ast_cli_methods *methods; /* NULL: it has none */
    size_t method;                  /* offset of the index of the method in the settings */
    const ast_cli_use *uses;        /* its groups of options; the common ones are added */
    unsigned (*modes)(const void *settings); /* bits that are on, or NULL */
    size_t job;                  /* bytes of everything that a run holds: its settings, then zeros; see below */
    void (*defaults)(void *job); /* sets the fields of the settings that no option sets, or NULL */
    ast_cli_step *const *steps;  /* of a run, once the command line is read. The last one returns an exit code */
    void (*end)(void *job);      /* frees what the job holds after whichever step, or NULL */
};

/* Runs the subcommand: reads the arguments behind its name into the settings, which are the first field of the job, and
 * checks them against the rows; then takes the steps. The exit code: after --help 0, after a mistake 2. */
int ast_cli_run(const ast_cli_command *command, int argc, char **argv);

/* Sets the fields of a table's options to their defaults. */
void ast_cli_defaults(const ast_cli_option *options, void *settings);

/* The value of an option as it was typed ("" for a flag), or NULL if it was not typed. */
const char *ast_cli_typed(const ast_cli_common *common, const char *name);

/* The options of a command, group by group: its own, the shared ones, the common ones. Returns how many groups. */
enum { AST_CLI_GROUPS = 12 };
size_t ast_cli_groups(const ast_cli_command *command, ast_cli_use groups[AST_CLI_GROUPS]);

/* The row of that name, and the group it is in (which may be NULL), or NULL. */
const ast_cli_option *ast_cli_find(const ast_cli_command *command, const char *name, ast_cli_use *use);

/* What the rows say about a command line (rules.c). -1 to go on, or 2 after the sentence. */
int ast_cli_rules(const ast_cli_command *command, const ast_cli_common *common);

/* The same for an input whose kind shows only when it is opened: -1, or 1 after the sentence. */
int ast_cli_rules_of_kind(const ast_cli_common *common, unsigned kind, const char *input);

/* The first thing typed that is not for the mode, such as "--sample" or "--method movmf", or NULL. */
const char *ast_cli_blocked(const ast_cli_common *common, unsigned mode);

/* Whether the name is in a list of names with blanks between them. */
int ast_cli_lists(const char *names, const char *name);

/* "a, b and c": names (count) in words, the last after `last`, such as " and "; and the names of methods. */
enum { AST_CLI_LIST = 512 };
const char *ast_cli_join(char text[AST_CLI_LIST], const char *const *names, size_t count, const char *last);
const char *ast_cli_list_methods(char text[AST_CLI_LIST], const ast_cli_methods *methods, unsigned bits,
                                 const char *last);

/* Prints what --help prints. */
void ast_cli_help(const ast_cli_command *command);

/* The one of `names` (NULL-terminated) that `word` was probably meant to be, or NULL. */
const char *ast_cli_nearest(const char *word, const char *const *names);
