/* SPDX-License-Identifier: MIT
 *
 * Streams against the reference, frame by frame: ids, events, ages, counts and means to the bit, in every mode, on
 * every number of threads, with either instruction set, and handed from stream to stream as saved states. A failure
 * prints AST_TEST_SEED=...: with that in the environment the program runs the one stream, in all 48 ways. */
#include "reference/harness.h"
#include "reference/stream.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED -77
#define EPS 0x1p-20
#define DIRECTIONS 8 /* at most, in a scene */

/* What is done with the stream before a frame is given to it. */
typedef enum deed { NOTHING, PREDICT, ROTATE, RESET } deed;

/* A stream made from one seed. */
typedef struct scene {
    uint64_t seed;
    char text[300];
    ast_stream_options options;
    size_t frames, stride; /* rows are `stride` floats apart */
    float **x;             /* of each frame */
    size_t *counts;
    deed *deeds;
    double *rotation; /* (D, D): a quarter turn in the plane of the first two axes */
} scene;

/* ---- Scenes ---------------------------------------------------------------------------------------------------- */

/* What the points of a scene are like. */
typedef enum look { DRIFTING, ONE_EACH, DUPLICATES, ANTIPODES, LATTICE, UNIFORM, TRIPLES, LOOKS } look;
static const char *const look_names[] = {"drifting", "one each", "duplicates", "antipodes",
                                         "lattice",  "uniform",  "triples"};

/* The making of a scene. */
typedef struct maker {
    ast_random random;
    scene *made;
    look look;
    size_t dimension, directions;
    double *direction;       /* (DIRECTIONS, D) */
    double *velocity;        /* (DIRECTIONS, D) */
    size_t away[DIRECTIONS]; /* frames until it is back */
    double spread, speed, noise, holes;
    size_t most;   /* points a frame */
    double jitter; /* of triples */
    int lone;      /* the frame has only the first of the three */
} maker;

static size_t below(maker *m, size_t bound) {
    return (size_t)ast_random_below(&m->random, bound);
}

static double uniform(maker *m, double low, double high) {
    return low + (high - low) * ast_random_uniform(&m->random);
}

static void random_direction(maker *m, double *v) {
    double squares = 0;
    for (size_t d = 0; d < m->dimension; d++) {
        v[d] = ast_random_normal(&m->random);
        squares += v[d] * v[d];
    }
    for (size_t d = 0; d < m->dimension; d++)
        v[d] /= sqrt(squares);
}

static void make_options(maker *m) {
    static const double angles[] = {20, 30, 45, 60, 70, 70, 90, 100, 120, 120, 150, 180, 0};
    static const uint32_t lifetimes[] = {0, 1, 2, 2, 5, 5, 5, 20, 20, 400};
    static const double drifts[] = {0.1, 1, 1, 1, 5, 30}, betas[] = {0, 0.1, 3, 100, 1e5, 1e12, INFINITY};
    ast_stream_options *options = &m->made->options;
    ast_stream_options_init(options);
    options->dimension = m->dimension;
    options->angle = below(m, 4) == 0 ? uniform(m, 15, 125) : angles[below(m, sizeof angles / sizeof *angles)];
    if (options->angle == 0 && m->most > 40)
        options->angle = 40; /* a cluster a point, and a restart for each of them */
    if (m->look == TRIPLES && below(m, 2))
        options->angle = uniform(m, 120, 180);
    options->lifetime = lifetimes[below(m, sizeof lifetimes / sizeof *lifetimes)];
    options->drift = drifts[below(m, sizeof drifts / sizeof *drifts)];
    if (below(m, 3) == 0)
        options->beta = betas[below(m, sizeof betas / sizeof *betas)];
    options->weight_update = (ast_weight_update)(below(m, 2) ? 0 : below(m, 3));
    options->method = below(m, 6) ? AST_STREAM_DDP : below(m, 3) ? AST_STREAM_SDP : AST_STREAM_DP;
    if (below(m, 6) == 0)
        options->max_iterations = 1 + (int)below(m, 4);
    if (below(m, 8) == 0)
        options->max_clusters = 1 + below(m, 4);
}

