/* SPDX-License-Identifier: MIT
 *
 * Lenses that bend straight lines (Brown and Conrady, with the coefficients of OpenCV). The one idea: inverse depth is
 * linear over a plane only in the image of a pinhole camera, so the image is first resampled to a pinhole camera that
 * covers all rays. Everything is computed in the pinhole image; the results are then read back at the ray of each
 * original pixel. */
#include "depth.h"

#include "memory.h"

#include <math.h>

#define ROWS 16        /* per task */
#define FARTHEST_RAY 4 /* tangent of the angle to the optical axis: 76 degrees */
#define FOLD_STEPS 4000
#define NEWTON_STEPS 30
#define NEWTON_TOLERANCE 1e-9 /* of a focal length: far below a pixel */

bool ast_depth_is_distorted(const ast_depth_options *options) {
    bool any = false;
    for (int i = 0; i < 5; i++)
        any |= options->distortion[i] != 0;
    return any;
}

void ast_lens_maps_release(ast_lens_maps *maps) {
    if (!maps || --maps->users > 0)
        return;
    ast_free_all(maps->to_pinhole, maps->to_distorted, maps);
}

void ast_lens_release(ast_lens *lens) {
    ast_lens_maps_release(lens->maps);
    ast_free_all(lens->values, lens->metres, lens->normals);
    *lens = (ast_lens){0};
}

/* ---- Rays -------------------------------------------------------------------------------------------------------- */

/* Where the ray (x, y, 1) meets the image, in focal lengths from the centre, and the derivatives:
 *     x' = x g + 2 p1 x y + p2 (r2 + 2 x x),   y' = y g + p1 (r2 + 2 y y) + 2 p2 x y,
 *     g = 1 + k1 r2 + k2 r2^2 + k3 r2^3. */
typedef struct distorted {
    double x, y, xx, xy, yy;
} distorted;

static distorted distort(const double k[5], double x, double y) {
    double r2 = x * x + y * y, g = 1 + r2 * (k[0] + r2 * (k[1] + r2 * k[4]));
    double slope = 2 * (k[0] + r2 * (2 * k[1] + r2 * 3 * k[4])); /* dg/dx = slope x */
    return (distorted){.x = x * g + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x),
                       .y = y * g + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y,
                       .xx = g + x * x * slope + 2 * k[2] * y + 6 * k[3] * x,
                       .xy = x * y * slope + 2 * k[2] * x + 2 * k[3] * y,
                       .yy = g + y * y * slope + 6 * k[2] * y + 2 * k[3] * x};
}

/* The square of the radius at which the polynomial turns back: rays beyond this radius have no pixel. */
static double max_ray_square_of(const double k[5]) {
    for (int i = 1; i <= FOLD_STEPS; i++) {
        double r = FARTHEST_RAY * (double)i / FOLD_STEPS, r2 = r * r;
        if (!(1 + r2 * (3 * k[0] + r2 * (5 * k[1] + r2 * 7 * k[4])) > 0))
            return r2;
    }
    return FARTHEST_RAY * FARTHEST_RAY;
}

/* The ray that meets the image at (u, v), in focal lengths, by Newton's method; false if there is none. */
static bool undistort(const double k[5], double max_ray_square, double u, double v, double ray[2]) {
    double x = u, y = v;
    for (int i = 0; i < NEWTON_STEPS; i++) {
        distorted at = distort(k, x, y);
        double off_x = at.x - u, off_y = at.y - v, scale = at.xx * at.yy - at.xy * at.xy;
        if (fabs(off_x) < NEWTON_TOLERANCE && fabs(off_y) < NEWTON_TOLERANCE) {
            ray[0] = x;
            ray[1] = y;
            return x * x + y * y < max_ray_square && scale > 0;
        }
        x -= (off_x * at.yy - off_y * at.xy) / scale;
        y -= (off_y * at.xx - off_x * at.xy) / scale;
    }
    return false;
}

/* ---- The pinhole camera ------------------------------------------------------------------------------------------ */

typedef struct mapping {
    ast_lens_maps *maps;
    const ast_depth_options *options;
    double max_ray_square; /* rays (x, y, 1) with x^2 + y^2 beyond it are in no image */
} mapping;

