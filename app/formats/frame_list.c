/* SPDX-License-Identifier: MIT
 *
 * From what people name (a file, a folder, a folder of the TUM RGB-D benchmark) to a list of files. Nothing is opened
 * but a depth.txt and a data set. */
#include "frames.h"

#include "platform.h"
#include "number.h"
#include "nyu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line has a time and a path, which Linux limits to 4096 bytes. */
#define LINE_MOST 5000

static bool add_file(ast_frame_list *list, const char *path, ast_file_format format, bool depth,
                     ast_format_error *error);
static bool add_scenes(ast_frame_list *list, const char *path, ast_format_error *error);
static bool add_folder(ast_frame_list *list, const char *path, ast_frame_kind kind, ast_format_error *error);
static bool add_listed(ast_frame_list *list, const char *folder, const char *file, ast_format_error *error);

bool ast_frame_list_add(ast_frame_list *list, const char *input, ast_file_format format, ast_frame_kind kind,
                        ast_format_error *error) {
    bool standard = strcmp(input, "-") == 0;
    list->misused = false;
    if (list->count == 0)
        list->first = input;
    if (!standard && ast_is_folder(input))
        return add_folder(list, input, kind, error);
    if (!standard && kind != AST_AS_TABLES && format.holds == AST_HOLDS_SCENES)
        return add_scenes(list, input, error);
    bool depth = kind == AST_AS_DEPTH || (kind == AST_AS_NAMED && format.holds == AST_HOLDS_DEPTH);
    if (standard && !format.row)
        format = ast_format_of(input, "npy");
    return add_file(list, input, format, depth, error);
}

double ast_frame_list_scale(const ast_frame_list *list) {
    return list->scenes ? AST_NYU_UNITS : list->timed ? 5000 : 0;
}

void ast_frame_list_free(ast_frame_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->files[i].path);
    free(list->files);
    free(list->first_absent);
    ast_nyu_close(list->nyu);
    *list = (ast_frame_list){0};
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static bool no_memory(const char *name, ast_format_error *error) {
    return ast_format_fail(error, "%s: there is not enough memory for the list of frames", name);
}

/* Takes the path, also on failure. */
static bool add(ast_frame_list *list, ast_input_file file, const char *name, ast_format_error *error) {
    if (!file.path || !ast_array_grow(&list->files, &list->capacity, list->count + 1, sizeof *list->files)) {
        free(file.path);
        return no_memory(name, error);
    }
    list->files[list->count++] = file;
    return true;
}

/* Makes sure that an input goes with those before it. */
static bool joins(ast_frame_list *list, const char *input, bool depth, ast_format_error *error) {
    const char *other = list->first;
    if (list->scenes)
        return ast_format_fail(error, "%s: must be the only input: a data set (.mat) has scenes enough", other);
    list->misused = list->count > 0 && list->depth != depth;
    if (list->misused)
        return ast_format_fail(error, "%s is depth images and %s is not; the inputs must be of one kind",
                               depth ? input : other, depth ? other : input);
    list->depth = depth;
    return true;
}

/* The time that is the name of a file, 1305031453.374112 of depth/1305031453.374112.png, or NaN. `whole`: 17.png has
 * one too. */
static double name_seconds(const char *path, bool whole) {
    char text[64];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strspn(name, "0123456789");
    size_t decimals = length > 0 && name[length] == '.' ? strspn(name + length + 1, "0123456789") : 0;
    bool time = length > 0 && (whole || decimals > 0);
    length += decimals > 0 ? 1 + decimals : 0;
    double seconds = NAN;
    if (!time || name[length] != '.' || length >= sizeof text)
        return NAN;
    memcpy(text, name, length);
    text[length] = '\0';
    ast_number_parse(text, false, &seconds);
    return seconds;
}

static bool add_file(ast_frame_list *list, const char *path, ast_file_format format, bool depth,
                     ast_format_error *error) {
    if (!joins(list, path, depth, error))
        return false;
    for (size_t i = 0; strcmp(path, "-") == 0 && i < list->count; i++)
        if (strcmp(list->files[i].path, "-") == 0) {
            list->misused = true;
            return ast_format_fail(error, "standard input can be read once, but - is given twice");
        }
    list->timed = false;
    ast_input_file file = {strdup(path), format, name_seconds(path, list->number_times), AST_WHOLE};
    return add(list, file, path, error);
}

/* The file stays open for whoever reads the scenes. */
static bool add_scenes(ast_frame_list *list, const char *path, ast_format_error *error) {
    if (list->count > 0 && !list->scenes)
        return ast_format_fail(error, "%s: must be the only input: a data set (.mat) has scenes enough", path);
    if (!joins(list, path, true, error))
        return false;
    list->nyu = ast_nyu_open(path, error);
    if (!list->nyu)
        return false;
    size_t count = list->nyu->count;
    if (list->one_scene && list->scene >= count)
        return ast_format_fail(error, "%s: has %zu scene%s, counted from 0, and scene %llu is asked for", path, count,
                               count == 1 ? "" : "s", (unsigned long long)list->scene);
    uint64_t end = list->one_scene ? list->scene + 1 : count;
    bool good = true;
    for (uint64_t i = list->one_scene ? list->scene : 0; i < end && good; i++)
        good = add(list, (ast_input_file){.path = strdup(path), .seconds = NAN, .scene = i}, path, error);
    list->scenes = true;
    return good;
}

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

