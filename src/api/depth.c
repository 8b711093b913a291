/* SPDX-License-Identifier: MIT
 *
 * Entry points for depth cameras: check, call, translate. */
#include "context.h"

#include "depth.h"
#include "frame_planes.h"

#include <math.h>
#include <stdlib.h>

#define MOST_PIXELS ((size_t)1 << 27)
#define SATURATED 57344 /* seven eighths of 2^16: if no other value reaches this, 65535 is no depth */

void ast_depth_options_defaults(ast_depth_options *options, size_t size) {
    ast_depth_options defaults = {.units_per_metre = 1000,
                                  .farthest = INFINITY,
                                  .filter_radius = 3,
                                  .filter_epsilon = 0.005,
                                  .window = 6,
                                  .jump = 0.01,
                                  .tv_weight = 0.2,
                                  .tv_iterations = 100};
    ast_set_defaults(options, size, &defaults, sizeof defaults);
}

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
    if (!within(o->units_per_metre, 1e-3, 1e6))
        return "units_per_metre must be between 0.001 and 1000000";
    if (!(o->nearest >= 0 && o->farthest >= o->nearest))
        return "nearest must be 0 or more, and farthest no less than it";
    if ((int)o->smooth < AST_SMOOTH_GUIDED || o->smooth > AST_SMOOTH_PLANES_ONLY)
        return "smooth must be AST_SMOOTH_GUIDED, AST_SMOOTH_TV, AST_SMOOTH_NONE, AST_SMOOTH_PLANES or "
               "AST_SMOOTH_PLANES_ONLY";
    if (o->filter_radius < 0 || o->filter_radius > AST_DEPTH_MOST_RADIUS)
        return "filter_radius must be between 0 and 64 pixels";
    if (!within(o->filter_epsilon, 1e-6, 1e3))
        return "filter_epsilon must be between 0.000001 and 1000 metres";
    if (o->window < 1 || o->window > AST_DEPTH_MOST_RADIUS)
        return "window must be between 1 and 64 pixels";
    if (!(o->jump > 0))
        return "jump must be more than 0";
    for (int i = 0; i < 5; i++)
        if (!within(o->distortion[i], -1000, 1000))
            return "the distortion coefficients k1, k2, p1, p2, k3 must be between -1000 and 1000";
    return tv_problem(o->tv_weight, o->tv_iterations);
}

ast_status ast_depth_open(ast_depth **opened, ast_context *context, const ast_depth_options *options) {
    if (opened)
        *opened = NULL;
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    const char *problem = opened ? ast_depth_options_problem(options) : "depth: the pointer is NULL";
    ast_depth *depth = problem ? NULL : calloc(1, sizeof *depth);
    if (problem)
        return ast_leave(context, ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem));
    if (!depth)
        return ast_leave(context, ast_fail_memory(&context->fault));
    depth->context = context;
    depth->fault = &context->fault;
    depth->pool = context->pool;
    depth->kernels = ast_image_kernels_choose(context->kernels->name);
    depth->options = *options;
    *opened = depth;
    return ast_leave(context, AST_OK);
}

