/* SPDX-License-Identifier: MIT
 *
 * Entry points for depth cameras: check, call, translate. */
#include "context.h"

#include "depth.h"

#include <math.h>
#include <stdlib.h>

#define MOST_PIXELS ((size_t)1 << 27)

void ast_depth_options_init(ast_depth_options *options) {
    *options = (ast_depth_options){.units_per_metre = 1000,
                                   .farthest = INFINITY,
                                   .filter_radius = 3,
                                   .filter_epsilon = 0.005,
                                   .window = 6,
                                   .jump = 0.01,
                                   .tv_weight = 0.2,
                                   .tv_iterations = 100};
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
    const char *problem = camera_problem(&o->camera);
    if (problem)
        return problem;
    if (!within(o->units_per_metre, 1e-3, 1e6))
        return "units_per_metre must be between 0.001 and 1000000";
    if (!(o->nearest >= 0 && o->farthest >= o->nearest))
        return "nearest must be 0 or more, and farthest no less than it";
    if (o->smooth != AST_SMOOTH_GUIDED && o->smooth != AST_SMOOTH_TV && o->smooth != AST_SMOOTH_NONE &&
        o->smooth != AST_SMOOTH_PLANES)
        return "smooth must be AST_SMOOTH_GUIDED, AST_SMOOTH_TV, AST_SMOOTH_NONE or AST_SMOOTH_PLANES";
    if (o->filter_radius < 0 || o->filter_radius > AST_DEPTH_MOST_RADIUS)
        return "filter_radius must be between 0 and 64 pixels";
    if (!within(o->filter_epsilon, 1e-6, 1e3))
        return "filter_epsilon must be between 0.000001 and 1000 metres";
    if (o->window < 1 || o->window > AST_DEPTH_MOST_RADIUS)
        return "window must be between 1 and 64 pixels";
    if (!(o->jump > 0))
        return "jump must be more than 0";
    return tv_problem(o->tv_weight, o->tv_iterations);
}

ast_depth *ast_depth_open(ast_context *context, const ast_depth_options *options) {
    ast_begin(context);
    const char *problem = options ? ast_depth_options_problem(options) : "the options are NULL";
    ast_depth *depth = problem ? NULL : calloc(1, sizeof *depth);
    if (problem)
        ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem);
    else if (!depth)
        ast_fail_memory(&context->fault);
    if (!depth)
        return NULL;
    depth->context = context;
    depth->fault = &context->fault;
    depth->pool = context->pool;
    depth->kernels = ast_image_kernels_choose(context->kernels->name);
    depth->options = *options;
    return depth;
}

void ast_depth_close(ast_depth *depth) {
    if (!depth)
        return;
    ast_depth_release(depth);
    ast_planes_release(&depth->planes);
    free(depth->tv.memory);
    free(depth);
}

static ast_status check_size(ast_fault *fault, size_t width, size_t height) {
    if (width == 0 || height == 0 || width > MOST_PIXELS / height)
        return ast_fail(fault, AST_BAD_DATA, "the image has %zu x %zu pixels; it must have 1 to 134217728", width,
                        height);
    return AST_OK;
}

static ast_status check_image(ast_fault *fault, const ast_depth_image *image, const float *out) {
    if (!image || !image->values)
        return ast_fail(fault, AST_BAD_OPTION, "there is no image: the view or its values are NULL");
    if (!out)
        return ast_fail(fault, AST_BAD_OPTION, "there is no room for the result: it is NULL");
    ast_status status = check_size(fault, image->width, image->height);
    if (status != AST_OK)
        return status;
    size_t bytes = image->row_stride < 0 ? 0 - (size_t)image->row_stride : (size_t)image->row_stride;
    if (bytes % sizeof(uint16_t) != 0 || (image->height > 1 && bytes < image->width * sizeof(uint16_t)))
        return ast_fail(fault, AST_BAD_OPTION,
                        "row_stride is %td bytes; it must be even, and at least %zu for %zu values in a row",
                        image->row_stride, image->width * sizeof(uint16_t), image->width);
    return AST_OK;
}

/* Everything up to filtered inverse depth, which all three answers begin with. */
static ast_status begin_image(ast_depth *depth, const ast_depth_image *image, const float *out) {
    ast_begin(depth->context);
    ast_status status = check_image(depth->fault, image, out);
    if (status == AST_OK)
        status = ast_depth_prepare(depth, image->width, image->height);
    if (status == AST_OK)
        ast_depth_filter(depth, image);
    return status;
}

ast_status ast_depth_metres(ast_depth *depth, const ast_depth_image *image, float *metres) {
    ast_status status = begin_image(depth, image, metres);
    if (status == AST_OK)
        ast_depth_fill_metres(depth, image, metres);
    return status;
}

ast_status ast_depth_points(ast_depth *depth, const ast_depth_image *image, float *points) {
    ast_status status = begin_image(depth, image, points);
    if (status == AST_OK)
        ast_depth_fill_points(depth, image, points);
    return status;
}

/* The memory of the smoothing is got first: where there is none, nothing is written. */
ast_status ast_depth_normals(ast_depth *depth, const ast_depth_image *image, float *normals) {
    const ast_depth_options *o = &depth->options;
    ast_status status = begin_image(depth, image, normals);
    bool tv = o->smooth == AST_SMOOTH_TV, planes = o->smooth == AST_SMOOTH_PLANES;
    if (status == AST_OK && ((tv && !ast_tv_prepare(&depth->tv, image->width, image->height)) ||
                             (planes && !ast_planes_prepare(&depth->planes, image->width, image->height))))
        status = ast_fail_memory(depth->fault);
    if (status != AST_OK)
        return status;
    if (planes)
        ast_planes_find_normals(depth, normals);
    else
        ast_depth_find_normals(depth, normals);
    if (tv)
        ast_tv_smooth(&depth->tv, depth->pool, depth->kernels, normals, image->width, image->height, o->tv_weight,
                      o->tv_iterations);
    return AST_OK;
}

ast_status ast_normals_smooth(ast_context *context, float *normals, size_t width, size_t height, double weight,
                              int iterations) {
    ast_begin(context);
    const char *problem = normals ? tv_problem(weight, iterations) : "there are no normals: the pointer is NULL";
    if (problem)
        return ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem);
    ast_status status = check_size(&context->fault, width, height);
    if (status != AST_OK)
        return status;
    ast_tv tv = {0};
    if (ast_tv_prepare(&tv, width, height))
        ast_tv_smooth(&tv, context->pool, ast_image_kernels_choose(context->kernels->name), normals, width, height,
                      weight, iterations);
    else
        status = ast_fail_memory(&context->fault);
    free(tv.memory);
    return status;
}