static bool is_table(ast_file_format format) {
    return format.holds == AST_HOLDS_TABLE || format.holds == AST_HOLDS_SPARSE;
}

static bool has_in_name(const char *path, const char *words) {
    const char *slash = strrchr(path, '/');
    return strcasestr(slash ? slash + 1 : path, words);
}

static bool is_colour(const char *path) {
    return has_in_name(path, "color") || has_in_name(path, "colour") || has_in_name(path, "rgb");
}

/* What a folder holds. */
typedef struct content {
    ast_folder folder;
    ast_file_format *formats; /* (folder.count) of its files */
    size_t images, tables;
    bool named; /* images called NAME.depth.png, as in 7-Scenes */
    bool plain; /* images whose name does not say that they show colour */
} content;

/* Arrays of floats and organised clouds are depth images too, if nothing else is and the caller expects some. */
static void take_arrays(content *found) {
    for (size_t i = 0; i < found->folder.count; i++) {
        if (!ast_has_extension(found->folder.paths[i], ".npy") && !ast_has_extension(found->folder.paths[i], ".pcd"))
            continue;
        found->tables -= is_table(found->formats[i]);
        found->formats[i] = ast_format_of(found->folder.paths[i], "png"); /* images.c looks at the bytes */
        found->images++;
        found->plain |= !is_colour(found->folder.paths[i]);
    }
}

/* The content is to be freed in any case. */
static bool look_into(const ast_frame_list *list, content *found, const char *path, ast_format_error *error) {
    const ast_folder *folder = &found->folder;
    if (!ast_folder_list(&found->folder, path, error))
        return false;
    found->formats = malloc((folder->count + 1) * sizeof *found->formats);
    if (!found->formats)
        return no_memory(path, error);
    for (size_t i = 0; i < folder->count; i++) {
        const char *file = folder->paths[i];
        ast_file_format format = found->formats[i] = ast_format_of(file, NULL);
        bool image = format.holds == AST_HOLDS_DEPTH;
        found->images += image;
        found->tables += is_table(format);
        found->named |= image && has_in_name(file, ".depth.");
        found->plain |= image && !is_colour(file);
    }
    if (list->arrays && found->images == 0)
        take_arrays(found);
    return true;
}

static void let_go(content *found) {
    ast_folder_free(&found->folder);
    free(found->formats);
}

static bool is_wanted(const content *found, size_t i, bool depth) {
    const char *file = found->folder.paths[i];
    if (!depth)
        return is_table(found->formats[i]);
    return found->formats[i].holds == AST_HOLDS_DEPTH &&
           (found->named ? has_in_name(file, ".depth.") : !found->plain || !is_colour(file));
}

/* Adds those files of the folder that are wanted, images or tables. */
static bool add_files(ast_frame_list *list, const content *found, const char *path, bool depth,
                      ast_format_error *error) {
    bool good = joins(list, path, depth, error);
    for (size_t i = 0; i < found->folder.count && good; i++) {
        const char *file = found->folder.paths[i];
        if (!is_wanted(found, i, depth) || ast_same_file(file, list->except))
            continue;
        ast_file_format format =
            list->format && !(list->arrays && depth) ? ast_format_of(file, list->format) : found->formats[i];
        good = add_file(list, file, format, depth, error);
    }
    return good;
}

/* Makes sure that there is something in a folder. */
static bool check_hollow(const ast_folder *folder, const char *path, ast_format_error *error) {
    if (folder->entries == 0)
        return ast_format_fail(error, "%s: the folder is empty; there is no file of a known format in it", path);
    if (folder->dangling < folder->entries)
        return true;
    return ast_format_fail(error, "%s: holds nothing but %zu link%s to files that are not there", path,
                           folder->dangling, folder->dangling == 1 ? "" : "s");
}

