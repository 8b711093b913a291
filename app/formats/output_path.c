/* SPDX-License-Identifier: MIT
 *
 * Decides whether a path is standard output, something that must be written in place, or a file that can be replaced
 * by a rename, and which file that is behind symbolic links. It writes nothing. */
#include "output.h"

#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_LIMIT 40 /* as many as Linux follows */

static bool follow_links(ast_output_path *found, const char *path, ast_format_error *error);
static bool check_file(ast_output_path *found, const struct stat *status, const char *path, ast_format_error *error);

static bool cannot(ast_format_error *error, const char *path) {
    return ast_format_fail(error, "%s: cannot be written: %s", path, strerror(errno));
}

static bool is_stdout(const char *path) {
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0 ||
           strcmp(path, "/proc/self/fd/1") == 0;
}

bool ast_output_path_find(ast_output_path *found, const char *path, ast_format_error *error) {
    *found = (ast_output_path){.kind = AST_OUTPUT_STDOUT};
    if (is_stdout(path))
        return true;
    struct stat status;
    found->exists = stat(path, &status) == 0;
    if (!found->exists && errno != ENOENT)
        return cannot(error, path);
    if (found->exists && S_ISDIR(status.st_mode))
        return ast_format_fail(error, "%s: is a folder; the name of a file is needed", path);
    found->kind = !found->exists || S_ISREG(status.st_mode) ? AST_OUTPUT_FILE : AST_OUTPUT_DIRECT;
    found->target = strdup(path);
    bool good = found->target || ast_format_fail(error, "%s: there is not enough memory to write it", path);
    if (good && found->kind == AST_OUTPUT_FILE)
        good = follow_links(found, path, error) && check_file(found, &status, path, error);
    if (!good)
        ast_output_path_free(found);
    return good;
}

void ast_output_path_free(ast_output_path *found) {
    free(found->target);
    free(found->folder);
    *found = (ast_output_path){.kind = AST_OUTPUT_STDOUT};
}

/* Where a path leads that nothing is at yet, which may end in slashes; false if that cannot be told. */
static bool find_absent(ast_output_path *found, const char *path) {
    ast_format_error unused;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *copy = strndup(path, length);
    bool good = copy && ast_output_path_find(found, copy, &unused) && found->folder;
    free(copy);
    return good;
}

static bool is_one(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool ast_same_output(const char *a, const char *b) {
    struct stat one, other;
    if (is_stdout(a) || is_stdout(b))
        return is_stdout(a) && is_stdout(b);
    bool there = stat(a, &one) == 0;
    if (there != (stat(b, &other) == 0))
        return false;
    if (there)
        return is_one(&one, &other) && !S_ISCHR(one.st_mode);
    ast_output_path first = {0}, second = {0};
    bool same = find_absent(&first, a) && find_absent(&second, b) &&
                strcmp(name_of(first.target), name_of(second.target)) == 0 && stat(first.folder, &one) == 0 &&
                stat(second.folder, &other) == 0 && is_one(&one, &other);
    ast_output_path_free(&first);
    ast_output_path_free(&second);
    return same;
}

/* `name` in the folder of the path. */
static char *beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    char *joined;
    return asprintf(&joined, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name) < 0 ? NULL : joined;
}

/* One step: the target becomes what the link holds. */
static bool follow_link(ast_output_path *found) {
    char held[PATH_MAX];
    ssize_t length = readlink(found->target, held, sizeof held - 1);
    if (length < 0)
        return false;
    held[length] = '\0';
    char *next = held[0] == '/' ? strdup(held) : beside(found->target, held);
    if (!next)
        return false;
    free(found->target);
    found->target = next;
    return true;
}

/* realpath would do, were it not for links to files that are yet to be made. */
static bool follow_links(ast_output_path *found, const char *path, ast_format_error *error) {
    struct stat status;
    for (int links = 0; lstat(found->target, &status) == 0 && S_ISLNK(status.st_mode); links++) {
        /* The links below /proc/self/fd lead to open files, not to names: those are written in place. */
        if (strncmp(found->target, "/proc/", 6) == 0) {
            found->kind = AST_OUTPUT_DIRECT;
            return true;
        }
        if (links == LINK_LIMIT)
            errno = ELOOP;
        if (links == LINK_LIMIT || !follow_link(found))
            return cannot(error, path);
    }
    return true;
}

static bool check_file(ast_output_path *found, const struct stat *status, const char *path, ast_format_error *error) {
    if (found->kind != AST_OUTPUT_FILE)
        return true;
    size_t length = strlen(found->target);
    if (length == 0 || found->target[length - 1] == '/')
        return ast_format_fail(error, "'%s': the name of a file is needed", path);
    found->folder = strchr(found->target, '/') ? beside(found->target, "") : strdup("./");
    if (!found->folder)
        return ast_format_fail(error, "%s: there is not enough memory to write it", path);
    if (access(found->folder, F_OK) != 0)
        return ast_format_fail(error, "%s: cannot be written: the folder %s: %s", path, found->folder, strerror(errno));
    if (!found->exists)
        return true;
    /* A rename would get around the write protection of the file itself. */
    if (faccessat(AT_FDCWD, found->target, W_OK, AT_EACCESS) != 0)
        return cannot(error, path);
    found->mode = status->st_mode & 0777;
    found->user = status->st_uid;
    found->group = status->st_gid;
    return true;
}
