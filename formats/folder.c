/* SPDX-License-Identifier: MIT
 *
 * Folders in the order that people expect: 9 before 10. */
#include "frames.h"

#include "message.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

/* Compares the runs of digits that begin at *a and *b by value, and moves both behind their run. */
static int compare_runs(const char **a, const char **b) {
    while (**a == '0')
        (*a)++;
    while (**b == '0')
        (*b)++;
    size_t length_a = strspn(*a, "0123456789"), length_b = strspn(*b, "0123456789");
    int order = length_a != length_b ? (length_a < length_b ? -1 : 1) : strncmp(*a, *b, length_a);
    *a += length_a;
    *b += length_b;
    return order;
}

int ast_natural_compare(const char *a, const char *b) {
    const char *whole_a = a, *whole_b = b;
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            int order = compare_runs(&a, &b);
            if (order != 0)
                return order;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    int order = (unsigned char)*a - (unsigned char)*b;
    /* Equal but for leading zeros, "01" and "1": any fixed order will do. */
    return order != 0 ? order : strcmp(whole_a, whole_b);
}

static int compare_paths(const void *a, const void *b) {
    return ast_natural_compare(*(char *const *)a, *(char *const *)b);
}

bool ast_is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool ast_folder_make(const char *path, ast_format_error *error) {
    char *copy = strdup(path);
    if (!copy)
        return ast_format_no_memory(error, path);
    for (char *slash = copy + 1; copy[0] && *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        mkdir(copy, 0777); /* whether it worked shows at the end */
        *slash = '/';
    }
    free(copy);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return ast_format_fail(error, "the folder %s cannot be made: %s", path, strerror(errno));
    return ast_is_folder(path) || ast_format_fail(error, "%s is no folder", path);
}

/* Most file systems say with the name what it stands for; a link may lead to a folder or to nothing. */
static bool is_file(const struct dirent *entry, const char *path) {
    struct stat status;
    if (entry->d_type == DT_REG || entry->d_type == DT_DIR)
        return entry->d_type == DT_REG;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* Adds the entry if it is a file. */
static bool add_file(ast_folder *folder, const char *path, const struct dirent *entry) {
    size_t count = folder->count, length = strlen(path);
    char *whole;
    if (asprintf(&whole, "%s%s%s", path, length > 0 && path[length - 1] == '/' ? "" : "/", entry->d_name) < 0)
        return false;
    if (!is_file(entry, whole)) {
        free(whole);
        return true;
    }
    if ((count & (count - 1)) == 0) { /* a power of two: full */
        char **grown = realloc(folder->paths, (count ? 2 * count : 1) * sizeof *grown);
        if (!grown) {
            free(whole);
            return false;
        }
        folder->paths = grown;
    }
    folder->paths[folder->count++] = whole;
    return true;
}

bool ast_folder_list(ast_folder *folder, const char *path, ast_format_error *error) {
    *folder = (ast_folder){0};
    DIR *directory = opendir(path);
    if (!directory)
        return ast_format_fail(error, "%s: cannot be opened as a folder: %s", path, strerror(errno));
    bool enough = true;
    struct dirent *entry;
    while (enough && (errno = 0, entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            enough = add_file(folder, path, entry);
    int reason = enough ? errno : ENOMEM;
    closedir(directory);
    if (reason != 0) {
        ast_folder_free(folder);
        return ast_format_fail(error, "%s: cannot be listed: %s", path, strerror(reason));
    }
    if (folder->count > 0)
        qsort(folder->paths, folder->count, sizeof *folder->paths, compare_paths);
    return true;
}

void ast_folder_free(ast_folder *folder) {
    for (size_t i = 0; i < folder->count; i++)
        free(folder->paths[i]);
    free(folder->paths);
    *folder = (ast_folder){0};
}
