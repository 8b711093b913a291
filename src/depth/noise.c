/* SPDX-License-Identifier: MIT
 *
 * Quantiles are taken from counts by bucket, an eighth of an octave wide: the same on every processor, and without
 * sorting. The noise at a distance is the lower quartile over the cells there, so up to three quarters of them may be
 * edges, clutter or curved surfaces. */
#include "noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FEW_CELLS 16    /* a level with fewer cells takes the noise of the nearest level with enough */
#define MOST_JITTER 4.0 /* squared pixels */
#define SLANTED 0x1p-20 /* g^2: flatter cells show no jitter */
#define FEW_VALUES 4    /* below, a level shows no steps */
/* Missing values count as gaps only if the values present have at least this many pixels on average. */
#define PIXELS_A_VALUE 16
/* Tolerance, as a share of a step: above one half, so that two cells on either side of a step can join. */
#define STEPS 0.7
#define LOWEST (-40) /* exponent of the first bucket */
#define PER_OCTAVE 8

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

size_t ast_noise_bucket(double number) {
    int exponent;
    double part = frexp(number, &exponent);
    if (!(number > 0))
        return 0;
    int bucket = PER_OCTAVE * (exponent - 1 - LOWEST) + (int)((part - 0.5) * (2 * PER_OCTAVE));
    return bucket < 0 ? 0 : bucket < AST_NOISE_BUCKETS ? (size_t)bucket : AST_NOISE_BUCKETS - 1;
}

double ast_noise_bucket_upper(size_t bucket) {
    assert(bucket < AST_NOISE_BUCKETS);
    int octave = (int)(bucket / PER_OCTAVE), part = (int)(bucket % PER_OCTAVE) + 1;
    return ldexp(1 + (double)part / PER_OCTAVE, octave + LOWEST);
}

/* The upper bound of the bucket that contains the quantile `area_per_point`. *total: number of entries. Numbers up to
 * 2^-40 count as 0. */
static double quantile(const uint32_t *buckets, double share, size_t *total) {
    size_t seen = 0, b = 0;
    *total = 0;
    for (size_t i = 0; i < AST_NOISE_BUCKETS; i++)
        *total += buckets[i];
    while (b + 1 < AST_NOISE_BUCKETS && (double)(seen + buckets[b]) < share * (double)*total)
        seen += buckets[b++];
    return b == 0 ? 0 : ast_noise_bucket_upper(b);
}

/* ---- Noise ------------------------------------------------------------------------------------------------------- */

/* Jitter is the lower quartile of variance / g^2 over the slanted cells. */
static double find_jitter(ast_noise_counts *counts, const ast_noise_sample *samples, size_t count) {
    uint32_t *buckets = counts->cells[0];
    size_t total;
    memset(buckets, 0, sizeof counts->cells[0]);
    for (size_t i = 0; i < count; i++)
        if (samples[i].slope2 > SLANTED)
            buckets[ast_noise_bucket(samples[i].variance / samples[i].slope2)]++;
    double found = quantile(buckets, 0.25, &total);
    return total < FEW_CELLS ? 0 : found < MOST_JITTER ? found : MOST_JITTER;
}

/* Levels with too few cells (-1) copy the nearest level that has enough; on a tie, the one farther from the camera. */
static void fill_levels(double *levels) {
    double found[AST_NOISE_LEVELS];
    memcpy(found, levels, sizeof found);
    for (size_t k = 0; k < AST_NOISE_LEVELS; k++)
        for (size_t away = 0; levels[k] < 0 && away < AST_NOISE_LEVELS; away++) {
            if (k >= away && found[k - away] >= 0)
                levels[k] = found[k - away];
            else if (k + away < AST_NOISE_LEVELS && found[k + away] >= 0)
                levels[k] = found[k + away];
        }
    for (size_t k = 0; k < AST_NOISE_LEVELS; k++)
        levels[k] = levels[k] < 0 ? 0 : levels[k];
}

void ast_noise_measure(ast_noise *noise, ast_noise_counts *counts, const ast_noise_sample *samples, size_t count) {
    noise->jitter = find_jitter(counts, samples, count);
    memset(counts->cells, 0, sizeof counts->cells);
    for (size_t i = 0; i < count; i++) {
        if (samples[i].slope2 < 0)
            continue;
        double level = samples[i].variance - noise->jitter * samples[i].slope2;
        counts->cells[ast_noise_level(samples[i].s)][ast_noise_bucket(level > 0 ? level : 0)]++;
    }
    for (size_t k = 0; k < AST_NOISE_LEVELS; k++) {
        size_t total;
        double found = quantile(counts->cells[k], 0.25, &total);
        noise->variances[k] = total < FEW_CELLS ? -1 : found;
    }
    fill_levels(noise->variances);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Increasing values mean decreasing s, so the values of one level are consecutive. */
void ast_noise_set_tolerances(ast_noise *noise, ast_noise_counts *counts, double units_per_metre, double epsilon) {
    size_t pixels[AST_NOISE_LEVELS] = {0}, values[AST_NOISE_LEVELS] = {0}, before = AST_NOISE_LEVELS;
    double last = 0;
    memset(counts->cells, 0, sizeof counts->cells);
    for (size_t value = 1; value <= UINT16_MAX; value++) {
        if (counts->values[value] == 0)
            continue;
        double s = units_per_metre / (double)value;
        size_t level = ast_noise_level(s);
        pixels[level] += counts->values[value];
        values[level]++;
        if (level == before)
            counts->cells[level][ast_noise_bucket(last - s)]++;
        before = level;
        last = s;
    }
    for (size_t k = 0; k < AST_NOISE_LEVELS; k++) {
        size_t total;
        double step = values[k] >= FEW_VALUES && pixels[k] >= PIXELS_A_VALUE * values[k]
                          ? quantile(counts->cells[k], 0.5, &total)
                          : 0;
        noise->tolerances[k] = STEPS * step > epsilon ? STEPS * step : epsilon;
    }
}
