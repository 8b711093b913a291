/* SPDX-License-Identifier: MIT
 *
 * The planes of the ray-cast hallway against truth, which is exact for every pixel: with poses every true plane of which
 * half a square metre is in view is found, with the right normal and offset, has one id through the walk, and shares it
 * with no other. */
#include "asterism_depth.h"
#include "reference/hallway.h"
#include "reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60, DIVISOR = 1, WIDTH = 640 / DIVISOR, HEIGHT = 480 / DIVISOR, PIXELS = WIDTH * HEIGHT, MOST = 64 };

#define LEAST_AREA 0.5  /* square metres in view */
#define MOST_ANGLE 3.0  /* degrees */
#define MOST_OFFSET 0.03

/* A plane of the scene, and what was found of it. */
typedef struct truth {
    int direction; /* +x -x +y -y +z -z */
    double offset;
    double area; /* in view, of this frame */
    size_t frames, found;
    int32_t id;
    double worst_angle, worst_offset;
} truth;

typedef struct walk {
    ast_hallway hallway;
    truth planes[MOST];
    size_t count;
    int32_t of[PIXELS]; /* true plane of each measured pixel, -1 for none */
    uint16_t depth[PIXELS];
    float normals[3 * PIXELS];
    int32_t labels[PIXELS], plane_of[PIXELS];
} walk;

static walk w;

static size_t plane_at(int direction, double offset) {
    for (size_t i = 0; i < w.count; i++)
        if (w.planes[i].direction == direction && fabs(w.planes[i].offset - offset) < 1e-6)
            return i;
    assert_true(w.count < MOST);
    w.planes[w.count] = (truth){.direction = direction, .offset = offset, .id = -1};
    return w.count++;
}

/* Which plane each pixel with depth shows, and how much of it is in view. */
static void see(size_t index, ast_hallway_frame *frame) {
    ast_hit *hits = ref_hallway_hits(&w.hallway, index, frame);
    const ast_camera *camera = &w.hallway.camera;
    for (size_t i = 0; i < w.count; i++)
        w.planes[i].area = 0;
    for (size_t k = 0; k < PIXELS; k++) {
        double p[3], z = hits[k].depth;
        int direction = hits[k].direction, axis = direction / 2;
        w.of[k] = -1;
        if (w.depth[k] == 0 || direction < 0)
            continue;
        ref_hallway_point(&w.hallway, frame, k % WIDTH, k / WIDTH, z, p);
        double offset = direction % 2 ? -p[axis] : p[axis];
        double away = fabs(offset - (direction % 2 ? -1 : 1) * frame->position[axis]);
        size_t plane = plane_at(direction, round(offset * 1000) / 1000);
        w.of[k] = (int32_t)plane;
        w.planes[plane].area += z * z * z / (camera->fx * camera->fy * away);
    }
    free(hits);
}

/* The matrix of a quaternion and a position. */
static void matrix_of(const ast_hallway_frame *frame, double *pose) {
    for (int c = 0; c < 3; c++) {
        double axis[3] = {c == 0, c == 1, c == 2}, turned[3];
        ref_hallway_turn(frame->rotation, axis, turned);
        for (int r = 0; r < 3; r++)
            pose[4 * r + c] = turned[r];
        pose[4 * c + 3] = frame->position[c];
    }
}

/* The id that most pixels of a true plane have, -1 for none. */
static int32_t id_of(int32_t plane, double *share) {
    int32_t ids[256];
    size_t counts[256], known = 0, all = 0, best = 0;
    for (size_t k = 0; k < PIXELS; k++) {
        size_t i = 0;
        if (w.of[k] != plane)
            continue;
        all++;
        while (i < known && ids[i] != w.plane_of[k])
            i++;
        if (i == known && known < 256) {
            ids[known] = w.plane_of[k];
            counts[known++] = 0;
        }
        counts[i]++;
    }
    for (size_t i = 1; i < known; i++)
        best = ids[best] < 0 || (ids[i] >= 0 && counts[i] > counts[best]) ? i : best;
    *share = known ? (double)counts[best] / (double)all : 0;
    return known ? ids[best] : -1;
}

