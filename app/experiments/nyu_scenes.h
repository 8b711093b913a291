/* SPDX-License-Identifier: MIT
 *
 * The scenes that are finished, in memory and as scenes.csv, a row each: what a run that was stopped goes on from.
 *
 * The one idea: a row counts only for what it was made of. Its key stands for the settings, its image for the depths,
 * and numbers are written so that they read back as the same bits; a run in pieces ends with the files of a run in one.
 */
#pragma once

#include <json.h>

enum { AST_NYU_SETTINGS = 40 }; /* at most */

/* A method with its parameter. */
typedef struct ast_nyu_setting {
    bool dp;      /* otherwise spkm */
    double value; /* degrees, or K */
} ast_nyu_setting;

typedef struct ast_nyu_scene {
    size_t scene;   /* its number in the file, from 0 */
    uint64_t image; /* a hash of its depths */
    size_t normals; /* pixels that have one */
    double clusters[AST_NYU_SETTINGS];
    double silhouette[AST_NYU_SETTINGS]; /* NaN, as the clusters, where there were too few normals */
} ast_nyu_scene;

typedef struct ast_nyu_scenes {
    uint64_t key; /* of everything but the depths that the numbers depend on */
    const ast_nyu_setting *settings;
    size_t setting_count;
    ast_nyu_scene *list; /* by number, each once */
    size_t count, room;
} ast_nyu_scenes;

/* Reads the rows of an earlier run. False with a sentence if the file has another key or another layout. A missing file
 * is not an error. */
bool ast_nyu_scenes_read(ast_nyu_scenes *scenes, const char *path, ast_format_error *error);

/* The scene of that number, or NULL. Valid until the next one is put in. */
const ast_nyu_scene *ast_nyu_scenes_find(const ast_nyu_scenes *scenes, size_t scene);

/* Puts a scene in its place, instead of one with its number. False if there is no memory. */
bool ast_nyu_scenes_put(ast_nyu_scenes *scenes, const ast_nyu_scene *scene);

void ast_nyu_scenes_write(const void *data, ast_text *text);
void ast_nyu_scenes_free(ast_nyu_scenes *scenes);
