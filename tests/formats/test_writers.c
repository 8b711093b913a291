/* SPDX-License-Identifier: MIT
 *
 * Writers: the bytes of an .npy file are those that NumPy writes, and everything comes back as it was. */
#include "helpers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float numbers[] = {1, -0.1f, FLT_MAX, FLT_MIN, 1e-45f, 0, 16777217, 3.14159274f, 1.0f / 3};

static void save_labels(const char *path, const int32_t *labels, size_t count) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    assert_true(output && ast_write_array(output, ast_label_array(labels, count, 0), &error) &&
                ast_output_commit(output, &error));
}

static void save_matrix(const char *path, const float *values, size_t rows, size_t columns) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    assert_true(output && ast_write_array(output, ast_value_array(values, rows, columns), &error) &&
                ast_output_commit(output, &error));
}

static void npy_bytes(void **state) {
    (void)state;
    save_labels("labels.npy", (const int32_t[]){1, -1}, 2);
    size_t size;
    char *bytes = read_bytes("labels.npy", &size);
    assert_int_equal(size, 128 + 8);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    char expected[119];
    int length = snprintf(expected, sizeof expected, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }");
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        assert_memory_equal(bytes + 10, expected, length);
    for (int i = 10 + length; i < 127; i++)
        assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, ((const int32_t[]){1, -1}), 8);
    free(bytes);
    save_matrix("means.npy", numbers, 3, 3);
    bytes = read_bytes("means.npy", &size);
    assert_int_equal((size - sizeof numbers) % 64, 0);
    assert_non_null(strstr(bytes + 10, "f4', 'fortran_order': False, 'shape': (3, 3), }"));
    assert_memory_equal(bytes + size - sizeof numbers, numbers, sizeof numbers);
    free(bytes);
}

static void labels_come_back(void **state) {
    (void)state;
    static const char *const names[] = {"labels.npy", "labels.txt", "labels.csv", "labels.TSV"};
    static const int32_t labels[] = {0, -1, INT32_MAX, INT32_MIN, 17};
    for (size_t n = 0; n < ITEMS(names); n++) {
        save_labels(names[n], labels, 5);
        int32_t *back;
        size_t count;
        ast_format_error error;
        assert_true(ast_read_labels(names[n], NULL, &back, &count, &error));
        assert_int_equal(count, 5);
        assert_memory_equal(back, labels, sizeof labels);
        free(back);
    }
    size_t size;
    char *text = read_bytes("labels.txt", &size);
    assert_string_equal(text, "0\n-1\n2147483647\n-2147483648\n17\n");
    free(text);
    save_labels("none.npy", NULL, 0);
}

static void tables_come_back(void **state) {
    (void)state;
    static const char *const names[] = {"means.npy", "means.txt", "means.csv", "means.tsv"};
    for (size_t n = 0; n < ITEMS(names); n++) {
        save_matrix(names[n], numbers, 3, 3);
        float *back;
        size_t rows, columns;
        ast_format_error error;
        if (!ast_read_matrix(names[n], NULL, &back, &rows, &columns, &error))
            fail_msg("%s", error.text);
        assert_true(rows == 3 && columns == 3);
        assert_memory_equal(back, numbers, sizeof numbers);
        free(back);
    }
    size_t size;
    char *text = read_bytes("means.csv", &size);
    assert_memory_equal(text, "1,-0.100000001,3.40282347e+38\n", 30);
    free(text);
}

static void vectors(void **state) {
    (void)state;
    ast_format_error error;
    static const float values[] = {0.5f, NAN, -1};
    static const char *const names[] = {"v.npy", "v.txt"};
    for (size_t n = 0; n < ITEMS(names); n++) {
        ast_output *output = ast_output_open(names[n], false, &error);
        assert_true(output && ast_write_array(output, ast_value_array(values, 3, 0), &error) &&
                    ast_output_commit(output, &error));
        double *back;
        size_t count;
        assert_true(ast_read_numbers(names[n], NULL, &back, &count, &error));
        assert_true(count == 3 && back[0] == 0.5 && isnan(back[1]) && back[2] == -1);
        free(back);
    }
}

static void check_bytes(const char *path, const char *shape, const void *values, size_t size_of_values) {
    size_t size;
    char *bytes = read_bytes(path, &size);
    assert_int_equal((size - size_of_values) % 64, 0);
    assert_non_null(strstr(bytes + 10, shape));
    assert_memory_equal(bytes + size - size_of_values, values, size_of_values);
    free(bytes);
}

