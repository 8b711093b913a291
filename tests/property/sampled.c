/* SPDX-License-Identifier: MIT
 *
 * Methods that look at some points only, mini-batch spherical k-means and DP-vMF-means over a sample, against slow code
 * that follows docs/rules.md line by line: labels, means, numbers of steps, objective and what is left to gain. A
 * failure prints AST_TEST_SEED=...: with that in the environment the program runs the one case in all ways. */
#include "reference/harness.h"
#include "reference/sparse.h"

#include "random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool takes_part(const ref_points *p, size_t i) {
    return !p->missing[i] && p->weight[i] > 0;
}

static bool is_weighted(const ref_points *p) {
    bool weighted = !p->equal;
    for (size_t i = 0; i < p->count; i++)
        weighted |= !p->missing[i] && p->weight[i] == 0;
    return weighted;
}

/* Whether the library, which takes means as they are, and the reference, which normalises what it is given, begin with
 * the same: a point that is nearly a unit vector may be a mean. */
static bool are_units(const float *means, size_t count, size_t dimension) {
    bool units = true;
    double row[4096];
    float unit[4096];
    for (size_t k = 0; k < count; k++) {
        for (size_t d = 0; d < dimension; d++)
            row[d] = (double)means[k * dimension + d];
        units = units && ref_normalise(row, dimension, 0, unit) &&
                memcmp(unit, means + k * dimension, dimension * sizeof *unit) == 0;
    }
    return units;
}

static void draw_means(const ref_points *points, size_t clusters, ast_random *random, float *means) {
    size_t dimension = points->dimension;
    for (size_t k = 0; k < clusters; k++) {
        size_t i = (size_t)ast_random_below(random, points->count);
        double v[4096];
        for (size_t d = 0; d < dimension; d++)
            v[d] = points->missing[i] || ast_random_below(random, 4) == 0 ? ast_random_normal(random)
                                                                          : (double)points->x[i * dimension + d];
        ref_normalise(v, dimension, 0, means + k * dimension);
    }
}

/* ---- Mini-batches ----------------------------------------------------------------------------------------------- */

typedef struct batches {
    const ref_points *p;
    size_t clusters, used, size, dealt;
    uint32_t *deck, *batch;
    float *means;
    int64_t *sums, *weights, *batch_sums, *batch_weights, *members;
    int32_t *labels; /* (size) of the batch */
    double *scores;
    uint64_t *last, drawn, halve, mass;
    double unit, weight_unit;
    bool weighted; /* the unit of weights may be 1 as well */
} batches;

static void deal(batches *b, ast_random *random) {
    if (b->dealt + b->size > b->used)
        b->dealt = 0;
    for (size_t j = 0; j < b->size; j++, b->dealt++) {
        size_t other = b->dealt + (size_t)ast_random_below(random, b->used - b->dealt);
        uint32_t drawn = b->deck[other];
        b->deck[other] = b->deck[b->dealt];
        b->deck[b->dealt] = drawn;
        size_t at = j; /* the batch is in order */
        for (; at > 0 && b->batch[at - 1] > drawn; at--)
            b->batch[at] = b->batch[at - 1];
        b->batch[at] = drawn;
    }
    b->drawn += b->size;
}

static void label(batches *b) {
    size_t dimension = b->p->dimension;
    memset(b->batch_sums, 0, b->clusters * dimension * sizeof *b->batch_sums);
    memset(b->batch_weights, 0, b->clusters * sizeof *b->batch_weights);
    memset(b->members, 0, b->clusters * sizeof *b->members);
    for (size_t j = 0; j < b->size; j++) {
        const float *x = b->p->x + b->batch[j] * dimension;
        double w = b->p->weight[b->batch[j]];
        b->scores[j] = -INFINITY;
        for (size_t k = 0; k < b->clusters; k++) {
            double score = ref_closeness(b->p->axial, x, b->means + k * dimension, dimension);
            if (score > b->scores[j]) {
                b->scores[j] = score;
                b->labels[j] = (int32_t)k;
            }
        }
        size_t k = (size_t)b->labels[j];
        int32_t sign = ref_sign(b->p->axial, x, b->means + k * dimension, dimension);
        for (size_t d = 0; d < dimension; d++)
            b->batch_sums[k * dimension + d] += sign * llrint((double)x[d] * (w * b->unit));
        b->batch_weights[k] += b->weighted ? llrint(w * b->unit) : 1;
        b->members[k]++;
    }
}

