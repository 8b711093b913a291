/* SPDX-License-Identifier: MIT
 *
 * The parts of asterism view: results of other runs as pages. */
#pragma once

#include <page.h>

#include "files.h"

/* The object of a page from the lines that stream printed. */
int ast_cli_view_lines(const char *path, ast_page_head *head, ast_text *json);

/* Points and their labels: how the points are read, and a file of names (or NULL). */
typedef struct ast_cli_view_input {
    const ast_cli_common *common;
    const char *points, *labels, *names;
    const ast_cli_source *source;
} ast_cli_view_input;

/* The object of a page from them. */
int ast_cli_view_labels(const ast_cli_view_input *from, ast_page_head *head, ast_text *json);
