/* SPDX-License-Identifier: MIT
 *
 * The rotation of a camera and the axes of a building, from simulated walks: against the truth and against the plain
 * fit of section 10 to the points of each direction, which are known here; what one direction leaves open, jumps, empty
 * frames; the same bits with any number of threads and after a state was loaded. */
#include "degree.h"
#include "landmarks.h"
#include "reference/harness.h"
#include "rotation.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 6000, MOST_WALLS = 6 };

/* Directions of the world, and what share of a frame each has. */
typedef struct world {
    size_t count;
    double directions[MOST_WALLS][3], shares[MOST_WALLS];
    double noise; /* degrees */
    double clutter;
} world;

static const world room = {
    5, {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}, {-1, 0, 0}, {0, 1, 0}}, {.3, .2, .2, .1, .05}, 3, .15};

static ast_stream *open_stream(int threads, ast_context **context) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = 60;
    ast_stream *stream = NULL;
    assert_int_equal(ast_open(context, threads), AST_OK);
    assert_int_equal(ast_stream_open(&stream, *context, &options), AST_OK);
    return stream;
}

static void close_stream(ast_stream *stream, ast_context *context) {
    ast_stream_close(stream);
    ast_close(context);
}

/* The camera (to the world) of frame t: it sways, `speed` degrees a frame at most. */
static void camera_at(double t, double speed, double *rotation) {
    double v[3] = {0.3 * sin(t / 17), sin(t / 23), 0.2 * sin(t / 11)};
    for (int d = 0; d < 3; d++)
        v[d] *= 15 * speed * AST_DEGREE;
    ast_rotation_of_vector(v, rotation);
}

static void back(const double *rotation, double *transposed) {
    for (int i = 0; i < 9; i++)
        transposed[i] = rotation[3 * (i % 3) + i / 3];
}

static double degrees_between(const double *a, const double *b) {
    double t[9], off[9], v[3];
    back(a, t);
    ast_rotation_product(t, b, off);
    ast_vector_of_rotation(off, v);
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / AST_DEGREE;
}

/* A frame; of[i]: the direction of point i, -1 for clutter. */
static void see(const world *w, const double *camera, ast_random *random, float *x, int *of) {
    for (size_t i = 0; i < POINTS; i++) {
        double u = ast_random_uniform(random), from[3], to[3], shake[3], t[9];
        of[i] = -1;
        for (size_t k = 0; k < w->count && of[i] < 0; k++) {
            of[i] = u < w->shares[k] ? (int)k : -1;
            u -= w->shares[k];
        }
        ref_random_direction(random, from, 3);
        if (of[i] >= 0)
            memcpy(from, w->directions[of[i]], sizeof from);
        else if (u >= w->clutter) /* what is left over lies on nothing */
            from[0] = NAN;
        back(camera, t);
        for (int r = 0; r < 3; r++)
            to[r] = t[3 * r] * from[0] + t[3 * r + 1] * from[1] + t[3 * r + 2] * from[2];
        ref_random_direction(random, shake, 3);
        double size = of[i] < 0 ? 0 : w->noise * AST_DEGREE * sqrt(-2 * log(1 - ast_random_uniform(random)));
        for (int d = 0; d < 3; d++)
            x[3 * i + (size_t)d] = (float)(to[d] + size * shake[d]);
    }
}

static int feed(ast_stream *stream, const float *x, size_t count, double *rotation, double *covariance) {
    static int32_t labels[POINTS];
    int rank = -1;
    ast_points points = ast_points_f4(x, count, 3);
    ast_frame frame = {.size = sizeof frame};
    assert_int_equal(ast_stream_step(stream, &points, labels, &frame), AST_OK);
    assert_int_equal(ast_stream_rotation(stream, rotation, covariance, &rank), AST_OK);
    return rank;
}

