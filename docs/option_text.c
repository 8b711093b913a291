/* SPDX-License-Identifier: MIT */
#include "option_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

size_t docs_option_length(const char *text) {
    return strncmp(text, "--", 2) == 0 && islower((unsigned char)text[2])
               ? 2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-")
               : 0;
}

/* "For `fsd` and `crp`. ", where the command has other methods too. */
static void name_methods(char *text, const ast_cli_methods *methods, unsigned bits) {
    size_t with = 0, all = 0, named = 0;
    text[0] = 0;
    for (; methods && methods->names[all]; all++)
        with += (methods->bits[all] & bits) != 0;
    if (!bits || with == all)
        return;
    text += sprintf(text, "For ");
    for (size_t i = 0; i < all; i++) {
        if (!(methods->bits[i] & bits))
            continue;
        text += sprintf(text, "%s`%s`", named == 0 ? "" : named + 1 < with ? ", " : " and ", methods->names[i]);
        named++;
    }
    strcpy(text, ". ");
}

/* The lines of a list, such as "dp: one thing\nspkm: another", as one sentence with the names in bold. */
static void in_sentences(char *text, const char *help) {
    if (!strchr(help, '\n')) {
        strcpy(text, help);
        return;
    }
    while (*help) {
        size_t length = strcspn(help, "\n"), name = strspn(help, "abcdefghijklmnopqrstuvwxyz-");
        name = help[name] == ':' || name == length ? name : 0;
        text += sprintf(text, name ? "`%.*s`%.*s%s" : "%.*s%.*s%s", (int)name, help, (int)(length - name), help + name,
                        help[length] ? "; " : "");
        help += length + (help[length] != 0);
    }
}

void docs_option_text(char text[DOCS_LONGEST], const ast_cli_command *command, const ast_cli_use *use,
                      const ast_cli_option *option) {
    char methods[512], standard[96] = "";
    char about[DOCS_LONGEST / 4];
    about[0] = 0;
    in_sentences(about, option->help);
    name_methods(methods, command->methods, option->methods ? option->methods : use->methods);
    if (option->standard && !strstr(about, "default"))
        snprintf(standard, sizeof standard, " The default is %s.", option->standard);
    snprintf(text, DOCS_LONGEST, "%s%c%s%s%s%s%s", methods, toupper((unsigned char)*about), about + 1,
             *about && about[strlen(about) - 1] == '.' ? "" : ".", option->more ? " " : "", option->more ? option->more : "",
             standard);
}

const ast_cli_command *docs_first_user(const ast_cli_group *group, size_t *users) {
    const ast_cli_command *first = NULL;
    *users = 0;
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        ast_cli_use groups[AST_CLI_GROUPS];
        size_t count = ast_cli_groups(ast_cli_commands[i], groups);
        for (size_t g = 0; g < count; g++) {
            if (groups[g].group != group)
                continue;
            first = first ? first : ast_cli_commands[i];
            ++*users;
        }
    }
    return first;
}

int docs_is_section(const ast_cli_group *group, size_t users) {
    return users > 1 && group->title && strcmp(group->title, "Options") != 0;
}
