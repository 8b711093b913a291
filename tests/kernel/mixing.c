/* SPDX-License-Identifier: MIT
 *
 * The loops of mixtures: every table gives the bits of the plain loops below, on memory that ends at a guard page. */
#include "common.h"
#include "mixing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MEANS = 37, MOST_DIMENSION = 19, MOST_TILE = 128 };

/* A tile and K means, each in guarded memory. */
typedef struct scene {
    ast_tile tile;
    size_t count;
    double *means, *offset, *scale, *weight, *logits;
    float *uniform, *scratch;
    int32_t *labels;
} scene;

static void scene_open(scene *s, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 5);
    size_t dimension = 2 + ast_random_below(&random, seed % 2 ? 3 : MOST_DIMENSION - 1);
    size_t n = AST_LANES << ast_random_below(&random, 5), pitch = n + 3 * (seed % 3);
    s->count = 1 + ast_random_below(&random, MOST_MEANS);
    float *x = guarded(((dimension - 1) * pitch + n) * sizeof *x);
    s->tile = (ast_tile){x, pitch, n, dimension};
    s->means = guarded(s->count * dimension * sizeof *s->means);
    s->offset = guarded(s->count * sizeof *s->offset);
    s->scale = guarded(s->count * sizeof *s->scale);
    s->weight = guarded(n * sizeof *s->weight);
    s->logits = guarded(s->count * n * sizeof *s->logits);
    s->uniform = guarded(n * sizeof *s->uniform);
    s->scratch = guarded(s->count * AST_LANES * sizeof *s->scratch);
    s->labels = guarded(n * sizeof *s->labels);
    for (size_t d = 0; d < dimension; d++)
        for (size_t i = 0; i < n; i++)
            x[d * pitch + i] = (float)ast_random_normal(&random);
    for (size_t j = 0; j < s->count * dimension; j++)
        s->means[j] = ast_random_normal(&random);
    for (size_t k = 0; k < s->count; k++) {
        s->offset[k] = k > 0 && seed % 5 == 0 && k % 3 == 0 ? -INFINITY : 10 * ast_random_normal(&random);
        s->scale[k] = exp(3 * ast_random_normal(&random));
    }
    for (size_t i = 0; i < n; i++) {
        s->weight[i] = i % 5 == 0 ? 0 : 4 * ast_random_uniform(&random);
        s->uniform[i] = i == 0 ? 0 : (float)(ast_random_u64(&random) >> 40) * 0x1p-24f;
    }
}

static double plain_logit(const scene *s, size_t k, size_t i) {
    double sum = 0;
    for (size_t d = 0; d < s->tile.dimension; d++)
        sum += (double)s->tile.x[d * s->tile.pitch + i] * s->means[k * s->tile.dimension + d];
    return s->offset[k] + s->scale[k] * sum;
}

static void check_logits(scene *s, const ast_mixing *loops) {
    loops->logits(&s->tile, s->means, s->offset, s->scale, s->count, s->logits);
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < s->tile.n; i++)
            if (s->logits[k * s->tile.n + i] != plain_logit(s, k, i))
                fail_msg("logit %zu of point %zu is %.17g, should be %.17g", k, i, s->logits[k * s->tile.n + i],
                         plain_logit(s, k, i));
}

static double column_most(const double *logits, size_t count, size_t n, size_t i) {
    double most = -INFINITY;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, logits[k * n + i]);
    return most;
}

/* Against the library's exp, within a few units of the last place. */
static void check_shares(const scene *s, const double *logits, const double *shares, const double *total) {
    size_t n = s->tile.n;
    for (size_t i = 0; i < n; i++) {
        double most = column_most(logits, s->count, n, i), sum = 0;
        for (size_t k = 0; k < s->count; k++)
            sum += exp(logits[k * n + i] - most);
        assert_true(fabs(total[i] / sum - 1) < 1e-14);
        for (size_t k = 0; k < s->count; k++) {
            double expected = exp(logits[k * n + i] - most) / sum, got = shares[k * n + i];
            if (fabs(got - expected) > 2e-15 * expected + 1e-300)
                fail_msg("share %zu of point %zu is %.17g, should be %.17g", k, i, got, expected);
        }
    }
}