static double mean_cosine(const batches *b) {
    double sum = 0, weight = 0;
    for (size_t j = 0; j < b->clusters * b->p->dimension; j++)
        sum += (double)b->batch_sums[j] * (double)b->means[j];
    for (size_t k = 0; k < b->clusters; k++)
        weight += (double)b->batch_weights[k] / b->weight_unit;
    assert_false(sum / b->unit / weight > 1 + 1e-3); /* weights and sums are in the same unit */
    return sum / b->unit / weight;
}

static void set_mean(batches *b, size_t k) {
    size_t dimension = b->p->dimension;
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (double)b->sums[k * dimension + d] * (double)b->sums[k * dimension + d];
    if (sqrt(squares) / b->unit <= (double)b->weights[k] / b->weight_unit * 0x1p-20)
        return;
    for (size_t d = 0; d < dimension; d++)
        b->means[k * dimension + d] = (float)((double)b->sums[k * dimension + d] / sqrt(squares));
}

static void learn(batches *b) {
    size_t dimension = b->p->dimension;
    b->mass += b->size;
    if (b->drawn >= b->halve || b->mass >= (uint64_t)1 << 32) {
        for (size_t j = 0; j < b->clusters * dimension; j++)
            b->sums[j] /= 2;
        for (size_t k = 0; k < b->clusters; k++)
            b->weights[k] /= 2;
        b->mass /= 2;
        b->halve = b->drawn + (b->drawn < b->used ? b->drawn : b->used);
    }
    for (size_t k = 0; k < b->clusters; k++) {
        for (size_t d = 0; d < dimension; d++)
            b->sums[k * dimension + d] += b->batch_sums[k * dimension + d];
        b->weights[k] += b->batch_weights[k];
        if (b->members[k] == 0)
            continue;
        b->last[k] = b->drawn;
        set_mean(b, k);
    }
}

/* The point of the batch that fits worst, of those that leave another behind; -1: none. Its label becomes -1. */
static ptrdiff_t take_worst(batches *b) {
    ptrdiff_t worst = -1;
    for (size_t j = 0; j < b->size; j++)
        if (b->labels[j] >= 0 && b->members[b->labels[j]] > 1 && (worst < 0 || b->scores[j] < b->scores[worst]))
            worst = (ptrdiff_t)j;
    if (worst >= 0) {
        b->members[b->labels[worst]]--;
        b->labels[worst] = -1;
    }
    return worst;
}

static size_t replace_starved(batches *b) {
    size_t dimension = b->p->dimension, replaced = 0;
    uint64_t most = 100 * b->clusters > 10 * b->size ? 100 * b->clusters : 10 * b->size;
    uint64_t patience = most < b->used ? most : b->used;
    for (size_t k = 0; k < b->clusters; k++) {
        if (b->members[k] > 0 || b->drawn - b->last[k] < patience + b->size)
            continue;
        ptrdiff_t worst = take_worst(b);
        if (worst < 0)
            break;
        const float *x = b->p->x + b->batch[worst] * dimension;
        double w = b->p->weight[b->batch[worst]];
        for (size_t d = 0; d < dimension; d++)
            b->sums[k * dimension + d] = llrint((double)x[d] * (w * b->unit));
        b->weights[k] = b->weighted ? llrint(w * b->unit) : 1;
        memcpy(b->means + k * dimension, x, dimension * sizeof *x);
        b->last[k] = b->drawn;
        replaced++;
    }
    return replaced;
}

static void batches_open(batches *b, const ref_points *p, const float *means, size_t clusters, size_t size) {
    *b = (batches){.p = p, .clusters = clusters, .used = p->used, .size = size < p->used ? size : p->used};
    size_t at = 0, numbers = clusters * p->dimension;
    b->deck = ref_take(p->used, sizeof *b->deck);
    b->batch = ref_take(b->size, sizeof *b->batch);
    b->labels = ref_take(b->size, sizeof *b->labels);
    b->scores = ref_take(b->size, sizeof *b->scores);
    b->means = ref_take(numbers, sizeof *b->means);
    b->sums = ref_take(numbers, sizeof *b->sums);
    b->batch_sums = ref_take(numbers, sizeof *b->batch_sums);
    b->weights = ref_take(clusters, sizeof *b->weights);
    b->batch_weights = ref_take(clusters, sizeof *b->batch_weights);
    b->members = ref_take(clusters, sizeof *b->members);
    b->last = ref_take(clusters, sizeof *b->last);
    memcpy(b->means, means, numbers * sizeof *means);
    for (size_t i = 0; i < p->count; i++)
        if (takes_part(p, i))
            b->deck[at++] = (uint32_t)i;
    b->halve = 2 * b->size;
    b->weighted = is_weighted(p);
    b->unit = ldexp(1, b->weighted ? p->shift - 3 : p->shift);
    b->weight_unit = b->weighted ? b->unit : 1;
}

