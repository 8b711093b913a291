/* SPDX-License-Identifier: MIT
 *
 * scenes.csv: a header with the names of the settings, then a row a scene, its key and image as hexadecimal numbers. */
#include "nyu_scenes.h"

#include <platform.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *read_header(const ast_nyu_scenes *scenes, const char *text);
static const char *read_row(const ast_nyu_scenes *scenes, const char *text, ast_nyu_scene *row, uint64_t *key);

void ast_nyu_scenes_free(ast_nyu_scenes *scenes) {
    free(scenes->list);
    *scenes = (ast_nyu_scenes){0};
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

/* The first place whose number is not smaller. */
static size_t place_of(const ast_nyu_scenes *scenes, size_t scene) {
    size_t place = 0;
    while (place < scenes->count && scenes->list[place].scene < scene)
        place++;
    return place;
}

const ast_nyu_scene *ast_nyu_scenes_find(const ast_nyu_scenes *scenes, size_t scene) {
    size_t place = place_of(scenes, scene);
    return place < scenes->count && scenes->list[place].scene == scene ? &scenes->list[place] : NULL;
}

bool ast_nyu_scenes_put(ast_nyu_scenes *scenes, const ast_nyu_scene *scene) {
    size_t place = place_of(scenes, scene->scene);
    if (place < scenes->count && scenes->list[place].scene == scene->scene) {
        scenes->list[place] = *scene;
        return true;
    }
    if (!ast_array_grow(&scenes->list, &scenes->room, scenes->count + 1, sizeof *scenes->list))
        return false;
    memmove(scenes->list + place + 1, scenes->list + place, (scenes->count - place) * sizeof *scenes->list);
    scenes->list[place] = *scene;
    scenes->count++;
    return true;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The two columns of a setting. */
static void name_columns(const ast_nyu_setting *setting, char text[64]) {
    const char *method = setting->dp ? "dp" : "spkm";
    snprintf(text, 64, ",%s_%g_clusters,%s_%g_silhouette", method, setting->value, method, setting->value);
}

void ast_nyu_scenes_write(const void *data, ast_text *text) {
    const ast_nyu_scenes *scenes = data;
    char columns[64];
    ast_text_put(text, "scene,key,image,normals");
    for (size_t i = 0; i < scenes->setting_count; i++) {
        name_columns(&scenes->settings[i], columns);
        ast_text_put(text, columns);
    }
    ast_text_put(text, "\n");
    for (size_t s = 0; s < scenes->count; s++) {
        const ast_nyu_scene *row = &scenes->list[s];
        ast_text_printf(text, "%zu,%016" PRIx64 ",%016" PRIx64 ",%zu", row->scene, scenes->key, row->image,
                        row->normals);
        for (size_t i = 0; i < scenes->setting_count; i++)
            ast_text_printf(text, ",%.17g,%.17g", row->clusters[i], row->silhouette[i]);
        ast_text_put(text, "\n");
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

bool ast_nyu_scenes_read(ast_nyu_scenes *scenes, const char *path, ast_format_error *error) {
    unsigned char *bytes;
    size_t size, line = 1;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!ast_read_file(path, &bytes, &size, error))
        return false;
    bytes[size] = 0; /* there is room for it */
    const char *text = (const char *)bytes;
    const char *rest = read_header(scenes, text);
    uint64_t key = scenes->key;
    while (rest && *rest && key == scenes->key) {
        ast_nyu_scene row;
        rest = read_row(scenes, rest, &row, &key);
        line++;
        if (rest && key == scenes->key && !ast_nyu_scenes_put(scenes, &row))
            rest = NULL;
    }
    free(bytes);
    if (!rest || key != scenes->key)
        ast_format_fail(
            error,
            "%s: line %zu is not of a run with these settings, which could go on from it; remove the file, or take "
            "another folder",
            path, line);
    return rest && key == scenes->key;
}

/* The text after `wanted`, or NULL. */
static const char *after(const char *text, const char *wanted) {
    size_t length = strlen(wanted);
    return text && strncmp(text, wanted, length) == 0 ? text + length : NULL;
}

static const char *read_header(const ast_nyu_scenes *scenes, const char *text) {
    char columns[64];
    text = after(text, "scene,key,image,normals");
    for (size_t i = 0; i < scenes->setting_count; i++) {
        name_columns(&scenes->settings[i], columns);
        text = after(text, columns);
    }
    return after(text, "\n");
}

/* A whole number up to the next comma, which is passed over. */
static const char *read_whole(const char *text, int base, uint64_t *value, const char *end_mark) {
    char *end;
    if (!text || (base == 10 && (*text < '0' || *text > '9')))
        return NULL;
    *value = strtoull(text, &end, base);
    return end == text ? NULL : after(end, end_mark);
}

static const char *read_real(const char *text, double *value) {
    char *end;
    if (!(text = after(text, ",")))
        return NULL;
    *value = strtod(text, &end);
    return end == text ? NULL : end;
}

static const char *read_row(const ast_nyu_scenes *scenes, const char *text, ast_nyu_scene *row, uint64_t *key) {
    uint64_t scene = 0, normals = 0;
    *row = (ast_nyu_scene){0};
    text = read_whole(text, 10, &scene, ",");
    text = read_whole(text, 16, key, ",");
    text = read_whole(text, 16, &row->image, ",");
    text = read_whole(text, 10, &normals, "");
    for (size_t i = 0; i < scenes->setting_count; i++) {
        text = read_real(text, &row->clusters[i]);
        text = read_real(text, &row->silhouette[i]);
    }
    row->scene = (size_t)scene;
    row->normals = (size_t)normals;
    return after(text, "\n");
}