/* A direction moves, and from time to time goes away for a while: sometimes longer than a cluster lives. */
static void move(maker *m, size_t k) {
    double *v = m->direction + k * m->dimension, *velocity = m->velocity + k * m->dimension, squares = 0;
    for (size_t d = 0; d < m->dimension; d++) {
        v[d] += m->speed * velocity[d];
        squares += v[d] * v[d];
    }
    for (size_t d = 0; d < m->dimension; d++)
        v[d] /= sqrt(squares);
    size_t lifetime = m->made->options.lifetime;
    if (m->away[k] > 0)
        m->away[k]--;
    else if (below(m, 6) == 0)
        m->away[k] = 1 + below(m, lifetime < 12 ? lifetime + 4 : 16);
}

static void make_row(maker *m, float *x, size_t i, size_t present, const size_t *visible) {
    size_t k = visible[m->look == ONE_EACH ? i % present : below(m, present)];
    const double *centre = m->direction + k * m->dimension;
    double flip = m->look == ANTIPODES && below(m, 2) ? -1 : 1;
    int stray = m->look == UNIFORM || ast_random_uniform(&m->random) < m->noise;
    double length = below(m, 4) ? 1 : uniform(m, 0.25, 4);
    for (size_t d = 0; d < m->dimension; d++) {
        double component =
            stray ? ast_random_normal(&m->random) : flip * centre[d] + m->spread * ast_random_normal(&m->random);
        if (m->look == LATTICE)
            component = (double)below(m, 3) - 1;
        x[d] = (float)(component * length);
    }
    if (m->look == TRIPLES) /* three directions that add up to nothing, in the plane of the first two axes */
        for (size_t d = 0; d < m->dimension; d++) {
            double third = 2 * M_PI / 3 * (double)(m->lone ? 0 : i % 3);
            x[d] = (float)((d == 0 ? cos(third) : d == 1 ? sin(third) : 0) + m->jitter * ast_random_normal(&m->random));
        }
    if (ast_random_uniform(&m->random) < m->holes) {
        if (below(m, 2))
            memset(x, 0, m->dimension * sizeof *x);
        else
            x[below(m, m->dimension)] = NAN;
    }
}

static void make_frame(maker *m, size_t t) {
    scene *made = m->made;
    size_t visible[DIRECTIONS], present = 0, count;
    for (size_t k = 0; k < m->directions; k++) {
        move(m, k);
        if (m->away[k] == 0)
            visible[present++] = k;
    }
    count = m->look == ONE_EACH ? present : m->look == TRIPLES ? 3 * below(m, 4) : below(m, m->most + 1);
    if (present == 0 || below(m, 12) == 0)
        count = 0;
    int all_missing = below(m, 20) == 0;
    m->lone = below(m, 2) == 0;
    made->counts[t] = count;
    made->x[t] = ref_take(count * made->stride, sizeof(float));
    for (size_t i = 0; i < count; i++) {
        make_row(m, made->x[t] + i * made->stride, i, present, visible);
        if (all_missing)
            made->x[t][i * made->stride] = NAN;
    }
}

static void make_deeds(maker *m) {
    scene *made = m->made;
    made->rotation = ref_take(m->dimension * m->dimension, sizeof(double));
    for (size_t d = 2; d < m->dimension; d++)
        made->rotation[d * m->dimension + d] = 1;
    made->rotation[1] = -1;
    made->rotation[m->dimension] = 1;
    for (size_t t = 0; t < made->frames; t++)
        made->deeds[t] = below(m, 4) ? NOTHING : below(m, 3) ? PREDICT : below(m, 3) ? ROTATE : RESET;
}

