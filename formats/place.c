/* SPDX-License-Identifier: MIT
 *
 * Decides whether a path is standard output, something that must be written in place, or a file that can be replaced
 * by a rename, and which file that is behind symbolic links. It writes nothing. */
#include "place.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_LIMIT 40 /* as many as Linux follows */

static bool follow_links(ast_place *place, const char *path, ast_format_error *error);
static bool check_file(ast_place *place, const struct stat *status, const char *path, ast_format_error *error);

static bool cannot(ast_format_error *error, const char *path) {
    return ast_format_fail(error, "%s: cannot be written: %s", path, strerror(errno));
}

static bool is_stdout(const char *path) {
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/fd/1") == 0 ||
           strcmp(path, "/proc/self/fd/1") == 0;
}

bool ast_place_find(ast_place *place, const char *path, ast_format_error *error) {
    *place = (ast_place){.kind = AST_PLACE_STDOUT};
    if (is_stdout(path))
        return true;
    struct stat status;
    place->exists = stat(path, &status) == 0;
    if (!place->exists && errno != ENOENT)
        return cannot(error, path);
    if (place->exists && S_ISDIR(status.st_mode))
        return ast_format_fail(error, "%s: is a folder; the name of a file is needed", path);
    place->kind = !place->exists || S_ISREG(status.st_mode) ? AST_PLACE_FILE : AST_PLACE_DIRECT;
    place->target = strdup(path);
    bool good = place->target || ast_format_fail(error, "%s: there is not enough memory to write it", path);
    if (good && place->kind == AST_PLACE_FILE)
        good = follow_links(place, path, error) && check_file(place, &status, path, error);
    if (!good)
        ast_place_free(place);
    return good;
}

void ast_place_free(ast_place *place) {
    free(place->target);
    free(place->folder);
    *place = (ast_place){.kind = AST_PLACE_STDOUT};
}

/* The part of the path up to and with the last slash, and room for `more` bytes. */
static char *folder_part(const char *path, size_t more) {
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + more + 1);
    if (folder) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return folder;
}

/* One step: the target becomes what the link holds. */
static bool follow_link(ast_place *place) {
    char held[PATH_MAX];
    ssize_t length = readlink(place->target, held, sizeof held - 1);
    if (length < 0)
        return false;
    held[length] = '\0';
    char *next = held[0] == '/' ? strdup(held) : folder_part(place->target, (size_t)length);
    if (!next)
        return false;
    if (held[0] != '/')
        strcat(next, held);
    free(place->target);
    place->target = next;
    return true;
}

/* realpath would do, were it not for links to files that are yet to be made. */
static bool follow_links(ast_place *place, const char *path, ast_format_error *error) {
    struct stat status;
    for (int links = 0; lstat(place->target, &status) == 0 && S_ISLNK(status.st_mode); links++) {
        /* The links below /proc/self/fd lead to open files, not to names: those are written in place. */
        if (strncmp(place->target, "/proc/", 6) == 0) {
            place->kind = AST_PLACE_DIRECT;
            return true;
        }
        if (links == LINK_LIMIT)
            errno = ELOOP;
        if (links == LINK_LIMIT || !follow_link(place))
            return cannot(error, path);
    }
    return true;
}

static bool check_file(ast_place *place, const struct stat *status, const char *path, ast_format_error *error) {
    if (place->kind != AST_PLACE_FILE)
        return true;
    size_t length = strlen(place->target);
    if (length == 0 || place->target[length - 1] == '/')
        return ast_format_fail(error, "'%s': the name of a file is needed", path);
    place->folder = folder_part(place->target, 2);
    if (!place->folder)
        return ast_format_fail(error, "%s: there is not enough memory to write it", path);
    if (place->folder[0] == '\0')
        strcpy(place->folder, "./");
    if (access(place->folder, F_OK) != 0)
        return ast_format_fail(error, "%s: cannot be written: the folder %s: %s", path, place->folder, strerror(errno));
    if (!place->exists)
        return true;
    /* A rename would get around the write protection of the file itself. */
    if (faccessat(AT_FDCWD, place->target, W_OK, AT_EACCESS) != 0)
        return cannot(error, path);
    place->mode = status->st_mode & 0777;
    place->user = status->st_uid;
    place->group = status->st_gid;
    return true;
}