static bool is_same_folder(const char *a, const char *b) {
    struct stat one, other;
    return b && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The files of the folder itself. */
static bool add_content(ast_frame_list *list, const char *path, ast_frame_kind kind, ast_format_error *error) {
    content found = {0};
    size_t before = list->count;
    bool good = look_into(list, &found, path, error) && check_hollow(&found.folder, path, error);
    bool mostly =
        found.images > found.tables || found.named || (found.images > 0 && is_same_folder(path, list->except));
    bool depth = kind == AST_AS_DEPTH || (kind == AST_AS_NAMED && mostly);
    good = good && add_files(list, &found, path, depth, error);
    let_go(&found);
    if (!good || !depth || list->count > before)
        return good;
    return ast_format_fail(error,
                           "%s: holds no depth image (.png, .pgm, .tiff, .pfm or .npy), no depth.txt and no folder "
                           "\"depth\" of such images",
                           path);
}

/* Adds the images of the subfolder "depth"; *found tells whether there are any. *hollow: the subfolder is empty, or all
 * its links lead nowhere. */
static bool add_subfolder(ast_frame_list *list, const char *input, const char *path, bool *found, bool *hollow,
                          ast_format_error *error) {
    content held = {0};
    size_t before = list->count;
    if (!ast_is_folder(path))
        return true;
    bool good = look_into(list, &held, path, error) && (held.images == 0 || add_files(list, &held, input, true, error));
    *hollow = good && !check_hollow(&held.folder, path, error);
    let_go(&held);
    *found = list->count > before;
    return good;
}

static bool add_folder(ast_frame_list *list, const char *path, ast_frame_kind kind, ast_format_error *error) {
    char *file = ast_path_within(path, "depth.txt"), *folder = ast_path_within(path, "depth");
    struct stat status;
    ast_format_error reason = {0};
    size_t before = list->count;
    bool found = false, hollow = false, good = file && folder;
    if (!good) {
        no_memory(path, error);
    } else if (kind != AST_AS_TABLES && stat(file, &status) == 0) {
        found = true;
        good = joins(list, path, true, error) && add_listed(list, path, file, error);
    } else if (kind != AST_AS_TABLES) {
        good = add_subfolder(list, path, folder, &found, &hollow, &reason);
        if (!good)
            *error = reason;
    }
    free(file);
    free(folder);
    if (!good || found)
        return good;
    good = add_content(list, path, kind, error);
    if (!hollow || list->count > before || list->misused)
        return good;
    *error = reason;
    return false;
}

/* ---- depth.txt --------------------------------------------------------------------------------------------------- */

/* Takes files that are not there out of the list, from `first` on. */
static bool drop_absent(ast_frame_list *list, size_t first, const char *file, ast_format_error *error) {
    size_t kept = first, absent = 0;
    for (size_t i = first; i < list->count; i++) {
        ast_input_file one = list->files[i];
        bool there = access(one.path, F_OK) == 0;
        if (there) {
            list->files[kept++] = one;
        } else if (!list->first_absent) {
            list->first_absent = one.path;
        } else {
            free(one.path);
        }
        absent += !there;
    }
    const char *name = list->first_absent;
    list->count = kept;
    list->absent += absent;
    if (absent > 0 && kept == first)
        return ast_format_fail(error, "%s: names %zu file%s, such as %s, and none is there", file, absent,
                               absent == 1 ? "" : "s", name);
    if (absent > 0 && list->strict)
        return ast_format_fail(error, "%s: names %zu file%s that %s not there, such as %s", file, absent,
                               absent == 1 ? "" : "s", absent == 1 ? "is" : "are", name);
    return true;
}

static bool add_listed(ast_frame_list *list, const char *folder, const char *file, ast_format_error *error) {
    unsigned char *bytes;
    size_t size, before = list->count;
    if (!ast_read_file(file, &bytes, &size, error))
        return false;
    bool good = ast_frame_list_tum(list, folder, file, bytes, size, error) && drop_absent(list, before, file, error);
    free(bytes);
    return good;
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r';
}

/* One line, without its end, as text: "time file", a comment or nothing. */
static bool add_line(ast_frame_list *list, const char *folder, const char *name, size_t number, char *line,
                     ast_format_error *error) {
    char *end = line + strlen(line);
    while (end > line && is_blank(end[-1]))
        *--end = '\0';
    while (is_blank(*line))
        line++;
    if (*line == '\0' || *line == '#')
        return true;
    double seconds;
    const char *file = ast_number_parse(line, false, &seconds);
    if (!file || !is_blank(*file) || !isfinite(seconds)) {
        char excerpt[AST_EXCERPT];
        ast_excerpt(excerpt, line, strlen(line));
        return ast_format_fail(error, "%s: line %zu: '%s' is no time with a file name behind it", name, number,
                               excerpt);
    }
    while (is_blank(*file))
        file++;
    char *path = *file == '/' ? strdup(file) : ast_path_within(folder, file);
    return add(list, (ast_input_file){.path = path, .seconds = seconds, .scene = AST_WHOLE}, name, error);
}

static bool add_lines(ast_frame_list *list, const char *folder, const char *name, const unsigned char *bytes,
                      size_t size, ast_format_error *error) {
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
        if (!add_line(list, folder, name, number, line, error))
            return false;
        begin += length + 1;
    }
    return true;
}

bool ast_frame_list_tum(ast_frame_list *list, const char *folder, const char *name, const unsigned char *bytes,
                        size_t size, ast_format_error *error) {
    size_t before = list->count;
    list->timed = before == 0 || list->timed;
    bool good = add_lines(list, folder, name, bytes, size, error);
    if (good && list->count == before)
        good = ast_format_fail(error, "%s: names no frame; lines with a time and a file name are needed", name);
    return good;
}
