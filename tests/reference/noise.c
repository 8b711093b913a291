/* SPDX-License-Identifier: MIT */
#include "reference/noise.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>

int ref_noise_level(double s) {
    double level = s > 0 ? floor(4 * log2(s)) + 32 : 0;
    return (int)fmin(fmax(level, 0), REF_LEVELS - 1);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Of the numbers, the first that at least `share` of all do not exceed, rounded up to an eighth of its octave; numbers
 * in the first eighth above 2^-40, and below, are 0. Octaves from 2^8 on count as the last eighth before. */
static double quantile(double *numbers, size_t count, double share) {
    if (count == 0)
        return 0;
    qsort(numbers, count, sizeof *numbers, ascending);
    size_t index = (size_t)ceil(share * (double)count);
    double found = fmin(numbers[index > 0 ? index - 1 : 0], 0x1.ep7);
    if (found < 0x1p-40 * 1.125)
        return 0;
    double octave = exp2(floor(log2(found)));
    return octave * (1 + (floor((found / octave - 1) * 8) + 1) / 8);
}

static double find_jitter(const ref_cell *cells, size_t count, double *numbers) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (cells[i].slope2 > 0x1p-20)
            numbers[n++] = cells[i].variance / cells[i].slope2;
    return n < 16 ? 0 : fmin(quantile(numbers, n, 0.25), 4);
}

/* The nearest level that knows; of two, that of the smaller s. */
static double nearest_known(const double *levels, int k) {
    for (int away = 0; away < REF_LEVELS; away++) {
        if (k - away >= 0 && levels[k - away] >= 0)
            return levels[k - away];
        if (k + away < REF_LEVELS && levels[k + away] >= 0)
            return levels[k + away];
    }
    return 0;
}

static double find_step(const uint8_t *there, size_t pixels, int level, double units, double *numbers) {
    size_t values = 0, n = 0;
    double last = 0;
    for (int value = 1; value <= UINT16_MAX; value++) {
        double s = units / value;
        if (!there[value] || ref_noise_level(s) != level)
            continue;
        if (values++ > 0)
            numbers[n++] = last - s;
        last = s;
    }
    return values >= 4 && pixels >= 16 * values ? quantile(numbers, n, 0.5) : 0;
}

void ref_noise_find(const ref_cell *cells, size_t count, const uint16_t *values, size_t value_count, double units,
                    double epsilon, ref_noise *noise) {
    double *numbers = ref_take(count + UINT16_MAX + 1, sizeof *numbers), levels[REF_LEVELS];
    uint8_t *there = ref_take(UINT16_MAX + 1, sizeof *there);
    for (size_t i = 0; i <= UINT16_MAX; i++)
        there[i] = 0;
    noise->jitter = find_jitter(cells, count, numbers);
    size_t pixels[REF_LEVELS] = {0};
    for (size_t i = 0; i < value_count; i++) {
        there[values[i]] = 1;
        pixels[ref_noise_level(units / values[i])]++;
    }
    for (int k = 0; k < REF_LEVELS; k++) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (cells[i].slope2 >= 0 && ref_noise_level(cells[i].s) == k)
                numbers[n++] = fmax(0, cells[i].variance - noise->jitter * cells[i].slope2);
        levels[k] = n < 16 ? -1 : quantile(numbers, n, 0.25);
    }
    for (int k = 0; k < REF_LEVELS; k++) {
        noise->variance[k] = nearest_known(levels, k);
        noise->tolerance[k] = pixels[k] ? fmax(epsilon, 0.7 * find_step(there, pixels[k], k, units, numbers)) : epsilon;
    }
    free(numbers);
    free(there);
}
