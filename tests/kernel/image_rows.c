/* SPDX-License-Identifier: MIT */
#include "image_rows.h"

#include <math.h>
#include <string.h>

const ast_image_kernels *image_tables[3];

int find_image_tables(void **state) {
    (void)state;
    for (size_t i = 0; all_tables[i]; i++) {
        image_tables[i] = ast_image_kernels_choose(all_tables[i]->name);
        if (strcmp(image_tables[i]->name, all_tables[i]->name) != 0)
            return 1;
    }
    return 0;
}

float *row_of(ast_random *random, size_t n, size_t side, float (*make)(ast_random *)) {
    float *row = guarded_floats(NULL, side + padded(n) + side);
    for (size_t i = 0; i < side + padded(n) + side; i++)
        row[i] = make(random);
    return row + side;
}

float any_s(ast_random *random) {
    return ast_random_below(random, 4) == 0 ? 0 : (float)(0.3 + 0.05 * ast_random_uniform(random));
}

float any_number(ast_random *random) {
    return (float)ast_random_normal(random);
}

float any_positive(ast_random *random) {
    return (float)ast_random_uniform(random);
}

float any_count(ast_random *random) {
    return (float)ast_random_below(random, 16);
}

void same_floats(const float *got, const float *expected, size_t n, const char *what, const char *table) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(expected[i])))
            fail_msg("%s of %s: number %zu of %zu is %.9g, should be %.9g", what, table, i, n, got[i], expected[i]);
}
