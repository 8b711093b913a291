/* SPDX-License-Identifier: MIT
 *
 * Labels, numbers and small tables: every integer type, shape and order, and text. */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_array(const char *path, char order, char kind, size_t item, const char *shape, bool fortran,
                        const double *values, size_t count) {
    unsigned char bytes[1024], data[512];
    char dictionary[200];
    for (size_t i = 0; i < count; i++)
        put_number(data + i * item, order, kind, item, values[i]);
    snprintf(dictionary, sizeof dictionary, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': %s, }\n", order, kind,
             item, fortran ? "True" : "False", shape);
    write_bytes(path, bytes, make_npy(bytes, 1, dictionary, data, count * item));
}

static void check_labels(const char *path, const ast_input_options *options, const int32_t *expected, size_t count) {
    int32_t *labels;
    size_t found;
    ast_format_error error;
    if (!ast_read_labels(path, options, &labels, &found, &error))
        fail_msg("%s", error.text);
    assert_int_equal(found, count);
    assert_memory_equal(labels, expected, count * sizeof *labels);
    free(labels);
}

static void refuses_labels(const char *path, const char *part) {
    int32_t *labels;
    size_t count;
    ast_format_error error;
    assert_false(ast_read_labels(path, NULL, &labels, &count, &error));
    if (!strstr(error.text, part))
        fail_msg("\"%s\" lacks \"%s\"", error.text, part);
    assert_null(labels);
    assert_int_equal(count, 0);
}

static void labels_of_all_types(void **state) {
    (void)state;
    static const double values[] = {0, 1, 127, 5, 3, 0};
    static const int32_t expected[] = {0, 1, 127, 5, 3, 0};
    static const double negative[] = {0, -1, -128, 5, 3, 0};
    static const int32_t expected_negative[] = {0, -1, -128, 5, 3, 0};
    const char orders[] = "<>";
    for (int o = 0; o < 2; o++)
        for (size_t item = 1; item <= 8; item *= 2) {
            write_array("labels.npy", orders[o], 'u', item, "(6,)", false, values, 6);
            check_labels("labels.npy", NULL, expected, 6);
            write_array("labels.npy", orders[o], 'i', item, "(6, 1)", false, negative, 6);
            check_labels("labels.npy", NULL, expected_negative, 6);
            if (item > 1) {
                write_array("labels.npy", orders[o], 'f', item, "(1, 6)", false, negative, 6);
                check_labels("labels.npy", NULL, expected_negative, 6);
            }
        }
    write_array("labels.npy", '|', 'b', 1, "(6,)", false, (const double[]){0, 1, 1, 0, 0, 1}, 6);
    check_labels("labels.npy", NULL, (const int32_t[]){0, 1, 1, 0, 0, 1}, 6);
}

