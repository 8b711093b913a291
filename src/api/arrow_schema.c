/* SPDX-License-Identifier: MIT
 *
 * Which column of an Arrow schema holds the points. A schema is strings and counts from elsewhere: everything is
 * checked before it is followed. */
#include "arrow.h"

#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED = 400, NAME = 40 }; /* bytes of a list of columns in a sentence, and of a name in it */

static bool is_sound(const struct ArrowSchema *s) {
    if (!s || !s->format || s->n_children < 0 || (s->n_children > 0 && !s->children))
        return false;
    for (int64_t i = 0; i < s->n_children; i++)
        if (!s->children[i] || !s->children[i]->format)
            return false;
    return true;
}

static bool number_type(const char *format, ast_type *type, size_t *element) {
    static const struct {
        const char *format;
        ast_type type;
        size_t element;
    } known[] = {{"e", AST_F2, 2}, {"f", AST_F4, 4}, {"g", AST_F8, 8}, {"c", AST_I1, 1}, {"C", AST_U1, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) {
            *type = known[i].type;
            *element = known[i].element;
            return true;
        }
    return false;
}

/* Whether the schema is that of lists of numbers. */
static bool holds_points(const struct ArrowSchema *s, ast_arrow_column *column) {
    char *end = NULL;
    if (!is_sound(s) || s->n_children != 1 || s->dictionary || s->children[0]->dictionary)
        return false;
    if (strcmp(s->format, "+l") == 0)
        column->list = AST_ARROW_LIST;
    else if (strcmp(s->format, "+L") == 0)
        column->list = AST_ARROW_LARGE;
    else if (strncmp(s->format, "+w:", 3) == 0 && s->format[3] >= '0' && s->format[3] <= '9') {
        unsigned long width = strtoul(s->format + 3, &end, 10);
        if (*end || width > INT32_MAX)
            return false;
        column->list = AST_ARROW_FIXED;
        column->width = width;
    } else {
        return false;
    }
    return number_type(s->children[0]->format, &column->type, &column->element);
}

/* The type in words, for sentences. */
static const char *type_name(const struct ArrowSchema *s) {
    static const char *const names[][2] = {{"n", "null"},         {"b", "bool"},
                                           {"s", "int16"},        {"S", "uint16"},
                                           {"i", "int32"},        {"I", "uint32"},
                                           {"l", "int64"},        {"L", "uint64"},
                                           {"e", "float16"},      {"f", "float32"},
                                           {"g", "float64"},      {"c", "int8"},
                                           {"C", "uint8"},        {"u", "string"},
                                           {"U", "large string"}, {"z", "binary"},
                                           {"vu", "string view"}, {"+s", "struct"},
                                           {"+l", "list"},        {"+L", "large list"},
                                           {"+vl", "list view"},  {"+vL", "large list view"},
                                           {"+m", "map"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s->format, names[i][0]) == 0)
            return names[i][1];
    return strncmp(s->format, "+w:", 3) == 0 ? "list of fixed size" : "of another type";
}

/* Of the numbers in a list. */
static const char *inner_type(const struct ArrowSchema *s) {
    bool list = s->n_children == 1 && s->children && s->children[0] && s->children[0]->format && s->format[0] == '+';
    return list && strcmp(s->format, "+s") != 0 ? type_name(s->children[0]) : NULL;
}

static const char *name_of(const struct ArrowSchema *s) {
    return s->name ? s->name : "";
}

/* The columns there are, as far as they fit. */
static void list_columns(const struct ArrowSchema *s, char list[LISTED]) {
    size_t used = 0;
    list[0] = '\0';
    for (int64_t i = 0; i < s->n_children && used + NAME + 50 < LISTED; i++) {
        const struct ArrowSchema *child = s->children[i];
        const char *inner = inner_type(child);
        used += (size_t)snprintf(list + used, LISTED - used, "%s%.*s (%s%s%s)", i ? ", " : "", NAME, name_of(child),
                                 type_name(child), inner ? " of " : "", inner ? inner : "");
    }
}

static ast_status fail_type(const struct ArrowSchema *s, ast_fault *fault) {
    const char *inner = inner_type(s), *of = inner ? " of " : "";
    return ast_fail(
        fault, AST_BAD_DATA,
        "the column '%.*s' is of type %s%s%s; rows are lists of floats of 2, 4 or 8 bytes or of integers of "
        "1 byte",
        NAME, name_of(s), type_name(s), of, inner ? inner : "");
}

ast_status ast_arrow_find_column(const struct ArrowSchema *s, const char *name, ast_arrow_column *column,
                                 ast_fault *fault) {
    char list[LISTED];
    size_t found = 0;
    ast_arrow_column one = {0};
    if (!is_sound(s) || !s->release)
        return ast_fail(fault, AST_BAD_DATA, "the Arrow schema is released, or a part of it is missing");
    if (strcmp(s->format, "+s") != 0) {
        *column = (ast_arrow_column){.place = SIZE_MAX};
        return holds_points(s, column) ? AST_OK : fail_type(s, fault);
    }
    for (int64_t i = 0; i < s->n_children; i++)
        if (name ? strcmp(name_of(s->children[i]), name) == 0 : holds_points(s->children[i], &one)) {
            *column = (ast_arrow_column){.place = (size_t)i};
            found++;
        }
    list_columns(s, list);
    if (found != 1 && name)
        return ast_fail(fault, AST_BAD_DATA, "there %s named '%.*s'; there are: %s",
                        found ? "is more than one column" : "is no column", NAME, name, list);
    if (found != 1)
        return ast_fail(fault, AST_BAD_DATA, "%zu columns hold lists of numbers: name one; there are: %s", found, list);
    return holds_points(s->children[column->place], column) ? AST_OK : fail_type(s->children[column->place], fault);
}
