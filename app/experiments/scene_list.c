/* SPDX-License-Identifier: MIT
 *
 * A list is parts with commas between them; a part is a number, a range FIRST-LAST, or one to the end FIRST-, either
 * with /STEP behind it. */
#include "scene_list.h"

#include <number.h>
#include <string.h>

typedef struct part {
    size_t first, last, step; /* last SIZE_MAX: to the end */
} part;

/* Digits, up to a number that no file has. */
static const char *read_number(const char *text, size_t *number) {
    uint64_t value;
    text = ast_whole_parse(text, NULL, &value);
    *number = value;
    return value < SIZE_MAX / 2 ? text : NULL;
}

static const char *read_part(const char *text, part *read) {
    *read = (part){0, 0, 1};
    text = read_number(text, &read->first);
    read->last = read->first;
    if (!text || *text != '-')
        return text;
    read->last = SIZE_MAX;
    text++;
    if (*text >= '0' && *text <= '9')
        text = read_number(text, &read->last);
    if (text && *text == '/')
        text = read_number(text + 1, &read->step);
    return text && read->step > 0 && read->last >= read->first ? text : NULL;
}

static ast_scene_list_problem mark(const part *named, size_t count, bool *wanted, size_t *beyond) {
    size_t last = named->last == SIZE_MAX ? count - 1 : named->last;
    if (named->first >= count || last >= count) {
        *beyond = named->first >= count ? named->first : last;
        return AST_SCENES_BEYOND;
    }
    for (size_t i = named->first; i <= last; i++)
        if ((i - named->first) % named->step == 0)
            wanted[i] = true;
    return AST_SCENES_FINE;
}

ast_scene_list_problem ast_scene_list_mark(const char *list, size_t count, bool *wanted, size_t *beyond) {
    const char *text = strcmp(list, "all") == 0 ? "0-" : list;
    for (;; text++) {
        part named;
        text = read_part(text, &named);
        if (!text || (*text && *text != ','))
            return AST_SCENES_UNREADABLE;
        if (wanted && mark(&named, count, wanted, beyond) != AST_SCENES_FINE)
            return AST_SCENES_BEYOND;
        if (!*text)
            return AST_SCENES_FINE;
    }
}
