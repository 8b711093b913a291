/* SPDX-License-Identifier: MIT
 *
 * The command `asterism`: what its files share. Every subcommand is one ast_cli_command, in the file of its name
 * (cluster: cluster_options.c); cli.c picks one of them, options.c reads its command line, and what it prints goes
 * through terminal.c. The room knows no algorithm: it turns words into the options of asterism.h, files into points,
 * and results into a table or JSON.
 *
 * A subcommand is the list of its steps. A step, and every function of this room that can end the run, returns -1 to go
 * on, or the exit code after printing the sentence. */
#pragma once

#include "options.h"

/* Exit codes, fixed: wrong usage is what can be seen from the command line alone, failed is what needs the data. A
 * signal that stopped the work adds its number to AST_CLI_SIGNAL, as shells do: 130 after Ctrl-C. */
enum { AST_CLI_DONE = 0, AST_CLI_FAILED = 1, AST_CLI_USAGE = 2, AST_CLI_SIGNAL = 128 };

int ast_cli_main(int argc, char **argv);

extern const ast_cli_command *const ast_cli_commands[]; /* NULL-terminated */

extern const ast_cli_command ast_cli_cluster, ast_cli_stream, ast_cli_segment, ast_cli_normals, ast_cli_assign,
    ast_cli_dedup, ast_cli_measure, ast_cli_sample, ast_cli_tune, ast_cli_reproduce, ast_cli_view, ast_cli_explore,
    ast_cli_identities, ast_cli_stream_status, ast_cli_compare;

/* Whether the input of explore is a finished result, which view shows (explore.c). */
int ast_cli_is_recorded(int argc, char **argv);

/* Whether the words behind `stream` ask for --status, which ast_cli_stream_status prints (stream_enroll.c). */
int ast_cli_asks_for_status(int argc, char **argv);
