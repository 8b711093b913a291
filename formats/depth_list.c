/* SPDX-License-Identifier: MIT
 *
 * From what people name (a file, a folder, a folder of the TUM RGB-D benchmark) to a list of files. Nothing is opened
 * but a depth.txt. */
#include "depth_list.h"

#include "depth_frames.h"
#include "message.h"
#include "number.h"
#include "nyu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A line has a time and a path, which Linux limits to 4096 bytes. */
#define LINE_MOST 5000

static bool is_folder(const char *path);
static char *within(const char *folder, const char *name, ast_format_error *error);
static bool add_listed(ast_depth_list *list, const char *folder, const char *file, ast_format_error *error);
static bool add_images(ast_depth_list *list, const char *path, ast_format_error *error);
static bool add_scenes(ast_depth_list *list, const char *path, ast_format_error *error);
static size_t count_images(const char *folder, size_t *tables);

bool ast_depth_input(const char *path) {
    ast_format_error error;
    if (!is_folder(path))
        return strcmp(path, "-") != 0 && (ast_depth_extension(path) || ast_nyu_extension(path));
    char *list = within(path, "depth.txt", &error), *folder = within(path, "depth", &error);
    struct stat status;
    size_t tables;
    bool found = list && folder && (stat(list, &status) == 0 || count_images(folder, &tables) > 0);
    free(list);
    free(folder);
    return found || count_images(path, &tables) > tables;
}

bool ast_depth_list_input(ast_depth_list *list, const char *input, ast_format_error *error) {
    bool folder_here = strcmp(input, "-") != 0 && is_folder(input), scenes = !folder_here && ast_nyu_extension(input);
    if (list->scenes || (scenes && list->count > 0))
        return ast_format_fail(error, "%s: must be the only input: a data set (.mat) has scenes enough",
                               list->scenes ? list->items[0].path : input);
    if (scenes)
        return add_scenes(list, input, error);
    if (!folder_here)
        return ast_depth_list_path(list, input, error);
    char *file = within(input, "depth.txt", error), *folder = within(input, "depth", error);
    struct stat status;
    size_t before = list->count;
    bool good = file && folder;
    if (good && stat(file, &status) == 0) {
        good = add_listed(list, input, file, error);
    } else if (good) {
        good = !is_folder(folder) || add_images(list, folder, error);
        if (good && list->count == before)
            good = add_images(list, input, error);
        if (good && list->count == before)
            good = ast_format_fail(error,
                                   "%s: holds no depth image (.png or .pgm), no depth.txt and no folder \"depth\" of "
                                   "such images",
                                   input);
    }
    free(file);
    free(folder);
    return good;
}

