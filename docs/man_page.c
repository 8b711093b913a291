/* SPDX-License-Identifier: MIT
 *
 * The man page, made when the command is built: subcommands and options come from their tables, everything else from a
 * text with sections. Text has a little markup: `bold`, *italic*, and options such as --angle, which are bold by
 * themselves. Usage: asterism-man-page TEXT PAGE */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <cli.h>

#include "option_text.h"

enum { PAGE_WIDTH = 110, MOST_GROUPS = 64 };

/* ---- Text as roff ------------------------------------------------------------------------------------------------ */

static void put_character(FILE *page, char c) {
    if (c == '\\')
        fputs("\\e", page);
    else if (c == '-')
        fputs("\\-", page);
    else
        fputc(c, page);
}

/* Whether a font begins or ends here: a star between blanks is a star. */
static int is_mark(const char *text, int inside) {
    return *text == '`' || (*text == '*' && (inside || (text[1] && text[1] != ' ')));
}

/* One paragraph: fonts, escapes, and lines that are not too long. A newline in it is a blank. */
static void put_text(FILE *page, const char *text) {
    int width = 0, font = 0;
    for (const char *at = text; *at; at++) {
        size_t option = font ? 0 : docs_option_length(at);
        if (width == 0 && (*at == '.' || *at == '\''))
            fputs("\\&", page);
        if (option) {
            fputs("\\fB", page);
            for (size_t i = 0; i < option; i++)
                put_character(page, at[i]);
            fputs("\\fR", page);
            at += option - 1;
            width += (int)option;
        } else if ((font ? *at == font : is_mark(at, 0))) {
            fputs(font ? "\\fR" : *at == '`' ? "\\fB" : "\\fI", page);
            font = font ? 0 : *at;
            width++;
        } else if ((*at == ' ' || *at == '\n') && width > PAGE_WIDTH && !font) {
            fputc('\n', page);
            width = 0;
        } else {
            put_character(page, *at == '\n' ? ' ' : *at);
            width++;
        }
    }
    fputc('\n', page);
}

/* Paragraphs with an empty line between them. */
static void put_paragraphs(FILE *page, const char *text) {
    while (*text) {
        char paragraph[DOCS_LONGEST];
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        put_text(page, paragraph);
        text += length + (end ? 2 : 0);
        if (*text)
            fputs(".PP\n", page);
    }
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static void put_option(FILE *page, const ast_cli_command *command, const ast_cli_use *use,
                       const ast_cli_option *option) {
    char text[DOCS_LONGEST];
    docs_option_text(text, command, use, option);
    fputs(".TP\n\\fB\\-\\-", page);
    for (const char *c = option->name; *c; c++)
        put_character(page, *c);
    fprintf(page, "\\fR%s%s%s\n", option->value ? " \\fI" : "", option->value ? option->value : "",
            option->value ? "\\fR" : "");
    put_text(page, text);
}

static void put_options(FILE *page, const ast_cli_command *command, const ast_cli_use *use) {
    for (const ast_cli_option *option = use->group->options; option->name; option++)
        put_option(page, command, use, option);
}

/* ---- Subcommands ------------------------------------------------------------------------------------------------- */

static void put_upper(FILE *page, const char *text) {
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), page);
}

static void refer_to(FILE *page, const ast_cli_group *group, const ast_cli_command *first) {
    fputs(".PP\n", page);
    for (const ast_cli_option *option = group->options; option->name; option++) {
        char name[80];
        snprintf(name, sizeof name, "--%s%s", option->name, option[1].name ? "," : "");
        put_text(page, name);
    }
    fprintf(page, "are those of\n\\fB%s\\fR.\n", first->name);
}

static void put_command(FILE *page, const ast_cli_command *command) {
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups), users;
    fprintf(page, ".SS %s\n", command->name);
    put_paragraphs(page, command->about);
    if (command->more)
        fputs(".PP\n", page);
    put_paragraphs(page, command->more ? command->more : "");
    for (size_t i = 0; i < count; i++) {
        if (docs_first_user(groups[i].group, &users) == command && !docs_is_section(groups[i].group, users))
            put_options(page, command, &groups[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const ast_cli_command *first = docs_first_user(groups[i].group, &users);
        if (first != command && !docs_is_section(groups[i].group, users))
            refer_to(page, groups[i].group, first);
    }
    fputs(".PP\nExamples:\n.PP\n.RS\n.nf\n", page);
    for (const char *c = command->examples; *c; c++)
        put_character(page, *c);
    fputs("\n.fi\n.RE\n", page);
}

static void put_group(FILE *page, const ast_cli_use *use, size_t users) {
    const char *separator = "";
    const ast_cli_command *only = NULL;
    fputs(".SH ", page);
    put_upper(page, use->group->title);
    fputs("\nFor ", page);
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        ast_cli_use groups[AST_CLI_GROUPS];
        size_t count = ast_cli_groups(ast_cli_commands[i], groups);
        for (size_t g = 0; g < count; g++) {
            if (groups[g].group != use->group)
                continue;
            only = only ? only : ast_cli_commands[i];
            fprintf(page, "%s\\fB%s\\fR", separator, ast_cli_commands[i]->name);
            separator = --users == 1 ? " and " : ", ";
        }
    }
    fputs(".\n", page);
    if (use->group->more)
        put_text(page, use->group->more);
    put_options(page, only, use);
}

