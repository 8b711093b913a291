/* SPDX-License-Identifier: MIT
 *
 * One hash of all labels of a stream, and of its clusters, over threads, instruction sets, parallel modes and bounds:
 * twenty frames of six directions that turn, of which two vanish and return, and of a noisy image. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 20, POINTS = 50000 };

typedef struct film {
    const char *name;
    ast_stream_options options;
    float *x[FRAMES];
    size_t points;
} film;

static void film_open(film *f, const char *name, size_t points, double angle, uint32_t lifetime) {
    memset(f, 0, sizeof *f);
    f->name = name;
    f->points = points;
    ast_stream_options_init(&f->options);
    f->options.dimension = 3;
    f->options.angle = angle;
    f->options.lifetime = lifetime;
    for (int t = 0; t < FRAMES; t++)
        f->x[t] = ref_take(points * 3, sizeof(float));
}

static void film_close(film *f) {
    for (int t = 0; t < FRAMES; t++)
        free(f->x[t]);
}

/* The labels of every frame and the ids, events and means of every record, in one number. */
static uint64_t hash_of(const film *f, const ref_setup *setup) {
    ast_stream_options options = f->options;
    ast_context *context = ref_context(setup->isa, setup->threads);
    int32_t *labels = ref_take(f->points, sizeof *labels);
    uint64_t hash = 0;
    options.parallel = setup->parallel;
    options.bounds = setup->bounds;
    ast_stream *stream;
    ast_stream_open(&stream, context, &options);
    if (!stream)
        fail_msg("%s, %s: %s", f->name, ref_setup_text(setup), ast_message(context));
    for (int t = 0; t < FRAMES; t++) {
        ast_points points = ast_points_f4(f->x[t], f->points, 3);
        ast_frame frame = {.size = sizeof frame};
        size_t count;
        if (ast_stream_step(stream, &points, labels, &frame) != AST_OK)
            fail_msg("%s, %s, frame %d: %s", f->name, ref_setup_text(setup), t, ast_message(context));
        hash = ast_mix64(hash ^ ref_hash(labels, f->points) ^ (uint64_t)frame.iterations);
        const ast_tracked *records = ast_stream_clusters(stream, &count);
        for (size_t k = 0; k < count; k++) {
            const int32_t numbers[] = {records[k].id, records[k].event, (int32_t)records[k].age,
                                       (int32_t)records[k].count};
            int32_t mean[3];
            memcpy(mean, records[k].mean, sizeof mean);
            hash = ast_mix64(hash ^ ref_hash(numbers, 4) ^ ref_hash(mean, 3));
        }
    }
    ast_stream_close(stream);
    free(labels);
    return hash;
}

static void check_one_hash(const film *f) {
    ref_setup setup = {REF_FAST, 2, AST_ORDERED, 1};
    uint64_t expected = hash_of(f, &setup);
    for (size_t number = 0; number < REF_SETUPS; number++) {
        setup = ref_setup_number(number);
        /* Threads do nothing for a serial pass; without bounds two numbers of threads are enough. */
        if ((setup.parallel == AST_SERIAL && setup.threads > 2) || (!setup.bounds && setup.threads % 2 == 0) ||
            !ref_has(setup.isa))
            continue;
        uint64_t got = hash_of(f, &setup);
        if (got != expected)
            fail_msg("%s, %s: %016llx, should be %016llx", f->name, ref_setup_text(&setup), (unsigned long long)got,
                     (unsigned long long)expected);
    }
}

/* Six axis directions, kappa 100, turning half a degree a frame; two of them are away in frames 6..13. */
static void turning_axes(void **state) {
    (void)state;
    film f;
    ast_random random;
    ast_random_seed(&random, 1, 13);
    film_open(&f, "turning axes", ref_scaled(POINTS), 70, 25);
    for (int t = 0; t < FRAMES; t++) {
        double turn = t * 0.5 * M_PI / 180;
        for (size_t i = 0; i < f.points; i++) {
            double v[3] = {0, 0, 0};
            size_t axis = (size_t)ast_random_below(&random, t >= 6 && t < 14 ? 4 : 6);
            v[axis % 3] = axis < 3 ? 1 : -1;
            float *row = f.x[t] + i * 3;
            row[0] = (float)(cos(turn) * v[0] - sin(turn) * v[1] + 0.1 * ast_random_normal(&random));
            row[1] = (float)(sin(turn) * v[0] + cos(turn) * v[1] + 0.1 * ast_random_normal(&random));
            row[2] = (float)(v[2] + 0.1 * ast_random_normal(&random));
        }
    }
    check_one_hash(&f);
    film_close(&f);
}

/* Walls in image order with noise, another room every fourth frame: many births, revivals and deaths in every frame. */
static void noisy_rooms(void **state) {
    (void)state;
    film f;
    film_open(&f, "noisy rooms", ref_scaled(POINTS) / 20 / 40 * 40, 25, 3);
    f.options.max_iterations = 12;
    for (int t = 0; t < FRAMES; t++)
        ref_fill_image(f.x[t], f.points / 40, 40, 0.2, (uint64_t)(t / 4 % 3 + 1));
    check_one_hash(&f);
    film_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turning_axes),
        cmocka_unit_test(noisy_rooms),
    };
    return cmocka_run_group_tests_name("stream hash", tests, NULL, ref_contexts_end);
}