void ast_depth_close(ast_depth *depth) {
    if (!depth || ast_in_callback(depth->context, __func__))
        return;
    ast_depth_release(depth);
    ast_planes_release(&depth->planes);
    ast_late_release(&depth->runs);
    ast_lens_release(&depth->lens);
    ast_frame_cut_release(&depth->cut);
    free(depth->tv.memory);
    free(depth);
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
static ast_status prepare(ast_depth *depth, const ast_depth_image *image, bool normals) {
    ast_smooth smooth = depth->options.smooth;
    ast_status status = ast_depth_prepare(depth, image->width, image->height);
    if (status != AST_OK || !normals)
        return status;
    bool ready = true;
    if (smooth == AST_SMOOTH_TV)
        ready = ast_tv_prepare(&depth->tv, image->width, image->height);
    if (ast_depth_has_planes(&depth->options))
        ready = ast_planes_prepare(&depth->planes, image->width, image->height);
    if (smooth == AST_SMOOTH_PLANES)
        ready = ready && ast_late_prepare(depth);
    if (ready && depth->options.planes)
        ready = ast_planes_prepare(&depth->planes, image->width, image->height) &&
                ast_frame_cut_prepare(&depth->cut, image->width, image->height, !ast_depth_has_planes(&depth->options));
    return ready ? AST_OK : ast_fail_memory(depth->fault);
}

/* The planes of the image where normals are not those of planes: cut from the depth as it is. */
static void cut_raw(ast_depth *depth, const ast_depth_image *image) {
    ast_smooth smooth = depth->options.smooth;
    depth->options.smooth = AST_SMOOTH_PLANES_ONLY;
    ast_depth_filter(depth, image);
    ast_planes_find_normals(depth, image, depth->cut.normals);
    ast_frame_cut(depth, image);
    depth->options.smooth = smooth;
}

static void compute_normals(ast_depth *depth, const ast_depth_image *image, float *normals) {
    const ast_depth_options *o = &depth->options;
    if (ast_depth_has_planes(o))
        ast_planes_find_normals(depth, image, normals);
    else
        ast_depth_find_normals(depth, normals);
    if (o->planes && ast_depth_has_planes(o))
        ast_frame_cut(depth, image);
    if (o->smooth == AST_SMOOTH_PLANES)
        ast_late_find_normals(depth, image, normals);
    if (o->smooth == AST_SMOOTH_TV)
        ast_tv_smooth(&depth->tv, depth->pool, depth->kernels, normals, image->width, image->height, o->tv_weight,
                      o->tv_iterations);
}

/* Of the image of a pinhole camera. */
static ast_status compute(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                          float *normals) {
    ast_status status = prepare(depth, image, normals != NULL);
    if (status != AST_OK)
        return status;
    if (depth->options.planes && normals && !ast_depth_has_planes(&depth->options))
        cut_raw(depth, image);
    ast_depth_filter(depth, image);
    if (metres)
        ast_depth_fill_metres(depth, image, metres);
    if (points)
        ast_depth_fill_points(depth, image, points);
    if (normals)
        compute_normals(depth, image, normals);
    return ast_check_cancelled(depth->context);
}

static ast_status compute_distorted(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                                    float *normals) {
    ast_status status = ast_lens_prepare(depth, image->width, image->height);
    if (status != AST_OK)
        return status;
    const ast_lens *lens = &depth->lens;
    ast_depth_image straight = ast_lens_straighten(depth, image);
    status = compute(depth, &straight, metres || points ? lens->metres : NULL, NULL, normals ? lens->normals : NULL);
    if (status == AST_OK)
        ast_lens_look_up(depth, image, metres, points, normals);
    if (status == AST_CANCELLED)
        ast_lens_forget(depth);
    return status;
}

/* The largest value that is no hole: 65535, or one less where that is far above all others. */
static uint16_t most_value(const ast_depth *depth, const ast_depth_image *image) {
    uint16_t most = 0;
    bool saturated = false;
    for (size_t v = 0; v < image->height; v++) {
        const char *row = (const char *)image->values + (ptrdiff_t)v * image->row_stride;
        saturated |= depth->kernels->peak((const uint16_t *)row, image->width, &most);
    }
    return saturated && most < SATURATED ? UINT16_MAX - 1 : UINT16_MAX;
}

ast_status ast_depth_compute(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                             float *normals) {
    if (!ast_enter(depth ? depth->context : NULL))
        return AST_BAD_OPTION;
    ast_status status = check_image(depth->fault, image);
    if (status == AST_OK && !metres && !points && !normals)
        status = ast_fail(depth->fault, AST_BAD_OPTION, "metres, points and normals are all NULL");
    depth->described = false;
    if (status == AST_OK)
        depth->most = most_value(depth, image);
    if (status == AST_OK)
        status = (ast_depth_is_distorted(&depth->options) ? compute_distorted : compute)(depth, image, metres, points,
                                                                                         normals);
    depth->described = status == AST_OK && normals;
    return ast_leave(depth->context, status);
}

ast_status ast_depth_describe(const ast_depth *depth, ast_depth_report *report) {
    if (!ast_enter(depth ? depth->context : NULL))
        return AST_BAD_OPTION;
    ast_status status = ast_check_struct(report, sizeof *report, "report", depth->fault);
    if (status == AST_OK && !depth->described)
        status = ast_fail(depth->fault, AST_BAD_OPTION, "there is no image whose normals were found");
    if (status != AST_OK)
        return ast_leave(depth->context, status);
    *report = (ast_depth_report){.size = sizeof *report};
    for (size_t i = 0; i < depth->width * depth->height; i++)
        report->pixels += depth->inverse[i] > 0;
    if (ast_depth_has_planes(&depth->options))
        ast_planes_count(depth, report);
    if (depth->options.smooth == AST_SMOOTH_PLANES)
        report->late = ast_depth_is_distorted(&depth->options) ? depth->lens.late : depth->runs.late;
    return ast_leave(depth->context, AST_OK);
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
    free(tv.memory);
    return ast_leave(context, status);
}
