/* SPDX-License-Identifier: MIT
 *
 * What the pages of explore draw: which rows, and where they are. */
#include "explore_parts.h"

#include <math.h>
#include <sampling.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE = 32767, AXES = 3 };
#define MOST_NUMBERS ((size_t)1 << 26) /* of the drawn rows: they are projected in some tenths of a second */
#define MOST_PIXELS ((size_t)1 << 17)  /* of an image */

static bool no_memory(ast_format_error *error) {
    return ast_format_fail(error, "there is not enough memory for the points that are drawn");
}

/* ---- Which rows -------------------------------------------------------------------------------------------------- */

/* Every n-th pixel of every n-th row of the image. */
static bool choose_pixels(ast_drawn *drawn, size_t width, size_t height) {
    size_t step = 1;
    while ((width / step) * (height / step) > MOST_PIXELS)
        step++;
    drawn->width = (width + step - 1) / step;
    drawn->height = (height + step - 1) / step;
    drawn->rows = malloc((drawn->width * drawn->height + 1) * sizeof *drawn->rows);
    for (size_t y = 0; drawn->rows && y < height; y += step)
        for (size_t x = 0; x < width; x += step)
            drawn->rows[drawn->count++] = (uint32_t)(y * width + x);
    return drawn->rows != NULL;
}

/* A uniform sample of the rows that have a direction. */
static bool choose_rows(ast_drawn *drawn, const ast_points *points) {
    size_t most = MOST_NUMBERS / points->dimension, present = 0;
    most = most > AST_DRAWN_MOST ? AST_DRAWN_MOST : most > 1000 ? most : 1000;
    unsigned char *has = calloc(points->count + 1, 1);
    double *row = malloc(points->dimension * sizeof *row);
    for (size_t i = 0; has && row && i < points->count; i++)
        present += has[i] = ast_unit_row(points, i, row);
    size_t open = present < most ? present : most;
    drawn->rows = malloc((open + 1) * sizeof *drawn->rows);
    bool good = has && row && drawn->rows;
    ast_sampling sampling = {1};
    for (size_t i = 0, left = present; good && left > 0; i++)
        if (has[i] && ast_sampling_takes(&sampling, left--, open - drawn->count))
            drawn->rows[drawn->count++] = (uint32_t)i;
    free(has);
    free(row);
    return good;
}

/* ---- Pictures and clouds ----------------------------------------------------------------------------------------- */

/* The grey values of the drawn pixels: near is light, as in the overlays. */
static bool take_grey(ast_drawn *drawn, const ast_depth_image *image, double units_per_metre) {
    drawn->grey = malloc(drawn->count + 1);
    for (size_t i = 0; drawn->grey && i < drawn->count; i++) {
        size_t x = drawn->rows[i] % image->width, y = drawn->rows[i] / image->width;
        const uint16_t *line = (const uint16_t *)((const char *)image->values + (ptrdiff_t)y * image->row_stride);
        drawn->grey[i] = line[x] ? (unsigned char)lround(255 * 2 / (2 + line[x] / units_per_metre)) : 0;
    }
    return drawn->grey != NULL;
}

/* Where a point of a cloud is, or the middle of a face. */
static void place_of(const ast_solid *solid, size_t row, double place[AXES]) {
    for (size_t k = 0; k < AXES; k++) {
        place[k] = 0;
        if (solid->faces) {
            for (size_t corner = 0; corner < 3; corner++)
                place[k] += (double)solid->points[3 * (size_t)solid->faces[3 * row + corner] + k] / 3;
        } else {
            place[k] = (double)solid->points[3 * row + k];
        }
    }
}

/* The middle of the box around the drawn points, and half of its diagonal. */
static double enclose(const ast_drawn *drawn, const ast_solid *solid, double middle[AXES]) {
    double low[AXES] = {INFINITY, INFINITY, INFINITY}, high[AXES] = {-INFINITY, -INFINITY, -INFINITY}, reach = 0;
    for (size_t i = 0; i < drawn->count; i++) {
        double place[AXES];
        place_of(solid, drawn->rows[i], place);
        for (size_t k = 0; k < AXES; k++) {
            low[k] = fmin(low[k], place[k]);
            high[k] = fmax(high[k], place[k]);
        }
    }
    for (size_t k = 0; k < AXES; k++) {
        middle[k] = (low[k] + high[k]) / 2;
        reach += (high[k] - low[k]) * (high[k] - low[k]) / 4;
    }
    return reach > 0 ? sqrt(reach) : 1;
}

