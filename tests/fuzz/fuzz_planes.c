/* SPDX-License-Identifier: MIT
 *
 * Edits of the saved state of a plane map: what is refused has one sentence and changes nothing, what is taken goes on
 * with a frame and is saved again. The first byte says whether the map has poses. */
#include "fuzz_edits.h"

#include <asterism_depth.h>

enum { WIDTH = 64, HEIGHT = 48 };

static ast_context *context;
static ast_depth_frame *frame;
static const double pose[12] = {1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0};

/* Two walls that meet in the middle. */
static void start(void) {
    static uint16_t values[WIDTH * HEIGHT];
    static float normals[WIDTH * HEIGHT * 3];
    ast_depth_image image = {sizeof image, values, WIDTH, HEIGHT, WIDTH * (ptrdiff_t)sizeof *values};
    ast_depth_options options;
    ast_depth *depth;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        values[i] = (uint16_t)(1500 + (i % WIDTH < WIDTH / 2 ? 0 : 12 * (i % WIDTH - WIDTH / 2)));
    ast_depth_options_init(&options);
    options.camera = (ast_camera){60, 60, 31.5, 23.5};
    options.planes = 1;
    require(ast_open(&context, 1) == AST_OK && ast_depth_frame_open(&frame, context) == AST_OK);
    require(ast_depth_open(&depth, context, &options) == AST_OK);
    require(ast_depth_compute(depth, &image, NULL, NULL, normals, frame) == AST_OK);
    ast_depth_close(depth);
}

static ast_plane_map *make(bool posed) {
    ast_plane_options options;
    ast_plane_map *map;
    ast_plane_options_init(&options);
    require(ast_plane_map_open(&map, context, &options) == AST_OK);
    for (int t = 0; t < 3; t++)
        require(ast_plane_map_frame(map, frame, NULL, posed ? pose : NULL, NULL) == AST_OK);
    return map;
}

static void load(bool posed, const edited *state) {
    static int32_t plane_of[WIDTH * HEIGHT];
    ast_plane_map *map = make(posed);
    size_t count, size;
    double sum = 0;
    ast_status status = ast_plane_map_load(map, state->bytes, state->size);
    require(status == AST_OK || (*ast_message(context) && !strchr(ast_message(context), '\n')));
    for (int t = 0; t < 2; t++)
        status = ast_plane_map_frame(map, frame, NULL, posed ? pose : NULL, plane_of);
    require(status == AST_OK || *ast_message(context));
    const ast_plane_info *planes = ast_plane_list(map, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < planes[i].polygons; p++)
            sum += planes[i].vertices[3 * planes[i].ends[p] - 1];
    require(ast_plane_map_save(map, &size) || *ast_message(context));
    ast_plane_map_close(map);
    volatile double keep = sum;
    (void)keep;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static edited saved[2];
    bool posed = size && bytes[0] % 2;
    if (!context)
        start();
    if (!saved[posed].bytes) {
        ast_plane_map *map = make(posed);
        const void *state = ast_plane_map_save(map, &saved[posed].size);
        require(state && (saved[posed].bytes = malloc(saved[posed].size)));
        memcpy(saved[posed].bytes, state, saved[posed].size);
        ast_plane_map_close(map);
    }
    edited state = edit_all(saved[posed].bytes, saved[posed].size, bytes + (size > 0), size - (size > 0));
    load(posed, &state);
    seal(&state);
    load(posed, &state);
    free(state.bytes);
    return 0;
}
