/* SPDX-License-Identifier: MIT
 *
 * Sequences of frames: every order and type of array, several in one pipe, and frames that are not whole. */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 3, N = 4, D = 2 };

/* Element (t, i, d) of the arrays of these tests. */
static double expected(size_t t, size_t i, size_t d) {
    return 100.0 * (double)t + 10.0 * (double)i + (double)d + 1;
}

/* An array of T x N x D; `flat`: its first frame alone, as N x D. Returns its size. */
static size_t make_array(unsigned char *bytes, char order, size_t item, bool fortran, bool flat) {
    unsigned char data[T * N * D * 8];
    char dictionary[128];
    size_t frames = flat ? 1 : T;
    for (size_t t = 0; t < frames; t++)
        for (size_t i = 0; i < N; i++)
            for (size_t d = 0; d < D; d++) {
                size_t place = fortran ? t + frames * (i + N * d) : (t * N + i) * D + d;
                put_number(data + place * item, order, 'f', item, expected(t, i, d));
            }
    snprintf(dictionary, sizeof dictionary, "{'descr': '%cf%zu', 'fortran_order': %s, 'shape': %s, }", order, item,
             fortran ? "True" : "False", flat ? "(4, 2)" : "(3, 4, 2)");
    return make_npy(bytes, 1, dictionary, data, frames * N * D * item);
}

static void expect_frame(ast_frames *frames, size_t t) {
    ast_input_frame frame;
    ast_format_error error;
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    ast_points points = frame.points;
    assert_int_equal(points.count, N);
    assert_int_equal(points.dimension, D);
    for (size_t i = 0; i < N; i++) {
        double row[D];
        ast_points_row(&points, i, row);
        for (size_t d = 0; d < D; d++) {
            assert_true(points.type == AST_F2 || element(&points, i, d) == expected(t, i, d));
            assert_true(row[d] == expected(t, i, d));
        }
    }
}

static void expect_end(ast_frames *frames) {
    ast_input_frame frame;
    ast_format_error error;
    assert_int_equal(ast_frames_next(frames, &frame, &error), 0);
    close_frames(frames);
}

static ast_frames *open_table(const char *path) {
    ast_format_error error;
    ast_frames *frames = open_frames((const char *const[]){path, NULL}, AST_AS_NAMED, NULL, &error);
    assert_non_null(frames);
    return frames;
}

/* Standard input becomes the file. */
static ast_frames *open_standard(const void *bytes, size_t size, const ast_frames_options *options) {
    ast_format_error error;
    write_bytes("input", bytes, size);
    assert_non_null(freopen("input", "rb", stdin));
    lseek(STDIN_FILENO, 0, SEEK_SET);
    ast_frames *frames = open_frames((const char *const[]){"-", NULL}, AST_AS_NAMED, options, &error);
    assert_non_null(frames);
    assert_true(ast_frames_count(frames) == SIZE_MAX);
    return frames;
}

static void arrays(void **state) {
    (void)state;
    static const size_t items[] = {2, 4, 8};
    unsigned char bytes[2048];
    for (size_t kind = 0; kind < ITEMS(items) * 8; kind++) {
        bool fortran = kind & 1, flat = kind & 2;
        size_t size = make_array(bytes, kind & 4 ? '>' : '<', items[kind / 8], fortran, flat);
        write_bytes("a.npy", bytes, size);
        ast_frames *frames = open_table("a.npy");
        assert_non_null(frames);
        assert_int_equal(ast_frames_single(&(ast_input_file){.path = "a.npy", .format = ast_format_of("a.npy", NULL)}),
                         flat);
        for (size_t t = 0; t < (flat ? 1 : T); t++)
            expect_frame(frames, t);
        expect_end(frames);
        /* Twice in a row through standard input */
        memcpy(bytes + size, bytes, size);
        frames = open_standard(bytes, 2 * size, NULL);
        for (int twice = 0; twice < 2; twice++)
            for (size_t t = 0; t < (flat ? 1 : T); t++)
                expect_frame(frames, t);
        expect_end(frames);
    }
}

