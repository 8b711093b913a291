/* SPDX-License-Identifier: MIT
 *
 * The file camera.json beside depth images, as `sample --scene` writes it: {"fx": .., "fy": .., "cx": .., "cy": ..} and
 * maybe "width", "height" and "depth_scale". It is in the folder of the images, or above it if that is called depth. */
#include "camera.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folder itself, or that of the file; NULL if there is neither. To free(). */
static char *folder_of(const char *input) {
    char *folder = realpath(input, NULL);
    if (folder && !ast_is_folder(folder))
        *strrchr(folder, '/') = 0;
    return folder;
}

static json_t *load(const char *folder, const char *where) {
    char *path = NULL;
    if (asprintf(&path, "%s/%scamera.json", folder, where) < 0)
        return NULL;
    json_t *object = json_load_file(path, 0, NULL);
    free(path);
    return object;
}

static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static size_t pixels(const json_t *object, const char *key) {
    double value = number(object, key);
    return value >= 1 && value <= 65536 ? (size_t)value : 0;
}

/* An organised PCD shows its camera; if it does not, the camera is still to be given. */
static void take_from_points(ast_cli_camera *camera, const char *path) {
    ast_camera found;
    ast_format_error reason;
    if (!ast_pcd_camera(path, &found, &reason))
        return;
    memcpy(camera->intrinsics, (double[]){found.fx, found.fy, found.cx, found.cy}, sizeof camera->intrinsics);
}

void ast_cli_camera_beside(ast_cli_camera *camera, const ast_cli_input *input) {
    static const char *const keys[] = {"fx", "fy", "cx", "cy"};
    double found[4];
    if (!isnan(camera->intrinsics[0]) || camera->name || strcmp(input->path, "-") == 0)
        return;
    if (input->format.holds == AST_HOLDS_SCENES) {
        camera->name = "nyu";
        return;
    }
    char *folder = folder_of(input->path);
    json_t *object = folder ? load(folder, "") : NULL;
    if (!object && folder && ast_has_extension(folder, "/depth"))
        object = load(folder, "../");
    free(folder);
    int known = object != NULL;
    for (size_t i = 0; i < 4 && known; i++) {
        found[i] = number(object, keys[i]);
        known = isfinite(found[i]);
    }
    if (known) {
        memcpy(camera->intrinsics, found, sizeof found);
        camera->width = pixels(object, "width");
        camera->height = camera->width ? pixels(object, "height") : 0;
        if (isnan(camera->scale) && number(object, "depth_scale") > 0)
            camera->scale = number(object, "depth_scale");
    }
    json_decref(object);
    if (!known && input->format.holds == AST_HOLDS_DEPTH && ast_has_extension(input->path, ".pcd"))
        take_from_points(camera, input->path);
}
