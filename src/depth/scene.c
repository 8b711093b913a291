/* SPDX-License-Identifier: MIT
 *
 * Renders one frame of the hallway: walk, rays, sensor. All rays are cast first, because the sensor needs the
 * neighbours of a pixel. */
#include "scene.h"

#include "memory.h"

#include <stdlib.h>

#define ROWS 8 /* per block: small enough to share a small image, large enough to be worth a block */

typedef struct rendering {
    const ast_hallway *hallway;
    size_t index;
    ast_scene_view view;
    ast_hit *hits; /* (height, width) */
    uint16_t *depth;
    int32_t *truth;
} rendering;

static void cast_row(void *data, size_t row);
static void sense_row(void *data, size_t row);

ast_status ast_scene_render(ast_fault *fault, ast_pool *pool, const ast_hallway *hallway, size_t index, uint16_t *depth,
                            int32_t *truth, ast_hallway_frame *frame) {
    ast_hallway_frame place;
    rendering work = {.hallway = hallway, .index = index, .depth = depth, .truth = truth};
    work.hits = ast_allocate(hallway->width * hallway->height, sizeof *work.hits);
    if (!work.hits)
        return ast_fail(fault, AST_NO_MEMORY, "there is not enough memory for an image of %zu x %zu pixels",
                        hallway->width, hallway->height);
    ast_scene_walk(index, hallway->frames, &place);
    ast_scene_view_open(&work.view, &hallway->camera, &place);
    ast_pool_each(pool, hallway->height, ROWS, cast_row, &work);
    ast_pool_each(pool, hallway->height, ROWS, sense_row, &work);
    ast_free(work.hits);
    if (frame)
        *frame = place;
    return AST_OK;
}

static void cast_row(void *data, size_t row) {
    const rendering *work = data;
    size_t width = work->hallway->width;
    ast_scene_cast_row(&work->view, row, width, work->hits + row * width);
}

static void sense_row(void *data, size_t row) {
    const rendering *work = data;
    size_t width = work->hallway->width;
    ast_scene_sense_row(work->hallway, work->index, row, work->hits, work->depth + row * width,
                        work->truth ? work->truth + row * width : NULL);
}