/* By the same numbers in double: the label, unless the number drawn lies within the error of a float. */
static void check_labels(const scene *s, const double *logits, const int32_t *labels) {
    size_t n = s->tile.n;
    for (size_t i = 0; i < n; i++) {
        double most = column_most(logits, s->count, n, i), sum = 0, running = 0, margin = 1;
        int32_t expected = -1;
        for (size_t k = 0; k < s->count; k++)
            sum += exp(logits[k * n + i] - most);
        for (size_t k = 0; k < s->count; k++) {
            running += exp(logits[k * n + i] - most) / sum;
            margin = fmin(margin, fabs(running - (double)s->uniform[i]));
            expected = expected < 0 && running > (double)s->uniform[i] ? (int32_t)k : expected;
        }
        assert_in_range(labels[i], 0, s->count - 1);
        assert_true(logits[(size_t)labels[i] * n + i] - most > -88); /* never what is impossible */
        if (margin > 4e-6 && labels[i] != expected)
            fail_msg("point %zu drew %d, should have drawn %d", i, labels[i], expected);
    }
}

static double rounded(double v, double grain) {
    return nearbyint(v / grain) * grain;
}

static void check_sums(const scene *s, const double *part, const double *sums, double grain) {
    size_t n = s->tile.n, width = s->tile.dimension + 1;
    for (size_t k = 0; k < s->count; k++)
        for (size_t d = 0; d < width; d++) {
            double sum = 0.5;
            for (size_t i = 0; i < n; i++) {
                double v = part[k * n + i] * s->weight[i];
                sum += rounded(d < s->tile.dimension ? v * (double)s->tile.x[d * s->tile.pitch + i] : v, grain);
            }
            /* A component that gets no mass is passed over, with what little it has along the axes. */
            if (sums[k * width + d] != sum && fabs(sums[k * width + d] - sum) > 8 * (double)n * grain)
                fail_msg("sum %zu, %zu is %.17g, should be %.17g", k, d, sums[k * width + d], sum);
        }
}

static void every_table_gives_the_same_bits(void **state) {
    (void)state;
    static double first[2][MOST_MEANS * MOST_TILE];
    static int32_t first_labels[MOST_TILE];
    static double first_sums[MOST_MEANS * (MOST_DIMENSION + 2)];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        for (size_t t = 0; all_tables[t]; t++) {
            scene s;
            scene_open(&s, seed);
            const ast_mixing *loops = all_tables[t]->mixing;
            size_t n = s.tile.n, numbers = s.count * n, width = s.tile.dimension + 1;
            double *logits = guarded(numbers * sizeof *logits), *most = guarded(n * sizeof *most);
            double *total = guarded(n * sizeof *total), *sums = guarded(s.count * width * sizeof *sums);
            check_logits(&s, loops);
            memcpy(logits, s.logits, numbers * sizeof *logits);
            loops->draw(s.logits, s.count, n, s.uniform, s.scratch, s.labels);
            check_labels(&s, logits, s.labels);
            loops->normalise(s.logits, s.count, n, most, total);
            check_shares(&s, logits, s.logits, total);
            for (size_t j = 0; j < s.count * width; j++)
                sums[j] = 0.5;
            loops->gather(&s.tile, s.logits, s.weight, s.count, 0x1p-30, sums);
            check_sums(&s, s.logits, sums, 0x1p-30);
            if (t == 0) {
                memcpy(first[0], logits, numbers * sizeof *logits);
                memcpy(first[1], s.logits, numbers * sizeof *logits);
                memcpy(first_labels, s.labels, n * sizeof *first_labels);
                memcpy(first_sums, sums, s.count * width * sizeof *sums);
            }
            assert_memory_equal(first[0], logits, numbers * sizeof *logits);
            assert_memory_equal(first[1], s.logits, numbers * sizeof *logits);
            assert_memory_equal(first_labels, s.labels, n * sizeof *first_labels);
            assert_memory_equal(first_sums, sums, s.count * width * sizeof *sums);
            release_all();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_table_gives_the_same_bits)};
    return cmocka_run_group_tests_name("mixing kernels", tests, NULL, NULL);
}