static void batches_close(batches *b) {
    void *memory[] = {b->deck, b->batch,      b->labels,  b->scores,        b->means,  b->sums,
                      b->last, b->batch_sums, b->weights, b->batch_weights, b->members};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
}

/* Steps done, and whether it ended by itself. */
static int run_batches(batches *b, uint64_t seed, int most, int *converged, size_t *replaced) {
    ast_random random;
    double window = 0, before = -1;
    int steps = 0, judged = 0;
    ast_random_seed(&random, seed, (uint32_t)-3);
    *converged = 0;
    while (steps < most && !*converged) {
        deal(b, &random);
        label(b);
        window += (mean_cosine(b) - window) / ++judged;
        learn(b);
        *replaced += replace_starved(b);
        steps++;
        if (judged == 10) {
            *converged = !(window > before + 1e-3 * (1 - before));
            before = window;
            window = judged = 0;
        }
    }
    return steps;
}

/* ---- The comparison --------------------------------------------------------------------------------------------- */

static void check_run(const ref_case *made, const ast_points *view, const ref_points *points, const ref_result *once,
                      const ref_result *twice, const ast_options *options, const ref_setup *setup, int iterations,
                      int converged) {
    size_t count = points->count;
    ast_options run = *options;
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context(setup->isa, setup->threads);
    int32_t *labels = ref_take(count, sizeof *labels);
    run.parallel = setup->parallel;
    run.bounds = setup->bounds;
    if (ast_cluster(context, view, &run, labels, &report) != AST_OK)
        fail_msg("AST_TEST_SEED=%llu: %s: %s", (unsigned long long)made->seed, made->text, ast_message(context));
    double close = 1e-9 * (1 + points->total), improvement = twice->objective - once->objective;
    bool same = report.clusters == once->clusters && report.iterations == iterations && report.converged == converged &&
                fabs(report.objective - once->objective) <= close &&
                fabs(report.improvement - improvement) <= 2 * close &&
                memcmp(labels, once->labels, count * sizeof *labels) == 0 &&
                memcmp(ast_means(context), once->means, once->clusters * points->dimension * sizeof(float)) == 0;
    if (!same)
        fail_msg(
            "AST_TEST_SEED=%llu: %s, with %s: %d iterations (%d), %zu clusters, objective %.17g + %g, should be %d "
            "(%d), %zu, %.17g + %g",
            (unsigned long long)made->seed, made->text, ref_setup_text(setup), report.iterations, report.converged,
            report.clusters, report.objective, report.improvement, iterations, converged, once->clusters,
            once->objective, improvement);
    free(labels);
}

/* Setups have random numbers of their own, so that a seed makes the same case in any number of ways. */
static void run_ways(const ref_case *made, const ref_points *points, const ref_result *once, const ref_result *twice,
                     const ast_options *options, size_t ways, int iterations, int converged) {
    ast_random random;
    ast_random_seed(&random, made->seed, 95 + (uint64_t)options->method);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&random, way, ways);
        check_run(made, &made->points, points, once, twice, options, &setup, iterations, converged);
    }
    if (points->axial)
        return;
    ref_sparse sparse;
    ref_setup setup = ref_setup_of_way(&random, 0, ways);
    ref_compress(&sparse, &made->points, &random);
    check_run(made, &sparse.view, points, once, twice, options, &setup, iterations, converged);
    ref_sparse_free(&sparse);
}

static size_t replaced, compared;