static bool take_places(ast_drawn *drawn, const ast_solid *solid) {
    double middle[AXES], place[AXES];
    drawn->places = malloc((AXES * drawn->count + 1) * sizeof *drawn->places);
    if (!drawn->places)
        return false;
    double reach = enclose(drawn, solid, middle);
    for (size_t i = 0; i < drawn->count; i++) {
        place_of(solid, drawn->rows[i], place);
        for (size_t k = 0; k < AXES; k++)
            drawn->places[AXES * i + k] = (int16_t)lround((place[k] - middle[k]) / reach * SCALE);
    }
    return true;
}

bool ast_drawn_choose(ast_drawn *drawn, const ast_explored *explored, ast_format_error *error) {
    bool image = explored->width > 0 && explored->height > 0;
    bool good = image ? choose_pixels(drawn, explored->width, explored->height) : choose_rows(drawn, &explored->points);
    if (good && image && explored->depth)
        good = take_grey(drawn, explored->depth, explored->units_per_metre);
    if (good && explored->solid)
        good = take_places(drawn, explored->solid);
    return good || no_memory(error);
}

void ast_drawn_free(ast_drawn *drawn) {
    free(drawn->rows);
    free(drawn->grey);
    free(drawn->places);
    *drawn = (ast_drawn){0};
}

/* ---- Where they are ---------------------------------------------------------------------------------------------- */

/* The unit row that is clustered, after centring; false if there is none. */
static bool clustered_row(const ast_points *points, size_t index, const float *center, double *row) {
    double square = 0;
    if (!ast_unit_row(points, index, row))
        return false;
    if (!center)
        return true;
    for (size_t d = 0; d < points->dimension; d++) {
        row[d] -= (double)center[d];
        square += row[d] * row[d];
    }
    for (size_t d = 0; d < points->dimension; d++)
        row[d] /= sqrt(square);
    return square > 0;
}

/* The square of the largest length of a mean along the axes. A mean can be farther out than every point of its cluster,
 * since the points have more of their length across the axes. */
static double reach_of_means(ast_explore_view *view, const ast_cluster_info *clusters, size_t count) {
    double farthest = 0, xyz[AXES];
    view->scale = 1;
    for (size_t k = 0; k < count; k++) {
        ast_explore_view_mean(view, clusters[k].mean, xyz);
        farthest = fmax(farthest, xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]);
    }
    return farthest;
}

bool ast_drawn_see(const ast_drawn *drawn, const ast_points *points, const ast_explore_run *run, ast_explore_view *view,
                   int16_t *xyz) {
    double *row = malloc(points->dimension * sizeof *row);
    double *places = calloc(AXES * drawn->count + 1, sizeof *places), sum = 0;
    double farthest = reach_of_means(view, run->clusters, run->report.clusters);
    size_t seen = 0;
    for (size_t i = 0; row && places && i < drawn->count; i++) {
        double *place = places + AXES * i, square;
        if (!clustered_row(points, drawn->rows[i], view->center, row))
            continue;
        ast_projection_along(&view->projection, row, place);
        square = place[0] * place[0] + place[1] * place[1] + place[2] * place[2];
        farthest = fmax(farthest, square);
        sum += square;
        seen++;
    }
    bool good = row && places;
    view->shown = seen ? sum / (double)seen : 1;
    view->scale = view->projection.basis && farthest > 0 ? 1 / sqrt(farthest) : 1;
    for (size_t i = 0; good && i < AXES * drawn->count; i++)
        xyz[i] = (int16_t)lround(fmax(-1, fmin(1, places[i] * view->scale)) * SCALE);
    free(row);
    free(places);
    return good;
}

void ast_explore_view_mean(const ast_explore_view *view, const float *mean, double xyz[3]) {
    const ast_projection *p = &view->projection;
    for (size_t k = 0; k < AXES; k++) {
        xyz[k] = !p->basis && k < p->dimension ? (double)mean[k] : 0;
        for (size_t d = 0; p->basis && d < p->dimension; d++)
            xyz[k] += p->basis[k * p->dimension + d] * (double)mean[d] * view->scale;
    }
}
