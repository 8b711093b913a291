/* SPDX-License-Identifier: MIT
 *
 * The planes of the ray-cast hallway against truth, which is exact for every pixel: with poses every true plane of
 * which half a square metre is in view is found, with the right normal and offset, has one id through the walk, and
 * shares it with no other. */
#include "asterism_depth.h"
#include "reference/cases.h"
#include "reference/hallway.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 40 / REF_SLOWER + 4, SLOW = 600, WIDTH = 640, HEIGHT = 480, PIXELS = WIDTH * HEIGHT, MOST = 64 };

#define LEAST_AREA 0.5  /* square metres in view */
#define LEAST_FOUND 0.4 /* of that: what is found of it */
#define MOST_ANGLE 3.0  /* degrees */
#define MOST_OFFSET 0.03
#define COLUMN                                                                                                         \
    0.4 /* square metres: a round column whose front is within 4 cm of a plane may count as a piece of it              \
         */

/* A plane of the scene, and what was found of it. */
typedef struct truth {
    int direction; /* +x -x +y -y +z -z */
    double offset;
    double area; /* in view, of this frame */
    size_t found;
    int32_t id;
} truth;

typedef struct walk {
    ast_hallway hallway;
    truth planes[MOST];
    size_t count;
    int32_t of[PIXELS]; /* true plane of each measured pixel, -1 for none */
    uint16_t depth[PIXELS];
    float normals[3 * PIXELS];
    int32_t labels[PIXELS], plane_of[PIXELS];
    ast_depth_frame *converted;
} walk;

static walk w;
static uint64_t noise_seed = 1;

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
        assert_true(i < 256);
        if (i == known) {
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

/* Compares a true plane of which enough is in view with what was found of it. */
static void check_plane(truth *t, size_t plane, size_t index, const ast_plane_info *planes, size_t count) {
    double share;
    int32_t id = id_of((int32_t)plane, &share);
    const ast_plane_info *found = share < 0.5 ? NULL : plane_with(planes, count, id);
    if (!found)
        fail_msg("frame %zu: the plane of direction %d at %g, %g square metres of it in view, is not found", index,
                 t->direction, t->offset, t->area);
    double cosine = found->normal[t->direction / 2] * (t->direction % 2 ? -1 : 1);
    double angle = acos(fmin(1, cosine)) * 57.29577951, away = fabs(found->offset - t->offset);
    if (angle > MOST_ANGLE || away > MOST_OFFSET || found->area > 1.15 * t->area + COLUMN ||
        found->area < LEAST_FOUND * t->area)
        fail_msg("frame %zu: the plane of direction %d at %g has an error of %g degrees and %g m, and %g square metres "
                 "instead of %g",
                 index, t->direction, t->offset, angle, away, found->area, t->area);
    if (t->id >= 0 && t->id != id)
        fail_msg("frame %zu: the plane of direction %d at %g is %d, and was %d", index, t->direction, t->offset, id,
                 t->id);
    t->id = id;
    t->found++;
}

static void open_bent_walk(size_t frames, ast_smooth smooth, double bend, ast_depth **depth, ast_plane_map **map) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_depth_options options;
    ast_plane_options plane_options;
    ast_hallway_init(&w.hallway);
    w.hallway.frames = frames;
    w.hallway.seed = noise_seed;
    w.count = 0;
    ast_depth_options_init(&options);
    options.camera = w.hallway.camera;
    options.smooth = smooth;
    options.distortion[0] = bend;
    options.planes = 1;
    ast_plane_options_init(&plane_options);
    assert_int_equal(ast_depth_open(depth, context, &options), AST_OK);
    assert_int_equal(ast_depth_frame_open(&w.converted, context), AST_OK);
    assert_int_equal(ast_plane_map_open(map, context, &plane_options), AST_OK);
}

static void open_walk(size_t frames, ast_smooth smooth, ast_depth **depth, ast_plane_map **map) {
    open_bent_walk(frames, smooth, 0, depth, map);
}

