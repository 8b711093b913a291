/* SPDX-License-Identifier: MIT
 *
 * Points like those of embedding models: a spectrum that falls as a power of the coordinate's number, topics, subtopics
 * within them, points around subtopics, for some models a common component, and a random rotation, so that no
 * coordinate is special. Every point has random numbers of its own, so that fewer points are a prefix of more, whatever
 * the number of threads. */
#include "embeddings.h"

#include <asterism.h>
#include <formats.h>
#include <math.h>
#include <random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 5
#define LEAST_MEMBERS 4
#define SAMPLE 100000 /* W8: points whose clusters are the means, and passes over them */
#define SAMPLE_PASSES 3

enum { TOPICS = 300, SUBTOPICS = 5000, TILE = 8 };
enum { FOR_TOPICS, FOR_SUBTOPICS, FOR_ROTATION, FOR_POINTS }; /* streams of random numbers */

typedef struct recipe {
    const char *workload, *name;
    size_t count, dimension, means;
    double exponent;                /* coordinate i, from 1, has the scale i^-exponent; 0: uniform points */
    double subtopic, point, common; /* spread around topics and subtopics; added to each coordinate */
    double kappa;                   /* instead of all that: clusters of this concentration */
    size_t clusters[2];
    int iterations;
} recipe;

/* W6: exponent and common component give the spectrum of GloVe's 10,000 most frequent words (the first 1, 10, 20, 50
 * and 64 axes have 7, 32, 47, 74 and 83% of the variance, the words 5, 31, 46, 75 and 85%) and a mean of length 0.45
 * (the words: 0.41). */
static const recipe recipes[BENCH_EMBEDDINGS] = {
    {"W5", "W5-common", 200000, 768, 0, 0.6, 0.8, 0.9, 0.5, 0, {1000, 4000}, 10},
    {"W5", "W5-centred", 200000, 768, 0, 0.6, 0.8, 0.9, 0, 0, {1000, 4000}, 10},
    {"W5", "W5-uniform", 200000, 768, 0, 0, 0, 0, 0, 0, {1000, 4000}, 10},
    {"W6", "W6", 341479, 100, 0, 0.3, 0.8, 1, 0.3, 0, {1000}, 25},
    {"W7", "W7", 200000, 256, 5000, 0, 0, 0, 0, 400, {0}, 0},
    {"W8", "W8", 1000000, 768, 10000, 0.6, 0.8, 0.9, 0.5, 0, {0}, 0},
};

const char *bench_embedding_name(int set) {
    return recipes[set].name;
}

int bench_embedding_wanted(int set, const char *workload) {
    return strcmp(workload, recipes[set].workload) == 0 || strcmp(workload, recipes[set].name) == 0;
}

/* ---- Topics and rotation ----------------------------------------------------------------------------------------- */

typedef struct topics {
    const recipe *recipe;
    float *points; /* (count, D) out */
    size_t count;
    float *scale;     /* (D) */
    float *subtopics; /* (SUBTOPICS, D) */
    float *rotation;  /* (D, D) rows are orthonormal; NULL: none */
} topics;

static void normalise(float *x, size_t dimension) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)x[d] * x[d];
    double length = sqrt(square);
    for (size_t d = 0; d < dimension; d++)
        x[d] = (float)(x[d] / length);
}

/* Normal rows, orthonormalised from the first to the last: uniform among rotations (and reflections). Each row is
 * made orthogonal twice, which is enough for double precision. */
static float *make_rotation(size_t dimension) {
    double *rows = bench_alloc(dimension * dimension * sizeof *rows);
    float *rotation = bench_alloc(dimension * dimension * sizeof *rotation);
    ast_random random;
    ast_random_seed(&random, SEED, FOR_ROTATION);
    for (size_t i = 0; i < dimension; i++) {
        double *row = rows + i * dimension, square = 0;
        for (size_t d = 0; d < dimension; d++)
            row[d] = ast_random_normal(&random);
        for (size_t turn = 0; turn < 2; turn++)
            for (size_t j = 0; j < i; j++) {
                const double *other = rows + j * dimension;
                double dot = 0;
                for (size_t d = 0; d < dimension; d++)
                    dot += row[d] * other[d];
                for (size_t d = 0; d < dimension; d++)
                    row[d] -= dot * other[d];
            }
        for (size_t d = 0; d < dimension; d++)
            square += row[d] * row[d];
        for (size_t d = 0; d < dimension; d++) {
            row[d] /= sqrt(square);
            rotation[i * dimension + d] = (float)row[d];
        }
    }
    free(rows);
    return rotation;
}