static void compare_batches(const ref_case *made, const ref_points *points, ast_random *random, size_t ways) {
    batches b;
    ref_result once, twice;
    int converged;
    size_t most = points->used < 30 || ast_random_below(random, 6) == 0 ? points->used : 30;
    size_t clusters = 1 + (size_t)ast_random_below(random, most < 200 ? most : 200);
    float *means = ref_take(clusters * points->dimension, sizeof *means);
    draw_means(points, clusters, random, means);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_MBSPKM;
    options.axial = points->axial;
    options.start.by = AST_GIVEN;
    options.start.means = means;
    options.start.means_count = clusters;
    options.seed = made->seed;
    options.minibatch.points = ast_random_below(random, 3) ? 1 + (size_t)ast_random_below(random, points->used + 3) : 0;
    options.max_iterations = ast_random_below(random, 3) ? 40 : 1 + (int)ast_random_below(random, 12);
    size_t usual = 10 * clusters > 1024 ? 10 * clusters : 1024;
    batches_open(&b, points, means, clusters, options.minibatch.points ? options.minibatch.points : usual);
    int steps = run_batches(&b, options.seed, options.max_iterations, &converged, &replaced);
    if (are_units(b.means, clusters, points->dimension)) {
        ref_spkm(&once, points, b.means, clusters, 1);
        ref_spkm(&twice, points, b.means, clusters, 2);
        run_ways(made, points, &once, &twice, &options, ways, steps, converged);
        ref_result_free(&once);
        ref_result_free(&twice);
        compared++;
    }
    batches_close(&b);
    free(means);
}

/* ---- DP-vMF-means over a sample
 * -------------------------------------------------------------------------------------- */

/* `count` of the points that take part, as points of their own. */
static void draw_sample(const ref_points *points, uint64_t seed, size_t count, ref_points *sample) {
    ast_random random;
    size_t left = points->used, dimension = points->dimension;
    *sample = *points;
    sample->count = sample->used = 0;
    sample->missed = 0;
    sample->x = ref_take(count * dimension, sizeof *sample->x);
    sample->weight = ref_take(count, sizeof *sample->weight);
    sample->missing = ref_take(count, sizeof *sample->missing);
    ast_random_seed(&random, seed, (uint32_t)-1);
    for (size_t i = 0; i < points->count && sample->count < count; i++)
        if (takes_part(points, i) && ast_random_below(&random, left--) < count - sample->count) {
            memcpy(sample->x + sample->count * dimension, points->x + i * dimension, dimension * sizeof *sample->x);
            sample->weight[sample->count++] = points->weight[i];
        }
    sample->used = sample->count;
}

static void compare_sample(const ref_case *made, const ref_points *points, ast_random *random, size_t ways) {
    ref_points sample;
    ref_result some, once, twice;
    ast_options options = ref_dp_options(made->angle);
    options.axial = points->axial;
    options.seed = made->seed;
    options.dp.sample = 1 + (size_t)ast_random_below(random, points->used - 1);
    options.max_iterations = ast_random_below(random, 4) ? 40 : 1 + (int)ast_random_below(random, 3);
    draw_sample(points, options.seed, options.dp.sample, &sample);
    ref_dp(&some, &sample, options.angle, options.max_iterations, NULL, 0);
    bool comparable =
        !points->axial || made->continuous; /* a mean is returned on either side, which is seen at 90 degrees */
    if (are_units(some.means, some.clusters, points->dimension) && comparable) {
        ref_dp(&once, points, options.angle, 1, some.means, some.clusters);
        ref_dp(&twice, points, options.angle, 2, some.means, some.clusters);
        run_ways(made, points, &once, &twice, &options, ways, some.iterations + 1, some.converged);
        ref_result_free(&once);
        ref_result_free(&twice);
        compared++;
    }
    ref_result_free(&some);
    ref_points_free(&sample);
}

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ref_points points;
    ast_random random;
    ref_case_make(&made, seed, size);
    ref_points_read(&points, &made.points);
    ast_random_seed(&random, seed, 94);
    if (seed % 3 == 0)
        ref_points_turn(&points);
    if (points.used > 1)
        compare_sample(&made, &points, &random, ways);
    if (points.used > 0)
        compare_batches(&made, &points, &random, ways);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void small_cases_equal_the_reference(void **state) {
    (void)state;
    size_t cases = ref_case_count(500);
    ref_check_seeds(check_case, REF_SMALL, 500, 2);
    assert_true(ref_case_only() || (compared > cases && replaced > 0));
}

static void large_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_LARGE, 6, 3);
}

/* With the weights of this seed the unit of sums is 1, as that of counts is. */
static void weights_in_units_of_one(void **state) {
    (void)state;
    check_case(19, REF_LARGE, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_cases_equal_the_reference),
                                       cmocka_unit_test(large_cases_equal_the_reference),
                                       cmocka_unit_test(weights_in_units_of_one)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