static const ast_plane_info *take(ast_depth *depth, ast_plane_map *map, size_t index, bool posed, size_t *count) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_hallway_frame frame;
    ast_depth_image image = {sizeof image, w.depth, WIDTH, HEIGHT, WIDTH * 2};
    double pose[12];
    assert_int_equal(ast_hallway_render(context, &w.hallway, index, w.depth, w.labels, &frame), AST_OK);
    see(index, &frame);
    matrix_of(&frame, pose);
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, w.normals, w.converted), AST_OK);
    assert_int_equal(ast_plane_map_frame(map, w.converted, w.labels, posed ? pose : NULL, w.plane_of), AST_OK);
    return ast_plane_list(map, count);
}

static void follow_the_walk(ast_smooth smooth, size_t frames) {
    ast_depth *depth;
    ast_plane_map *map;
    open_walk(frames, smooth, &depth, &map);
    for (size_t index = 0; index < frames; index++) {
        size_t count;
        const ast_plane_info *planes = take(depth, map, index, true, &count);
        for (size_t i = 0; i < w.count; i++)
            if (w.planes[i].area >= LEAST_AREA)
                check_plane(&w.planes[i], i, index, planes, count);
    }
    for (size_t i = 0; i < w.count; i++) /* no two planes share an id */
        for (size_t k = 0; k < i; k++)
            assert_true(w.planes[i].id < 0 || w.planes[i].id != w.planes[k].id);
    ast_plane_map_close(map);
    ast_depth_frame_close(w.converted);
    ast_depth_close(depth);
}

static void every_plane_has_one_id(void **state) {
    size_t seen = 0;
    (void)state;
    follow_the_walk(AST_SMOOTH_PLANES, FRAMES);
    for (size_t i = 0; i < w.count; i++)
        seen += w.planes[i].found > 0;
    assert_true(seen >= 12);
}

/* Walks at other speeds, with other noise. */
static void on_other_walks(void **state) {
    static const size_t lengths[] = {33, 44, 57, 60, 75, 91, 120, 137, 200, 253, 300, 400};
    static const size_t others[] = {51, 83, 111, 163, 227, 333, 69, 147, 275, 39}; /* on which no rule was found */
    (void)state;
    if (!ref_long()) {
        print_message("AST_TEST_LONG=1 would walk 28 more times\n");
        return;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        follow_the_walk(AST_SMOOTH_PLANES, lengths[i]);
    for (noise_seed = 2; noise_seed < 8; noise_seed++)
        follow_the_walk(AST_SMOOTH_PLANES, 97);
    for (noise_seed = 11; noise_seed < 21; noise_seed++)
        follow_the_walk(AST_SMOOTH_PLANES, others[noise_seed - 11]);
    noise_seed = 1;
}

/* A table of 1.5 x 1.2 m before a wall, the camera at this height above it. */
static void render_table(double height) {
    const ast_camera *camera = &w.hallway.camera;
    for (size_t k = 0; k < PIXELS; k++) {
        double x = ((double)(k % WIDTH) - camera->cx) / camera->fx, y = ((double)(k / WIDTH) - camera->cy) / camera->fy;
        double z = y > 0 ? height / y : 5;
        bool table = z > 1.4 && z < 2.6 && fabs(x * z) < 0.75;
        w.depth[k] = (uint16_t)(1000 * (table ? z : 5) + 0.5);
    }
}

/* Once it is known, a plane has the right area and outline even if it is seen nearly edge-on. */
static void a_table_from_the_edge(void **state) {
    static const double heights[] = {0.4, 0.2, 0.1, 0.06, 0.04, 0.03, 0.02};
    ast_depth *depth;
    ast_plane_map *map;
    (void)state;
    open_walk(4, AST_SMOOTH_PLANES, &depth, &map);
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        double pose[12] = {1, 0, 0, 0, 0, 1, 0, 0.3 - heights[i], 0, 0, 1, 0};
        ast_depth_image image = {sizeof image, w.depth, WIDTH, HEIGHT, WIDTH * 2};
        const ast_plane_info *table = NULL;
        size_t count;
        render_table(heights[i]);
        assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, w.normals, w.converted), AST_OK);
        assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, pose, w.plane_of), AST_OK);
        const ast_plane_info *planes = ast_plane_list(map, &count);
        for (size_t k = 0; k < count; k++)
            table = planes[k].normal[1] < -0.99 ? &planes[k] : table;
        if (!table)
            fail_msg("from %g m above the table is not found", heights[i]);
        if (!(table->area > 1.35 && table->area < 2.05))
            fail_msg("from %g m above the table has %g square metres", heights[i], table->area);
        for (size_t v = 0; v < table->ends[table->polygons - 1]; v++)
            if (!(table->vertices[3 * v + 2] < 3.2))
                fail_msg("from %g m above the table reaches to %g m", heights[i], table->vertices[3 * v + 2]);
    }
    ast_plane_map_close(map);
    ast_depth_frame_close(w.converted);
    ast_depth_close(depth);
}

