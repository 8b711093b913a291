/* SPDX-License-Identifier: MIT
 *
 * docs/command.md, made from the tables of options: every subcommand with its usage, options and examples.
 * Usage: asterism-command-page FILE */
#include <stdio.h>
#include <string.h>

#include "option_text.h"

/* Text in a cell of a table, or a paragraph: options are code, a bar is not the next cell. */
static void put_text(FILE *page, const char *text) {
    int code = 0;
    for (; *text; text++) {
        size_t option = code ? 0 : docs_option_length(text);
        code ^= *text == '`';
        if (option) {
            fprintf(page, "`%.*s`", (int)option, text);
            text += option - 1;
            continue;
        }
        if (*text == '|' || *text == '<')
            fputc('\\', page);
        fputc(*text, page);
    }
}

static void put_options(FILE *page, const ast_cli_command *command, const ast_cli_use *use) {
    char text[DOCS_LONGEST];
    fputs("\n| option | what it does |\n|---|---|\n", page);
    for (const ast_cli_option *option = use->group->options; option->name; option++) {
        fprintf(page, "| `--%s%s", option->name, option->value ? " " : "");
        for (const char *c = option->value ? option->value : ""; *c; c++)
            fprintf(page, "%s%c", *c == '|' ? "\\" : "", *c);
        fputs("` | ", page);
        docs_option_text(text, command, use, option);
        for (char *c = text; (c = strchr(c, '\n'));)
            *c = ' ';
        put_text(page, text);
        fputs(" |\n", page);
    }
}

/* The address of a heading within the page. */
static void put_anchor(FILE *page, const char *title) {
    for (; *title; title++) {
        if (*title == ' ')
            fputc('-', page);
        else if (!strchr(",.:()", *title))
            fputc(*title | 32, page);
    }
}

static void put_command(FILE *page, const ast_cli_command *command) {
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups), users;
    fprintf(page, "\n## %s\n\n```\n", command->name);
    for (const char *line = command->usage; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        fprintf(page, "asterism %.*s\n", (int)strcspn(line, "\n"), line);
    }
    fputs("```\n\n", page);
    put_text(page, command->about);
    fputc('\n', page);
    if (command->more) {
        fputc('\n', page);
        put_text(page, command->more);
        fputc('\n', page);
    }
    for (size_t g = 0; g < count; g++) {
        docs_first_user(groups[g].group, &users);
        if (!docs_is_section(groups[g].group, users)) {
            put_options(page, command, &groups[g]);
        } else {
            fprintf(page, "\n[%s](#", groups[g].group->title);
            put_anchor(page, groups[g].group->title);
            fputs(") apply too.\n", page);
        }
    }
    fprintf(page, "\nExamples:\n\n```sh\n%s\n```\n", command->examples);
}

/* Groups that several commands have, once each: where its first user comes. */
static void put_sections(FILE *page, const ast_cli_command *command) {
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups), users;
    for (size_t g = 0; g < count; g++) {
        if (docs_first_user(groups[g].group, &users) != command || !docs_is_section(groups[g].group, users))
            continue;
        fprintf(page, "\n## %s\n", groups[g].group->title);
        if (groups[g].group->more)
            fprintf(page, "\n%s\n", groups[g].group->more);
        put_options(page, command, &groups[g]);
    }
}

int main(int argc, char **argv) {
    FILE *page = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!page) {
        fprintf(stderr, "usage: asterism-command-page FILE, where FILE can be written\n");
        return 2;
    }
    fputs("<!-- Made by asterism-command-page from the tables of options; a test compares. -->\n# The command\n\n"
          "`asterism COMMAND --help` prints the options in short; `man asterism` has this page and the sections that "
          "it names in capitals. Results go to standard output, messages to standard error. The exit status is 0 for "
          "success, 2 for wrong usage and 1 for all other failures, such as a file that cannot be read.\n",
          page);
    for (size_t i = 0; ast_cli_commands[i]; i++)
        put_command(page, ast_cli_commands[i]);
    for (size_t i = 0; ast_cli_commands[i]; i++)
        put_sections(page, ast_cli_commands[i]);
    return fclose(page) != 0;
}
