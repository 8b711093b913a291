/* SPDX-License-Identifier: MIT
 *
 * What the man page and docs/command.md share: the text of an option, and which options several commands have. Text has
 * a little markup: `bold` and *italic*. */
#ifndef DOCS_OPTION_TEXT_H
#define DOCS_OPTION_TEXT_H

#include <cli.h>

enum { DOCS_LONGEST = 4096 };

/* The length of an option such as --angle that the text begins with, or 0. */
size_t docs_option_length(const char *text);

/* Sentences: the methods it is for, its help and what more there is to say, its default. */
void docs_option_text(char text[DOCS_LONGEST], const ast_cli_command *command, const ast_cli_use *use,
                      const ast_cli_option *option);

/* The first command that uses the group, and how many do. */
const ast_cli_command *docs_first_user(const ast_cli_group *group, size_t *users);

/* Groups of more than one command have a section of their own if they have a heading that says what they are for. */
int docs_is_section(const ast_cli_group *group, size_t users);

#endif
