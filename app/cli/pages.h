/* SPDX-License-Identifier: MIT
 *
 * What the subcommands with a report share: its option, its head, and the command line that makes it again. */
#pragma once

#include <live.h>
#include <page.h>

#include "options.h"

/* The option's row in a table, with .offset or .writes. */
#define AST_CLI_REPORT_OPTION(...)                                                                                     \
    {                                                                                                                  \
        "report", AST_CLI_PAGE, "FILE.html", "write a page to look at the result in a browser, offline", __VA_ARGS__,  \
            .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS, .more = "See `REPORTS AND THE LIVE VIEW`."                  \
    }

/* Whether this build has the page that `option` shows, and what a report may be called; NULL: none is asked for. */
int ast_cli_report_check(const char *option, const char *path);

/* asterism and the words behind it, quoted for a shell where they need it; to free(). NULL without memory. */
char *ast_cli_command_line(const ast_cli_command *command, int argc, char **argv);

/* A command line of cluster, word by word: its input and the options that were typed and that cluster has too, except
 * those in a list of names; an option, whose value may be NULL; one word; and its end, to free(). */
void ast_cli_line_begin(ast_text *line, const ast_cli_common *common, const char *except);
void ast_cli_line_option(ast_text *line, const char *name, const char *value);
void ast_cli_line_word(ast_text *line, const char *word);
char *ast_cli_line_end(ast_text *line);

/* The title is the subcommand and its input. `line` from above is kept by its pointer, the title is to free(). */
int ast_cli_page_head(ast_page_head *head, const ast_cli_command *command, const char *input, const char *line,
                      char **title);

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

/* The address that is listened on where nothing else is said: this machine's own. */
#define AST_CLI_LOOPBACK "127.0.0.1"

/* Whether this build can serve a page, which `option` (or a subcommand, without dashes) asks for, and whether the
 * address, or NULL, is one. */
int ast_cli_serving_check(const char *option, const char *address);

/* Serves the page of a text, which is taken over, and prints its address. *live is to be closed in any case. */
int ast_cli_serve(ast_live **live, const char *address, size_t port, ast_text *html, ast_recording *recording);

/* Serves until a signal asks to stop. */
void ast_cli_serve_until_signal(void);

/* Waits until every viewer knows of the end, for a few seconds at most. */
void ast_cli_serve_until_told(ast_live *live);