/* From the means of the points of each direction, whose labels are known, to the directions of the world. */
static void plain_fit(const world *w, const float *x, const int *of, double *rotation) {
    ast_alignment sums = {0};
    for (size_t k = 0; k < w->count; k++) {
        double mean[3] = {0}, length = 0;
        for (size_t i = 0; i < POINTS; i++)
            for (int d = 0; d < 3 && of[i] == (int)k; d++)
                mean[d] += (double)x[3 * i + (size_t)d];
        for (int d = 0; d < 3; d++)
            length += mean[d] * mean[d];
        for (int d = 0; d < 3; d++)
            mean[d] /= sqrt(length);
        ast_alignment_add(&sums, mean, w->directions[k], w->shares[k]);
    }
    assert_true(ast_alignment_solve(&sums, AST_DEGREE, rotation));
}

/* ---- Against the truth ------------------------------------------------------------------------------------------- */

static void a_walk_does_not_drift(void **state) {
    (void)state;
    static float x[3 * POINTS];
    static int of[POINTS];
    for (int run = 0; run < 4; run++) {
        ast_context *context;
        ast_stream *stream = open_stream(2, &context);
        ast_random random;
        ast_random_seed(&random, 11, (uint64_t)run);
        double first[9], camera[9], found[9], relative[9], plain[9], t[9], covariance[9], worst = 0, plainly = 0;
        for (int frame = 0; frame < 120; frame++) {
            camera_at(frame, run < 2 ? 1 : 4, camera);
            see(&room, camera, &random, x, of);
            int rank = feed(stream, x, POINTS, found, covariance);
            assert_int_equal(rank, 3);
            if (frame == 0)
                memcpy(first, camera, sizeof first);
            back(first, t);
            ast_rotation_product(t, camera, relative);
            worst = fmax(worst, degrees_between(relative, found));
            plain_fit(&room, x, of, plain);
            plainly = fmax(plainly, degrees_between(camera, plain));
            for (int d = 0; d < 3; d++)
                assert_true(frame == 0 || (covariance[4 * d] > 0 && sqrt(covariance[4 * d]) < AST_DEGREE));
        }
        print_message("fit to modes: %.2f degrees at most; means of known points: %.2f\n", worst, plainly);
        assert_true(worst < 1);
        close_stream(stream, context);
    }
}

/* One direction fixes two degrees of freedom; the variance about it grows. None fixes none, and nothing moves. */
static void what_is_not_seen_stays_open(void **state) {
    (void)state;
    static float x[3 * POINTS];
    static int of[POINTS];
    const world wall = {1, {{0, 0, -1}}, {.9}, 2, 0}, nothing = {0, {{0}}, {0}, 0, 0};
    ast_context *context;
    ast_stream *stream = open_stream(2, &context);
    ast_random random;
    ast_random_seed(&random, 12, 0);
    double camera[9], found[9], before[9], covariance[9], about = 0;
    for (int frame = 0; frame < 20; frame++) {
        double v[3] = {0.01 * frame, 0, 0}, seen[3], expected[3];
        ast_rotation_of_vector(v, camera);
        see(&wall, camera, &random, x, of);
        assert_int_equal(feed(stream, x, POINTS, found, covariance), 2);
        assert_true(frame == 0 || covariance[8] > about);
        about = covariance[8];
        back(camera, before);
        ast_rotation_apply(before, wall.directions[0], seen);
        ast_rotation_apply(found, seen, expected);
        assert_true(expected[2] < -cos(AST_DEGREE));
        assert_true(covariance[0] < AST_DEGREE * AST_DEGREE);
    }
    memcpy(before, found, sizeof before);
    for (int frame = 0; frame < 5; frame++) {
        see(&nothing, camera, &random, x, of);
        assert_int_equal(feed(stream, x, frame % 2 ? POINTS : 0, found, covariance), 0);
        assert_true(degrees_between(before, found) < 10); /* it turns on as it did, at most */
    }
    close_stream(stream, context);
}