static void add_normal(float *x, const float *scale, double spread, size_t dimension, ast_random *random) {
    for (size_t d = 0; d < dimension; d++)
        x[d] += (float)(spread * scale[d] * ast_random_normal(random));
}

static void make_topics(topics *t) {
    size_t dimension = t->recipe->dimension;
    float *centres = bench_alloc(TOPICS * dimension * sizeof *centres);
    ast_random random;
    t->scale = bench_alloc(dimension * sizeof *t->scale);
    for (size_t d = 0; d < dimension; d++)
        t->scale[d] = (float)pow((double)(d + 1), -t->recipe->exponent);
    if (t->recipe->exponent > 0) {
        t->subtopics = bench_alloc(SUBTOPICS * dimension * sizeof *t->subtopics);
        t->rotation = make_rotation(dimension);
        ast_random_seed(&random, SEED, FOR_TOPICS);
        for (size_t k = 0; k < TOPICS; k++)
            add_normal(centres + k * dimension, t->scale, 1, dimension, &random);
        ast_random_seed(&random, SEED, FOR_SUBTOPICS);
        for (size_t k = 0; k < SUBTOPICS; k++) {
            float *subtopic = t->subtopics + k * dimension;
            memcpy(subtopic, centres + ast_random_below(&random, TOPICS) * dimension, dimension * sizeof *subtopic);
            add_normal(subtopic, t->scale, t->recipe->subtopic, dimension, &random);
        }
    }
    free(centres);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void draw_point(const topics *t, size_t i, float *x) {
    size_t dimension = t->recipe->dimension;
    ast_random random;
    ast_random_seed(&random, SEED, FOR_POINTS + i);
    if (!t->subtopics) {
        memset(x, 0, dimension * sizeof *x);
        add_normal(x, t->scale, 1, dimension, &random);
        return;
    }
    memcpy(x, t->subtopics + ast_random_below(&random, SUBTOPICS) * dimension, dimension * sizeof *x);
    add_normal(x, t->scale, t->recipe->point, dimension, &random);
    for (size_t d = 0; d < dimension; d++)
        x[d] += (float)t->recipe->common;
}

/* A few rows at a time, so that they stay in the cache while the rotation is read once. */
static void rotate(const topics *t, const float *from, size_t rows, float *to) {
    size_t dimension = t->recipe->dimension;
    memset(to, 0, rows * dimension * sizeof *to);
    for (size_t i = 0; i < dimension; i++)
        for (size_t r = 0; r < rows; r++) {
            const float *axis = t->rotation + i * dimension;
            float x = from[r * dimension + i], *out = to + r * dimension;
            for (size_t d = 0; d < dimension; d++)
                out[d] += x * axis[d];
        }
}

static void draw_part(void *data, int worker, int workers) {
    const topics *t = data;
    size_t dimension = t->recipe->dimension, begin, end;
    float *tile = bench_alloc(TILE * dimension * sizeof *tile);
    bench_part(t->count, worker, workers, &begin, &end);
    for (size_t first = begin; first < end; first += TILE) {
        size_t rows = end - first < TILE ? end - first : TILE;
        float *points = t->points + first * dimension;
        for (size_t r = 0; r < rows; r++)
            draw_point(t, first + r, (t->rotation ? tile : points) + r * dimension);
        if (t->rotation)
            rotate(t, tile, rows, points);
        for (size_t r = 0; r < rows; r++)
            normalise(points + r * dimension, dimension);
    }
    free(tile);
}

static void draw_topics(bench_embedding_points *p, const recipe *r, int threads) {
    topics t = {.recipe = r, .points = p->points, .count = p->count};
    make_topics(&t);
    bench_team *team = bench_team_open(threads);
    bench_team_run(team, draw_part, &t);
    bench_team_close(team);
    free(t.scale);
    free(t.subtopics);
    free(t.rotation);
}

static void draw_mixture(bench_embedding_points *p, const recipe *r, ast_context *context) {
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = p->count,
                           .dimension = p->dimension,
                           .clusters = p->means_count,
                           .kappa = r->kappa,
                           .seed = SEED};
    if (ast_sample_mixture(context, &mixture, p->points, NULL, p->means) != AST_OK)
        bench_die("%s: %s", r->name, ast_message(context));
}

