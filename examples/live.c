/* SPDX-License-Identifier: MIT
 *
 * A depth camera on a robot, frame by frame in memory: 16-bit or float depth and the pose of the camera in; the id of
 * every pixel's direction, and planes with ids, offsets and areas, out. After the first frames nothing is allocated.
 *     live
 * simulates the camera: it turns in a room, and the odometry says how. With poses a plane that comes back into view has
 * its id. A pose that is not known (NULL) leaves the frame out. */
#include <asterism_depth.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 640, HEIGHT = 480, PIXELS = WIDTH * HEIGHT, UNITS = 4000 }; /* 0.25 mm: floats become 16 bits */

typedef struct live {
    ast_context *context;
    ast_depth *depth;
    ast_depth_frame *frame;
    ast_stream *stream;
    ast_plane_map *map;
    uint16_t *values;
    float *normals;
    int32_t *directions, *planes; /* (HEIGHT, WIDTH) ids, the result; -1 for none */
} live;

/* ---- What a robot needs ------------------------------------------------------------------------------------------ */

void live_close(live *l);
int live_open(live *l, const ast_camera *camera);
ast_status live_step(live *l, const uint16_t *values, const double *pose);
ast_status live_step_floats(live *l, const float *metres, const double *pose);

void live_close(live *l) {
    ast_plane_map_close(l->map);
    ast_stream_close(l->stream);
    ast_depth_frame_close(l->frame);
    ast_depth_close(l->depth);
    ast_close(l->context);
    free(l->values);
    free(l->normals);
    free(l->directions);
    free(l->planes);
}

int live_open(live *l, const ast_camera *camera) {
    ast_depth_options depth;
    ast_depth_options_init(&depth);
    depth.camera = *camera;
    depth.units_per_metre = UNITS;
    depth.planes = 1; /* keep them for the map */
    ast_stream_options tracking;
    ast_depth_stream_options_init(&tracking);
    tracking.angle = 60;
    ast_plane_options planes;
    ast_plane_options_init(&planes);
    l->values = malloc(PIXELS * sizeof *l->values);
    l->normals = malloc(3 * PIXELS * sizeof *l->normals);
    l->directions = malloc(PIXELS * sizeof *l->directions);
    l->planes = malloc(PIXELS * sizeof *l->planes);
    return l->values && l->normals && l->directions && l->planes && ast_open(&l->context, 0) == AST_OK &&
           ast_depth_open(&l->depth, l->context, &depth) == AST_OK &&
           ast_depth_frame_open(&l->frame, l->context) == AST_OK &&
           ast_stream_open(&l->stream, l->context, &tracking) == AST_OK &&
           ast_plane_map_open(&l->map, l->context, &planes) == AST_OK;
}

/* values: (HEIGHT, WIDTH) depth in units, 0 for holes. pose: 3 x 4, row-major, from the camera to the world. */
ast_status live_step(live *l, const uint16_t *values, const double *pose) {
    ast_depth_image image = {sizeof image, values, WIDTH, HEIGHT, WIDTH * sizeof *values};
    ast_depth_report report = {.size = sizeof report};
    ast_frame step = {.size = sizeof step};
    if (!pose) /* the robot is lost: where these surfaces are is not known */
        return AST_OK;
    const double rotation[9] = {pose[0], pose[1], pose[2], pose[4], pose[5], pose[6], pose[8], pose[9], pose[10]};
    ast_status status = ast_depth_compute(l->depth, &image, NULL, NULL, l->normals, l->frame);
    if (status == AST_OK)
        status = ast_depth_describe(l->frame, &report);
    if (status != AST_OK)
        return status;
    ast_points points = ast_points_f4(l->normals, PIXELS, 3);
    points.late = report.late;
    points.rotation = rotation; /* directions of the world: they stand still while the camera turns */
    status = ast_stream_step(l->stream, &points, l->directions, &step);
    return status == AST_OK ? ast_plane_map_frame(l->map, l->frame, l->directions, pose, l->planes) : status;
}

/* Depth in metres, NaN or 0 for holes. */
ast_status live_step_floats(live *l, const float *metres, const double *pose) {
    for (size_t i = 0; i < PIXELS; i++) {
        float units = metres[i] * UNITS;
        l->values[i] = units > 0 && units < 65534 ? (uint16_t)lroundf(units) : 0;
    }
    return live_step(l, l->values, pose);
}

/* ---- A camera that turns in a room ------------------------------------------------------------------------------- */

/* 5 x 2.6 x 4 metres, the camera 1.2 m below the ceiling, swaying from side to side; x right, y down, z forward. */
static void simulate(int t, const ast_camera *camera, float *metres, double *pose) {
    const double angle = 0.5 * sin(t / 20.0), c = cos(angle), s = sin(angle);
    const double low[3] = {-2.5, -1.2, -2}, high[3] = {2.5, 1.4, 2};
    const double turn[12] = {c, 0, s, 0.3 * s, 0, 1, 0, 0, -s, 0, c, 0};
    for (int i = 0; i < 12; i++)
        pose[i] = turn[i];
    for (int v = 0; v < HEIGHT; v++)
        for (int u = 0; u < WIDTH; u++) {
            const double ray[3] = {(u - camera->cx) / camera->fx, (v - camera->cy) / camera->fy, 1};
            double nearest = INFINITY;
            for (int d = 0; d < 3; d++) {
                double way = pose[4 * d] * ray[0] + pose[4 * d + 1] * ray[1] + pose[4 * d + 2] * ray[2];
                double to = ((way > 0 ? high[d] : low[d]) - pose[4 * d + 3]) / way;
                nearest = to < nearest ? to : nearest;
            }
            metres[WIDTH * v + u] = (float)nearest;
        }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_planes(const live *l, int t, double milliseconds) {
    size_t count;
    const ast_plane_info *planes = ast_plane_list(l->map, &count);
    printf("frame %d, %.1f ms:", t, milliseconds);
    for (size_t i = 0; i < count; i++)
        printf("  plane %d (direction %d) %.2f m, %.1f m2", (int)planes[i].id, (int)planes[i].direction,
               planes[i].offset, planes[i].area);
    printf("\n");
}

int main(void) {
    const ast_camera camera = {525, 525, 319.5, 239.5};
    live l = {0};
    double pose[12];
    float *metres = malloc(PIXELS * sizeof *metres);
    int good = metres && live_open(&l, &camera);
    for (int t = 0; t < 90 && good; t++) {
        simulate(t, &camera, metres, pose);
        double started = now();
        good = live_step_floats(&l, metres, t == 40 ? NULL : pose) == AST_OK;
        if (good && t % 15 == 0)
            print_planes(&l, t, 1e3 * (now() - started));
    }
    if (!good)
        fprintf(stderr, "%s\n", l.context ? ast_message(l.context) : "there is no memory");
    live_close(&l);
    free(metres);
    return !good;
}
