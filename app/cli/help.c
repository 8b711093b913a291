/* SPDX-License-Identifier: MIT
 *
 * What --help prints, from the same tables that parse, and the guess at what a mistyped word was meant to be. */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 24, HELP_WIDTH = 92, LONGEST_WORD = 63, MOST_TEXT = 1024 };

/* Prints `text` in lines of HELP_WIDTH at most, each after the first behind `indent` spaces. The first line begins at
 * column `at`. A newline breaks the line. */
static void print_wrapped(const char *text, int at, int indent) {
    const char *separator = "";
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (*separator == ' ' && at + 1 + length > HELP_WIDTH)
            separator = "\n";
        at = *separator == '\n' ? printf("\n%*s", indent, "") - 1 : at + printf("%s", separator);
        at += printf("%.*s", length, text);
        text += length;
        separator = *text == '\n' ? "\n" : " ";
        text += *text != 0;
    }
}

/* "fsd, crp: ", or "all but dp: ": the methods that an option is for, where the command has others. */
static void describe_methods(char *text, const ast_cli_methods *methods, unsigned bits) {
    size_t with = 0, all = 0;
    char list[AST_CLI_LIST];
    for (; methods && methods->names[all]; all++)
        with += (methods->bits[all] & bits) != 0;
    int but = with > all / 2 + 1;
    if (bits && with < all)
        sprintf(text, "%s%s: ", but ? "all but " : "", ast_cli_list_methods(list, methods, but ? ~bits : bits, ", "));
}

static void print_option(const ast_cli_command *command, const ast_cli_use *use, const ast_cli_option *option) {
    char text[MOST_TEXT] = "";
    describe_methods(text, command->methods, option->methods ? option->methods : use->methods);
    size_t used = strlen(text);
    int plain = !option->standard || strstr(option->help, "default");
    snprintf(text + used, sizeof text - used, plain ? "%s" : "%s (default %s)", option->help, option->standard);
    int width = printf("  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
    if (width >= HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", HELP_COLUMN - width, "");
    print_wrapped(text, HELP_COLUMN, HELP_COLUMN);
    putchar('\n');
}

/* Prints `text` with every line after the first behind the words of `before`. */
static void print_lines(const char *text, const char *before) {
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n')
            printf("%s", before);
    }
    putchar('\n');
}

void ast_cli_help(const ast_cli_command *command) {
    printf("Usage: asterism ");
    print_lines(command->usage, "       asterism ");
    putchar('\n');
    print_wrapped(command->about, 0, 0);
    putchar('\n');
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups);
    for (size_t i = 0; i < count; i++) {
        if (groups[i].group->title)
            printf("\n%s:\n", groups[i].group->title);
        for (const ast_cli_option *option = groups[i].group->options; option->name; option++)
            print_option(command, &groups[i], option);
    }
    printf("  --help                print this\n\nExamples:\n  ");
    print_lines(command->examples, "  ");
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
