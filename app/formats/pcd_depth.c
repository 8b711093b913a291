/* SPDX-License-Identifier: MIT
 *
 * An organised PCD as a depth image: a cloud with a point per pixel, row by row, as drivers of depth cameras write it.
 * z is the depth, in metres. The file names no intrinsics, but its points show them: u = fx x / z + cx is a line. */
#include "image_readers.h"

#include "solids.h"

#include "platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_RESIDUAL 0.5 /* pixels, root mean square: more is no pinhole camera */
#define HEADER_LINES 64   /* that are looked at */
#define LEAST_PIXELS 100  /* with a depth */

/* Sums over pixels for the line place = slope ratio + middle. */
typedef struct line {
    double n, ratio, place, ratios, both, places;
} line;

static void add(line *l, double ratio, double place) {
    l->n++;
    l->ratio += ratio;
    l->place += place;
    l->ratios += ratio * ratio;
    l->both += ratio * place;
    l->places += place * place;
}

/* The mean square of the residuals; NaN if the points show no line. */
static double fit(const line *l, double *slope, double *middle) {
    double spread = l->ratios - l->ratio * l->ratio / l->n, common = l->both - l->ratio * l->place / l->n;
    *slope = common / spread;
    *middle = (l->place - *slope * l->ratio) / l->n;
    return (l->places - l->place * l->place / l->n - *slope * common) / l->n;
}

static bool check_rows(const ast_solid *solid, const char *name, ast_format_error *error) {
    return solid->rows > 1 ||
           ast_format_fail(error, "%s: is a cloud without rows (HEIGHT 1); a depth image has a point per pixel", name);
}

bool ast_pcd_is_image(const char *path) {
    char text[4096];
    struct stat status;
    size_t rows = 0;
    FILE *file = ast_has_extension(path, ".pcd") && stat(path, &status) == 0 && S_ISREG(status.st_mode)
                     ? fopen(path, "rb")
                     : NULL;
    for (int i = 0; file && rows == 0 && i < HEADER_LINES && fgets(text, sizeof text, file); i++)
        if (sscanf(text, "HEIGHT %9zu", &rows) != 1)
            rows = 0;
    if (file)
        fclose(file);
    return rows > 1;
}

bool ast_pcd_depth(ast_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    ast_solid solid;
    bool good =
        ast_solid_read_memory(&solid, file->name, ast_format_of("cloud.pcd", NULL), file->bytes, file->size, error) &&
        check_rows(&solid, file->name, error) &&
        ast_pixels_resize(pixels, solid.count / solid.rows, solid.rows, sizeof *pixels->values, file->name, error);
    for (size_t i = 0; good && i < solid.count; i++) /* in place: no point is behind its depth */
        solid.points[i] = solid.points[3 * i + 2] + (float)solid.origin[2];
    if (good)
        ast_depth_from_floats(pixels, solid.points);
    ast_solid_free(&solid);
    return good;
}

bool ast_pcd_camera(const char *path, ast_camera *camera, ast_format_error *error) {
    ast_solid solid;
    line across = {0}, down = {0};
    bool good = ast_solid_read(&solid, path, ast_format_of(path, NULL), error) && check_rows(&solid, path, error);
    for (size_t i = 0; good && i < solid.count; i++) {
        const float *p = solid.points + 3 * i;
        double x = p[0] + solid.origin[0], y = p[1] + solid.origin[1], z = p[2] + solid.origin[2];
        size_t width = solid.count / solid.rows, row = i / width;
        if (!(z > 0))
            continue;
        add(&across, x / z, (double)(i % width));
        add(&down, y / z, (double)row);
    }
    ast_solid_free(&solid);
    if (!good)
        return false;
    double squares = fit(&across, &camera->fx, &camera->cx) + fit(&down, &camera->fy, &camera->cy);
    if (across.n >= LEAST_PIXELS && sqrt(fmax(squares, 0)) < MOST_RESIDUAL && camera->fx > 0 && camera->fy > 0)
        return true;
    return ast_format_fail(error, "%s: its points are not those of the pixels of a pinhole camera; give --intrinsics",
                           path);
}