static void find_rays(void *data, size_t v) {
    const mapping *m = data;
    const ast_camera *camera = &m->options->camera;
    double ray[2];
    for (size_t u = 0; u < m->maps->width; u++) {
        float *to = m->maps->to_pinhole + 2 * (v * m->maps->width + u);
        bool found = undistort(m->options->distortion, m->max_ray_square, ((double)u - camera->cx) / camera->fx,
                               ((double)v - camera->cy) / camera->fy, ray);
        to[0] = found ? (float)(ray[0] * camera->fx + camera->cx) : NAN;
        to[1] = found ? (float)(ray[1] * camera->fy + camera->cy) : NAN;
    }
}

/* The part of the pinhole image that the rays meet, at most twice as wide and high as the image. Returns how many
 * pixels have a ray. */
static size_t find_bounds(ast_lens_maps *maps) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    double sides[2] = {(double)maps->width, (double)maps->height};
    size_t count = maps->width * maps->height, rays = 0;
    for (size_t i = 0; i < count; i++) {
        const float *to = maps->to_pinhole + 2 * i;
        rays += !isnan(to[0]);
        for (int axis = 0; axis < 2 && !isnan(to[0]); axis++) {
            low[axis] = fmin(low[axis], (double)to[axis]);
            high[axis] = fmax(high[axis], (double)to[axis]);
        }
    }
    for (int axis = 0; axis < 2 && rays > 0; axis++) {
        low[axis] = fmax(floor(low[axis]), -floor(sides[axis] / 2));
        high[axis] = fmin(ceil(high[axis]), low[axis] + 2 * sides[axis]);
        high[axis] = fmax(high[axis], low[axis]);
    }
    maps->left = low[0];
    maps->top = low[1];
    maps->pinhole_width = rays > 0 ? (size_t)(high[0] - low[0]) + 1 : 0;
    maps->pinhole_height = rays > 0 ? (size_t)(high[1] - low[1]) + 1 : 0;
    return rays;
}

/* Where in the image each pixel of the pinhole camera comes from. */
static void find_places(void *data, size_t j) {
    const mapping *m = data;
    const ast_lens_maps *maps = m->maps;
    const ast_camera *camera = &m->options->camera;
    for (size_t i = 0; i < maps->pinhole_width; i++) {
        double x = ((double)i + maps->left - camera->cx) / camera->fx;
        double y = ((double)j + maps->top - camera->cy) / camera->fy;
        float *from = maps->to_distorted + 2 * (j * maps->pinhole_width + i);
        distorted at = distort(m->options->distortion, x, y);
        bool seen = x * x + y * y < m->max_ray_square;
        from[0] = seen ? (float)(at.x * camera->fx + camera->cx) : NAN;
        from[1] = seen ? (float)(at.y * camera->fy + camera->cy) : NAN;
    }
}

static ast_status no_memory(ast_depth *depth, size_t width, size_t height) {
    ast_lens_release(&depth->lens);
    return ast_fail(depth->fault, AST_NO_MEMORY, "there is not enough memory for an image of %zu x %zu pixels", width,
                    height);
}

static ast_status build(ast_depth *depth, size_t width, size_t height) {
    ast_lens *lens = &depth->lens;
    ast_lens_maps *maps = lens->maps = ast_allocate_zero(1, sizeof *maps);
    mapping m = {maps, &depth->options, max_ray_square_of(depth->options.distortion)};
    if (!maps)
        return no_memory(depth, width, height);
    *maps = (ast_lens_maps){.users = 1, .width = width, .height = height};
    maps->to_pinhole = ast_allocate_zero(width * height, 2 * sizeof *maps->to_pinhole);
    if (!maps->to_pinhole)
        return no_memory(depth, width, height);
    ast_pool_each(depth->pool, height, ROWS, find_rays, &m);
    if (find_bounds(maps) < width * height / 2 + 1) {
        ast_lens_release(lens);
        return ast_fail(depth->fault, AST_BAD_OPTION,
                        "distortion: half or more of the pixels of an image of %zu x %zu have no ray; the coefficients "
                        "are k1, k2, p1, p2, k3, as in OpenCV",
                        width, height);
    }
    size_t pixels = maps->pinhole_width * maps->pinhole_height;
    if (!ast_replace_arrays(AST_REQUEST(maps->to_distorted, 2 * pixels), AST_REQUEST(lens->values, pixels),
                            AST_REQUEST(lens->metres, pixels), AST_REQUEST(lens->normals, 3 * pixels)))
        return no_memory(depth, width, height);
    ast_pool_each(depth->pool, maps->pinhole_height, ROWS, find_places, &m);
    return AST_OK;
}