static void put_groups(FILE *page) {
    const ast_cli_group *seen[MOST_GROUPS];
    size_t seen_count = 0, users;
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        ast_cli_use groups[AST_CLI_GROUPS];
        size_t count = ast_cli_groups(ast_cli_commands[i], groups);
        for (size_t g = 0; g < count; g++) {
            size_t s = 0;
            while (s < seen_count && seen[s] != groups[g].group)
                s++;
            docs_first_user(groups[g].group, &users);
            if (s < seen_count || !docs_is_section(groups[g].group, users) || seen_count == MOST_GROUPS)
                continue;
            seen[seen_count++] = groups[g].group;
            put_group(page, &groups[g], users);
        }
    }
    fputs(".TP\n\\fB\\-\\-help\\fR\nPrints the options of a command, with examples.\n"
          ".TP\n\\fB\\-\\-version\\fR\nPrints the version, the instruction set in use and the number of threads.\n",
          page);
}

static void put_synopsis(FILE *page) {
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        char text[DOCS_LONGEST];
        for (const char *line = ast_cli_commands[i]->usage; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            size_t name = strcspn(line, " "), length = strcspn(line, "\n");
            snprintf(text, sizeof text, "`asterism %.*s`%.*s", (int)name, line, (int)(length - name), line + name);
            put_text(page, text);
            fputs(".br\n", page);
        }
    }
    put_text(page, "`asterism help` [*command*]");
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

typedef struct reader {
    FILE *page;
    char paragraph[DOCS_LONGEST];
    int code, first; /* within lines of code; no paragraph of the section is printed yet */
} reader;

static void end_paragraph(reader *r) {
    if (r->paragraph[0])
        put_text(r->page, r->paragraph);
    r->paragraph[0] = 0;
    if (r->code)
        fputs(".fi\n.RE\n", r->page);
    r->code = 0;
}

static void begin_section(reader *r, const char *title) {
    int commands = strcmp(title, "COMMANDS") == 0;
    fprintf(r->page, ".SH %s\n", title);
    r->first = 1;
    if (strcmp(title, "SYNOPSIS") == 0)
        put_synopsis(r->page);
    for (size_t i = 0; commands && ast_cli_commands[i]; i++)
        put_command(r->page, ast_cli_commands[i]);
    if (commands)
        put_groups(r->page);
}

static void take_line(reader *r, const char *line) {
    int code = strncmp(line, "    ", 4) == 0;
    if (!line[0] || line[0] == '#' || line[0] == ':' || (code && !r->code))
        end_paragraph(r);
    if (line[0] == '#') {
        begin_section(r, line + 2);
    } else if (code) {
        fputs(r->code ? "" : ".PP\n.RS\n.nf\n", r->page);
        r->code = 1;
        for (const char *c = line + 4; *c; c++)
            put_character(r->page, *c);
        fputc('\n', r->page);
    } else if (line[0] == ':') {
        fputs(".TP\n", r->page);
        put_text(r->page, line + 2);
    } else if (line[0]) {
        size_t used = strlen(r->paragraph);
        snprintf(r->paragraph + used, sizeof r->paragraph - used, "%s%s", used ? " " : "", line);
    }
}

static int make_page(FILE *text, FILE *page) {
    char line[DOCS_LONGEST], before[2] = "";
    reader r = {.page = page};
    int begun = 0, tagged = 0;
    fprintf(page,
            ".\\\" Made from docs/man_page.txt and the tables of options.\n"
            ".TH ASTERISM 1 \"\" \"asterism %s\" \"User Commands\"\n",
            ast_version());
    while (fgets(line, sizeof line, text)) {
        line[strcspn(line, "\n")] = 0;
        begun |= line[0] == '#';
        if (!begun)
            continue;
        if (line[0] && line[0] != '#' && line[0] != ':' && line[0] != ' ' && !before[0] && !tagged && !r.first)
            fputs(".PP\n", page);
        take_line(&r, line);
        if (line[0] && line[0] != '#')
            r.first = 0;
        tagged = line[0] == ':';
        before[0] = line[0] == '#' ? 0 : line[0];
    }
    end_paragraph(&r);
    return fflush(page) == 0 && !ferror(page) && !ferror(text);
}

int main(int argc, char **argv) {
    FILE *text = argc == 3 ? fopen(argv[1], "r") : NULL, *page = text ? fopen(argv[2], "w") : NULL;
    int good = page && make_page(text, page);
    if (text)
        fclose(text);
    if (page && fclose(page) != 0)
        good = 0;
    if (!good)
        fprintf(stderr,
                "asterism-man-page: usage: asterism-man-page TEXT PAGE, two files that can be read and written\n");
    return good ? 0 : 1;
}
