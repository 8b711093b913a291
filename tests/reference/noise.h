/* SPDX-License-Identifier: MIT
 *
 * The noise of a depth sensor again, slowly: every level sorts its numbers. */
#ifndef REF_NOISE_H
#define REF_NOISE_H

#include <stddef.h>
#include <stdint.h>

enum { REF_LEVELS = 64 };

typedef struct ref_noise {
    double jitter, variance[REF_LEVELS], tolerance[REF_LEVELS];
} ref_noise;

/* One per cell: s, squared slope (below 0: shows nothing), variance. */
typedef struct ref_cell {
    double s, slope2, variance;
} ref_cell;

int ref_noise_level(double s);

/* values: (rows, width), those of every fourth row of the image; 0 and what is no depth were left out. */
void ref_noise_find(const ref_cell *cells, size_t count, const uint16_t *values, size_t value_count, double units,
                    double epsilon, ref_noise *noise);

#endif
