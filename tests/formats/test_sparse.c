/* SPDX-License-Identifier: MIT
 *
 * MatrixMarket and scipy's .npz: what they mean, and what is said of those that lie. */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANNER "%%MatrixMarket matrix coordinate "

static bool open_bytes(ast_input *input, const char *format, const void *bytes, size_t size, bool transpose,
                       ast_format_error *error) {
    ast_input_options options = {.format = format, .transpose = transpose};
    return ast_input_open_memory(input, "docs", bytes, size, &options, error);
}

/* The text becomes these dense rows. */
static void expect_rows(const char *text, bool transpose, size_t rows, size_t width, const double *expected) {
    ast_input input;
    ast_format_error error;
    double row[16];
    if (!open_bytes(&input, "mtx", text, strlen(text), transpose, &error))
        fail_msg("%s", error.text);
    assert_non_null(input.points.starts);
    assert_int_equal(input.points.count, rows);
    assert_int_equal(input.points.dimension, width);
    const int32_t *starts = input.points.starts, *columns = input.points.columns;
    for (size_t i = 0; i < rows; i++) {
        ast_points_row(&input.points, i, row);
        for (size_t d = 0; d < width; d++)
            if (row[d] != expected[i * width + d] && !isnan(expected[i * width + d]))
                fail_msg("(%zu, %zu) is %g, should be %g", i, d, row[d], expected[i * width + d]);
        for (int32_t e = starts[i] + 1; e < starts[i + 1]; e++)
            assert_true(columns[e - 1] < columns[e]);
    }
    ast_input_close(&input);
}

static void entries_in_any_order(void **state) {
    (void)state;
    const double table[] = {2, 0, 0, 1, 0, 0, 0, 0, 1, 5, 0, 0}, turned[] = {2, 0, 1, 0, 0, 5, 0, 0, 0, 1, 0, 0};
    const char *text = BANNER "integer general\n% a comment\n\n3 4 4\n1 1 2\n3 2 5\n1 4 1\n% another\n3 1 1\n";
    expect_rows(text, false, 3, 4, table);
    expect_rows(text, true, 4, 3, turned);
    expect_rows(BANNER "real general\n3 4 5\n3 2 2.5\n3 1 1\n1 4 1e0\n1 1 2\n3 2 2.5\n", false, 3, 4, table);
    expect_rows(BANNER "pattern general\n2 2 2\n1 2\n2 1\n", false, 2, 2, (double[]){0, 1, 1, 0});
    expect_rows("%%matrixmarket MATRIX Coordinate REAL General\r\n2 2 2\r\n\r\n1 1 1\r\n 2\t2  -3\r\n", false, 2, 2,
                (double[]){1, 0, 0, -3});
    expect_rows(BANNER "real general\n2 2 1\n1 1 1", false, 2, 2, (double[]){1, 0, 0, 0});
}

static void expect_sentence(const char *format, const void *bytes, size_t size, const char *part) {
    ast_input input;
    ast_format_error error = {""};
    if (open_bytes(&input, format, bytes, size, false, &error))
        fail_msg("it was read, and should say '%s'", part);
    if (strncmp(error.text, "docs: ", 6) != 0 || !strstr(error.text, part))
        fail_msg("'%s' does not say '%s'", error.text, part);
    assert_null(input.body.owned);
}