static void images(void **state) {
    (void)state;
    ast_format_error error;
    static const int32_t labels[] = {0, -1, 2, 3, 4, 5};
    static const float normals[] = {1, 0, 0, 0, 0.5f, 1};
    ast_output *output = ast_output_open("i.npy", false, &error);
    assert_true(output && ast_write_array(output, ast_label_array(labels, 2, 3), &error) &&
                ast_output_commit(output, &error));
    check_bytes("i.npy", "i4', 'fortran_order': False, 'shape': (2, 3), }", labels, sizeof labels);
    output = ast_output_open("n.npy", false, &error);
    assert_true(output &&
                ast_write_array(output, (ast_array){.reals = normals, .dimensions = 3, .sizes = {1, 2, 3}}, &error) &&
                ast_output_commit(output, &error));
    check_bytes("n.npy", "f4', 'fortran_order': False, 'shape': (1, 2, 3), }", normals, sizeof normals);
    output = ast_output_open("i.csv", false, &error);
    assert_true(output && ast_write_array(output, ast_label_array(labels, 2, 3), &error) &&
                ast_output_commit(output, &error));
    size_t size;
    char *text = read_bytes("i.csv", &size);
    assert_string_equal(text, "0,-1,2\n3,4,5\n");
    free(text);
    output = ast_output_open("n.txt", false, &error);
    assert_true(output &&
                ast_write_array(output, (ast_array){.reals = normals, .dimensions = 3, .sizes = {2, 1, 3}}, &error) &&
                ast_output_commit(output, &error));
    text = read_bytes("n.txt", &size);
    assert_string_equal(text, "1 0 0\n0 0.5 1\n");
    free(text);
}

static void names(void **state) {
    (void)state;
    ast_format_error error;
    static const char *const good[] = {"a.npy", "a.CSV", "a.tsv", "x.y/a.txt", "-", "/dev/full", "/dev/fd/3", "x.y/a"};
    static const char *const bad[] = {"a.dat", "a.npy.gz", "a.csv.gz", "a.", "npy.x"};
    for (size_t i = 0; i < ITEMS(good); i++)
        assert_true(ast_output_check(good[i], false, &error));
    for (size_t i = 0; i < ITEMS(bad); i++) {
        assert_false(ast_output_check(bad[i], false, &error));
        assert_non_null(strstr(error.text, ": files can be written with the extensions .npy, .csv, .tsv and .txt"));
    }
    ast_output *output = ast_output_open("a.dat", false, &error);
    assert_false(ast_write_array(output, ast_label_array(NULL, 0, 0), &error));
    ast_output_abandon(output);
    static const char *const tables[] = {"a.fvecs", "a.FBIN"};
    for (size_t i = 0; i < ITEMS(tables); i++) {
        assert_true(ast_output_check(tables[i], true, &error));
        assert_false(ast_output_check(tables[i], false, &error));
        assert_non_null(
            strstr(error.text, ": this output can be written with the extensions .npy, .csv, .tsv and .txt"));
    }
    assert_false(ast_output_check("a.dat", true, &error));
    assert_non_null(strstr(error.text, "the extensions .npy, .csv, .tsv, .txt, .fvecs and .fbin"));
}

/* Whole and in parts that end within rows; labels and vectors do not fit these formats. */
static void tables_of_floats(void **state) {
    (void)state;
    static const float values[] = {1, -2, 0.5F, 4, 5, 6};
    static const unsigned char rows[] = {2, 0, 0, 0, 3, 0, 0, 0};
    static const char *const paths[] = {"t.fbin", "t.fvecs"};
    ast_format_error error;
    for (size_t p = 0; p < 2; p++)
        for (size_t part = 1; part <= 6; part++) {
            ast_output *output = ast_output_open(paths[p], false, &error);
            for (size_t first = 0; first < 6; first += part)
                assert_true(ast_write_array_part(output, ast_value_array(values + first, 2, 3), first,
                                                 part < 6 - first ? part : 6 - first, &error));
            assert_true(ast_output_commit(output, &error));
            size_t size;
            char *bytes = read_bytes(paths[p], &size);
            assert_int_equal(size, 32);
            assert_memory_equal(bytes, p ? rows + 4 : rows, p ? 4 : 8);
            assert_memory_equal(bytes + (p ? 4 : 8), values, 12);
            assert_memory_equal(bytes + 20, values + 3, 12 * !p);
            assert_memory_equal(bytes + 16, p ? (const void *)(rows + 4) : values + 2, 4);
            assert_memory_equal(bytes + 28, values + 5, 4);
            free(bytes);
        }
    ast_output *output = ast_output_open("t.fbin", false, &error);
    assert_false(ast_write_array(output, ast_label_array((const int32_t[]){1, 2}, 2, 0), &error));
    assert_false(ast_write_array(output, ast_value_array(values, 3, 0), &error));
    ast_output_abandon(output);
}

static void a_full_device(void **state) {
    (void)state;
    size_t count = 100000;
    float *values = calloc(count, sizeof *values);
    ast_format_error error;
    ast_output *output = ast_output_open(full_device(), false, &error);
    assert_non_null(output);
    assert_false(ast_write_array(output, ast_value_array(values, count / 2, 2), &error));
    assert_non_null(strstr(error.text, "full: cannot be written: No space left on device"));
    ast_output_abandon(output);
    output = ast_output_open(full_device(), false, &error);
    assert_false(ast_write_array(output, ast_label_array((const int32_t *)values, count, 0), &error));
    ast_output_abandon(output);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_bytes), cmocka_unit_test(labels_come_back), cmocka_unit_test(tables_come_back),
        cmocka_unit_test(vectors),   cmocka_unit_test(images),           cmocka_unit_test(tables_of_floats),
        cmocka_unit_test(names),     cmocka_unit_test(a_full_device)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