static void describe(const maker *m) {
    const ast_stream_options *o = &m->made->options;
    snprintf(m->made->text, sizeof m->made->text,
             "%s, %zu frames, D %zu, method %d, angle %.17g, drift %g, beta %g, update %d, lifetime %u, %d passes, "
             "at most %zu clusters",
             look_names[m->look], m->made->frames, m->dimension, o->method, o->angle, o->drift, o->beta,
             o->weight_update, o->lifetime, o->max_iterations, o->max_clusters);
}

static void make_shape(maker *m, ref_size size) {
    static const size_t dimensions[] = {2, 3, 3, 3, 4, 5, 8, 20};
    static const double spreads[] = {0.01, 0.05, 0.1, 0.1, 0.2, 0.4};
    m->look = (look)(below(m, 2) ? DRIFTING : below(m, LOOKS));
    m->dimension = size == REF_LARGE ? 3 : dimensions[below(m, sizeof dimensions / sizeof *dimensions)];
    m->directions = 1 + below(m, DIRECTIONS);
    m->spread = m->look == DUPLICATES || m->look == ANTIPODES ? 0 : spreads[below(m, 6)];
    m->speed = below(m, 4) ? uniform(m, 0, 0.05) : 0;
    m->noise = below(m, 3) ? 0 : uniform(m, 0, 0.3);
    m->holes = below(m, 3) ? 0 : uniform(m, 0, 0.5);
    m->most = below(m, 3) ? 1 + below(m, 40) : below(m, 301);
    m->jitter = below(m, 3) ? 0 : below(m, 2) ? 1e-7 : 1e-6;
    if (size == REF_LARGE)
        m->most = 5000 + below(m, 15000);
}

static void scene_make(scene *made, uint64_t seed, ref_size size) {
    maker m = {.made = made};
    memset(made, 0, sizeof *made);
    made->seed = seed;
    ast_random_seed(&m.random, seed, 41);
    make_shape(&m, size);
    make_options(&m);
    made->frames = size == REF_LARGE ? 6 : 5 + below(&m, 36);
    made->stride = m.dimension + below(&m, 3);
    made->x = ref_take(made->frames, sizeof *made->x);
    made->counts = ref_take(made->frames, sizeof *made->counts);
    made->deeds = ref_take(made->frames, sizeof *made->deeds);
    m.direction = ref_take(DIRECTIONS * m.dimension, sizeof *m.direction);
    m.velocity = ref_take(DIRECTIONS * m.dimension, sizeof *m.velocity);
    for (size_t k = 0; k < DIRECTIONS; k++) {
        random_direction(&m, m.direction + k * m.dimension);
        random_direction(&m, m.velocity + k * m.dimension);
    }
    for (size_t t = 0; t < made->frames; t++)
        make_frame(&m, t);
    make_deeds(&m);
    describe(&m);
    free(m.direction);
    free(m.velocity);
}

static void scene_free(scene *made) {
    for (size_t t = 0; t < made->frames; t++)
        free(made->x[t]);
    free(made->x);
    free(made->counts);
    free(made->deeds);
    free(made->rotation);
}

static ast_points scene_points(const scene *s, size_t t) {
    ast_points points = ast_points_f4(s->x[t], s->counts[t], s->options.dimension);
    points.row_stride = (ptrdiff_t)(s->stride * sizeof(float));
    return points;
}

/* ---- What the reference says ----------------------------------------------------------------------------------- */

typedef struct answer {
    ref_frame *frames;
    int32_t **predicted; /* where the deed was to predict */
    size_t *missed;
} answer;

static void do_deed(ref_stream *stream, const scene *s, size_t t, const ref_points *points, answer *expected) {
    if (s->deeds[t] == RESET)
        ref_stream_reset(stream);
    if (s->deeds[t] == ROTATE)
        ref_stream_rotate(stream, s->rotation);
    if (s->deeds[t] == PREDICT) {
        expected->predicted[t] = ref_take(s->counts[t], sizeof(int32_t));
        ref_stream_predict(stream, points, expected->predicted[t]);
    }
}

