/* SPDX-License-Identifier: MIT
 *
 * Entry points for depth cameras: check, call, translate. */
#include "context.h"

#include "depth.h"
#include "memory.h"

#include <stdlib.h>

#define MOST_PIXELS ((size_t)1 << 27)
#define SATURATED 57344 /* seven eighths of 2^16: if no other value reaches this, 65535 is no depth */

static bool within(double value, double least, double most) {
    return value >= least && value <= most;
}

static const char *camera_problem(const ast_camera *camera) {
    if (camera->fx == 0 && camera->fy == 0)
        return "the camera is not set: it takes its focal lengths and its centre, in pixels";
    if (!within(camera->fx, 1, 1e6) || !within(camera->fy, 1, 1e6))
        return "the focal lengths must be between 1 and 1000000 pixels";
    if (!within(camera->cx, -1e6, 1e6) || !within(camera->cy, -1e6, 1e6))
        return "the centre of the camera must be between -1000000 and 1000000 pixels";
    return NULL;
}

static const char *tv_problem(double weight, int iterations) {
    if (!within(weight, 1e-6, 1e6))
        return "the weight of the total variation must be between 0.000001 and 1000000";
    if (iterations < 0 || iterations > 1000000)
        return "the iterations of the total variation must be between 0 and 1000000";
    return NULL;
}

const char *ast_depth_options_problem(const ast_depth_options *o) {
    const char *problem = ast_size_problem(o, sizeof *o);
    if (!problem)
        problem = camera_problem(&o->camera);
    if (problem)
        return problem;
    problem = ast_problem_of(
        {!within(o->units_per_metre, 1e-3, 1e6), "units_per_metre must be between 0.001 and 1000000"},
        {!(o->nearest >= 0 && o->farthest >= o->nearest), "nearest must be 0 or more, and farthest no less than it"},
        {(int)o->smooth < AST_SMOOTH_GUIDED || o->smooth > AST_SMOOTH_PLANES_ONLY,
         "smooth must be AST_SMOOTH_GUIDED, AST_SMOOTH_TV, AST_SMOOTH_NONE, AST_SMOOTH_PLANES or "
         "AST_SMOOTH_PLANES_ONLY"},
        {!within(o->filter_radius, 0, AST_DEPTH_MOST_RADIUS), "filter_radius must be between 0 and 64 pixels"},
        {!within(o->filter_epsilon, 1e-6, 1e3), "filter_epsilon must be between 0.000001 and 1000 metres"},
        {!within(o->window, 1, AST_DEPTH_MOST_RADIUS), "window must be between 1 and 64 pixels"},
        {!(o->jump > 0), "jump must be more than 0"});
    for (int i = 0; i < 5 && !problem; i++)
        if (!within(o->distortion[i], -1000, 1000))
            problem = "the distortion coefficients k1, k2, p1, p2, k3 must be between -1000 and 1000";
    return problem ? problem : tv_problem(o->tv_weight, o->tv_iterations);
}

ast_status ast_depth_open(ast_depth **opened, ast_context *context, const ast_depth_options *options) {
    const char *problem = opened ? ast_depth_options_problem(options) : "depth: the pointer is NULL";
    ast_status status = ast_open_handle(opened, sizeof **opened, context, problem);
    if (status != AST_OK)
        return status;
    ast_depth *depth = *opened;
    depth->context = depth->own.context = context;
    depth->fault = &context->fault;
    depth->pool = context->pool;
    depth->kernels = ast_image_kernels_choose(context->kernels->name);
    depth->options = *options;
    depth->camera = options->camera;
    return AST_OK;
}

void ast_depth_close(ast_depth *depth) {
    if (!depth || ast_in_callback(depth->context, __func__))
        return;
    ast_depth_release(depth);
    ast_patch_work_release(&depth->patch_work);
    ast_nonplanar_release(&depth->spans);
    ast_lens_release(&depth->lens);
    ast_depth_frame_release(&depth->own);
    ast_free_all(depth->plane_normals, depth->tv.memory);
    ast_free(depth);
}

