/* SPDX-License-Identifier: MIT
 *
 * .npy: every type, order and byte order comes back as it was written, by map, memory and pipe; a header that lies is
 * refused before anything is allocated; no cut file crashes. */
#include "helpers.h"

#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define ROWS 5
#define WIDTH 4

static double value_at(size_t i, size_t d) {
    return ((double)i - 1.5) * 0.25 + (double)d;
}

/* A file of ROWS x WIDTH numbers. `padding` shifts where the numbers begin. */
static size_t make_points(unsigned char *bytes, int major, char order, size_t item, bool fortran, int padding) {
    unsigned char data[ROWS * WIDTH * 8];
    char dictionary[256];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t d = 0; d < WIDTH; d++)
            put_number(data + (fortran ? d * ROWS + i : i * WIDTH + d) * item, order, 'f', item, value_at(i, d));
    snprintf(dictionary, sizeof dictionary, "{'descr': '%cf%zu', 'fortran_order': %s, 'shape': (%d, %d), }%*s\n", order,
             item, fortran ? "True" : "False", ROWS, WIDTH, padding, "");
    return make_npy(bytes, major, dictionary, data, ROWS * WIDTH * item);
}

static double half_value(const void *place) {
    uint16_t bits;
    memcpy(&bits, place, 2);
    double size = (1024 + (bits & 1023)) * 0x1p-25 * (double)(1u << (bits >> 10 & 31));
    return (bits & 0x7FFF) == 0 ? 0 : bits >> 15 ? -size : size;
}

static void check_points(const ast_points *points, size_t item) {
    assert_int_equal(points->count, ROWS);
    assert_int_equal(points->dimension, WIDTH);
    assert_int_equal(points->type, item == 2 ? AST_F2 : item == 4 ? AST_F4 : AST_F8);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t d = 0; d < WIDTH; d++) {
            const char *place =
                (const char *)points->data + (ptrdiff_t)i * points->row_stride + (ptrdiff_t)d * points->column_stride;
            assert_int_equal((uintptr_t)place % item, 0);
            assert_true((item == 2 ? half_value(place) : element(points, i, d)) == value_at(i, d));
        }
}

static void all_types_and_orders(void **state) {
    (void)state;
    const char orders[] = "<>=|";
    unsigned char bytes[1024];
    ast_format_error error;
    for (int major = 1; major <= 3; major++)
        for (size_t o = 0; o < 4; o++)
            for (size_t item = 2; item <= 8; item *= 2)
                for (int variant = 0; variant < 6; variant++) {
                    size_t size = make_points(bytes, major, orders[o], item, variant & 1, variant / 2);
                    write_bytes("points.npy", bytes, size);
                    ast_input input;
                    if (!ast_input_open(&input, "points.npy", NULL, &error))
                        fail_msg("%s", error.text);
                    check_points(&input.points, item);
                    ast_input_close(&input);
                    ast_input_options options = {.format = "npy"};
                    assert_true(ast_input_open_memory(&input, "memory", bytes, size, &options, &error));
                    check_points(&input.points, item);
                    ast_input_close(&input);
                }
}

static void native_files_are_mapped(void **state) {
    (void)state;
    unsigned char bytes[1024];
    ast_format_error error;
    ast_input input;
    int padding = 0;
    size_t size = make_points(bytes, 1, '=', 4, false, 0);
    while ((size - ROWS * WIDTH * 4) % 4 != 0)
        size = make_points(bytes, 1, '=', 4, false, ++padding);
    write_bytes("points.npy", bytes, size);
    assert_true(ast_input_open(&input, "points.npy", NULL, &error));
    assert_non_null(input.body.mapped);
    assert_null(input.body.owned);
    ast_input_close(&input);
    write_bytes("points.npy", bytes, make_points(bytes, 1, '>', 4, false, padding));
    assert_true(ast_input_open(&input, "points.npy", NULL, &error));
    assert_null(input.body.mapped); /* the other byte order is converted, and the file let go */
    ast_input_close(&input);
}

static void columns_and_transpose(void **state) {
    (void)state;
    static const struct {
        const char *columns;
        size_t count, picked[4];
        bool copied;
    } cases[] = {{"2-3", 2, {1, 2}, false}, {"1,3", 2, {0, 2}, false},     {"4,3,2", 3, {3, 2, 1}, false},
                 {"2", 1, {1}, false},      {"1,2,4", 3, {0, 1, 3}, true}, {"4,1-2", 3, {3, 0, 1}, true}};
    unsigned char bytes[1024];
    ast_format_error error;
    for (size_t c = 0; c < ITEMS(cases); c++)
        for (int variant = 0; variant < 4; variant++) {
            bool fortran = variant & 1, transpose = variant & 2;
            write_bytes("points.npy", bytes, make_points(bytes, 1, '<', 8, fortran, 0));
            ast_input_options options = {.columns = cases[c].columns, .transpose = transpose};
            ast_input input;
            if (!ast_input_open(&input, "points.npy", &options, &error))
                fail_msg("%s", error.text);
            const ast_points *points = &input.points;
            assert_int_equal(transpose ? points->dimension : points->count, ROWS);
            assert_int_equal(transpose ? points->count : points->dimension, cases[c].count);
            assert_true(!cases[c].copied || (input.body.owned && !input.body.mapped));
            for (size_t i = 0; i < ROWS; i++)
                for (size_t d = 0; d < cases[c].count; d++)
                    assert_true((transpose ? element(points, d, i) : element(points, i, d)) ==
                                value_at(i, cases[c].picked[d]));
            ast_input_close(&input);
        }
}