/* W8: what somebody would assign to: a few iterations of spherical k-means over a sample. */
static void learn_means(bench_embedding_points *p, ast_context *context) {
    size_t sample = p->count < SAMPLE ? p->count : SAMPLE;
    ast_points points = ast_points_f4(p->points, sample, p->dimension);
    ast_options options;
    ast_report report = {.size = sizeof report};
    bench_embedding_points few = *p;
    few.count = sample;
    float *start = bench_embedding_start(&few, p->means_count);
    int32_t *labels = bench_alloc(sample * sizeof *labels);
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = start;
    options.start.means_count = p->means_count;
    options.max_iterations = SAMPLE_PASSES;
    if (ast_cluster(context, &points, &options, labels, &report) != AST_OK)
        bench_die("%s: %s", p->name, ast_message(context));
    memcpy(p->means, ast_means(context), p->means_count * p->dimension * sizeof *p->means);
    free(start);
    free(labels);
}

static size_t fewer(size_t clusters, size_t points) {
    return clusters > points / LEAST_MEMBERS ? points / LEAST_MEMBERS : clusters;
}

void bench_embedding_make(bench_embedding_points *p, int set, size_t rows, int threads) {
    const recipe *r = &recipes[set];
    size_t count = rows && rows < r->count ? rows : r->count;
    *p = (bench_embedding_points){.set = set,
                                  .name = r->name,
                                  .whole = count == r->count,
                                  .count = count,
                                  .dimension = r->dimension,
                                  .clusters = {fewer(r->clusters[0], count), fewer(r->clusters[1], count)},
                                  .iterations = r->iterations,
                                  .means_count = fewer(r->means, count < SAMPLE ? count : SAMPLE)};
    fprintf(stderr, "%s: drawing %zu x %zu points\n", p->name, p->count, p->dimension);
    p->points = bench_alloc(p->count * p->dimension * sizeof *p->points);
    if (r->kappa == 0)
        draw_topics(p, r, threads);
    if (p->means_count == 0)
        return;
    ast_context *context;
    ast_open(&context, threads);
    if (!context)
        bench_die("no context could be opened");
    p->means = bench_alloc(p->means_count * p->dimension * sizeof *p->means);
    if (r->kappa > 0)
        draw_mixture(p, r, context);
    else
        learn_means(p, context);
    ast_close(context);
}

void bench_embedding_free(bench_embedding_points *p) {
    free(p->points);
    free(p->means);
    *p = (bench_embedding_points){0};
}

/* Points are in random order, so evenly spaced ones are as good as drawn ones. */
float *bench_embedding_start(const bench_embedding_points *p, size_t clusters) {
    size_t row = p->dimension * sizeof(float);
    float *start = bench_alloc(clusters * row);
    for (size_t k = 0; k < clusters; k++)
        memcpy(start + k * p->dimension, p->points + k * (p->count / clusters) * p->dimension, row);
    return start;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void write_matrix(const char *path, const float *values, size_t rows, size_t columns) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    if (!output || !ast_write_array(output, ast_value_array(values, rows, columns), &error) ||
        !ast_output_commit(output, &error))
        bench_die("%s", error.text);
}

void bench_embedding_write(const bench_embedding_points *p, const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, p->name);
    write_matrix(path, p->points, p->count, p->dimension);
    for (int c = 0; c < 2 && p->clusters[c]; c++) {
        float *start = bench_embedding_start(p, p->clusters[c]);
        snprintf(path, sizeof path, "%s/%s_start_%zu.npy", folder, p->name, p->clusters[c]);
        write_matrix(path, start, p->clusters[c], p->dimension);
        free(start);
    }
    if (p->means) {
        snprintf(path, sizeof path, "%s/%s_means.npy", folder, p->name);
        write_matrix(path, p->means, p->means_count, p->dimension);
    }
}