static void answer_make(answer *expected, const scene *s) {
    ref_stream stream;
    ref_stream_open(&stream, &s->options);
    expected->frames = ref_take(s->frames, sizeof *expected->frames);
    expected->predicted = ref_take(s->frames, sizeof *expected->predicted);
    expected->missed = ref_take(s->frames, sizeof *expected->missed);
    for (size_t t = 0; t < s->frames; t++) {
        ref_points points;
        ast_points view = scene_points(s, t);
        ref_points_read(&points, &view);
        do_deed(&stream, s, t, &points, expected);
        ref_stream_step(&stream, &points, &expected->frames[t]);
        expected->missed[t] = points.missed;
        ref_points_free(&points);
    }
    ref_stream_close(&stream);
}

static void answer_free(answer *expected, const scene *s) {
    for (size_t t = 0; t < s->frames; t++) {
        ref_frame_free(&expected->frames[t]);
        free(expected->predicted[t]);
    }
    free(expected->frames);
    free(expected->predicted);
    free(expected->missed);
}

/* ---- Comparing ------------------------------------------------------------------------------------------------- */

/* Where a comparison stands, for its message. */
typedef struct place {
    const scene *s;
    const ref_setup *setup;
    int hop;
    size_t frame;
} place;

static const char *where(const place *at) {
    static char text[600];
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu, frame %zu of %zu points (%s; %s%s)",
             (unsigned long long)at->s->seed, at->frame, at->s->counts[at->frame], at->s->text,
             ref_setup_text(at->setup), at->hop ? ", saved and loaded" : "");
    return text;
}

static void check_labels(const place *at, const char *what, const int32_t *labels, const int32_t *expected) {
    size_t count = at->s->counts[at->frame];
    for (size_t i = 0; i < count; i++)
        if (labels[i] != expected[i])
            fail_msg("%s: %s of point %zu is %d, should be %d", where(at), what, i, labels[i], expected[i]);
    if (labels[count] != UNTOUCHED)
        fail_msg("%s: wrote past the end of labels", where(at));
}

static void check_record(const place *at, const ast_tracked *got, const ref_record *should, size_t used) {
    size_t dimension = at->s->options.dimension;
    if (got->id != should->id || got->event != should->event || got->age != should->age || got->count != should->count)
        fail_msg("%s: id %d, event %d, age %u, %zu points; should be id %d, event %d, age %u, %zu points", where(at),
                 got->id, got->event, got->age, got->count, should->id, should->event, should->age, should->count);
    double share = used > 0 ? (double)should->count / (double)used : 0;
    if (!(fabs(got->share - share) <= 1e-12))
        fail_msg("%s: id %d has share %.17g, should be %.17g", where(at), got->id, got->share, share);
    if (!(fabs(got->weight - should->weight) <= 1e-12 * fabs(should->weight)))
        fail_msg("%s: id %d has weight %.17g, should be %.17g", where(at), got->id, got->weight, should->weight);
    for (size_t d = 0; d < dimension; d++)
        if (memcmp(&got->mean[d], &should->mean[d], sizeof(float)) != 0)
            fail_msg("%s: component %zu of the mean of id %d is %.9g, should be %.9g", where(at), d, got->id,
                     (double)got->mean[d], (double)should->mean[d]);
}

static void check_frame(const place *at, const ast_frame *got, const ref_frame *should, size_t missed) {
    if (got->frame != at->frame || got->points != at->s->counts[at->frame] || got->missing != missed ||
        got->clusters != should->clusters)
        fail_msg("%s: reported as frame %llu of %zu points, %zu missing, %zu clusters; %zu are missing, %zu clusters",
                 where(at), (unsigned long long)got->frame, got->points, got->missing, got->clusters, missed,
                 should->clusters);
    if (got->converged != should->converged || (should->points > 0 && got->iterations != should->iterations))
        fail_msg("%s: %d passes, converged %d; should be %d, %d", where(at), got->iterations, got->converged,
                 should->iterations, should->converged);
    if (!(fabs(got->objective - should->objective) <= 1e-9 * fmax(1, fmax(should->total, fabs(should->objective)))))
        fail_msg("%s: objective %.17g, should be %.17g", where(at), got->objective, should->objective);
}

