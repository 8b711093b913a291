/* SPDX-License-Identifier: MIT
 *
 * Planes in files. A plane is written when it is complete in memory, so a long list is never in memory as a whole. */
#include "plane_files.h"

#include <math.h>

enum { DIGITS = 9, NORMAL_DIGITS = 16, PLACE_DIGITS = 13 };

/* Coordinates of a map have six or seven digits before the point: then positions, and normals that they are multiplied
 * with, need more digits. */
static bool is_far(const ast_plane_info *plane) {
    return !(fmax(fabs(plane->centroid[0]), fmax(fabs(plane->centroid[1]), fabs(plane->centroid[2]))) < 1e4);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_polygon(ast_text *json, const char *key, const ast_plane_info *plane, size_t polygon) {
    int places = is_far(plane) ? PLACE_DIGITS : DIGITS;
    ast_json_open(json, key, '[');
    for (size_t i = polygon ? plane->ends[polygon - 1] : 0; i < plane->ends[polygon]; i++)
        ast_json_numbers(json, NULL, plane->vertices + 3 * i, 3, places);
    ast_json_close(json, ']');
}

static void put_plane(ast_text *json, const ast_plane_info *plane, const char *count, bool dip) {
    double direction, angle;
    int places = is_far(plane) ? PLACE_DIGITS : DIGITS;
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "id", plane->id);
    ast_json_integer(json, "direction", plane->direction);
    ast_json_numbers(json, "normal", plane->normal, 3, is_far(plane) ? NORMAL_DIGITS : DIGITS);
    ast_json_number(json, "offset", plane->offset + 0.0, places);
    ast_json_number(json, "area", plane->area, DIGITS);
    ast_json_numbers(json, "centroid", plane->centroid, 3, places);
    ast_json_integer(json, count, (int64_t)plane->count);
    ast_json_number(json, "rms", plane->rms, DIGITS);
    if (dip) {
        ast_angles_of(AST_PLANE, plane->normal, &direction, &angle);
        ast_json_number(json, "dip_direction", direction, DIGITS);
        ast_json_number(json, "dip", angle, DIGITS);
    }
    put_polygon(json, "outline", plane, 0);
    if (plane->polygons > 1) {
        ast_json_open(json, "polygons", '[');
        for (size_t p = 0; p < plane->polygons; p++)
            put_polygon(json, NULL, plane, p);
        ast_json_close(json, ']');
    }
    ast_json_close(json, '}');
}

bool ast_cli_write_planes_json(ast_output *output, const ast_plane_info *planes, size_t count, const char *what,
                               bool dip, ast_format_error *error) {
    ast_text json = {0};
    bool good = true;
    ast_json_open(&json, NULL, '[');
    for (size_t i = 0; i < count && good; i++) {
        ast_text_put(&json, i ? ",\n" : "\n");
        put_plane(&json, &planes[i], what, dip);
        good = ast_text_write(&json, output, error);
    }
    ast_text_put(&json, "\n]\n");
    good = good && ast_text_write(&json, output, error);
    ast_text_free(&json);
    return good;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static void put_row(ast_text *text, const ast_plane_info *p) {
    double direction, dip;
    int n = is_far(p) ? NORMAL_DIGITS : DIGITS, c = is_far(p) ? PLACE_DIGITS : DIGITS;
    ast_angles_of(AST_PLANE, p->normal, &direction, &dip);
    ast_text_printf(text, "%d,%d,%.*g,%.*g,%.*g,%.*g,%.9g,%.*g,%.*g,%.*g,%zu,%.9g,%.9g,%.9g\n", (int)p->id,
                    (int)p->direction, n, p->normal[0] + 0.0, n, p->normal[1] + 0.0, n, p->normal[2] + 0.0, c,
                    p->offset + 0.0, p->area, c, p->centroid[0] + 0.0, c, p->centroid[1] + 0.0, c, p->centroid[2] + 0.0,
                    p->count, p->rms, direction, dip);
}

bool ast_cli_write_planes_csv(ast_output *output, const ast_plane_info *planes, size_t count, ast_format_error *error) {
    ast_text text = {0};
    bool good = true;
    ast_text_put(&text, "id,direction,nx,ny,nz,offset,area,cx,cy,cz,points,rms,dip_direction,dip\n");
    for (size_t i = 0; i < count && good; i++) {
        put_row(&text, &planes[i]);
        good = ast_text_write(&text, output, error);
    }
    good = good && ast_text_write(&text, output, error);
    ast_text_free(&text);
    return good;
}