static void mtx_that_lies(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "line 1 is not that"},
        {"1 2 3\n", "line 1 is not that"},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n", "line 1 is not that"},
        {BANNER "complex general\n1 1 1\n", "real, integer or pattern"},
        {BANNER "real symmetric\n1 1 1\n", "then general"},
        {BANNER "real general\n% nothing\n", "ends before the line with its sizes"},
        {BANNER "real general\n2 2\n", "line 2 does not hold the numbers of rows, columns and entries"},
        {BANNER "real general\n0 2 0\n", "0 rows and 2 columns"},
        {BANNER "real general\n2 3000000000 0\n", "from 1 to 2147483647"},
        {BANNER "real general\n2 2 1.5\n1 1 1\n", "1.5 entries"},
        {BANNER "real general\n2 2 2\n1 1 1\n", "promises 2 entries and has 1"},
        {BANNER "real general\n2 2 1\n1 1 1\n2 2 1\n", "line 4 is one entry more than the 1"},
        {BANNER "real general\n2 2 1\n3 1 1\n", "line 3: entry (3, 1) is outside of the table of 2 x 2"},
        {BANNER "real general\n2 2 1\n1 0 1\n", "line 3: entry (1, 0) is outside"},
        {BANNER "real general\n2 2 1\n1 1.5 1\n", "entry (1, 1.5)"},
        {BANNER "real general\n2 2 1\n1 1\n", "line 3 does not hold a row, a column and a number"},
        {BANNER "real general\n2 2 1\n1 1 1 1\n", "line 3 does not hold"},
        {BANNER "pattern general\n2 2 1\n1 1 1\n", "line 3 does not hold a row and a column"},
        {BANNER "real general\n2 2 1\n1 1 x\n", "line 3 does not hold"},
        {BANNER "real general\n2 2 1\n1 1 inf\n", "line 3: 'inf' is infinite"},
        {BANNER "real general\n2000000000 5 1\n1 1 1\n", "nearly every row would be empty"},
        {BANNER "real general\n2 2147483647 1\n1 1 1\n", "promises 2147483647 columns and has 1 entries; nearly every "
                                                         "column would be empty, and every mean takes 8.6 GB"},
        {BANNER "real general\n2 2 4\n2 2 1e308\n1 1 1\n2 2 1e308\n2 2 -1e308\n",
         "the numbers in row 2 and column 2 (counting from 1) add up to infinity"},
        {BANNER "real general\n2147483647 2147483647 9000000000000000\n1 1 1\n", "promises 9000000000000000 entries"},
    };
    for (size_t i = 0; i < ITEMS(cases); i++)
        expect_sentence("mtx", cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

/* ---- .npz, put together by hand ---- */

typedef struct archive {
    unsigned char bytes[8192], directory[2048];
    size_t size, listed;
    unsigned members;
} archive;

static void put(unsigned char *at, uint64_t value, int size) {
    for (int i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* The check sum of a zip member, bit by bit. */
static uint32_t check_sum(const unsigned char *bytes, size_t size) {
    uint32_t sum = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ~sum;
}

static void add_member(archive *zip, const char *name, const char *dictionary, const void *data, size_t data_size) {
    unsigned char npy[1024], *local = zip->bytes + zip->size, *entry = zip->directory + zip->listed;
    size_t size = make_npy(npy, 1, dictionary, data, data_size), length = strlen(name);
    uint32_t sum = check_sum(npy, size);
    memset(local, 0, 30);
    memset(entry, 0, 46);
    memcpy(local, "PK\3\4", 4);
    put(local + 26, length, 2);
    memcpy(local + 30, name, length);
    memcpy(local + 30 + length, npy, size);
    memcpy(entry, "PK\1\2", 4);
    put(entry + 16, sum, 4);
    put(entry + 20, size, 4);
    put(entry + 24, size, 4);
    put(entry + 28, length, 2);
    put(entry + 42, zip->size, 4);
    memcpy(entry + 46, name, length);
    zip->size += 30 + length + size;
    zip->listed += 46 + length;
    zip->members++;
}

static void finish(archive *zip) {
    unsigned char *end = zip->bytes + zip->size + zip->listed;
    memcpy(zip->bytes + zip->size, zip->directory, zip->listed);
    memset(end, 0, 22);
    memcpy(end, "PK\5\6", 4);
    put(end + 8, zip->members, 2);
    put(end + 10, zip->members, 2);
    put(end + 12, zip->listed, 4);
    put(end + 16, zip->size, 4);
    zip->size += zip->listed + 22;
}

static void make_shaped(archive *zip, const int64_t shape[2], const int32_t indptr[3], const int32_t indices[4],
                        const char *format) {
    static const double data[] = {2, 1, 3, 4};
    *zip = (archive){0};
    add_member(zip, "format.npy", "{'descr': '|S3', 'fortran_order': False, 'shape': (), }", format, 3);
    add_member(zip, "shape.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", shape, 16);
    add_member(zip, "data.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", data, sizeof data);
    add_member(zip, "indices.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }", indices, 16);
    add_member(zip, "indptr.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", indptr, 12);
    finish(zip);
}

/* 2 x 3: (1, 0, 2), (0, 7, 0), the second row's entry given in two parts. */
static void make_csr(archive *zip, const int32_t indptr[3], const int32_t indices[4], const char *format) {
    make_shaped(zip, (int64_t[]){2, 3}, indptr, indices, format);
}

static void npz_as_scipy_writes_it(void **state) {
    (void)state;
    static const double table[] = {1, 0, 2, 0, 7, 0};
    archive zip;
    ast_input input;
    ast_format_error error;
    double row[3];
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    if (!open_bytes(&input, "npz", zip.bytes, zip.size, false, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < 2; i++) {
        ast_points_row(&input.points, i, row);
        assert_memory_equal(row, table + 3 * i, sizeof row);
    }
    assert_int_equal(((const int32_t *)input.points.starts)[2], 3);
    ast_input_close(&input);
    if (!open_bytes(&input, "npz", zip.bytes, zip.size, true, &error))
        fail_msg("%s", error.text);
    assert_true(input.points.count == 3 && input.points.dimension == 2);
    ast_points_row(&input.points, 1, row);
    assert_true(row[0] == 0 && row[1] == 7);
    ast_input_close(&input);
}

static void npz_that_lies(void **state) {
    (void)state;
    archive zip;
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 3}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "entry 4 is at (1, 3), outside of the matrix of 2 x 3");
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, -1}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "entry 4 is at (1, -1)");
    make_csr(&zip, (int32_t[]){0, 5, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "indptr falls at row 1");
    make_csr(&zip, (int32_t[]){1, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "indptr runs from 1 to 4");
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csc");
    expect_sentence("npz", zip.bytes, zip.size, "indptr has 3 numbers and indices 4; 4 and 4 are needed");
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "dia");
    expect_sentence("npz", zip.bytes, zip.size, "neither a csr, csc nor coo matrix");
    make_shaped(&zip, (int64_t[]){2, INT32_MAX}, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "promises 2147483647 columns and has 4 entries");
    make_shaped(&zip, (int64_t[]){INT32_MAX, 3}, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    expect_sentence("npz", zip.bytes, zip.size, "indptr has 3 numbers and indices 4; 2147483648 and 4 are needed");
    make_csr(&zip, (int32_t[]){0, 2, 4}, (int32_t[]){2, 0, 1, 1}, "csr");
    for (size_t size = 0; size < zip.size; size += 7)
        expect_sentence("npz", zip.bytes, size, "no zip archive that can be read");
    expect_sentence("npz", "\x93NUMPY and more of it, all in all more bytes than an end", 50, "its end is missing");
#if ASTERISM_HAVE_ZLIB
    zip.bytes[100] ^= 1;
    expect_sentence("npz", zip.bytes, zip.size, "check sum");
#endif
}

/* Labels, weights and means are no sparse rows; columns cannot be picked. */
static void where_sparse_rows_do_not_belong(void **state) {
    (void)state;
    int32_t *labels;
    double *numbers;
    float *values;
    size_t count, columns;
    ast_format_error error;
    ast_input input;
    write_text("docs.mtx", BANNER "real general\n2 2 1\n1 1 1\n");
    assert_false(ast_read_labels("docs.mtx", NULL, &labels, &count, &error));
    assert_non_null(strstr(error.text, "docs.mtx: holds sparse rows"));
    assert_false(ast_read_numbers("docs.mtx", NULL, &numbers, &count, &error));
    assert_false(ast_read_matrix("docs.mtx", NULL, &values, &count, &columns, &error));
    assert_non_null(strstr(error.text, "a dense table is needed"));
    ast_input_frame frame;
    ast_frames *frames = open_frames((const char *const[]){"docs.mtx", NULL}, AST_AS_NAMED, NULL, &error);
    assert_int_equal(ast_frames_next(frames, &frame, &error), -1);
    close_frames(frames);
    assert_non_null(strstr(error.text, "streams do not take"));
    ast_input_options options = {.columns = "1"};
    assert_false(ast_input_open(&input, "docs.mtx", &options, &error));
    assert_non_null(strstr(error.text, "columns cannot be picked"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_in_any_order),
        cmocka_unit_test(mtx_that_lies),
        cmocka_unit_test(npz_as_scipy_writes_it),
        cmocka_unit_test(npz_that_lies),
        cmocka_unit_test(where_sparse_rows_do_not_belong),
    };
    return cmocka_run_group_tests_name("sparse files", tests, enter_folder, leave_folder);
}