static void check_step(const place *at, ast_stream *stream, int32_t *labels, const answer *expected) {
    ast_frame frame;
    const ref_frame *should = &expected->frames[at->frame];
    ast_points points = scene_points(at->s, at->frame);
    ast_context *context = ref_context(at->setup->isa, at->setup->threads);
    labels[points.count] = UNTOUCHED;
    ast_status status = ast_stream_step(stream, &points, labels, &frame);
    if (status != AST_OK)
        fail_msg("%s: status %d, %s", where(at), status, ast_message(context));
    check_labels(at, "label", labels, should->labels);
    check_frame(at, &frame, should, expected->missed[at->frame]);
    size_t count = 99;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    for (size_t k = 0; k < count && k < should->records_count; k++)
        check_record(at, &clusters[k], &should->records[k], points.count - expected->missed[at->frame]);
    if (count != should->records_count)
        fail_msg("%s: %zu records, should be %zu", where(at), count, should->records_count);
}

/* What is done before a frame. */
static void check_deed(const place *at, ast_stream *stream, int32_t *labels, const answer *expected) {
    ast_points points = scene_points(at->s, at->frame);
    switch (at->s->deeds[at->frame]) {
    case RESET:
        ast_stream_reset(stream);
        break;
    case ROTATE:
        assert_int_equal(ast_stream_rotate(stream, at->s->rotation), AST_OK);
        break;
    case PREDICT:
        labels[points.count] = UNTOUCHED;
        assert_int_equal(ast_stream_predict(stream, &points, labels), AST_OK);
        check_labels(at, "predicted id", labels, expected->predicted[at->frame]);
        break;
    default:
        break;
    }
}

/* A new stream that goes on where the old one stopped, on other threads. */
static ast_stream *hop_over(const place *at, ast_stream *old, const ast_stream_options *options, ref_setup *setup) {
    size_t size = 0;
    const void *state = ast_stream_save(old, &size);
    assert_non_null(state);
    void *copy = ref_take(size, 1);
    memcpy(copy, state, size);
    ast_stream_close(old);
    *setup = ref_setup_number(at->frame * 7 % REF_SETUPS);
    ast_stream_options changed = *options;
    changed.parallel = setup->parallel;
    changed.bounds = setup->bounds;
    ast_context *context = ref_context(setup->isa, setup->threads);
    ast_stream *next = ast_stream_open(context, &changed);
    assert_non_null(next);
    if (ast_stream_load(next, copy, size) != AST_OK)
        fail_msg("%s: its own state is refused: %s", where(at), ast_message(context));
    free(copy);
    return next;
}

static void check_way(const scene *s, const answer *expected, const ref_setup *way, int hop) {
    ref_setup setup = *way;
    ast_stream_options options = s->options;
    place at = {s, &setup, hop, 0};
    size_t most = 0;
    for (size_t t = 0; t < s->frames; t++)
        most = s->counts[t] > most ? s->counts[t] : most;
    int32_t *labels = ref_take(most + 1, sizeof *labels);
    options.parallel = setup.parallel;
    options.bounds = setup.bounds;
    ast_context *context = ref_context(setup.isa, setup.threads);
    ast_stream *stream = ast_stream_open(context, &options);
    if (!stream)
        fail_msg("%s: %s", where(&at), ast_message(context));
    for (size_t t = 0; t < s->frames; t++) {
        at.frame = t;
        if (hop)
            stream = hop_over(&at, stream, &options, &setup);
        check_deed(&at, stream, labels, expected);
        check_step(&at, stream, labels, expected);
    }
    ast_stream_close(stream);
    free(labels);
}

