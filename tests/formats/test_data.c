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

/* ---- Depth images ------------------------------------------------------------------------------------------------ */

typedef struct depth_input {
    const char *path;
    size_t count;
    const char *first, *last; /* the ends of their paths */
    bool png;
} depth_input;

static const depth_input depth_inputs[] = {
    {"icsl_hallway/depth", 110, "/0000000121.png", "/0000000230.png", true},
    {"tum_fr3_cabinet", 58, "/depth/0000_depth_raw.png", "_depth_raw.png", true},
    {"icl_office_kt3", 50, "/depth/50.png", "/depth/99.png", true},
    {"depth_singles/MIT_hallway_0_d.png", 1, "MIT_hallway_0_d.png", "MIT_hallway_0_d.png", true},
    {"depth_singles/MIT_hallway_1_d.png", 1, "MIT_hallway_1_d.png", "MIT_hallway_1_d.png", true},
    {"depth_singles/slambook2_ch5/1.pgm", 1, "1.pgm", "1.pgm", false},
    {"depth_singles/slambook2_ch5", 2, "1.pgm", "2.pgm", false},
};

static void expect_ending(const char *text, const char *ending) {
    size_t length = strlen(text), size = strlen(ending);
    if (length < size || strcmp(text + length - size, ending) != 0)
        fail_msg("%s does not end in %s", text, ending);
}

/* All of these cameras see something, from near to some metres, in most of their 640 x 480 pixels. */
static void check_depth(const ast_input_frame *frame) {
    size_t seen = 0, count = frame->image.width * frame->image.height;
    assert_true(frame->image.width == 640 && frame->image.height == 480);
    for (size_t i = 0; i < count; i++)
        seen += frame->image.values[i] > 300 && frame->image.values[i] < 60000;
    if (seen < count / 3)
        fail_msg("%s: only %zu pixels have a depth", frame->source, seen);
}

static void depth_frames(void **state) {
    (void)state;
    if (!have_data())
        skip();
    for (size_t f = 0; f < ITEMS(depth_inputs); f++) {
        const depth_input *input = &depth_inputs[f];
        char path[4096];
        ast_format_error error;
        ast_input_frame frame;
        size_t count = 0;
        int found = 1;
        if (input->png && !ASTERISM_HAVE_PNG)
            continue;
        snprintf(path, sizeof path, ASTERISM_SHARED "/data/%s", input->path);
        ast_frames *frames = open_frames((const char *const[]){path, NULL}, AST_AS_NAMED, NULL, &error);
        assert_non_null(frames);
        assert_true(opened_list.depth);
        assert_int_equal(ast_frames_count(frames), input->count);
        expect_ending(opened_list.files[0].path, input->first);
        expect_ending(opened_list.files[input->count - 1].path, input->last);
        while ((found = ast_frames_next(frames, &frame, &error)) > 0) {
            check_depth(&frame);
            count++;
        }
        if (found < 0)
            fail_msg("%s", error.text);
        assert_int_equal(count, input->count);
        close_frames(frames);
    }
}

static void colour_frames(void **state) {
    (void)state;
    if (!have_data())
        skip();
    static const char *const paths[] = {"icsl_hallway/rgb/0000000121.png", "depth_singles/MIT_hallway_0_rgb.png",
                                        "icl_office_kt3/rgb/50.png"};
    ast_depth_pixels pixels = {0};
    for (size_t f = 0; f < ITEMS(paths) && ASTERISM_HAVE_PNG; f++) {
        char path[4096];
        ast_format_error error;
        snprintf(path, sizeof path, ASTERISM_SHARED "/data/%s", paths[f]);
        assert_false(ast_depth_read(&pixels, path, &error));
        assert_non_null(strstr(error.text, "is a PNG of 8-bit RGB; a depth image has 16-bit greyscale"));
    }
    ast_pixels_free(&pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(transposed_sphere),
                                       cmocka_unit_test(digits), cmocka_unit_test(depth_frames),
                                       cmocka_unit_test(colour_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