static void refuses(const char *dictionary, size_t data_size, const char *part) {
    unsigned char bytes[2048];
    size_t size = make_npy(bytes, 1, dictionary, NULL, data_size);
    ast_input_options options = {.format = "npy"};
    ast_format_error error = {""};
    ast_input input;
    write_bytes("bad.npy", bytes, size);
    if (ast_input_open(&input, "bad.npy", NULL, &error))
        fail_msg("opened: %s", dictionary);
    if (!strstr(error.text, part) || strncmp(error.text, "bad.npy: ", 9) != 0)
        fail_msg("\"%s\" lacks \"%s\"", error.text, part);
    assert_false(ast_input_open_memory(&input, "bad.npy", bytes, size, &options, &error));
    ast_input_close(&input);
}

static void lying_headers(void **state) {
    (void)state;
#define HEADER(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"
    refuses(HEADER("<f4", "(1000000000, 3)"), 24,
            "promises shape (1000000000, 3) of '<f4', 12000000000 bytes, but only 24");
    refuses(HEADER("<f4", "(2, 3)"), 23, "only 23 follow");
    refuses(HEADER("<f4", "(2, 3)"), 25, "but 25 follow");
    refuses(HEADER("<f8", "(4611686018427387904, 4)"), 24, "larger than any memory");
    refuses(HEADER("<f8", "(2305843009213693951, 1)"), 24, "larger than any memory");
    refuses(HEADER("<f4", "(99999999999999999999999, 4)"), 24, "cannot be understood");
    refuses(HEADER("<f4", "(0, 3)"), 0, "holds no points");
    refuses(HEADER("<f4", "(0, 9223372036854775807)"), 0, "holds no points");
    refuses(HEADER("<f4", "(6,)"), 24, "shape (6,); points need two dimensions");
    refuses(HEADER("<f4", "()"), 4, "shape (); points need");
    refuses(HEADER("<f4", "(1, 1, 2, 3)"), 24, "shape (1, 1, 2, 3); points need");
    refuses(HEADER("<i4", "(2, 3)"), 24, "type '<i4'; points need f2, f4, f8 or i1");
    refuses(HEADER("<c8", "(2, 3)"), 48, "type '<c8'");
    refuses(HEADER("<f3", "(2, 3)"), 18, "type '<f3'");
    refuses(HEADER("<f16", "(2, 3)"), 96, "type '<f16'");
    refuses(HEADER("", "(2, 3)"), 24, "type ''");
    refuses(HEADER("<f4", "(-2, 3)"), 24, "cannot be understood");
    refuses(HEADER("<f4", "(1,1,1,1,1,1,1,2,3)"), 24, "cannot be understood");
    refuses(HEADER("<f4", "(2, 3"), 24, "cannot be understood");
    refuses("{'descr': [('x', '<f4'), ('y', '<f4')], 'fortran_order': False, 'shape': (2, 3), }\n", 48, "one type");
    refuses("{'descr': '<f4', 'shape': (2, 3), }\n", 24, "fortran_order");
    refuses("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }\n", 24, "cannot be understood");
    refuses("", 24, "empty");
    refuses("no dictionary at all", 24, "cannot be understood");
}

static void unusual_headers_are_read(void **state) {
    (void)state;
    static const char *const headers[] = {
        "{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\"<f4\"}",
        "{ 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 2 , 3 , ) , }      \n",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (2, 3)}\n"};
    unsigned char bytes[512];
    ast_format_error error;
    for (size_t h = 0; h < ITEMS(headers); h++) {
        ast_input_options options = {.format = "npy"};
        ast_input input;
        size_t size = make_npy(bytes, 2, headers[h], NULL, 24);
        if (!ast_input_open_memory(&input, "odd.npy", bytes, size, &options, &error))
            fail_msg("%s", error.text);
        assert_int_equal(input.points.count, 2);
        assert_int_equal(input.points.dimension, 3);
        ast_input_close(&input);
    }
}

