/* SPDX-License-Identifier: MIT
 *
 * Pixels of planes that no patch shows against a slow reference, exactly, after each frame of random sequences: walks
 * through the ray-cast hallway in small images, at any speed, with jumps, with poses that are a little wrong, with a
 * short range or a lens, with holes, with things that hide planes or stand before them, with planes that turn around,
 * and in a mirrored world. On any number of threads and with any instruction set. */
#include "frame_planes.h"
#include "random.h"
#include "reference/harness.h"
#include "reference/recall.h"

#include "private/asterism_hallway.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 164, HEIGHT = 124, FRAMES = 8, MOST_PIXELS = WIDTH * HEIGHT };

/* A sequence: the walk, and what is wrong with it. */
typedef struct sequence {
    ast_random random;
    ast_hallway hallway;
    size_t index;          /* of the frame in the walk */
    double turn, move;     /* errors of poses: radians, metres */
    double holes;          /* share of the pixels */
    double farthest, bend; /* of the camera: metres, k1 of its lens */
    bool jumps, things, mirrored, poses;
} sequence;

/* What the library keeps over a sequence. */
typedef struct memory {
    ast_frame_work work;
    ast_plane_tracks tracks;
    ast_plane_table table;
} memory;

static ref_recall_counts counts;

/* ---- Sequences --------------------------------------------------------------------------------------------------- */

static void make_sequence(sequence *q, uint64_t seed) {
    static const double turns[] = {0, 0, 0.002, 0.01}, moves[] = {0, 0, 0.01, 0.05}, holes[] = {0, 0, 0.2, 0.5};
    static const size_t lengths[] = {30, 90, 300, 1000};
    ast_random *r = &q->random;
    *q = (sequence){0};
    ast_random_seed(r, seed, 47);
    ast_hallway_init(&q->hallway);
    q->hallway.width = WIDTH - 8 * ast_random_below(r, 2);
    q->hallway.width -= ast_random_below(r, 4);
    q->hallway.height = HEIGHT - ast_random_below(r, 8);
    q->hallway.camera = (ast_camera){.fx = 130, .fy = 130, .cx = 81.5, .cy = 61.5};
    q->hallway.frames = lengths[ast_random_below(r, 4)];
    q->hallway.noise = ast_random_below(r, 5) > 0;
    q->hallway.seed = seed;
    q->index = (size_t)ast_random_below(r, q->hallway.frames);
    q->turn = turns[ast_random_below(r, 4)];
    q->move = moves[ast_random_below(r, 4)];
    q->holes = holes[ast_random_below(r, 4)];
    q->farthest = ast_random_below(r, 4) ? INFINITY : 2 + 3 * ast_random_uniform(r);
    q->bend = ast_random_below(r, 8) ? 0 : 0.1;
    q->jumps = ast_random_below(r, 4) == 0;
    q->things = ast_random_below(r, 2);
    q->mirrored = ast_random_below(r, 5) == 0;
    q->poses = ast_random_below(r, 10) > 0;
}

/* A box before the scene, or a part of it that is a little nearer than its planes. */
static void add_thing(sequence *q, uint16_t *depth) {
    size_t width = q->hallway.width, u = (size_t)ast_random_below(&q->random, width);
    size_t v = (size_t)ast_random_below(&q->random, q->hallway.height);
    size_t wide = 2 + (size_t)ast_random_below(&q->random, 40), high = 2 + (size_t)ast_random_below(&q->random, 60);
    bool near = ast_random_below(&q->random, 2);
    uint16_t nearer = (uint16_t)(10 + ast_random_below(&q->random, 100));
    for (size_t y = v; y < v + high && y < q->hallway.height; y++)
        for (size_t x = u; x < u + wide && x < width; x++) {
            uint16_t *at = &depth[y * width + x];
            if (*at > 1000)
                *at = (uint16_t)(near ? 900 + 7 * (x - u) : (size_t)(*at - nearer));
        }
}

static void spoil(sequence *q, uint16_t *depth) {
    for (size_t i = ast_random_below(&q->random, 4); q->things && i > 0; i--)
        add_thing(q, depth);
    for (size_t k = 0; q->holes > 0 && k < q->hallway.width * q->hallway.height; k++)
        if (ast_random_uniform(&q->random) < q->holes)
            depth[k] = 0;
}