/* A jump of up to 40 degrees is found again: the directions of this scene are not those of a cube. */
static void jumps_are_found(void **state) {
    (void)state;
    static float x[3 * POINTS];
    static int of[POINTS];
    const double s = sqrt(0.5);
    const world odd = {4, {{0, -1, 0}, {0.6, 0, -0.8}, {s, 0, s}, {-0.8, 0.6, 0}}, {.3, .25, .2, .15}, 2, .05};
    for (int run = 0; run < 10; run++) {
        ast_context *context;
        ast_stream *stream = open_stream(2, &context);
        ast_random random;
        ast_random_seed(&random, 13, (uint64_t)run);
        double camera[9], jump[9], jumped[9], found[9], v[3];
        for (int frame = 0; frame < 30; frame++) {
            ref_random_direction(&random, v, 3);
            for (int d = 0; d < 3; d++)
                v[d] *= 40 * AST_DEGREE;
            ast_rotation_of_vector(v, jump);
            camera_at(0, 1, camera);
            if (frame > 10)
                ast_rotation_product(camera, jump, jumped);
            else
                memcpy(jumped, camera, sizeof jumped);
            see(&odd, jumped, &random, x, of);
            assert_int_equal(feed(stream, x, POINTS, found, NULL), 3);
            assert_true(degrees_between(jumped, found) < 1.5); /* the first camera is the world */
        }
        close_stream(stream, context);
    }
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

static ast_world_axes axes_of(ast_stream *stream) {
    ast_world_axes axes = {.size = sizeof axes};
    assert_int_equal(ast_stream_axes(stream, &axes), AST_OK);
    return axes;
}

static void buildings_have_axes(void **state) {
    (void)state;
    static float x[3 * POINTS];
    static int of[POINTS];
    const double s = sqrt(0.5);
    const world bay = {4, {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}, {s, 0, -s}}, {.3, .2, .2, .2}, 3, .05};
    const world crystal = {3, {{0, -1, 0}, {0.8, -0.6, 0}, {0.5, 0.3, -0.81}}, {.3, .3, .3}, 3, .05};
    const world clutter = {0, {{0}}, {0}, 0, 1}, wall = {1, {{0, 0, -1}}, {.8}, 2, .2};
    const struct {
        const world *world;
        ast_axes_kind kind;
        size_t count;
    } scenes[] = {{&room, AST_AXES_MANHATTAN, 3},
                  {&bay, AST_AXES_ATLANTA, 4},
                  {&crystal, AST_AXES_NONE, 0},
                  {&clutter, AST_AXES_NONE, 0},
                  {&wall, AST_AXES_NONE, 0}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        ast_context *context;
        ast_stream *stream = open_stream(2, &context);
        ast_random random;
        ast_world_axes first = {0};
        ast_random_seed(&random, 14, i);
        for (int frame = 0; frame < 20; frame++) {
            double camera[9], found[9], t[9], up[3];
            camera_at(frame, 1, camera);
            see(scenes[i].world, camera, &random, x, of);
            feed(stream, x, POINTS, found, NULL);
            ast_world_axes axes = axes_of(stream);
            assert_int_equal(axes.kind, scenes[i].kind);
            assert_int_equal(axes.count, scenes[i].count);
            if (axes.count == 0)
                continue;
            back(camera, t);
            ast_rotation_apply(t, scenes[i].world->directions[0], up);
            double along =
                up[0] * axes.directions[0][0] + up[1] * axes.directions[0][1] + up[2] * axes.directions[0][2];
            assert_true(fabs(along) > cos(2 * AST_DEGREE));
            assert_true(axes.shares[0] > 0.25 && axes.shares[1] > 0.1);
            for (size_t a = 0; a < axes.count && frame > 0; a++) { /* the same axis, turned by a degree or two */
                double same = 0;
                for (int d = 0; d < 3; d++)
                    same += axes.directions[a][d] * first.directions[a][d];
                assert_true(same > 0.95);
            }
            first = axes;
        }
        close_stream(stream, context);
    }
}