/* Where normals are other ones, the planes are cut beside them. */
static void with_guided_normals(void **state) {
    (void)state;
    follow_the_walk(AST_SMOOTH_GUIDED, FRAMES / 5);
}

/* Without poses: the large planes keep their ids from frame to frame while they are in view. */
static void without_poses(void **state) {
    ast_depth *depth;
    ast_plane_map *map;
    size_t kept = 0, all = 0;
    (void)state;
#if defined(REF_TSAN)
    return; /* the other tests have the threads */
#endif
    open_walk(SLOW, AST_SMOOTH_PLANES, &depth, &map);
    for (size_t index = SLOW / 3; index < SLOW / 3 + 20; index++) {
        size_t count;
        take(depth, map, index, false, &count);
        for (size_t i = 0; i < w.count; i++) {
            double share;
            int32_t id = id_of((int32_t)i, &share);
            truth *t = &w.planes[i];
            if (t->area < 2 || share < 0.5)
                continue;
            all += t->id >= 0;
            kept += t->id >= 0 && t->id == id;
            t->id = id;
        }
    }
    if (!(all > 50 && kept >= all * 95 / 100))
        fail_msg("%zu of %zu planes kept their id", kept, all);
    ast_plane_map_close(map);
    ast_depth_frame_close(w.converted);
    ast_depth_close(depth);
}

/* The same planes on any number of threads and with any instruction set. */
static void the_same_on_any_machine(void **state) {
    static const char *const sets[] = {"base", REF_FAST};
    uint64_t expected = 0;
    (void)state;
    ast_hallway_init(&w.hallway);
    for (int s = 0; s < 2 && ref_has(sets[s]); s++)
        for (int threads = 1; threads <= 3; threads++) {
            ast_context *context = ref_context(sets[s], threads);
            ast_depth *depth;
            ast_plane_map *map;
            ast_depth_options options;
            ast_plane_options how;
            ast_depth_image image = {sizeof image, w.depth, WIDTH, HEIGHT, WIDTH * 2};
            size_t count;
            uint64_t hash = 0, bits;
            ast_depth_options_init(&options);
            options.camera = w.hallway.camera;
            options.smooth = AST_SMOOTH_PLANES;
            options.planes = 1;
            ast_plane_options_init(&how);
            assert_int_equal(ast_depth_open(&depth, context, &options), AST_OK);
            assert_int_equal(ast_depth_frame_open(&w.converted, context), AST_OK);
            assert_int_equal(ast_plane_map_open(&map, context, &how), AST_OK);
            for (size_t step = 0; step < 4; step++) {
                static const size_t steps[] = {67, 71, 75, 76}; /* of the walk; a face becomes very narrow */
                size_t index = steps[step];
                ast_hallway_frame at;
                double pose[12];
                assert_int_equal(ast_hallway_render(context, &w.hallway, index, w.depth, w.labels, &at), AST_OK);
                matrix_of(&at, pose);
                assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, w.normals, w.converted), AST_OK);
                assert_int_equal(ast_plane_map_frame(map, w.converted, w.labels, pose, w.plane_of), AST_OK);
                const ast_plane_info *planes = ast_plane_list(map, &count);
                for (size_t k = 0; k < PIXELS; k += 7)
                    hash = ast_mix64(hash ^ (uint64_t)(uint32_t)w.plane_of[k]);
                for (size_t i = 0; i < count; i++) {
                    double sum = planes[i].offset + planes[i].area + planes[i].rms + planes[i].vertices[0];
                    memcpy(&bits, &sum, sizeof bits);
                    hash = ast_mix64(hash ^ bits);
                }
            }
            expected = expected ? expected : hash;
            assert_true(hash == expected);
            ast_plane_map_close(map);
            ast_depth_frame_close(w.converted);
            ast_depth_close(depth);
        }
}