static const ast_plane_info *plane_with(const ast_plane_info *planes, size_t count, int32_t id) {
    for (size_t i = 0; i < count; i++)
        if (planes[i].id == id)
            return &planes[i];
    return NULL;
}

static void check_plane(truth *t, const ast_plane_info *found, size_t index, double share) {
    double cosine = found->normal[t->direction / 2] * (t->direction % 2 ? -1 : 1);
    double angle = acos(fmin(1, cosine)) * 57.29577951, away = fabs(found->offset - t->offset);
    t->worst_angle = fmax(t->worst_angle, angle);
    t->worst_offset = fmax(t->worst_offset, away);
    if (getenv("SHOW"))
        printf("frame %zu plane %d %+.2f: id %d (was %d), %.2f m2 (true %.2f), share %.2f, %.2f degrees, %.3f m\n", index,
               t->direction, t->offset, found->id, t->id, found->area, t->area, share, angle, away);
}

static void follow_the_walk(ast_smooth smooth) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_depth *depth;
    ast_depth_options options;
    ast_plane_map *map;
    ast_plane_options plane_options;
    ast_hallway_init(&w.hallway);
    w.hallway.frames = FRAMES;
    w.count = 0;
    ast_depth_options_init(&options);
    options.camera = w.hallway.camera;
    options.smooth = smooth;
    options.planes = 1;
    ast_plane_options_init(&plane_options);
    assert_int_equal(ast_depth_open(&depth, context, &options), AST_OK);
    assert_int_equal(ast_plane_map_open(&map, context, &plane_options), AST_OK);
    for (size_t index = 0; index < FRAMES; index++) {
        ast_hallway_frame frame;
        ast_depth_image image = {sizeof image, w.depth, WIDTH, HEIGHT, WIDTH * 2};
        double pose[12], share;
        size_t count;
        assert_int_equal(ast_hallway_render(context, &w.hallway, index, w.depth, w.labels, &frame), AST_OK);
        see(index, &frame);
        matrix_of(&frame, pose);
        assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, w.normals), AST_OK);
        assert_int_equal(ast_plane_map_frame(map, depth, w.labels, pose, w.plane_of), AST_OK);
        const ast_plane_info *planes = ast_plane_list(map, &count);
        for (size_t i = 0; i < w.count; i++) {
            truth *t = &w.planes[i];
            int32_t id = id_of((int32_t)i, &share);
            const ast_plane_info *found = share < 0.5 ? NULL : plane_with(planes, count, id);
            if (t->area < LEAST_AREA)
                continue;
            t->frames++;
            if (!found) {
                if (getenv("SHOW")) printf("frame %zu plane %d %+.2f: NOT FOUND, %.2f m2\n", index, t->direction, t->offset, t->area);
                continue;
            }
            t->found++;
            check_plane(t, found, index, share);
            if (t->id >= 0 && t->id != id && getenv("SHOW")) printf("   CHANGED\n");
            t->id = id;
        }
    }
    if (getenv("SHOW")) {
    for (size_t i = 0; i < w.count; i++)
        if (w.planes[i].frames)
            printf("direction %d offset %+.2f: %zu of %zu frames, id %d, worst %.2f degrees, %.3f m\n", w.planes[i].direction,
                   w.planes[i].offset, w.planes[i].found, w.planes[i].frames, w.planes[i].id, w.planes[i].worst_angle,
                   w.planes[i].worst_offset);
                   }
    ast_plane_map_close(map);
    ast_depth_close(depth);
}

static void every_plane_has_one_id(void **state) {
    (void)state;
    follow_the_walk(AST_SMOOTH_PLANES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_plane_has_one_id)};
    return cmocka_run_group_tests_name("hallway_planes", tests, NULL, ref_contexts_end);
}