static void label_images(void **state) {
    (void)state;
    static const double values[] = {1, 4, 2, 5, 3, 6};
    write_array("labels.npy", '<', 'i', 4, "(2, 3)", true, values, 6);
    check_labels("labels.npy", NULL, (const int32_t[]){1, 2, 3, 4, 5, 6}, 6);
    write_array("labels.npy", '<', 'i', 4, "(2, 3)", false, values, 6);
    check_labels("labels.npy", NULL, (const int32_t[]){1, 4, 2, 5, 3, 6}, 6);
    static const double cube[] = {1, 5, 3, 7, 2, 6, 4, 8};
    write_array("labels.npy", '<', 'u', 1, "(2, 2, 2)", true, cube, 8);
    check_labels("labels.npy", NULL, (const int32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
}

static void label_text(void **state) {
    (void)state;
    write_text("labels.txt", "0\n-1\n2147483647\n-2147483648\n");
    check_labels("labels.txt", NULL, (const int32_t[]){0, -1, INT32_MAX, INT32_MIN}, 4);
    write_text("labels.csv", "label\n1.0\n2.000000000000000000e+00\n");
    check_labels("labels.csv", NULL, (const int32_t[]){1, 2}, 2);
    write_text("labels.csv", "x,y,label\n0.5,0.5,3\n0.25,0.5,4\n");
    check_labels("labels.csv", &(ast_input_options){.columns = "3"}, (const int32_t[]){3, 4}, 2);
    write_text("labels.txt", "1 2 3\n4 5 6\n");
    check_labels("labels.txt", NULL, (const int32_t[]){1, 2, 3, 4, 5, 6}, 6);
}

static void wrong_labels(void **state) {
    (void)state;
    write_text("labels.txt", "0\n2147483648\n");
    refuses_labels("labels.txt", "labels.txt: number 2 is 2.14748365e+09; labels are whole numbers");
    write_text("labels.txt", "0\n1.5\n");
    refuses_labels("labels.txt", "number 2 is 1.5");
    write_text("labels.txt", "0\nnan\n");
    refuses_labels("labels.txt", "number 2 is nan");
    write_text("labels.txt", "0\ndog\n");
    refuses_labels("labels.txt", "line 2, column 1: 'dog'");
    write_array("labels.npy", '<', 'u', 8, "(2,)", false, (const double[]){1, 1e18}, 2);
    refuses_labels("labels.npy", "number 2 is 1e+18");
    write_array("labels.npy", '<', 'i', 4, "(0,)", false, NULL, 0);
    refuses_labels("labels.npy", "labels.npy: holds no numbers");
    refuses_labels("absent.npy", "absent.npy: cannot be opened");
    refuses_labels("labels.png", "labels.png: the extension names no known format");
}

static void numbers(void **state) {
    (void)state;
    double *found;
    size_t count;
    ast_format_error error;
    static const double values[] = {0.5, 2, 0};
    static const char *const shapes[] = {"(3,)", "(3, 1)", "(1, 3)"};
    for (size_t s = 0; s < ITEMS(shapes); s++)
        for (size_t item = 2; item <= 8; item *= 2) {
            write_array("weights.npy", '>', 'f', item, shapes[s], s == 1, values, 3);
            if (!ast_read_numbers("weights.npy", NULL, &found, &count, &error))
                fail_msg("%s", error.text);
            assert_int_equal(count, 3);
            assert_memory_equal(found, values, sizeof values);
            free(found);
        }
    write_text("weights.csv", "0.5\n2\n0\n");
    assert_true(ast_read_numbers("weights.csv", NULL, &found, &count, &error));
    assert_memory_equal(found, values, sizeof values);
    free(found);
    /* Doubles stay doubles: 1e300 fits no float. */
    write_text("weights.csv", "0.1 1e300 3\n");
    assert_true(ast_read_numbers("weights.csv", NULL, &found, &count, &error));
    assert_true(count == 3 && found[0] == 0.1 && found[1] == 1e300);
    free(found);
    write_text("weights.csv", "1,2\n3,4\n");
    assert_false(ast_read_numbers("weights.csv", NULL, &found, &count, &error));
    assert_string_equal(error.text, "weights.csv: is a table; a single column or row of numbers is needed");
    assert_null(found);
    write_text("weights.csv", "1\n1e309\n");
    assert_false(ast_read_numbers("weights.csv", NULL, &found, &count, &error));
    assert_non_null(strstr(error.text, "line 2, column 1: '1e309' is out of range; numbers must fit a double"));
}

/* All 65536 half-precision numbers against their definition. */
static void halves(void **state) {
    (void)state;
    static unsigned char bytes[256 + 65536 * 2];
    static uint16_t data[65536];
    for (unsigned i = 0; i < 65536; i++)
        data[i] = (uint16_t)i;
    size_t size =
        make_npy(bytes, 1, "{'descr': '=f2', 'fortran_order': False, 'shape': (256, 256), }", data, sizeof data);
    write_bytes("halves.npy", bytes, size);
    float *values;
    size_t rows, columns;
    ast_format_error error;
    assert_true(ast_read_matrix("halves.npy", NULL, &values, &rows, &columns, &error));
    assert_true(rows == 256 && columns == 256);
    for (unsigned i = 0; i < 65536; i++) {
        int exponent = i >> 10 & 31;
        float fraction = (float)(i & 1023);
        float size_right = exponent ? ldexpf(1 + fraction / 1024, exponent - 15) : ldexpf(fraction / 1024, -14);
        if (exponent == 31)
            size_right = i & 1023 ? NAN : INFINITY;
        float right = i >> 15 ? -size_right : size_right;
        assert_true(values[i] == right || (isnan(values[i]) && isnan(right)));
    }
    free(values);
}

static void small_tables(void **state) {
    (void)state;
    float *values;
    size_t rows, columns;
    ast_format_error error;
    write_array("means.npy", '>', 'f', 8, "(2, 3)", true, (const double[]){1, 4, 2, 5, 3, 6}, 6);
    assert_true(ast_read_matrix("means.npy", NULL, &values, &rows, &columns, &error));
    assert_true(rows == 2 && columns == 3);
    assert_memory_equal(values, ((const float[]){1, 2, 3, 4, 5, 6}), 6 * sizeof(float));
    free(values);
    assert_false(ast_read_matrix("absent.csv", NULL, &values, &rows, &columns, &error));
    assert_null(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_all_types), cmocka_unit_test(label_images), cmocka_unit_test(label_text),
        cmocka_unit_test(wrong_labels),        cmocka_unit_test(numbers),      cmocka_unit_test(halves),
        cmocka_unit_test(small_tables)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
