/* SPDX-License-Identifier: MIT
 *
 * Temporary files. The one idea: where the file system allows it the file has no name while it is written (O_TMPFILE),
 * so that not even kill -9 leaves anything behind; it gets one only for the moment before the rename. */
#include "output.h"

#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ATTEMPTS 100 /* at a name that nobody else has */
#define NAME_ROOM 64

static bool open_unnamed(ast_temporary *temporary);
static void choose_name(ast_temporary *temporary, int attempt);

bool ast_temporary_open(ast_temporary *temporary, const char *folder, bool unnamed) {
    *temporary = (ast_temporary){.descriptor = -1, .folder = folder};
    temporary->name = malloc(strlen(folder) + NAME_ROOM);
    if (!temporary->name)
        return false;
    if (unnamed && open_unnamed(temporary))
        return true;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        choose_name(temporary, attempt);
        temporary->descriptor = open(temporary->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        temporary->named = temporary->descriptor >= 0;
        if (temporary->named)
            return true;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    int reason = errno;
    ast_temporary_drop(temporary);
    errno = reason;
    return false;
}

/* Linking to the name is how an unnamed file gets one; it needs /proc, which was looked for when it was opened. */
static bool give_name(ast_temporary *temporary) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", temporary->descriptor);
    for (int attempt = 0; attempt < ATTEMPTS && !temporary->named; attempt++) {
        if (!temporary->sole)
            choose_name(temporary, attempt);
        else if (attempt > 0)
            unlink(temporary->name);
        temporary->named = linkat(AT_FDCWD, link, AT_FDCWD, temporary->name, AT_SYMLINK_FOLLOW) == 0;
        if (!temporary->named && errno != EEXIST)
            break;
    }
    return temporary->named;
}

void ast_temporary_for(ast_temporary *temporary, const char *target) {
    const char *base = strrchr(target, '/');
    base = base ? base + 1 : target;
    char *name;
    if (temporary->named || strlen(base) + 5 > NAME_MAX || asprintf(&name, "%s.%s.tmp", temporary->folder, base) < 0)
        return;
    free(temporary->name);
    temporary->name = name;
    temporary->sole = true;
}

bool ast_temporary_name(ast_temporary *temporary) {
    return temporary->named || give_name(temporary);
}

bool ast_temporary_close(ast_temporary *temporary) {
    if (!temporary->named && !give_name(temporary))
        return false;
    int descriptor = temporary->descriptor;
    temporary->descriptor = -1;
    return close(descriptor) == 0;
}

bool ast_temporary_move(ast_temporary *temporary, const char *target) {
    if (rename(temporary->name, target) != 0)
        return false;
    temporary->named = false;
    return true;
}

void ast_temporary_drop(ast_temporary *temporary) {
    if (temporary->descriptor >= 0)
        close(temporary->descriptor);
    if (temporary->named)
        unlink(temporary->name);
    free(temporary->name);
    *temporary = (ast_temporary){.descriptor = -1};
}

static bool open_unnamed(ast_temporary *temporary) {
#ifdef O_TMPFILE
    char link[64];
    temporary->descriptor = open(temporary->folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    snprintf(link, sizeof link, "/proc/self/fd/%d", temporary->descriptor);
    if (temporary->descriptor >= 0 && access(link, F_OK) != 0) {
        close(temporary->descriptor);
        temporary->descriptor = -1;
    }
#endif
    return temporary->descriptor >= 0;
}

/* The name says whose it is, should it ever be found. It does not contain the target's, which may be as long as a name
 * can be. */
static void choose_name(ast_temporary *temporary, int attempt) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    sprintf(temporary->name, "%s.asterism-%ld-%ld-%d.tmp", temporary->folder, (long)getpid(), now.tv_nsec, attempt);
}
