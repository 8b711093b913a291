/* SPDX-License-Identifier: MIT
 *
 * Real files, where the shared data are there: odd separators, comments, line ends and words. */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct data_file {
    const char *path, *columns;
    bool transpose;
    size_t count, dimension;
    double first; /* the first number */
} data_file;

static const data_file files[] = {
    {"glove_words/glove6b_100d_top10k.txt", "2-101", false, 10000, 100, -0.038194},
    {"directional_misc/rndSphereDataIwUncertain.csv", NULL, true, 10000, 3, 0.126668},
    {"geology/mplstereonet_kinematic_data1.txt", NULL, false, 200, 2, 72},
    {"geology/mplstereonet_normal_vectors.txt", NULL, false, 64, 3, -0.3868049147416790512},
    {"geology/pmagpy_revtest_example.txt", NULL, false, 91, 2, 187.3},
    {"geology/rjs_dirbuz_buz.txt", NULL, false, 126, 2, 282},
    {"geology/rjs_my_set.txt", NULL, false, 300, 2, 7.8},
    {"geology/apsg_structures.csv", "3-4", false, 253, 2, 113},
    {"rotations/tum_fr1_rpy_accelerometer.txt", "2-4", false, 14070, 3, 0.682514},
    {"rotations/tum_fr1_rpy_groundtruth.txt", "5-8", false, 2742, 4, 0.6504},
};

static bool have_data(void) {
    if (access(ASTERISM_SHARED "/data", R_OK) == 0)
        return true;
    print_message("skipped: the shared data are not at " ASTERISM_SHARED "/data\n");
    return false;
}

static void tables(void **state) {
    (void)state;
    if (!have_data())
        skip();
    for (size_t f = 0; f < ITEMS(files); f++) {
        char path[4096];
        snprintf(path, sizeof path, ASTERISM_SHARED "/data/%s", files[f].path);
        ast_input_options options = {.columns = files[f].columns, .transpose = files[f].transpose};
        ast_input input;
        ast_format_error error;
        if (!ast_input_open(&input, path, &options, &error))
            fail_msg("%s", error.text);
        if (input.points.count != files[f].count || input.points.dimension != files[f].dimension)
            fail_msg("%s: %zu x %zu", files[f].path, input.points.count, input.points.dimension);
        assert_true(element(&input.points, 0, 0) == (double)(float)files[f].first);
        for (size_t i = 0; i < input.points.count; i++)
            for (size_t d = 0; d < input.points.dimension; d++)
                assert_true(isfinite(element(&input.points, i, d)));
        ast_input_close(&input);
    }
}

/* The vectors of the authors' sphere are unit vectors only if it is read the right way round. */
static void transposed_sphere(void **state) {
    (void)state;
    if (!have_data())
        skip();
    ast_input_options options = {.transpose = true};
    ast_input input;
    ast_format_error error;
    assert_true(ast_input_open(&input, ASTERISM_SHARED "/data/directional_misc/rndSphereDataIwUncertain.csv", &options,
                               &error));
    for (size_t i = 0; i < input.points.count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++)
            square += element(&input.points, i, d) * element(&input.points, i, d);
        assert_true(fabs(square - 1) < 1e-4);
    }
    ast_input_close(&input);
}

static void digits(void **state) {
    (void)state;
#if !ASTERISM_HAVE_ZLIB
    print_message("skipped: this build has no zlib\n");
    skip();
#endif
    if (!have_data())
        skip();
    const char *path = ASTERISM_SHARED "/data/digits/digits.csv.gz";
    ast_input_options options = {.columns = "65"};
    int32_t *labels;
    size_t count;
    ast_format_error error;
    assert_true(ast_read_labels(path, &options, &labels, &count, &error));
    assert_int_equal(count, 1797);
    for (size_t i = 0; i < count; i++)
        assert_in_range(labels[i], 0, 9);
    free(labels);
    options.columns = "1-64";
    ast_input input;
    assert_true(ast_input_open(&input, path, &options, &error));
    assert_true(input.points.count == 1797 && input.points.dimension == 64);
    ast_input_close(&input);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(transposed_sphere),
                                       cmocka_unit_test(digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