/* ---- The same bits ----------------------------------------------------------------------------------------------- */

static void threads_and_states_change_nothing(void **state) {
    (void)state;
    static float x[3 * POINTS];
    static int of[POINTS];
    ast_context *contexts[4];
    ast_stream *streams[4];
    for (int i = 0; i < 4; i++)
        streams[i] = open_stream(i == 2 ? 3 : i + 1, &contexts[i]);
    ast_random random;
    ast_random_seed(&random, 15, 0);
    for (int frame = 0; frame < 25; frame++) {
        double camera[9], found[4][9], covariance[4][9];
        camera_at(frame, 2, camera);
        see(&room, camera, &random, x, of);
        for (int i = 0; i < 4; i++) {
            size_t size;
            const void *bytes = i == 3 ? ast_stream_save(streams[i], &size) : NULL;
            void *copy = bytes ? malloc(size) : NULL;
            if (copy) {
                memcpy(copy, bytes, size);
                assert_int_equal(ast_stream_reset(streams[i]), AST_OK);
                assert_int_equal(ast_stream_load(streams[i], copy, size), AST_OK);
            }
            free(copy);
            feed(streams[i], x, frame == 7 ? 0 : POINTS, found[i], covariance[i]);
            assert_memory_equal(found[i], found[0], sizeof found[0]);
            assert_memory_equal(covariance[i], covariance[0], sizeof covariance[0]);
            ast_world_axes mine = axes_of(streams[i]), other = axes_of(streams[0]);
            assert_memory_equal(mine.directions, other.directions, sizeof mine.directions);
        }
    }
    for (int i = 0; i < 4; i++)
        close_stream(streams[i], contexts[i]);
}