static void skipping(void **state) {
    (void)state;
    unsigned char bytes[1024];
    ast_format_error error;
    for (int fortran = 0; fortran < 2; fortran++) {
        write_bytes("a.npy", bytes, make_array(bytes, '<', 4, fortran, false));
        ast_frames *frames = open_table("a.npy");
        assert_non_null(frames);
        assert_true(ast_frames_skip(frames, 2, &error));
        expect_frame(frames, 2);
        expect_end(frames);
        frames = open_table("a.npy");
        assert_true(ast_frames_skip(frames, UINT64_MAX, &error));
        expect_end(frames);
    }
}

static void raw_frames(void **state) {
    (void)state;
    float data[T * N * D];
    for (size_t i = 0; i < ITEMS(data); i++)
        data[i] = (float)expected(i / (N * D), i / D % N, i % D);
    ast_frames *frames = open_standard(data, sizeof data, &(ast_frames_options){.raw_points = N, .raw_dimension = D});
    for (size_t t = 0; t < T; t++)
        expect_frame(frames, t);
    expect_end(frames);
}

/* Wherever the input is cut, the frames that are whole come first, and then a sentence. */
static void cut_short(void **state) {
    (void)state;
    unsigned char bytes[1024];
    size_t size = make_array(bytes, '<', 4, false, true);
    memcpy(bytes + size, bytes, size);
    for (size_t cut = size + 1; cut < 2 * size; cut++) {
        ast_input_frame frame;
        ast_format_error error;
        ast_frames *frames = open_standard(bytes, cut, NULL);
        expect_frame(frames, 0);
        assert_int_equal(ast_frames_next(frames, &frame, &error), -1);
        assert_non_null(strstr(error.text, "standard input: frame 1"));
        close_frames(frames);
    }
}

static void without_points(void **state) {
    (void)state;
    static const char *const shapes[] = {"(0, 3)", "(2, 0, 3)", "(0, 5, 3)"};
    static const size_t counts[] = {1, 2, 0};
    ast_format_error error;
    ast_input_frame frame;
    for (size_t s = 0; s < ITEMS(shapes); s++) {
        unsigned char bytes[256];
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shapes[s]);
        write_bytes("e.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 0));
        ast_frames *frames = open_table("e.npy");
        assert_non_null(frames);
        for (size_t t = 0; t < counts[s]; t++) {
            assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
            assert_true(frame.points.count == 0 && frame.points.dimension == 3);
        }
        expect_end(frames);
    }
    write_text("e.csv", "# nothing\n\n");
    ast_frames *frames = open_table("e.csv");
    assert_non_null(frames);
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    assert_true(frame.points.count == 0 && frame.points.dimension == 0);
    expect_end(frames);
    /* Elsewhere a text without rows is still an error. */
    ast_input input;
    assert_false(ast_input_open(&input, "e.csv", NULL, &error));
    assert_non_null(strstr(error.text, "e.csv"));
}

/* What a killed process left beside the file is taken away by the next one that writes it. */
static void leftovers(void **state) {
    (void)state;
    ast_format_error error;
    write_text(".x.state.tmp", "left behind");
    size_t before = count_entries();
    ast_output *output = ast_output_open_sole("x.state", false, &error);
    assert_non_null(output);
    assert_true(ast_output_write(output, "new", 3, &error) && ast_output_commit(output, &error));
    assert_int_equal(count_entries(), before);
    assert_int_not_equal(access(".x.state.tmp", F_OK), 0);
    unsigned char *bytes;
    size_t size;
    assert_true(ast_read_file("x.state", &bytes, &size, &error));
    assert_true(size == 3 && memcmp(bytes, "new", 3) == 0);
    free(bytes);
    assert_false(ast_read_file(null_device(), &bytes, &size, &error));
    assert_null(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays),    cmocka_unit_test(skipping),       cmocka_unit_test(raw_frames),
        cmocka_unit_test(cut_short), cmocka_unit_test(without_points), cmocka_unit_test(leftovers),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
