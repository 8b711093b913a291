/* SPDX-License-Identifier: MIT
 *
 * What is kept of an image after its conversion. plane_normals.c writes the patches, the patch of each pixel and which
 * pixels are late; the depth of the pixels and the report are written here. */
#include "depth.h"

#include "memory.h"

#define ROWS 16 /* rows per task */

bool ast_depth_frame_prepare(ast_depth_frame *frame, const ast_depth *depth, size_t width, size_t height) {
    const ast_depth_options *o = &depth->options;
    const ast_lens_maps *maps = depth->lens.maps;
    size_t pixels = width * height, distorted = maps ? maps->width * maps->height : 0;
    bool late = o->smooth == AST_SMOOTH_PLANES, patches = ast_depth_has_planes(o) || frame->has_planes;
    if (patches && !ast_patches_prepare(&frame->patches, width, height))
        return false;
    if (late && !ast_ensure_arrays(&frame->late_capacity, pixels, AST_REQUEST(frame->late, pixels)))
        return false;
    if (late && maps &&
        !ast_ensure_arrays(&frame->lens_late_capacity, distorted, AST_REQUEST(frame->lens_late, distorted)))
        return false;
    if (frame->has_planes && !ast_ensure_arrays(&frame->pixel_capacity, pixels, AST_REQUEST(frame->leader, pixels),
                                                AST_REQUEST(frame->metres, pixels)))
        return false;
    frame->width = width;
    frame->height = height;
    frame->camera = depth->camera;
    frame->epsilon = o->filter_epsilon;
    return true;
}

void ast_depth_frame_release(ast_depth_frame *frame) {
    ast_patches_release(&frame->patches);
    ast_lens_maps_release(frame->maps);
    ast_free_all(frame->leader, frame->metres, frame->late, frame->lens_late);
}

/* ---- Depth ------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const ast_depth_frame *frame;
    const ast_depth_image *image;
    ast_depth_range range;
    float scale; /* metres per unit */
} reading;

static void read_row(void *data, size_t v) {
    const reading *r = data;
    const uint16_t *values = ast_depth_image_row(r->image, v);
    float *metres = r->frame->metres + v * r->frame->width;
    for (size_t i = 0; i < r->frame->width; i++) {
        bool valid = values[i] >= r->range.lowest && values[i] <= r->range.highest;
        metres[i] = valid ? (float)values[i] * r->scale : 0;
    }
}

void ast_depth_frame_keep_metres(ast_depth_frame *frame, const ast_depth *depth, const ast_depth_image *image) {
    reading r = {frame, image, ast_depth_range_of(depth), (float)(1 / depth->options.units_per_metre)};
    ast_pool_each(depth->pool, frame->height, ROWS, read_row, &r);
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

void ast_depth_frame_finish(ast_depth_frame *frame, const ast_depth *depth) {
    const ast_depth_options *o = &depth->options;
    ast_depth_report *report = &frame->report;
    *report = (ast_depth_report){.size = sizeof *report};
    if (ast_depth_has_planes(o))
        ast_planes_count(frame, report);
    for (size_t i = 0; !ast_depth_has_planes(o) && i < frame->width * frame->height; i++)
        report->pixels += depth->inverse[i] > 0;
    if (o->smooth == AST_SMOOTH_PLANES)
        report->late = depth->lens.maps ? frame->lens_late : frame->late;
    if (frame->maps == depth->lens.maps)
        return;
    ast_lens_maps_release(frame->maps);
    frame->maps = depth->lens.maps;
    if (frame->maps)
        frame->maps->users++;
}
