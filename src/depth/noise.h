/* SPDX-License-Identifier: MIT
 *
 * The noise of a depth sensor, estimated from one image: how far a pixel is from the plane that it lies on, in inverse
 * depth, as a function of inverse depth s and of the slope g of s in the image, per pixel:
 *
 *     variance(s, g) = level(s) + jitter g^2.
 *
 * Time of flight, stereo and structured light differ in how the noise grows with the distance; the levels are therefore
 * found for each quarter of an octave of s. The second term is lateral noise: the sensor measures slightly beside the
 * ray of the pixel, which matters on slanted surfaces only.
 *
 * Structured light and stereo also measure in steps, and far away one step covers a whole cell, which then shows no
 * noise at all. The step is the gap between the values that occur in the image. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Quarters of an octave of s, from 2^-8 to 2^8 per metre; those beyond count as the last. */
#define AST_NOISE_LEVELS 64
#define AST_NOISE_BUCKETS 384 /* eighths of an octave of variances and gaps, from 2^-40 to 2^8 */

typedef struct ast_noise {
    double jitter;                       /* squared pixels */
    double variances[AST_NOISE_LEVELS];  /* level(s) */
    double tolerances[AST_NOISE_LEVELS]; /* largest accepted deviation from a plane even without noise; at least the
                                            epsilon of the options */
} ast_noise;

/* Working memory of the estimate. */
typedef struct ast_noise_counts {
    uint32_t cells[AST_NOISE_LEVELS][AST_NOISE_BUCKETS]; /* cells by variance, or gaps by width */
    uint32_t values[UINT16_MAX + 1];                     /* pixels by value */
} ast_noise_counts;

/* A cell of the image that may lie on a plane: its s, g^2, and the variance of its pixels around their plane. */
typedef struct ast_noise_sample {
    double s, slope2, variance;
} ast_noise_sample;

/* The level of s >= 0, by the bits of the number: 11 of its exponent before 52 of its fraction. */
static inline size_t ast_noise_level(double s) {
    static const uint64_t quarters[3] = {0x306fe0a31b715, 0x6a09e667f3bcd, 0xae89f995ad3ad}; /* 2^0.25 - 1, .. */
    uint64_t bits, fraction;
    memcpy(&bits, &s, sizeof bits);
    fraction = bits & (((uint64_t)1 << 52) - 1);
    int64_t octave = (int64_t)(bits >> 52) - 1023 + 8;
    size_t quarter = (size_t)(fraction >= quarters[0]) + (fraction >= quarters[1]) + (fraction >= quarters[2]);
    return octave < 0 ? 0 : octave >= AST_NOISE_LEVELS / 4 ? AST_NOISE_LEVELS - 1 : 4 * (size_t)octave + quarter;
}

static inline double ast_noise_variance(const ast_noise *noise, double s, double slope2) {
    return noise->variances[ast_noise_level(s)] + noise->jitter * slope2;
}

static inline double ast_noise_tolerance(const ast_noise *noise, double s) {
    return noise->tolerances[ast_noise_level(s)];
}

#define AST_BENT 0.25 /* how much the sensor may bend a plane from one end to the other, in tolerances */

/* Error, in s, of a plane fitted to n pixels, at its ends: sensor bending and three standard deviations of the noise,
 * added in squares. */
static inline double ast_noise_fit_error(const ast_noise *noise, double s, double slope2, double n) {
    double bent = AST_BENT * ast_noise_tolerance(noise, s);
    return sqrt(bent * bent + 9 * ast_noise_variance(noise, s, slope2) / n);
}

/* The bucket of a number of at least 0, and the upper bound of a bucket. */
size_t ast_noise_bucket(double number);
double ast_noise_bucket_upper(size_t bucket);

/* Estimates variances and jitter from the samples. Samples with slope2 < 0 are ignored. */
void ast_noise_measure(ast_noise *noise, ast_noise_counts *counts, const ast_noise_sample *samples, size_t count);

/* Sets tolerances: the epsilon of the options, or more where depth values are quantised in wide steps.
 * counts->values[value] is the number of pixels with each value. */
void ast_noise_set_tolerances(ast_noise *noise, ast_noise_counts *counts, double units_per_metre, double epsilon);
