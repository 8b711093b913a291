/* SPDX-License-Identifier: MIT
 *
 * Planes as data of a page: of a cloud or a mesh with their outlines in space, of a depth image with their outlines in
 * the picture, as shares of its width and height. */
#include "page.h"

enum { DIGITS = 5 };

/* Where the camera sees a point of the world: R^T (p - t), and the pinhole. False if it is behind the camera. */
static bool see(const ast_page_planes *planes, const double *p, double *share) {
    const ast_camera *camera = &planes->camera;
    const double *m = planes->pose;
    double d[3] = {p[0], p[1], p[2]}, q[3];
    for (int i = 0; m && i < 3; i++)
        d[i] -= m[4 * i + 3];
    for (int i = 0; i < 3; i++)
        q[i] = m ? m[i] * d[0] + m[4 + i] * d[1] + m[8 + i] * d[2] : d[i];
    share[0] = (camera->fx * q[0] / q[2] + camera->cx + 0.5) / (double)planes->width;
    share[1] = (camera->fy * q[1] / q[2] + camera->cy + 0.5) / (double)planes->height;
    return q[2] > 0;
}

static void put_polygon(ast_text *json, const ast_page_planes *planes, const ast_plane_info *plane, size_t polygon) {
    ast_json_open(json, NULL, '[');
    for (size_t i = polygon ? plane->ends[polygon - 1] : 0; i < plane->ends[polygon]; i++) {
        double share[2];
        if (planes->width == 0)
            ast_json_numbers(json, NULL, plane->vertices + 3 * i, 3, DIGITS);
        else if (see(planes, plane->vertices + 3 * i, share))
            ast_json_numbers(json, NULL, share, 2, 4);
    }
    ast_json_close(json, ']');
}

static void put_plane(ast_text *json, const ast_page_planes *planes, const ast_plane_info *plane) {
    double direction, dip;
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "id", plane->id);
    ast_json_integer(json, "direction", plane->direction);
    ast_json_number(json, "area", plane->area, DIGITS);
    ast_json_number(json, "offset", plane->offset + 0.0, DIGITS);
    ast_json_number(json, "rms", plane->rms, 4);
    ast_json_integer(json, "count", (int64_t)plane->count);
    ast_json_numbers(json, "normal", plane->normal, 3, DIGITS);
    if (planes->dip) {
        ast_angles_of(AST_PLANE, plane->normal, &direction, &dip);
        ast_json_number(json, "dip", dip, 4);
        ast_json_number(json, "dip_direction", direction, 4);
    }
    ast_json_open(json, "polygons", '[');
    for (size_t p = 0; p < plane->polygons; p++)
        put_polygon(json, planes, plane, p);
    ast_json_close(json, ']');
    ast_json_colour(json, "color", plane->id);
    ast_json_close(json, '}');
}

void ast_json_planes(ast_text *json, const ast_page_planes *planes) {
    ast_json_open(json, "planes", '[');
    for (size_t i = 0; i < planes->count && i < AST_PAGE_PLANES; i++)
        put_plane(json, planes, &planes->list[i]);
    ast_json_close(json, ']');
}
