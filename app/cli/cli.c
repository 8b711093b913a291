/* SPDX-License-Identifier: MIT
 *
 * Finds the subcommand, and answers what needs none: help and --version. */
#include "cli.h"

#include <platform.h>
#include <asterism.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "ranks.h"
#include "terminal.h"

enum { COMMANDS = 14 };
const ast_cli_command *const ast_cli_commands[COMMANDS + 1] = {
    &ast_cli_cluster,   &ast_cli_stream,  &ast_cli_segment, &ast_cli_normals,   &ast_cli_assign,
    &ast_cli_dedup,     &ast_cli_compare, &ast_cli_measure, &ast_cli_sample,    &ast_cli_tune,
    &ast_cli_reproduce, &ast_cli_view,    &ast_cli_explore, &ast_cli_identities};

static const ast_cli_command *find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(ast_cli_commands[i]->name, name) == 0)
            return ast_cli_commands[i];
    }
    return NULL;
}

static int unknown_command(const char *name) {
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++)
        names[i] = ast_cli_commands[i]->name;
    const char *near = ast_cli_nearest(name, names);
    if (near)
        return ast_cli_misuse("there is no command '%s'; did you mean '%s'?", name, near);
    return ast_cli_misuse("there is no command '%s'; 'asterism --help' lists them", name);
}

static int help(const char *name) {
    if (name) {
        const ast_cli_command *command = find_command(name);
        if (!command)
            return unknown_command(name);
        ast_cli_help(command);
        return ast_cli_flush();
    }
    printf("asterism finds the clusters of directions (unit vectors), however many there are.\n\n"
           "Usage: asterism COMMAND [options]\n\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-12s%s\n", ast_cli_commands[i]->name, ast_cli_commands[i]->summary);
    printf("\n'asterism COMMAND --help' tells more, with examples; 'asterism --version' prints the version.\n\n"
           "Examples:\n"
           "  asterism cluster normals.npy --angle 25\n"
           "  asterism stream frames/ --angle 70 --labels labels\n"
           "  asterism segment depth/ --camera kinect --angle 60 --output segments\n"
           "  asterism cluster words.txt --columns 2-101 --method spkm --clusters 50 --labels labels.npy\n"
           "  asterism measure --labels labels.npy --truth truth.npy\n");
    return ast_cli_flush();
}

/* The lines after the first describe machine and build, for bug reports. */
static int version(void) {
    printf("asterism %s\n", ast_version());
    ast_context *context;
    ast_open(&context, 0);
    if (context)
        printf("instruction set %s, %d thread%s\n", ast_instruction_set(context), ast_threads(context),
               ast_threads(context) == 1 ? "" : "s");
    printf("built with %s\n", AST_FEATURES);
    ast_close(context);
    return ast_cli_flush();
}

static int run_on_ranks(const ast_cli_command *command, int argc, char **argv) {
    if (command == &ast_cli_cluster || command == &ast_cli_measure || ast_cli_ranks() == NULL)
        return ast_cli_run(command, argc, argv);
    return ast_cli_misuse("%s works on one rank: start it without mpirun, or with -n 1", command->name);
}

static int run_command(int argc, char **argv) {
    setlocale(LC_CTYPE, ""); /* for what the terminal can show; numbers keep their point */
    /* Without this a closed pipe would end the process: as a failed write it has its temporary files removed. */
    ast_ignore_write_signals();
    const char *first = argc > 1 ? argv[1] : NULL;
    if (!first)
        return ast_cli_misuse("which command? 'asterism --help' lists them");
    if (first[0] == '-' && !ast_cli_is_first_rank())
        return AST_CLI_DONE;
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return help(NULL);
    if (strcmp(first, "help") == 0 && !ast_cli_is_first_rank())
        return AST_CLI_DONE;
    if (strcmp(first, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(first, "--version") == 0)
        return version();
    const ast_cli_command *command = find_command(first);
    if (!command)
        return unknown_command(first);
    if (command == &ast_cli_explore && ast_cli_is_recorded(argc - 2, argv + 2))
        command = &ast_cli_view;
    if (command == &ast_cli_stream && ast_cli_asks_for_status(argc - 2, argv + 2))
        command = &ast_cli_stream_status;
    return run_on_ranks(command, argc - 2, argv + 2);
}

int ast_cli_main(int argc, char **argv) {
    return ast_cli_agree(run_command(argc, argv));
}
