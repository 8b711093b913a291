/* SPDX-License-Identifier: MIT
 *
 * Calls of depth images, planes, clouds and meshes, for fuzz_api.c. */
#ifndef ASTERISM_TESTS_FUZZ_API_DEPTH_H
#define ASTERISM_TESTS_FUZZ_API_DEPTH_H

#include "fuzz_api.h"

enum { IMAGE_WIDTH = 40, IMAGE_HEIGHT = 32, IMAGE = IMAGE_WIDTH * IMAGE_HEIGHT };

static void open_depth(machine *m) {
    ast_depth_options o;
    ast_depth_options_init(&o);
    o.camera = (ast_camera){now_and_then(m) ? real(m) : 40, 40, 19.5, now_and_then(m) ? real(m) : 15.5};
    o.units_per_metre = now_and_then(m) ? real(m) : 1000;
    o.smooth = (ast_smooth)(pick(m, 8) < 7 ? pick(m, 5) : (unsigned)whole(m));
    o.filter_radius = now_and_then(m) ? whole(m) : 2;
    o.window = now_and_then(m) ? whole(m) : 2;
    o.jump = now_and_then(m) ? real(m) : 0.01;
    o.tv_iterations = 3;
    o.distortion[0] = now_and_then(m) ? real(m) : 0;
    o.planes = (int)pick(m, 2);
    bool good = outcome(m, ast_depth_open(&m->depth, m->context, &o));
    require(good == (m->depth != NULL));
    if (!m->frame)
        outcome(m, ast_depth_frame_open(&m->frame, m->context));
}

static void compute_depth(machine *m) {
    static uint16_t values[IMAGE];
    static float normals[3 * IMAGE];
    ast_depth_image image = {sizeof image, values, IMAGE_WIDTH, IMAGE_HEIGHT, IMAGE_WIDTH * (ptrdiff_t)sizeof *values};
    ast_depth_report report = {.size = sizeof report};
    unsigned slope = pick(m, 30), holes = 2 + pick(m, 200);
    for (size_t i = 0; i < IMAGE; i++)
        values[i] = (uint16_t)(i % holes == 0 ? 0 : 900 + slope * (i % IMAGE_WIDTH));
    if (now_and_then(m))
        image.width = pick(m, IMAGE_WIDTH + 1);
    if (now_and_then(m))
        image.values = NULL;
    if (!outcome(m, ast_depth_compute(m->depth, &image, NULL, NULL, normals, m->frame)) || image.width != IMAGE_WIDTH)
        return;
    outcome(m, ast_depth_describe(m->frame, &report));
    if (m->map)
        outcome(m, ast_plane_map_frame(m->map, m->frame, NULL, NULL, NULL));
}

static void open_or_save_map(machine *m) {
    ast_plane_options o;
    size_t size, planes;
    ast_plane_options_init(&o);
    o.distance = now_and_then(m) ? real(m) : 0;
    o.area = now_and_then(m) ? real(m) : 0.01;
    o.offset = now_and_then(m) ? real(m) : 0.1;
    if (!m->map) {
        outcome(m, ast_plane_map_open(&m->map, m->context, &o));
        return;
    }
    const void *state = ast_plane_map_save(m->map, &size);
    uint8_t *copy = state ? malloc(size) : NULL;
    if (copy) {
        memcpy(copy, state, size);
        outcome(m, ast_plane_map_load(m->map, copy, size - now_and_then(m)));
    }
    free(copy);
    (void)ast_plane_list(m->map, &planes);
}

static void call_cloud(machine *m) {
    float normals[MOST_ROWS * 3], curvature[MOST_ROWS];
    double areas[MOST_ROWS];
    int32_t faces[3 * 6], plane_of[MOST_ROWS];
    ast_cloud_options o;
    ast_cloud_options_init(&o);
    o.neighbours = now_and_then(m) ? whole(m) : 5;
    o.undirected = (int)pick(m, 2);
    o.adaptive = (int)pick(m, 2);
    outcome(m, ast_cloud_normals(m->context, m->rows, MOST_ROWS, &o, normals, curvature));
    for (size_t i = 0; i < 18; i++)
        faces[i] = now_and_then(m) ? whole(m) : (int32_t)pick(m, MOST_ROWS);
    if (m->map) {
        outcome(m, ast_plane_map_cloud(m->map, m->rows, normals, NULL, MOST_ROWS, plane_of));
        outcome(m, ast_plane_map_mesh(m->map, m->rows, MOST_ROWS, faces, 6, NULL, plane_of));
    }
    outcome(m, ast_mesh_normals(m->context, m->rows, MOST_ROWS, faces, 6, normals, areas));
}

static void call_depth(machine *m) {
    switch (pick(m, 8)) {
    case 0:
        call_cloud(m);
        break;
    case 1:
        open_or_save_map(m);
        break;
    case 2:
        ast_depth_close(m->depth);
        m->depth = NULL;
        break;
    default:
        if (m->depth && m->frame)
            compute_depth(m);
        else if (!m->depth)
            open_depth(m);
    }
}

#endif
