/* SPDX-License-Identifier: MIT
 *
 * What --help prints, from the same tables that parse, and the guess at what a mistyped word was meant to be. */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 24, LONGEST_WORD = 63 };

/* Prints `text` with every line after the first behind `indent` spaces. */
static void print_indented(const char *text, int indent) {
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n')
            printf("%*s", indent, "");
    }
}

static void print_options(const ast_cli_option *option) {
    for (; option->name; option++) {
        int width = printf("  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
        if (width >= HELP_COLUMN)
            printf("\n%*s", HELP_COLUMN, "");
        else
            printf("%*s", HELP_COLUMN - width, "");
        print_indented(option->help, HELP_COLUMN);
        putchar('\n');
    }
}

void ast_cli_help(const ast_cli_command *command) {
    printf("Usage: asterism ");
    for (const char *c = command->usage; *c; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("       asterism ");
    }
    printf("\n\n%s\n", command->about);
    ast_cli_group groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups);
    for (size_t i = 0; i < count; i++) {
        if (groups[i].title)
            printf("\n%s:\n", groups[i].title);
        print_options(groups[i].options);
    }
    printf("  --help                print this\n\nExamples:\n  ");
    print_indented(command->examples, 2);
    putchar('\n');
}

/* ---- Typing mistakes --------------------------------------------------------------------------------------------- */

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (Damerau, optimal
 * string alignment), row by row: `row` is this one, `last` and `before` the two above. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][LONGEST_WORD + 1];
    int la = (int)strlen(a), lb = (int)strlen(b);
    if (la > LONGEST_WORD || lb > LONGEST_WORD)
        return LONGEST_WORD;
    for (int j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (int i = 1; i <= la; i++) {
        int *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            row[j] = smaller(last[j] + 1, smaller(row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
    }
    return rows[la % 3][lb];
}

const char *ast_cli_nearest(const char *word, const char *const *names) {
    const char *best = NULL;
    size_t length = strlen(word);
    int least = length < 4 ? 2 : length < 8 ? 3 : 4; /* a guess this far off would only confuse */
    for (; *names; names++) {
        int distance = edit_distance(word, *names);
        if (length >= 3 && strncmp(word, *names, length) == 0) /* the beginning of a name */
            distance = 1;
        if (distance < least) {
            least = distance;
            best = *names;
        }
    }
    return best;
}