ast_status ast_lens_prepare(ast_depth *depth, size_t width, size_t height) {
    const ast_lens_maps *maps = depth->lens.maps;
    if (maps && maps->width == width && maps->height == height)
        return AST_OK;
    ast_lens_release(&depth->lens);
    ast_status status = build(depth, width, height);
    if (status != AST_OK)
        return status;
    depth->camera = depth->options.camera;
    depth->camera.cx -= depth->lens.maps->left;
    depth->camera.cy -= depth->lens.maps->top;
    return AST_OK;
}

/* ---- To the pinhole image
 * ------------------------------------------------------------------------------------------------------- */

typedef struct remap_job {
    const ast_depth *depth;
    const ast_depth_image *image;
    uint8_t *lens_late;  /* of the image, and of the pinhole image */
    const uint8_t *late; /* NULL if no pixel is late */
    float *metres, *points, *normals;
} remap_job;

/* 0 for a hole. */
static uint16_t value_at(const ast_depth *depth, const ast_depth_image *image, size_t u, size_t v) {
    uint16_t value = ast_depth_image_row(image, v)[u];
    return value <= depth->largest_value ? value : 0;
}

/* Bilinear interpolation of inverse depth between four neighbours; 0 if there is a hole or a depth jump among them. s:
 * two of the upper row, two of the lower. */
static double interpolate(const double s[4], double right, double below, double jump) {
    double least = s[0], most = s[0];
    for (int i = 1; i < 4; i++) {
        least = fmin(least, s[i]);
        most = fmax(most, s[i]);
    }
    if (!(least > 0) || most - least > jump * fmax(1, most))
        return 0;
    return (1 - below) * ((1 - right) * s[0] + right * s[1]) + below * ((1 - right) * s[2] + right * s[3]);
}

/* The first of the two neighbouring pixels that enclose a position; at the border, the first of the last two pixels. */
static size_t first_of(double place, size_t side) {
    size_t first = place > 0 ? (size_t)place : 0;
    return first + 1 < side || first == 0 ? first : side - 2;
}

/* The value at a place in the image: interpolated on a smooth surface, of the nearest pixel at a depth edge. */
static uint16_t sample_value(const ast_depth *depth, const ast_depth_image *image, const float at[2]) {
    double u = (double)at[0], v = (double)at[1], units = depth->options.units_per_metre, s[4];
    if (!(u > -0.5 && v > -0.5 && u < (double)image->width - 0.5 && v < (double)image->height - 0.5))
        return 0;
    uint16_t nearest = value_at(depth, image, (size_t)(u + 0.5), (size_t)(v + 0.5));
    if (nearest == 0 || image->width < 2 || image->height < 2)
        return nearest;
    size_t column = first_of(u, image->width), row = first_of(v, image->height);
    for (size_t i = 0; i < 4; i++) {
        uint16_t value = value_at(depth, image, column + i % 2, row + i / 2);
        s[i] = value > 0 ? units / value : 0;
    }
    double inverse = interpolate(s, u - (double)column, v - (double)row, depth->options.jump);
    double value = inverse > 0 ? units / inverse + 0.5 : nearest;
    return (uint16_t)(value < 65535 ? value : 65535);
}

static void resample_row(void *data, size_t j) {
    const remap_job *b = data;
    const ast_lens *lens = &b->depth->lens;
    size_t across = lens->maps->pinhole_width;
    for (size_t i = j * across; i < (j + 1) * across; i++)
        lens->values[i] = sample_value(b->depth, b->image, lens->maps->to_distorted + 2 * i);
}