/* A frame keeps its planes while the converter goes on with other images, of any size, and after it is closed. */
static void planes_are_those_of_their_frame(void **state) {
    static int32_t expected[PIXELS];
    ast_context *context = ref_context(REF_FAST, 2);
    ast_depth *depth;
    ast_depth_frame *other;
    ast_plane_map *map, *again;
    ast_plane_options how;
    size_t count, found;
    (void)state;
    ast_plane_options_init(&how);
    for (int bent = 0; bent < 2; bent++) {
        ast_depth_image small = {sizeof small, w.depth, WIDTH / 2, HEIGHT / 2, WIDTH * 2};
        open_bent_walk(4, AST_SMOOTH_PLANES, bent ? 0.1 : 0, &depth, &map);
        assert_int_equal(ast_depth_frame_open(&other, context), AST_OK);
        assert_int_equal(ast_plane_map_open(&again, context, &how), AST_OK);
        double area = take(depth, map, 0, false, &count)->area;
        memcpy(expected, w.plane_of, sizeof expected);
        memset(w.depth, 0, sizeof w.depth);
        assert_int_equal(ast_depth_compute(depth, &small, NULL, NULL, w.normals, other), AST_OK);
        assert_int_equal(ast_depth_compute(depth, &small, NULL, NULL, w.normals, NULL), AST_OK);
        ast_depth_close(depth);
        assert_int_equal(ast_plane_map_frame(again, w.converted, w.labels, NULL, w.plane_of), AST_OK);
        assert_memory_equal(w.plane_of, expected, sizeof expected);
        assert_true(ast_plane_list(again, &found)->area == area && found == count);
        ast_plane_map_close(again);
        ast_plane_map_close(map);
        ast_depth_frame_close(other);
        ast_depth_frame_close(w.converted);
    }
}

static void bad_calls(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_depth *depth;
    ast_plane_map *map;
    double pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    size_t count;
    (void)state;
    open_walk(4, AST_SMOOTH_PLANES, &depth, &map);
    assert_int_equal(ast_plane_map_frame(map, NULL, NULL, NULL, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, NULL, NULL), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "options.planes"));
    take(depth, map, 0, false, &count);
    assert_true(count > 0);
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, pose, NULL), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "all frames with poses, or none"));
    for (int c = 0; c < 3; c++)
        pose[5 * c] = 2;
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, pose, NULL), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "no rotation"));
    pose[3] = NAN;
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, pose, NULL), AST_BAD_DATA);
    memset(w.depth, 0, sizeof w.depth); /* nothing was measured */
    ast_depth_image image = {sizeof image, w.depth, WIDTH, HEIGHT, WIDTH * 2};
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, w.normals, w.converted), AST_OK);
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, NULL, w.plane_of), AST_OK);
    ast_plane_list(map, &count);
    assert_int_equal(count, 0);
    assert_int_equal(w.plane_of[PIXELS / 2], -1);
    image = (ast_depth_image){sizeof image, w.depth, WIDTH / 2, HEIGHT / 2, WIDTH};
    assert_int_equal(ast_depth_compute(depth, &image, w.normals, NULL, NULL, w.converted),
                     AST_OK); /* metres only, another size */
    assert_int_equal(ast_plane_map_frame(map, w.converted, NULL, NULL, w.plane_of), AST_BAD_OPTION);
    ast_plane_map_close(map);
    ast_depth_frame_close(w.converted);
    ast_depth_close(depth);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plane_has_one_id),
        cmocka_unit_test(on_other_walks),
        cmocka_unit_test(a_table_from_the_edge),
        cmocka_unit_test(with_guided_normals),
        cmocka_unit_test(without_poses),
        cmocka_unit_test(the_same_on_any_machine),
        cmocka_unit_test(planes_are_those_of_their_frame),
        cmocka_unit_test(bad_calls),
    };
    return cmocka_run_group_tests_name("hallway_planes", tests, NULL, ref_contexts_end);
}