static void other_files_are_refused(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    write_text("bad.npy", "1,2,3\n4,5,6\n");
    assert_false(ast_input_open(&input, "bad.npy", NULL, &error));
    assert_non_null(strstr(error.text, "is no .npy file"));
    write_bytes("bad.npy", "\x93NUMPY\x04\x00\x10\x00{'descr': '<f4', 'shape'", 32);
    assert_false(ast_input_open(&input, "bad.npy", NULL, &error));
    assert_non_null(strstr(error.text, "version 4.0"));
    write_bytes("bad.npy", "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{'descr': '<f4'", 28);
    assert_false(ast_input_open(&input, "bad.npy", NULL, &error));
    assert_non_null(strstr(error.text, "4294967295 bytes"));
    write_bytes("bad.npy", "", 0);
    assert_false(ast_input_open(&input, "bad.npy", NULL, &error));
    assert_false(ast_input_open(&input, "absent.npy", NULL, &error));
    assert_string_equal(error.text, "absent.npy: cannot be opened: No such file or directory");
    assert_false(ast_input_open(&input, ".", &(ast_input_options){.format = "npy"}, &error));
    assert_non_null(strstr(error.text, "is a folder"));
}

/* Cut anywhere, the file is refused; the bytes are on the heap, so that reading past them shows. */
static void cut_at_every_byte(void **state) {
    (void)state;
    unsigned char bytes[1024];
    ast_input_options options = {.format = "npy"};
    ast_format_error error;
    ast_input input;
    size_t size = make_points(bytes, 2, '<', 4, false, 0);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        assert_false(ast_input_open_memory(&input, "cut.npy", part, cut, &options, &error));
        assert_non_null(strstr(error.text, "cut.npy: "));
        free(part);
        write_bytes("cut.npy", bytes, cut);
        assert_false(ast_input_open(&input, "cut.npy", NULL, &error));
    }
}

/* A promise of 4 TB in a file of some hundred bytes. (The same through a pipe: test_pipes.c.) */
static void promises_are_not_allocated(void **state) {
    (void)state;
    struct rusage usage;
    refuses(HEADER("<f4", "(1099511627776, 1)"), 16, "only 16 follow");
    refuses(HEADER(">f4", "(1099511627776, 1)"), 16, "only 16 follow");
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < 1 << 20); /* KiB: well below a gigabyte, also under the sanitizers */
}

static void headers_keep_eight_dimensions(void **state) {
    (void)state;
    unsigned char bytes[512];
    size_t size = make_npy(bytes, 1, HEADER("<u2", "(1, 2, 3, 4, 5, 6, 7, 8)"), NULL, 0);
    ast_npy_header header;
    ast_format_error error;
    assert_true(ast_npy_parse(&header, "x.npy", bytes, size, &error));
    assert_int_equal(header.dimensions, 8);
    assert_int_equal(header.shape[7], 8);
    assert_int_equal(header.elements, 40320);
    assert_int_equal(header.data_size, 80640);
    char shape[AST_SHAPE_TEXT];
    ast_npy_shape_text(&header, shape);
    assert_string_equal(shape, "(1, 2, 3, 4, 5, 6, 7, 8)");
}

/* H x W x D: a point a pixel, row by row, whatever the order of the file, with all columns and with some. */
static void images_of_directions(void **state) {
    (void)state;
    enum { HIGH = 3, WIDE = 4, DEEP = 3 };
    for (int fortran = 0; fortran < 2; fortran++)
        for (int picked = 0; picked < 2; picked++) {
            unsigned char bytes[1024];
            float data[HIGH * WIDE * DEEP];
            for (size_t i = 0; i < HIGH * WIDE * DEEP; i++) {
                size_t y = i / (WIDE * DEEP), x = i / DEEP % WIDE, d = i % DEEP;
                data[fortran ? (d * WIDE + x) * HIGH + y : i] = (float)i;
            }
            write_bytes("image.npy", bytes,
                        make_npy(bytes, 1,
                                 fortran ? "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4, 3), }\n"
                                         : "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 3), }\n",
                                 data, sizeof data));
            ast_input input;
            ast_format_error error;
            ast_input_options options = {.columns = picked ? "3,1" : NULL};
            assert_true(ast_input_open(&input, "image.npy", &options, &error));
            assert_true(input.height == HIGH && input.width == WIDE && input.points.count == HIGH * WIDE);
            assert_int_equal(input.points.dimension, picked ? 2 : DEEP);
            for (size_t i = 0; i < HIGH * WIDE; i++)
                for (size_t d = 0; d < input.points.dimension; d++)
                    assert_true(element(&input.points, i, d) == (double)(DEEP * i + (picked ? 2 - 2 * d : d)));
            ast_input_close(&input);
            options.transpose = true;
            assert_false(ast_input_open(&input, "image.npy", &options, &error));
            assert_non_null(strstr(error.text, "image.npy: is an image of directions"));
        }
    float *values;
    size_t rows, columns;
    ast_format_error error;
    assert_false(ast_read_matrix("image.npy", NULL, &values, &rows, &columns, &error));
    assert_non_null(strstr(error.text, "three dimensions"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_and_orders),     cmocka_unit_test(native_files_are_mapped),
        cmocka_unit_test(columns_and_transpose),    cmocka_unit_test(lying_headers),
        cmocka_unit_test(unusual_headers_are_read), cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(cut_at_every_byte),        cmocka_unit_test(promises_are_not_allocated),
        cmocka_unit_test(images_of_directions),     cmocka_unit_test(headers_keep_eight_dimensions),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