void ast_depth_list_free(ast_depth_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    free(list->items);
    *list = (ast_depth_list){0};
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* Takes the path, also on failure. */
static bool add(ast_depth_list *list, char *path, double seconds, uint64_t number, const char *name,
                ast_format_error *error) {
    size_t count = list->count;
    ast_depth_item *grown = list->items;
    if (path && (count & (count - 1)) == 0) /* a power of two, or none: full */
        grown = realloc(list->items, (count ? 2 * count : 1) * sizeof *grown);
    if (!path || !grown) {
        free(path);
        return ast_format_fail(error, "%s: there is not enough memory for the list of frames", name);
    }
    list->items = grown;
    list->items[list->count++] = (ast_depth_item){path, seconds, number};
    return true;
}

bool ast_depth_list_path(ast_depth_list *list, const char *path, ast_format_error *error) {
    for (size_t i = 0; strcmp(path, "-") == 0 && i < list->count; i++)
        if (strcmp(list->items[i].path, "-") == 0)
            return ast_format_fail(error, "standard input can be read once, but - is given twice");
    list->plain = true;
    return add(list, strdup(path), NAN, AST_DEPTH_WHOLE, path, error);
}

/* The file is opened for the number of its scenes, and closed again: whoever reads them may be another thread. */
static bool add_scenes(ast_depth_list *list, const char *path, ast_format_error *error) {
    ast_nyu *nyu = ast_nyu_open(path, error);
    if (!nyu)
        return false;
    size_t count = nyu->count;
    ast_nyu_close(nyu);
    if (list->one_scene && list->scene >= count)
        return ast_format_fail(error, "%s: has %zu scene%s, counted from 0, and scene %llu is asked for", path, count,
                               count == 1 ? "" : "s", (unsigned long long)list->scene);
    uint64_t end = list->one_scene ? list->scene + 1 : count;
    bool good = true;
    for (uint64_t i = list->one_scene ? list->scene : 0; i < end && good; i++)
        good = add(list, strdup(path), NAN, i, path, error);
    list->plain = list->scenes = true;
    return good;
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static char *within(const char *folder, const char *name, ast_format_error *error) {
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path = malloc(length + strlen(name) + 2);
    if (path)
        strcat(strcat(strcpy(path, folder), slash), name);
    else
        ast_format_fail(error, "%s: there is not enough memory for the list of frames", folder);
    return path;
}

/* How many images there are, and how many *tables of points. */
static size_t count_images(const char *folder, size_t *tables) {
    ast_folder files;
    ast_format_error error;
    size_t images = 0;
    *tables = 0;
    if (!ast_folder_list(&files, folder, &error))
        return 0;
    for (size_t i = 0; i < files.count; i++) {
        images += ast_depth_extension(files.paths[i]);
        *tables += ast_input_check(files.paths[i], NULL, &error);
    }
    ast_folder_free(&files);
    return images;
}

static bool add_images(ast_depth_list *list, const char *path, ast_format_error *error) {
    ast_folder folder;
    if (!ast_folder_list(&folder, path, error))
        return false;
    bool good = true;
    for (size_t i = 0; i < folder.count && good; i++)
        if (ast_depth_extension(folder.paths[i]))
            good = ast_depth_list_path(list, folder.paths[i], error);
    ast_folder_free(&folder);
    return good;
}

/* ---- depth.txt --------------------------------------------------------------------------------------------------- */

static bool add_listed(ast_depth_list *list, const char *folder, const char *file, ast_format_error *error) {
    unsigned char *bytes;
    size_t size;
    if (!ast_read_file(file, &bytes, &size, error))
        return false;
    bool good = ast_depth_list_tum(list, folder, file, bytes, size, error);
    free(bytes);
    return good;
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* One line, without its end, as text: "time file", a comment or nothing. */
static bool add_line(ast_depth_list *list, const char *folder, const char *name, size_t number, char *line,
                     locale_t locale, ast_format_error *error) {
    char *end = line + strlen(line);
    while (end > line && is_blank(end[-1]))
        *--end = '\0';
    while (is_blank(*line))
        line++;
    if (*line == '\0' || *line == '#')
        return true;
    double seconds;
    const char *file = ast_number_parse(line, false, locale, &seconds);
    if (!file || !is_blank(*file) || !isfinite(seconds)) {
        char excerpt[AST_EXCERPT];
        ast_excerpt(excerpt, line, strlen(line));
        return ast_format_fail(error, "%s: line %zu: '%s' is no time with a file name behind it", name, number,
                               excerpt);
    }
    while (is_blank(*file))
        file++;
    char *path = *file == '/' ? strdup(file) : within(folder, file, error);
    return add(list, path, seconds, AST_DEPTH_WHOLE, name, error);
}

static bool add_lines(ast_depth_list *list, const char *folder, const char *name, const unsigned char *bytes,
                      size_t size, locale_t locale, ast_format_error *error) {
    char line[LINE_MOST + 1];
    size_t begin = 0;
    for (size_t number = 1; begin < size; number++) {
        const unsigned char *end = memchr(bytes + begin, '\n', size - begin);
        size_t length = (end ? (size_t)(end - bytes) : size) - begin;
        if (length > LINE_MOST || memchr(bytes + begin, '\0', length))
            return ast_format_fail(error, "%s: line %zu: is no line of a text with a time and a file name", name,
                                   number);
        memcpy(line, bytes + begin, length);
        line[length] = '\0';
        if (!add_line(list, folder, name, number, line, locale, error))
            return false;
        begin += length + 1;
    }
    return true;
}

bool ast_depth_list_tum(ast_depth_list *list, const char *folder, const char *name, const unsigned char *bytes,
                        size_t size, ast_format_error *error) {
    size_t before = list->count;
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale)
        return ast_format_no_memory(error, name);
    bool good = add_lines(list, folder, name, bytes, size, locale, error);
    freelocale(locale);
    if (good && list->count == before)
        good = ast_format_fail(error, "%s: names no frame; lines with a time and a file name are needed", name);
    return good;
}
