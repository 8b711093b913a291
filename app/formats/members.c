/* SPDX-License-Identifier: MIT
 *
 * Files that hold several arrays: which of them are the points, and the sentences where that is not clear. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 8      /* that a sentence names */
#define LIST_MOST 360 /* and characters that this takes at most */

static bool can_be_points(const ast_member *member) {
    return member->dimensions == 2 && member->known >= 0;
}

/* "a (10 x 3 F32), b (7, I64)": members, or only those that can be points. */
static const char *list_members(const ast_members *members, bool points, char list[LIST_MOST + 64]) {
    size_t used = 0, named = 0, left = 0;
    list[0] = 0;
    for (size_t i = 0; i < members->count; i++) {
        const ast_member *member = &members->list[i];
        if (points && !can_be_points(member))
            continue;
        char name[AST_EXCERPT], shape[48];
        ast_excerpt(name, member->name, strlen(member->name));
        if (member->dimensions == 2)
            snprintf(shape, sizeof shape, "%llu x %llu", (unsigned long long)member->shape[0],
                     (unsigned long long)member->shape[1]);
        else
            snprintf(shape, sizeof shape, "%d dimension%s,", member->dimensions, member->dimensions == 1 ? "" : "s");
        if (named == LISTED || used + strlen(name) + strlen(shape) + strlen(member->type) + 6 > LIST_MOST) {
            left++;
            continue;
        }
        named++;
        used += (size_t)snprintf(list + used, LIST_MOST + 64 - used, "%s%s (%s %s)", used ? ", " : "", name, shape,
                                 member->type);
    }
    if (left)
        snprintf(list + used, LIST_MOST + 64 - used, " and %zu more", left);
    return list;
}

/* One that is asked for, or that is the only one of two dimensions. */
static bool check(const ast_member *member, const ast_member_words *words, const char *name, ast_format_error *error) {
    char own[AST_EXCERPT];
    ast_excerpt(own, member->name, strlen(member->name));
    if (member->dimensions != 2)
        return ast_format_fail(error, "%s: %s %s has %d dimension%s; points need two, N x D", name, words->one, own,
                               member->dimensions, member->dimensions == 1 ? "" : "s");
    if (member->known < 0)
        return ast_format_fail(error, "%s: %s %s holds numbers of type %s; points need %s", name, words->one, own,
                               member->type, words->types);
    if (member->shape[0] == 0 || member->shape[1] == 0)
        return ast_format_fail(error, "%s: %s %s has the shape %llu x %llu and holds no points", name, words->one, own,
                               (unsigned long long)member->shape[0], (unsigned long long)member->shape[1]);
    return true;
}

static bool find(const ast_members *members, const char *wanted, const ast_member_words *words, const char *name,
                 const ast_member **found, ast_format_error *error) {
    char list[LIST_MOST + 64], quoted[AST_EXCERPT];
    size_t skip = words->rooted && wanted[0] != '/', times = 0;
    for (size_t i = 0; i < members->count; i++)
        if (strcmp(members->list[i].name + skip, wanted) == 0) {
            *found = &members->list[i];
            times++;
        }
    ast_excerpt(quoted, wanted, strlen(wanted));
    if (times > 1)
        return ast_format_fail(error, "%s: has more than one %s '%s'; the file is damaged", name, words->one, quoted);
    return times == 1 || ast_format_fail(error, "%s: has no %s '%s'; there are: %s", name, words->one, quoted,
                                         list_members(members, false, list));
}

bool ast_members_choose(const ast_members *members, const char *wanted, const ast_member_words *words, const char *name,
                        const ast_member **found, ast_format_error *error) {
    char list[LIST_MOST + 64];
    const ast_member *points = NULL, *table = NULL;
    size_t many = 0;
    if (members->count == 0)
        return ast_format_fail(error, "%s: holds no %s", name, words->one);
    if (wanted)
        return find(members, wanted, words, name, found, error) && check(*found, words, name, error);
    for (size_t i = 0; i < members->count; i++) {
        const ast_member *member = &members->list[i];
        points = can_be_points(member) ? member : points;
        table = member->dimensions == 2 ? member : table;
        many += can_be_points(member);
    }
    if (many > 1)
        return ast_format_fail(error, "%s: has several %s of points, of which %s chooses one: %s", name, words->many,
                               words->option, list_members(members, true, list));
    if (!table)
        return ast_format_fail(error, "%s: has no %s of two dimensions, N x D; there are: %s", name, words->one,
                               list_members(members, false, list));
    *found = points ? points : table;
    return check(*found, words, name, error);
}

void ast_members_free(ast_members *members) {
    for (size_t i = 0; i < members->count; i++)
        free(members->list[i].name);
    free(members->list);
    *members = (ast_members){0};
}
