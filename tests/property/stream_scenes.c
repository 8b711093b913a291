/* SPDX-License-Identifier: MIT */
#include "stream_scenes.h"

#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTIONS 8 /* at most, in a scene */

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
    else if (below(m, m->made->options.merge_tracked ? 60 : 6) == 0)
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

void scene_make(scene *made, uint64_t seed, ref_size size) {
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
        ref_random_direction(&m.random, m.direction + k * m.dimension, m.dimension);
        ref_random_direction(&m.random, m.velocity + k * m.dimension, m.dimension);
    }
    for (size_t t = 0; t < made->frames; t++)
        make_frame(&m, t);
    make_deeds(&m);
    describe(&m);
    free(m.direction);
    free(m.velocity);
}

void scene_free(scene *made) {
    for (size_t t = 0; t < made->frames; t++)
        free(made->x[t]);
    free(made->x);
    free(made->counts);
    free(made->deeds);
    free(made->rotation);
}

ast_points scene_points(const scene *s, size_t t) {
    ast_points points = ast_points_f4(s->x[t], s->counts[t], s->options.dimension);
    points.row_stride = (ptrdiff_t)(s->stride * sizeof(float));
    return points;
}

void scene_make_room(scene *made, uint64_t seed) {
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

/* The directions of frame t: each on its way from where it starts to the first one. */
static void meet(maker *m, const double *starts, double near, size_t t) {
    double part = near * (double)t / (double)m->made->frames;
    for (size_t k = 0; k < m->directions; k++) {
        double *v = m->direction + k * m->dimension, squares = 0;
        for (size_t d = 0; d < m->dimension; d++) {
            v[d] = (1 - part) * starts[k * m->dimension + d] + part * starts[d];
            squares += v[d] * v[d];
        }
        for (size_t d = 0; d < m->dimension; d++)
            v[d] /= sqrt(squares);
    }
}

/* A direction at 1 to 1.6 times the angle from the first one. */
static void start_apart(maker *m, const double *first, double *v) {
    double along = 0, squares = 0, apart = fmin(170, m->made->options.angle * uniform(m, 1, 1.6)) * M_PI / 180;
    ref_random_direction(&m->random, v, m->dimension);
    for (size_t d = 0; d < m->dimension; d++)
        along += v[d] * first[d];
    for (size_t d = 0; d < m->dimension; d++) {
        v[d] -= along * first[d];
        squares += v[d] * v[d];
    }
    for (size_t d = 0; d < m->dimension; d++)
        v[d] = cos(apart) * first[d] + sin(apart) * v[d] / sqrt(squares);
}

static void make_meeting_options(maker *m) {
    ast_stream_options *options = &m->made->options;
    ast_stream_options_init(options);
    options->dimension = m->dimension;
    options->angle = uniform(m, 25, 75);
    options->lifetime = below(m, 4) ? 400 : 2 + (uint32_t)below(m, 6);
    options->max_clusters = below(m, 8) ? 0 : 1 + below(m, 4);
    if (below(m, 4) == 0)
        options->beta = pow(10, uniform(m, 0, 5));
    else
        options->drift = uniform(m, 0.3, 5);
    options->weight_update = (ast_weight_update)below(m, 3);
    options->merge_tracked = 1;
}

void scene_make_meeting(scene *made, uint64_t seed) {
    static const size_t dimensions[] = {2, 3, 3, 5, 12};
    maker m = {.made = made, .look = DRIFTING};
    memset(made, 0, sizeof *made);
    made->seed = seed;
    ast_random_seed(&m.random, seed, 44);
    m.dimension = dimensions[below(&m, 5)];
    m.directions = 2 + below(&m, 5);
    m.spread = below(&m, 3) ? uniform(&m, 0, 0.1) : uniform(&m, 0, 0.4);
    m.holes = below(&m, 3) ? 0 : 0.1;
    m.most = 10 + below(&m, 60);
    make_meeting_options(&m);
    made->frames = 25 + below(&m, 25);
    made->stride = m.dimension;
    made->x = ref_take(made->frames, sizeof *made->x);
    made->counts = ref_take(made->frames, sizeof *made->counts);
    made->deeds = ref_take(made->frames, sizeof *made->deeds);
    m.direction = ref_take(DIRECTIONS * m.dimension, sizeof *m.direction);
    m.velocity = ref_take(DIRECTIONS * m.dimension, sizeof *m.velocity);
    double *starts = ref_take(DIRECTIONS * m.dimension, sizeof *starts), near = uniform(&m, 0.7, 1.2);
    ref_random_direction(&m.random, starts, m.dimension);
    for (size_t k = 1; k < m.directions; k++)
        start_apart(&m, starts, starts + k * m.dimension);
    for (size_t t = 0; t < made->frames; t++) {
        meet(&m, starts, near, t);
        make_frame(&m, t);
    }
    make_deeds(&m);
    describe(&m);
    free(m.direction);
    free(m.velocity);
    free(starts);
}