/* Unit vectors and others, holes and zeros, some rows late. */
static void mix_rows(ast_random *random, float *x, uint8_t *late) {
    for (size_t i = 0; i < POINTS; i++) {
        float *row = x + 3 * i, length = sqrtf(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        size_t kind = ast_random_below(random, 10);
        late[i] = kind == 0;
        for (int d = 0; d < 3; d++)
            row[d] = kind == 1 ? 0 : kind == 2 ? NAN : kind < 8 ? row[d] / length : row[d];
    }
}

/* Adjacent floats, which are read without a call, and floats with gaps. */
static void gaps_between_numbers_change_nothing(void **state) {
    (void)state;
    static float x[3 * POINTS], apart[6 * POINTS];
    static int32_t labels[2][POINTS];
    static uint8_t late[POINTS];
    static int of[POINTS];
    ast_context *contexts[2];
    ast_stream *streams[2] = {open_stream(1, &contexts[0]), open_stream(2, &contexts[1])};
    ast_random random;
    ast_random_seed(&random, 17, 0);
    for (int frame = 0; frame < 15; frame++) {
        double camera[9], found[2][9], covariance[2][9];
        camera_at(frame, 2, camera);
        see(&room, camera, &random, x, of);
        mix_rows(&random, x, late);
        for (size_t i = 0; i < 3 * POINTS; i++)
            apart[2 * i] = x[i];
        ast_points points[2] = {ast_points_f4(x, POINTS, 3), ast_points_f4(apart, POINTS, 3)};
        points[1].row_stride = 6 * sizeof *apart;
        points[1].column_stride = 2 * sizeof *apart;
        for (int i = 0; i < 2; i++) {
            ast_frame report = {.size = sizeof report};
            points[i].late = late;
            assert_int_equal(ast_stream_step(streams[i], &points[i], labels[i], &report), AST_OK);
            assert_int_equal(ast_stream_rotation(streams[i], found[i], covariance[i], NULL), AST_OK);
        }
        assert_memory_equal(found[0], found[1], sizeof found[0]);
        assert_memory_equal(covariance[0], covariance[1], sizeof covariance[0]);
        assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
    }
    for (int i = 0; i < 2; i++)
        close_stream(streams[i], contexts[i]);
}

/* Rows that come with a rotation are those that were rotated before, whatever their type; also in the other calls. */
static void rows_are_rotated(void **state) {
    (void)state;
    static float x[3 * POINTS], turned[3 * POINTS], similarity[2][POINTS];
    static double wide[3 * POINTS];
    static int32_t labels[4][POINTS];
    static int of[POINTS];
    ast_context *contexts[3];
    ast_stream *streams[3];
    ast_random random;
    ast_random_seed(&random, 16, 0);
    for (int i = 0; i < 3; i++)
        streams[i] = open_stream(2, &contexts[i]);
    for (int frame = 0; frame < 10; frame++) {
        double camera[9], lossy[9];
        camera_at(frame, 3, camera);
        see(&room, camera, &random, x, of);
        for (size_t i = 0; i < POINTS; i++)
            for (size_t r = 0; r < 3; r++) {
                const float *row = x + 3 * i;
                turned[3 * i + r] = (float)(camera[3 * r] * (double)row[0] + camera[3 * r + 1] * (double)row[1] +
                                            camera[3 * r + 2] * (double)row[2]);
                wide[3 * i + r] = (double)row[r];
            }
        for (int r = 0; r < 9; r++)
            lossy[r] = camera[r] * (1 + 1.3e-4); /* as some data sets have them */
        ast_points points[3] = {ast_points_f4(turned, POINTS, 3), ast_points_f4(x, POINTS, 3),
                                ast_points_f8(wide, POINTS, 3)};
        points[1].rotation = camera;
        points[2].rotation = lossy;
        for (int i = 0; i < 3; i++) {
            ast_frame report = {.size = sizeof report};
            assert_int_equal(ast_stream_step(streams[i], &points[i], labels[i], &report), AST_OK);
        }
        assert_memory_equal(labels[0], labels[1], sizeof labels[0]);
        size_t differ = 0;
        for (size_t i = 0; i < POINTS; i++)
            differ += labels[0][i] != labels[2][i];
        assert_true(differ < POINTS / 200);
        assert_int_equal(ast_stream_compare(streams[0], &points[0], labels[0], similarity[0], NULL, NULL), AST_OK);
        assert_int_equal(ast_stream_compare(streams[1], &points[1], labels[1], similarity[1], NULL, NULL), AST_OK);
        assert_memory_equal(similarity[0], similarity[1], sizeof similarity[0]);
        assert_int_equal(ast_stream_predict(streams[0], &points[0], labels[2]), AST_OK);
        assert_int_equal(ast_stream_predict(streams[1], &points[1], labels[3]), AST_OK);
        assert_memory_equal(labels[2], labels[3], sizeof labels[2]);
    }
    double crooked[9] = {1, 0.2, 0, 0, 1, 0, 0, 0, 1};
    ast_points points = ast_points_f4(x, POINTS, 3);
    ast_frame report = {.size = sizeof report};
    points.rotation = crooked;
    assert_int_equal(ast_stream_step(streams[0], &points, labels[0], &report), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(contexts[0]), "rotation"));
    crooked[1] = NAN;
    assert_int_equal(ast_stream_step(streams[0], &points, labels[0], &report), AST_BAD_OPTION);
    for (int i = 0; i < 3; i++)
        close_stream(streams[i], contexts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_does_not_drift),
        cmocka_unit_test(what_is_not_seen_stays_open),
        cmocka_unit_test(jumps_are_found),
        cmocka_unit_test(buildings_have_axes),
        cmocka_unit_test(gaps_between_numbers_change_nothing),
        cmocka_unit_test(rows_are_rotated),
        cmocka_unit_test(threads_and_states_change_nothing),
    };
    return cmocka_run_group_tests_name("rotation of a camera", tests, NULL, NULL);
}
