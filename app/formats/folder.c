/* SPDX-License-Identifier: MIT
 *
 * Folders in the order that people expect: 9 before 10. */
#include "frames.h"

#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        int why = mkdir(copy, 0777) == 0 ? 0 : errno;
        if (why && why != EEXIST && !ast_is_folder(copy)) {
            ast_format_fail(error, "the folder %s cannot be made: %s", copy, strerror(why));
            free(copy);
            return false;
        }
        *slash = '/';
    }
    free(copy);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return ast_format_fail(error, "the folder %s cannot be made: %s", path, strerror(errno));
    return ast_is_folder(path) || ast_format_fail(error, "%s is no folder", path);
}

bool ast_same_file(const char *a, const char *b) {
    struct stat one, other;
    return b && stat(a, &one) == 0 && stat(b, &other) == 0 && S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Most file systems give the type with the name. A link must be followed: it may lead to a folder or to nothing. */
static bool is_file(const struct dirent *entry, const char *path) {
    struct stat status;
    if (entry->d_type == DT_REG || entry->d_type == DT_DIR)
        return entry->d_type == DT_REG;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

char *ast_path_within(const char *folder, const char *name) {
    size_t length = strlen(folder);
    char *path;
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

/* Adds the entry if it is a file. */
static bool add_file(ast_folder *folder, const char *path, const struct dirent *entry) {
    char *whole = ast_path_within(path, entry->d_name);
    bool wanted = whole && is_file(entry, whole);
    folder->entries++;
    folder->dangling += whole && !wanted && entry->d_type != DT_DIR && access(whole, F_OK) != 0;
    if (wanted && ast_array_grow(&folder->paths, &folder->capacity, folder->count + 1, sizeof *folder->paths)) {
        folder->paths[folder->count++] = whole;
        return true;
    }
    bool good = whole && !wanted;
    free(whole);
    return good;
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