static ast_status check_size(ast_fault *fault, size_t width, size_t height) {
    if (width == 0 || height == 0 || width > MOST_PIXELS / height)
        return ast_fail(fault, AST_BAD_DATA, "the image has %zu x %zu pixels; it must have 1 to 134217728", width,
                        height);
    return AST_OK;
}

static ast_status check_image(ast_fault *fault, const ast_depth_image *image) {
    ast_status status = ast_check_struct(image, sizeof *image, "image", fault);
    if (status == AST_OK)
        status = ast_check_pointer(image->values, "the values of the image", fault);
    if (status == AST_OK)
        status = check_size(fault, image->width, image->height);
    if (status != AST_OK)
        return status;
    size_t bytes = image->row_stride < 0 ? 0 - (size_t)image->row_stride : (size_t)image->row_stride;
    if (bytes % sizeof(uint16_t) != 0 || (image->height > 1 && bytes < image->width * sizeof(uint16_t)))
        return ast_fail(fault, AST_BAD_OPTION,
                        "row_stride is %td bytes; it must be even, and at least %zu for %zu values in a row",
                        image->row_stride, image->width * sizeof(uint16_t), image->width);
    return AST_OK;
}

/* All memory is obtained before the first result is written. */
static ast_status prepare(ast_depth *depth, const ast_depth_image *image, bool normals, ast_depth_frame *frame) {
    const ast_depth_options *o = &depth->options;
    ast_status status = ast_depth_prepare(depth, image->width, image->height);
    if (status != AST_OK || !normals)
        return status;
    size_t pixels = image->width * image->height;
    bool ready = ast_depth_frame_prepare(frame, depth, image->width, image->height);
    if (o->smooth == AST_SMOOTH_TV)
        ready = ready && ast_tv_prepare(&depth->tv, image->width, image->height);
    if (o->smooth == AST_SMOOTH_PLANES)
        ready = ready && ast_nonplanar_prepare(depth);
    if (ast_depth_has_planes(o) || frame->has_planes)
        ready = ready && ast_patch_work_prepare(&depth->patch_work, image->width, image->height);
    if (!ast_depth_has_planes(o) && frame->has_planes)
        ready = ready && ast_ensure_arrays(&depth->plane_normals_capacity, pixels,
                                           AST_REQUEST(depth->plane_normals, 3 * pixels));
    return ready ? AST_OK : ast_fail_memory(depth->fault);
}

/* image -> depth->inverse, and the planes if they are needed: cut from the depth as it is. */
static void find_planes(ast_depth *depth, const ast_depth_image *image, float *normals, ast_depth_frame *frame) {
    bool wanted = ast_depth_has_planes(&depth->options);
    ast_depth_invert(depth, image);
    if (!normals || !(wanted || frame->has_planes))
        return;
    ast_planes_find_normals(depth, image, frame, wanted ? normals : depth->plane_normals);
    if (frame->has_planes)
        ast_depth_frame_keep_metres(frame, depth, image);
}

static void find_normals(ast_depth *depth, const ast_depth_image *image, float *normals, ast_depth_frame *frame) {
    const ast_depth_options *o = &depth->options;
    if (o->smooth == AST_SMOOTH_PLANES)
        ast_nonplanar_find_normals(depth, image, frame->late, normals);
    if (!ast_depth_has_planes(o))
        ast_depth_find_normals(depth, NULL, normals);
    if (o->smooth == AST_SMOOTH_TV)
        ast_tv_smooth(&depth->tv, depth->pool, depth->kernels, normals, image->width, image->height, o->tv_weight,
                      o->tv_iterations);
    if (frame != &depth->own)
        ast_depth_frame_finish(frame, depth);
}

/* Of the image of a pinhole camera. */
static ast_status compute(ast_depth *depth, const ast_depth_image *image, float *metres, float *points, float *normals,
                          ast_depth_frame *frame) {
    ast_status status = prepare(depth, image, normals != NULL, frame);
    bool raw = ast_depth_is_raw(&depth->options);
    if (status != AST_OK)
        return status;
    if (raw || frame->has_planes)
        find_planes(depth, image, normals, frame);
    if (!raw)
        ast_depth_filter(depth, image);
    if (metres || points)
        ast_depth_fill(depth, image, metres, points);
    if (normals)
        find_normals(depth, image, normals, frame);
    return ast_check_cancelled(depth->context);
}

