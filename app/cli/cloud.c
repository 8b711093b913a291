/* SPDX-License-Identifier: MIT
 *
 * From a 3-D file to directions. A mesh has faces, whose normals are exact; a cloud has the normals that its file
 * holds, unless an option asks for others, and otherwise those of planes through neighbours. */
#include "cloud.h"

#include <report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "terminal.h"

#define AT(field) offsetof(ast_cli_cloud, field)
static const ast_cli_option options[] = {
    {"neighbours", AST_CLI_COUNT, "K",
     "compute normals of planes through the K nearest points, even if the file has normals (default 16 if "
     "it has none)",
     AT(neighbours), 3, 1024, .inputs = AST_CLI_CLOUD,
     .more = "The point itself is one of them. Without this option a cloud whose noise is larger than the distance "
             "between points gets normals of larger neighbourhoods."},
    {"viewpoint", AST_CLI_NUMBERS, "X,Y,Z",
     "computed normals point towards this place (default: the viewpoint in the file, or 0,0,0; for a cloud in "
     "coordinates of a map, a place above its middle; for a cloud with surfaces in a plane with 0,0,0, its middle)",
     AT(viewpoint), 3, 0, .inputs = AST_CLI_CLOUD, .excludes = "undirected"},
    {"undirected", AST_CLI_FLAG, NULL, "the sign of a normal has no meaning; implies --axial", AT(undirected),
     .methods = AST_CLI_AXIAL},
    {0}};

const ast_cli_group ast_cli_cloud_group = {
    .title = "Options for clouds and meshes",
    .options = options,
    .inputs = AST_CLI_SOLID,
    .more = "A mesh is a file with faces: the points to cluster are their normals. Otherwise it is a cloud: the points "
            "to cluster are the normals stored in the file or, if there are none, those of planes of least squares "
            "through the nearest neighbours of each point."};

/* ---- Normals ----------------------------------------------------------------------------------------------------- */

static int make_room(ast_cli_surface *s, const char *input, int curvature) {
    s->normals = malloc(3 * s->count * sizeof *s->normals);
    s->areas = s->origin == AST_CLI_FROM_FACES ? malloc(s->count * sizeof *s->areas) : NULL;
    s->curvature = curvature ? malloc(s->count * sizeof *s->curvature) : NULL;
    if (s->normals && (s->areas || s->origin != AST_CLI_FROM_FACES) && (s->curvature || !curvature))
        return -1;
    return ast_cli_fail("%s: there is no memory for %zu normals", ast_cli_name(input), s->count);
}

static int is_zero(const double v[3]) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/* Where normals point to, in coordinates of the file: the option, the file, or 0 0 0. Seen from 0 0 0, a georeferenced
 * cloud is flat and the sides of its level surfaces chance; it is looked at from above its middle. True if nobody said
 * where the scanner was. */
static bool find_viewpoint(ast_cli_surface *s, const ast_cli_cloud *cloud) {
    double *viewpoint = s->options.viewpoint;
    if (s->solid.has_viewpoint)
        memcpy(viewpoint, s->solid.viewpoint, sizeof s->options.viewpoint);
    bool unknown = is_zero(viewpoint) && isnan(cloud->viewpoint[0]);
    if (unknown && !is_zero(s->solid.origin)) {
        ast_cloud_above(s->solid.points, s->solid.count, viewpoint);
        for (int c = 0; c < 3; c++)
            viewpoint[c] += s->solid.origin[c];
    }
    if (!isnan(cloud->viewpoint[0]))
        memcpy(viewpoint, cloud->viewpoint, sizeof s->options.viewpoint);
    return unknown;
}

static int make_of_neighbours(ast_cli_surface *s, const ast_cli_cloud *cloud, const char *input, ast_context *context) {
    ast_cloud_options_init(&s->options);
    s->options.adaptive = !cloud->neighbours;
    if (cloud->neighbours)
        s->options.neighbours = (int)cloud->neighbours;
    s->options.undirected = cloud->undirected;
    bool unknown = find_viewpoint(s, cloud);
    ast_cloud_options moved = s->options;
    for (int c = 0; c < 3; c++)
        moved.viewpoint[c] -= s->solid.origin[c];
    ast_status status = ast_cloud_normals(context, s->solid.points, s->solid.count, &moved, s->normals, s->curvature);
    if (status == AST_OK && unknown && !cloud->undirected)
        status = ast_cloud_orient(context, s->solid.points, s->solid.count, s->normals, moved.viewpoint);
    for (int c = 0; c < 3; c++)
        s->options.viewpoint[c] = moved.viewpoint[c] + s->solid.origin[c];
    return ast_cli_status(status, context, input);
}

static int make_normals(ast_cli_surface *s, const ast_cli_cloud *cloud, const char *input, ast_context *context) {
    const ast_solid *solid = &s->solid;
    if (s->origin == AST_CLI_FROM_NEIGHBOURS)
        return make_of_neighbours(s, cloud, input, context);
    if (s->origin == AST_CLI_FROM_FILE) {
        memcpy(s->normals, solid->normals, 3 * s->count * sizeof *s->normals);
        return -1;
    }
    return ast_cli_status(
        ast_mesh_normals(context, solid->points, solid->count, solid->faces, solid->face_count, s->normals, s->areas),
        context, input);
}

