/* SPDX-License-Identifier: MIT
 *
 * asterism cluster --planes: the planes of a cloud or a mesh, with the clusters of its normals as their directions. */
#include "cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

#define FAR 1e4 /* offsets from here on are printed to a thousandth: those of clouds in coordinates of a map */

enum { ROWS = 12, POINTS_LEAST = 32 }; /* printed; of a plane of a cloud, as asterism_depth.h says */

typedef ast_cli_cluster_job job;

static ast_status find(job *work) {
    const ast_cli_surface *s = &work->directions.surface;
    const ast_solid *solid = &s->solid;
    ast_plane_options options;
    ast_plane_options_init(&options);
    if (!isnan(work->given->plane_distance))
        options.distance = work->given->plane_distance;
    if (!isnan(work->given->plane_area))
        options.area = work->given->plane_area;
    options.undirected = work->given->options.axial;
    for (int c = 0; c < 3; c++)
        options.origin[c] = solid->origin[c];
    ast_status status = ast_plane_map_open(&work->planes, work->context, &options);
    if (status != AST_OK)
        return status;
    return solid->faces ? ast_plane_map_mesh(work->planes, solid->points, solid->count, solid->faces, solid->face_count,
                                             work->labels, work->plane_of)
                        : ast_plane_map_cloud(work->planes, solid->points, s->normals, work->labels, solid->count,
                                              work->plane_of);
}

/* A few points say nothing about planes, whatever the file holds. */
static int check_count(const job *work) {
    const ast_cli_surface *s = &work->directions.surface;
    if (s->solid.faces || s->count - s->missing >= POINTS_LEAST)
        return -1;
    return ast_cli_fail("%s: --planes needs at least %d points with a direction, and there %s %zu",
                        ast_cli_name(work->given->input), POINTS_LEAST, s->count - s->missing == 1 ? "is" : "are",
                        s->count - s->missing);
}

static int write_files(const job *work, const ast_plane_info *planes, size_t count) {
    ast_format_error error;
    const ast_cli_target *target = ast_cli_target_of(&work->given->common, "planes");
    bool good = ast_has_extension(target->path, ".csv")
                    ? ast_cli_write_planes_csv(target->output, planes, count, &error)
                    : ast_cli_write_planes_json(target->output, planes, count, "points", true, &error);
    return ast_cli_outcome(good, &error);
}

int ast_cli_cluster_planes(void *data) {
    job *work = data;
    if (!ast_cli_target_of(&work->given->common, "planes"))
        return -1;
    int code = check_count(work);
    if (code >= 0)
        return code;
    work->plane_of = malloc((work->points.count + 1) * sizeof *work->plane_of);
    if (!work->plane_of)
        return ast_cli_no_memory("the planes of the points");
    double start = ast_cli_now();
    code = ast_cli_status(find(work), work->context, work->given->input);
    work->plane_seconds = ast_cli_now() - start;
    if (code >= 0)
        return code;
    size_t count;
    const ast_plane_info *planes = ast_plane_list(work->planes, &count);
    if (count == 0 && !work->given->common.quiet)
        ast_cli_warn("%s has no plane of the smallest area and the distance that --plane-area and "
                     "--plane-distance allow",
                     ast_cli_name(work->given->input));
    return write_files(work, planes, count);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

void ast_cli_cluster_print_planes(const job *work) {
    size_t count;
    const ast_plane_info *planes = ast_plane_list(work->planes, &count);
    char time[AST_CLI_DURATION];
    if (!work->planes)
        return;
    printf("\n%zu plane%s, %s\n", count, count == 1 ? "" : "s", ast_cli_duration(work->plane_seconds, time));
    printf("%6s  %9s  %11s  %11s  %9s  %7s  %5s\n", "id", "direction", "area", "offset", "rms", "dip dir", "dip");
    for (size_t i = 0; i < count && i < ROWS; i++) {
        const ast_plane_info *p = &planes[i];
        double direction, dip;
        ast_angles_of(AST_PLANE, p->normal, &direction, &dip);
        char offset[32];
        snprintf(offset, sizeof offset, fabs(p->offset) < FAR ? "%.5g" : "%.3f", p->offset);
        printf("%6d  %9d  %11.5g  %11s  %9.3g  %7.1f  %5.1f\n", (int)p->id, (int)p->direction, p->area, offset, p->rms,
               direction, dip);
    }
    if (count > ROWS)
        printf("   ... and %zu smaller ones\n", count - ROWS);
}

void ast_cli_cluster_put_planes(const job *work, ast_text *json) {
    size_t count;
    ast_plane_list(work->planes, &count);
    if (!work->planes)
        return;
    ast_json_integer(json, "planes", (int64_t)count);
    ast_json_real(json, "plane_seconds", work->plane_seconds, 17);
}