/* The objective of a frame may fall by rounding alone. */
static void check_objectives(const scene *s, const answer *expected) {
    for (size_t t = 0; t < s->frames; t++) {
        const ref_frame *frame = &expected->frames[t];
        for (int pass = 1; pass < frame->iterations; pass++)
            if (frame->objectives[pass] < frame->objectives[pass - 1] - frame->total * EPS - 1e-9)
                fail_msg("AST_TEST_SEED=%llu, frame %zu (%s): the objective falls from %.17g to %.17g in pass %d",
                         (unsigned long long)s->seed, t, s->text, frame->objectives[pass - 1], frame->objectives[pass],
                         pass + 1);
    }
}

static void check_scene(uint64_t seed, ref_size size, size_t ways) {
    scene s;
    answer expected;
    ast_random random;
    scene_make(&s, seed, size);
    answer_make(&expected, &s);
    check_objectives(&s, &expected);
    ast_random_seed(&random, seed, 42);
    for (size_t way = 0; way < ways; way++) {
        size_t number = ways == REF_SETUPS ? way : (size_t)ast_random_below(&random, REF_SETUPS);
        ref_setup setup = ref_setup_number(number);
        check_way(&s, &expected, &setup, way == 0);
    }
    answer_free(&expected, &s);
    scene_free(&s);
}

static void small_streams_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_scene, REF_SMALL, 800, 3);
}

static void large_streams_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_scene, REF_LARGE, 6, 4);
}

/* Rooms in image order with a fifth of noise, each seen for some frames: dozens of clusters, of which many are unseen,
 * nearly win, are revived and lose their last points again. */
static void room_make(scene *made, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 43);
    memset(made, 0, sizeof *made);
    made->seed = seed;
    made->frames = 8;
    made->stride = 3;
    made->x = ref_take(made->frames, sizeof *made->x);
    made->counts = ref_take(made->frames, sizeof *made->counts);
    made->deeds = ref_take(made->frames, sizeof *made->deeds);
    ast_stream_options_init(&made->options);
    made->options.dimension = 3;
    made->options.angle = 15 + 30 * ast_random_uniform(&random);
    made->options.lifetime = 2 + (uint32_t)ast_random_below(&random, 8);
    made->options.max_iterations = 6;
    if (ast_random_below(&random, 3) == 0)
        made->options.beta = pow(10, 5 * ast_random_uniform(&random));
    else if (ast_random_below(&random, 2) == 0)
        made->options.drift = 0.1 + 5 * ast_random_uniform(&random);
    for (size_t t = 0; t < made->frames; t++) {
        size_t width = 40, height = 55 + (size_t)ast_random_below(&random, 60); /* two or three chunks */
        made->counts[t] = width * height;
        made->x[t] = ref_take(width * height * 3, sizeof(float));
        ref_fill_image(made->x[t], height, width, 0.2, seed + 100 * (t / 2 % 2));
    }
    snprintf(made->text, sizeof made->text, "a room; the seed of its own test; angle %.17g, lifetime %u",
             made->options.angle, made->options.lifetime);
}

static void rooms_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(8); seed++) {
        scene s;
        answer expected;
        if (ref_case_only() > 0 && ref_case_only() != seed)
            continue;
        room_make(&s, seed);
        answer_make(&expected, &s);
        check_objectives(&s, &expected);
        for (size_t way = 0; way < 4; way++) { /* the ordered path on 1 to 8 threads */
            ref_setup setup = ref_setup_number(seed % 2 + 2 * way + (way < 3 ? 24 : 0));
            check_way(&s, &expected, &setup, 0);
        }
        answer_free(&expected, &s);
        scene_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_streams_equal_the_reference),
        cmocka_unit_test(large_streams_equal_the_reference),
        cmocka_unit_test(rooms_equal_the_reference),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, ref_contexts_end);
}
