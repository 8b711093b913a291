/* SPDX-License-Identifier: MIT
 *
 * The parts of asterism view: results of other runs as pages. */
#pragma once

#include <page.h>

/* The object of a page from the lines that stream printed. */
int ast_cli_view_lines(const char *path, ast_page_head *head, ast_text *json);

/* The object of a page from points and their labels. */
int ast_cli_view_labels(const char *points, const char *labels, ast_page_head *head, ast_text *json);