ast_depth_image ast_lens_undistort(ast_depth *depth, const ast_depth_image *image) {
    ast_lens *lens = &depth->lens;
    size_t across = lens->maps->pinhole_width, down = lens->maps->pinhole_height;
    remap_job b = {.depth = depth, .image = image};
    ast_pool_each(depth->pool, down, ROWS, resample_row, &b);
    return (ast_depth_image){sizeof(ast_depth_image), lens->values, across, down,
                             (ptrdiff_t)(across * sizeof *lens->values)};
}

/* ---- Back to the pixels of the camera
 * ---------------------------------------------------------------------------------------------------- */

/* The smoothed depth at a place of the pinhole image; 0 at holes and depth edges. */
static double sample_metres(const ast_depth *depth, double x, double y) {
    size_t across = depth->lens.maps->pinhole_width, down = depth->lens.maps->pinhole_height;
    size_t column = first_of(x, across), row = first_of(y, down);
    double s[4];
    if (across < 2 || down < 2)
        return 0;
    for (size_t i = 0; i < 4; i++) {
        float z = depth->lens.metres[(row + i / 2) * across + column + i % 2];
        s[i] = z > 0 ? 1 / (double)z : 0;
    }
    double inverse = interpolate(s, x - (double)column, y - (double)row, depth->options.jump);
    return inverse > 0 ? 1 / inverse : 0;
}

/* Uses the pixel's own depth if depth is not smoothed or the pixel is at a depth edge. */
static float metres_of(const remap_job *b, uint16_t value, double x, double y) {
    const ast_depth_options *o = &b->depth->options;
    float own = (float)value / (float)o->units_per_metre;
    if (!((double)own >= o->nearest && (double)own <= o->farthest))
        return NAN;
    double found = !ast_depth_is_raw(o) ? sample_metres(b->depth, x, y) : 0;
    return found > 0 ? (float)found : own;
}

static void map_back(const remap_job *b, size_t u, size_t v) {
    const ast_lens_maps *maps = b->depth->lens.maps;
    const ast_camera *camera = &b->depth->camera;
    size_t at = v * maps->width + u;
    double x = (double)maps->to_pinhole[2 * at] - maps->left, y = (double)maps->to_pinhole[2 * at + 1] - maps->top;
    uint16_t value = value_at(b->depth, b->image, u, v);
    bool seen = value > 0 && x >= 0 && y >= 0 && x + 0.5 < (double)maps->pinhole_width &&
                y + 0.5 < (double)maps->pinhole_height;
    double z = seen && (b->metres || b->points) ? (double)metres_of(b, value, x, y) : (double)NAN;
    if (b->metres)
        b->metres[at] = (float)z;
    if (b->points) {
        b->points[3 * at] = (float)(z * ((x - camera->cx) / camera->fx));
        b->points[3 * at + 1] = (float)(z * ((y - camera->cy) / camera->fy));
        b->points[3 * at + 2] = (float)z;
    }
    size_t there = seen && b->normals ? (size_t)(y + 0.5) * maps->pinhole_width + (size_t)(x + 0.5) : 0;
    const float *normal = seen && b->normals ? b->depth->lens.normals + 3 * there : NULL;
    for (size_t i = 0; b->normals && i < 3; i++)
        b->normals[3 * at + i] = normal ? normal[i] : NAN;
    if (b->normals && b->late)
        b->lens_late[at] = normal ? b->late[there] : 0;
}

static void look_up_row(void *data, size_t v) {
    const remap_job *b = data;
    for (size_t u = 0; u < b->depth->lens.maps->width; u++)
        map_back(b, u, v);
}

void ast_lens_redistort(ast_depth *depth, const ast_depth_image *image, ast_depth_frame *frame, float *metres,
                        float *points, float *normals) {
    bool late = depth->options.smooth == AST_SMOOTH_PLANES;
    remap_job b = {depth, image, frame->lens_late, late ? frame->late : NULL, metres, points, normals};
    ast_pool_each(depth->pool, depth->lens.maps->height, ROWS, look_up_row, &b);
}