static ast_status compute_distorted(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                                    float *normals, ast_depth_frame *frame) {
    ast_status status = ast_lens_prepare(depth, image->width, image->height);
    if (status != AST_OK)
        return status;
    const ast_lens *lens = &depth->lens;
    ast_depth_image pinhole = ast_lens_undistort(depth, image);
    status =
        compute(depth, &pinhole, metres || points ? lens->metres : NULL, NULL, normals ? lens->normals : NULL, frame);
    if (status == AST_OK)
        ast_lens_redistort(depth, image, frame, metres, points, normals);
    if (status == AST_CANCELLED) /* the rays may not have been found */
        ast_lens_release(&depth->lens);
    return status;
}

/* The largest value that is no hole: 65535, or one less where that is far above all others. */
static uint16_t largest_value(const ast_depth *depth, const ast_depth_image *image) {
    uint16_t most = 0;
    bool saturated = false;
    for (size_t v = 0; v < image->height; v++)
        saturated |= depth->kernels->largest_value(ast_depth_image_row(image, v), image->width, &most);
    return saturated && most < SATURATED ? UINT16_MAX - 1 : UINT16_MAX;
}

ast_status ast_depth_compute(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                             float *normals, ast_depth_frame *given) {
    if (!ast_enter(depth ? depth->context : NULL))
        return AST_BAD_OPTION;
    ast_depth_frame *frame = given ? given : &depth->own;
    if (frame->context != depth->context)
        return ast_leave(depth->context, ast_fail(depth->fault, AST_BAD_OPTION, "frame: it is of another context"));
    ast_status status = check_image(depth->fault, image);
    if (status == AST_OK && !metres && !points && !normals)
        status = ast_fail(depth->fault, AST_BAD_OPTION, "metres, points and normals are all NULL");
    frame->has_normals = false;
    frame->has_planes = given && normals && depth->options.planes;
    if (status == AST_OK) {
        depth->largest_value = largest_value(depth, image);
        status = (ast_depth_is_distorted(&depth->options) ? compute_distorted : compute)(depth, image, metres, points,
                                                                                         normals, frame);
    }
    frame->has_normals = status == AST_OK && normals;
    return ast_leave(depth->context, status);
}

ast_status ast_depth_frame_open(ast_depth_frame **frame, ast_context *context) {
    ast_status status = ast_open_handle(frame, sizeof **frame, context, frame ? NULL : "frame: the pointer is NULL");
    if (status == AST_OK)
        (*frame)->context = context;
    return status;
}

void ast_depth_frame_close(ast_depth_frame *frame) {
    if (!frame || ast_in_callback(frame->context, __func__))
        return;
    ast_depth_frame_release(frame);
    ast_free(frame);
}

ast_status ast_depth_describe(const ast_depth_frame *frame, ast_depth_report *report) {
    if (!ast_enter(frame ? frame->context : NULL))
        return AST_BAD_OPTION;
    ast_fault *fault = &frame->context->fault;
    ast_status status = ast_check_struct(report, sizeof *report, "report", fault);
    if (status == AST_OK && !frame->has_normals)
        status = ast_fail(fault, AST_BAD_OPTION, "the frame is empty: it describes no image whose normals were found");
    if (status == AST_OK)
        *report = frame->report;
    return ast_leave(frame->context, status);
}

ast_status ast_normals_smooth(ast_context *context, float *normals, size_t width, size_t height, double weight,
                              int iterations) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    const char *problem = normals ? tv_problem(weight, iterations) : "normals: the pointer is NULL";
    ast_status status =
        problem ? ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem) : check_size(&context->fault, width, height);
    if (status != AST_OK)
        return ast_leave(context, status);
    ast_tv tv = {0};
    if (ast_tv_prepare(&tv, width, height)) {
        ast_tv_smooth(&tv, context->pool, ast_image_kernels_choose(context->kernels->name), normals, width, height,
                      weight, iterations);
        status = ast_check_cancelled(context);
    } else {
        status = ast_fail_memory(&context->fault);
    }
    ast_free(tv.memory);
    return ast_leave(context, status);
}