static int check_directions(ast_cli_surface *s, const char *input) {
    static const char *const reasons[] = {
        "not one of its %zu points has a normal in the file; --neighbours 16 makes normals of the points",
        "not one of its %zu points has neighbours on a plane; at least three points are needed that are not on a line",
        "not one of its %zu faces has an area"};
    char reason[160];
    for (size_t i = 0; i < s->count; i++) {
        const float *n = s->normals + 3 * i;
        s->missing += isnan(n[0]) || (n[0] == 0 && n[1] == 0 && n[2] == 0);
    }
    if (s->missing < s->count)
        return -1;
    snprintf(reason, sizeof reason, reasons[s->origin], s->count);
    return ast_cli_fail("%s: %s", ast_cli_name(input), reason);
}

int ast_cli_surface_read(ast_cli_surface *s, const ast_cli_cloud *cloud, const ast_cli_input *file,
                         ast_context *context, int curvature) {
    ast_format_error error;
    const char *input = file->path;
    if (!ast_solid_read(&s->solid, input, file->format, &error))
        return ast_cli_fail("%s", error.text);
    int own = s->solid.normals && !cloud->neighbours && isnan(cloud->viewpoint[0]) && !curvature;
    s->origin = s->solid.faces ? AST_CLI_FROM_FACES : own ? AST_CLI_FROM_FILE : AST_CLI_FROM_NEIGHBOURS;
    s->count = s->solid.faces ? s->solid.face_count : s->solid.count;
    if (s->solid.faces && (cloud->neighbours || !isnan(cloud->viewpoint[0]) || curvature))
        return ast_cli_fail("%s is a mesh, whose faces have normals; --%s is for clouds of points", ast_cli_name(input),
                            cloud->neighbours             ? "neighbours"
                            : !isnan(cloud->viewpoint[0]) ? "viewpoint"
                                                          : "curvature");
    int code = make_room(s, input, curvature);
    double start = ast_cli_now();
    if (code < 0)
        code = make_normals(s, cloud, input, context);
    s->seconds = ast_cli_now() - start;
    return code < 0 ? check_directions(s, input) : code;
}

ast_points ast_cli_surface_points(const ast_cli_surface *s) {
    ast_points points = ast_points_f4(s->normals, s->count, 3);
    points.weights = s->areas;
    return points;
}

void ast_cli_surface_free(ast_cli_surface *s) {
    ast_solid_free(&s->solid);
    free(s->normals);
    free(s->curvature);
    free(s->areas);
    *s = (ast_cli_surface){0};
}

/* ---- What is said of it ------------------------------------------------------------------------------------------ */

const char *ast_cli_surface_word(const ast_cli_surface *s) {
    static const char *const words[] = {"file", "neighbours", "faces"}; /* in the order of ast_cli_origin */
    return words[s->origin];
}

const char *ast_cli_surface_text(const ast_cli_surface *s, char text[AST_CLI_SURFACE_TEXT]) {
    char time[AST_CLI_DURATION], count[AST_GROUPED];
    const double *v = s->options.viewpoint;
    ast_grouped(s->solid.count, count);
    ast_cli_duration(s->seconds, time);
    if (s->origin == AST_CLI_FROM_FACES)
        snprintf(text, AST_CLI_SURFACE_TEXT, "a mesh of %s vertices: the points are normals of faces, weighted by area",
                 count);
    else if (s->origin == AST_CLI_FROM_FILE)
        snprintf(text, AST_CLI_SURFACE_TEXT, "a cloud: the points are the normals that the file has");
    else if (s->options.undirected)
        snprintf(text, AST_CLI_SURFACE_TEXT, "a cloud: the points are normals of %d neighbours, undirected, %s",
                 s->options.neighbours, time);
    else
        snprintf(text, AST_CLI_SURFACE_TEXT,
                 "a cloud: the points are normals of %d neighbours, towards %.9g,%.9g,%.9g, %s", s->options.neighbours,
                 v[0], v[1], v[2], time);
    return text;
}

bool ast_cli_surface_colour(const ast_cli_surface *s, const int32_t *labels, ast_output *output,
                            ast_format_error *error) {
    unsigned char *rgb = malloc(3 * s->count);
    if (!rgb)
        return ast_format_fail(error, "there is no memory for the colours of %zu labels", s->count);
    for (size_t i = 0; i < s->count; i++) {
        ast_colour colour = ast_palette(labels[i]);
        memcpy(rgb + 3 * i, (unsigned char[]){colour.red, colour.green, colour.blue}, 3);
    }
    const double *origin = s->solid.origin;
    ast_ply_content content = {.points = s->solid.points,
                               .origin = {origin[0], origin[1], origin[2]},
                               .normals = s->solid.faces ? NULL : s->normals,
                               .count = s->solid.count,
                               .faces = s->solid.faces,
                               .face_count = s->solid.face_count,
                               .rgb = rgb,
                               .labels = labels};
    bool good = ast_write_ply(output, &content, error);
    free(rgb);
    return good;
}