/* The pose of the frame, with its error; turns are about the axis z of the world. */
static ast_pose pose_of(sequence *q, const ast_hallway_frame *frame) {
    ast_pose pose = {.known = q->poses, .mirror = q->mirrored && q->poses};
    const double *o = frame->rotation;
    double x = o[0], y = o[1], z = o[2], w = o[3], turn = q->turn * ast_random_normal(&q->random);
    double given[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                          {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                          {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int c = 0; c < 3; c++) {
        pose.matrix[c] = given[0][c] * cos(turn) - given[1][c] * sin(turn);
        pose.matrix[4 + c] = given[0][c] * sin(turn) + given[1][c] * cos(turn);
        pose.matrix[8 + c] = given[2][c];
    }
    for (int r = 0; r < 3; r++) {
        pose.matrix[4 * r + 3] = frame->position[r] + q->move * ast_random_normal(&q->random);
        for (int c = 0; c < 4 && r == 0 && pose.mirror; c++)
            pose.matrix[c] = -pose.matrix[c];
        for (int c = 0; c < 4 && !q->poses; c++)
            pose.matrix[4 * r + c] = r == c;
    }
    return pose;
}

/* A plane is there no more, and another one faces away from where it was, as the back of a board does. */
static void turn_over(sequence *q, ast_plane_tracks *tracks) {
    ast_plane_track *t = &tracks->list[ast_random_below(&q->random, tracks->count)];
    for (int c = 0; c < 3; c++)
        t->plane.normal[c] = -t->plane.normal[c];
    t->plane.offset = -t->plane.offset;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static ast_depth *open_depth(ast_context *context, const sequence *q) {
    ast_depth *depth;
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = q->hallway.camera;
    options.distortion[0] = q->bend;
    if (q->farthest < options.farthest)
        options.farthest = q->farthest;
    options.smooth = AST_SMOOTH_PLANES;
    options.planes = 1;
    assert_int_equal(ast_depth_open(&depth, context, &options), AST_OK);
    return depth;
}

static void compare(const memory *m, const ast_depth_frame *converted, const ast_pose *pose, uint64_t seed, int frame) {
    int32_t *expected = ref_take(converted->width * converted->height, sizeof *expected);
    ref_recall(&m->work, &m->tracks, converted, pose, expected, &counts);
    for (size_t k = 0; k < converted->width * converted->height; k++)
        if (m->work.leader[k] != expected[k])
            fail_msg("AST_TEST_SEED=%llu, frame %d, pixel %zu %zu: %d instead of %d", (unsigned long long)seed, frame,
                     k % converted->width, k / converted->width, m->work.leader[k], expected[k]);
    free(expected);
}

static void check(uint64_t seed, ref_size size, size_t ways) {
    static const char *const sets[] = {"base", REF_FAST};
    static uint16_t values[MOST_PIXELS];
    static float normals[3 * MOST_PIXELS];
    static int32_t truth[MOST_PIXELS], ids[MOST_PIXELS];
    ast_context *context = ref_context(sets[seed % 2 && ref_has(REF_FAST)], 1 + (int)(seed % 3));
    sequence q;
    memory m = {0};
    (void)size;
    (void)ways;
    make_sequence(&q, seed);
    ast_depth *depth = open_depth(context, &q);
    ast_depth_frame *converted;
    assert_int_equal(ast_depth_frame_open(&converted, context), AST_OK);
    m.work.pool = depth->pool;
    m.work.kernels = depth->kernels;
    m.tracks.has_poses = q.poses;
    m.tracks.offset = 0.1;
    m.tracks.area = 0.05;
    m.tracks.depth_noise = depth->options.filter_epsilon;
    m.tracks.kernels = ast_cloud_kernels_choose("base");
    for (int frame = 0; frame < FRAMES; frame++) {
        ast_depth_image image = {sizeof image, values, q.hallway.width, q.hallway.height,
                                 (ptrdiff_t)q.hallway.width * 2};
        ast_hallway_frame at;
        assert_int_equal(ast_hallway_render(context, &q.hallway, q.index, values, truth, &at), AST_OK);
        spoil(&q, values);
        ast_pose pose = pose_of(&q, &at);
        assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, converted), AST_OK);
        assert_true(ast_planes_of_frame(&m.work, &m.tracks, converted, truth, &pose, &m.table, ids));
        compare(&m, converted, &pose, seed, frame);
        if (m.tracks.count > 0 && ast_random_below(&q.random, 4) == 0)
            turn_over(&q, &m.tracks);
        q.index = q.jumps ? (size_t)ast_random_below(&q.random, q.hallway.frames) : (q.index + 1) % q.hallway.frames;
    }
    ast_frame_work_free(&m.work);
    ast_plane_tracks_free(&m.tracks);
    ast_plane_table_free(&m.table);
    ast_depth_frame_close(converted);
    ast_depth_close(depth);
}

static void pixels_are_those_of_the_reference(void **state) {
    size_t cases = ref_case_count(200);
    (void)state;
    ref_check_seeds(check, REF_SMALL, 200, 1);
    print_message(
        "%zu pixels of planes that no patch shows, %zu of them from patches; %zu cells not filled, %zu pixels "
        "alone, %zu of planes with too few\n",
        counts.pixels, counts.taken, counts.unfilled, counts.single, counts.lost);
    if (!ref_case_only() && cases >= 100) /* these cases are not about nothing */
        assert_true(counts.pixels > 100 * cases && counts.taken > 10 * cases && counts.unfilled > 10 * cases &&
                    counts.single > cases && counts.lost > cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pixels_are_those_of_the_reference)};
    return cmocka_run_group_tests_name("recall_reference", tests, NULL, ref_contexts_end);
}
