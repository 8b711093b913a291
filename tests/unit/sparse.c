/* SPDX-License-Identifier: MIT
 *
 * Views of sparse rows: what is refused, with which sentence, and what is taken. */
#include "asterism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 4, COLUMNS = 10 };

static const float values[] = {1, 2, 3, 4, 5, 6};
static const int32_t starts[] = {0, 2, 2, 5, 6}, columns[] = {1, 4, 0, 4, 9, 4};

static ast_points view_of(const float *data, const int32_t *first, const int32_t *at) {
    return ast_points_csr(data, AST_F4, first, at, AST_I4, ROWS, COLUMNS);
}

static ast_options dp_options(void) {
    ast_options options;
    ast_options_init(&options);
    options.angle = 60;
    return options;
}

/* Clusters the view and expects a refusal that leaves the labels alone. */
static void check_refused(const ast_points *points, const ast_options *options, ast_status expected,
                          const char *sentence) {
    ast_context *context;
    ast_open(&context, 2);
    int32_t labels[ROWS] = {-7, -7, -7, -7};
    ast_report report = {.size = sizeof report};
    assert_int_equal(ast_cluster(context, points, options, labels, &report), expected);
    if (!strstr(ast_message(context), sentence))
        fail_msg("'%s' does not say '%s'", ast_message(context), sentence);
    assert_int_equal(labels[0], -7);
    ast_close(context);
}

static void check_bad_rows(const float *data, const int32_t *first, const int32_t *at, const char *sentence) {
    ast_points points = view_of(data, first, at);
    ast_options options = dp_options();
    check_refused(&points, &options, AST_BAD_DATA, sentence);
    if (strstr(sentence, "behind") || strstr(sentence, "twice")) {
        points.dimension = 4; /* small points are columns inside: no index may escape there either */
        check_refused(&points, &options, AST_BAD_DATA, "(counting from 1) has ");
    }
}

static void bad_structure_is_named(void **state) {
    (void)state;
    check_bad_rows(values, starts, (int32_t[]){1, 4, 0, 4, 10, 4}, "row 3 (counting from 1) has an entry in column 10");
    check_bad_rows(values, starts, (int32_t[]){1, 4, 0, 4, 9, -1}, "row 4 (counting from 1) has an entry in column -1");
    check_bad_rows(values, starts, (int32_t[]){1, 4, 0, 9, 4, 4},
                   "row 3 (counting from 1) has column 4 behind column 9");
    check_bad_rows(values, starts, (int32_t[]){4, 4, 0, 4, 9, 4}, "row 1 (counting from 1) has column 4 twice");
    check_bad_rows(values, (int32_t[]){0, 2, 1, 5, 6}, columns, "row 2 (counting from 1) ends at entry 1");
    check_bad_rows(values, (int32_t[]){-1, 2, 2, 5, 6}, columns, "row 1 starts at entry -1");
    check_bad_rows((float[]){1, 2, 3, INFINITY, 5, 6}, starts, columns, "row 3 (counting from 1) holds an infinity");
}

static void bad_views_are_refused(void **state) {
    (void)state;
    ast_options options = dp_options();
    ast_points points = view_of(values, starts, columns);
    points.dimension = 1;
    check_refused(&points, &options, AST_BAD_DATA, "dimension 1");
    points.dimension = (size_t)1 << 31;
    check_refused(&points, &options, AST_BAD_DATA, "2 to 2147483647 components");
    points = view_of(NULL, starts, columns);
    check_refused(&points, &options, AST_BAD_OPTION, "are NULL");
    points = view_of(values, starts, NULL);
    check_refused(&points, &options, AST_BAD_OPTION, "are NULL");
    points = view_of(values, starts, columns);
    points.index = (ast_index)7;
    check_refused(&points, &options, AST_BAD_OPTION, "neither AST_I4 nor AST_I8");
}

static void what_needs_dense_rows_says_so(void **state) {
    (void)state;
    static const ast_method methods[] = {AST_FSD, AST_CRP, AST_OSPKM, AST_DPMEANS};
    ast_points points = view_of(values, starts, columns);
    ast_options options = dp_options();
    options.axial = 1;
    check_refused(&points, &options, AST_BAD_OPTION, "axial clustering does not take sparse rows");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        options = dp_options();
        options.method = methods[m];
        options.clusters = 2;
        check_refused(&points, &options, AST_BAD_OPTION, "this method does not take sparse rows");
    }
    ast_context *context;
    ast_open(&context, 1);
    ast_stream_options of_stream;
    ast_stream_options_init(&of_stream);
    of_stream.dimension = COLUMNS;
    of_stream.angle = 30;
    ast_stream *stream;
    ast_stream_open(&stream, context, &of_stream);
    int32_t labels[ROWS];
    ast_frame frame = {.size = sizeof frame};
    float mean[COLUMNS] = {1};
    double width;
    assert_int_equal(ast_stream_step(stream, &points, labels, &frame), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "a stream does not take sparse rows"));
    ast_stream_close(stream);
    ast_assign_options known = ast_assign_to(mean, 1);
    known.axial = 1;
    assert_int_equal(ast_assign(context, &points, &known, labels, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_silhouette(context, &points, (int32_t[]){0, 0, 1, 1}, AST_ANGLE, 1, &width, NULL),
                     AST_BAD_OPTION);
    ast_close(context);
}

/* Rows without entries, with zeros or with a NaN are missing; the same arrays as int64. */
static void missing_rows_and_wide_indices(void **state) {
    (void)state;
    static const double wide_values[] = {1, 2, 0, 0, 0, NAN};
    static const int64_t wide_starts[] = {0, 2, 2, 5, 6}, wide_columns[] = {1, 4, 0, 4, 9, 4};
    ast_points points = ast_points_csr(wide_values, AST_F8, wide_starts, wide_columns, AST_I8, ROWS, COLUMNS);
    ast_context *context;
    ast_open(&context, 2);
    ast_options options = dp_options();
    ast_report report = {.size = sizeof report};
    int32_t labels[ROWS];
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_memory_equal(labels, ((int32_t[]){0, -1, -1, -1}), sizeof labels);
    assert_int_equal(report.missing, 3);
    assert_true(fabs((double)ast_means(context)[4] - 2 / sqrt(5)) < 1e-7);
    points = ast_points_csr(NULL, AST_F4, (int32_t[]){0, 0, 0}, NULL, AST_I4, 2, COLUMNS); /* no entry at all */
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.missing, 2);
    ast_close(context);
}

/* Whole numbers are the same whether they are bytes or floats. */
static void bytes_equal_floats(void **state) {
    (void)state;
    static const int8_t bytes[] = {1, 2, 3, 4, 5, 6};
    ast_points points[2] = {view_of(values, starts, columns),
                            ast_points_csr(bytes, AST_I1, starts, columns, AST_I4, ROWS, COLUMNS)};
    ast_options options = dp_options();
    double objective[2];
    for (int i = 0; i < 2; i++) {
        ast_context *context;
        ast_open(&context, 1);
        int32_t labels[ROWS];
        ast_report report = {.size = sizeof report};
        assert_int_equal(ast_cluster(context, &points[i], &options, labels, &report), AST_OK);
        objective[i] = report.objective;
        ast_close(context);
    }
    assert_memory_equal(&objective[0], &objective[1], sizeof objective[0]);
}

/* Means of more components than dense rows may have: given, found, and assigned to; points of weight 0 among them. */
static void long_means(void **state) {
    (void)state;
    enum { LONG = 9000, COUNT = 5 };
    static const int32_t first[] = {0, 1, 2, 4, 6, 7}, at[] = {0, 8999, 0, 1, 8998, 8999, 8999};
    static const float numbers[] = {1, 2, 3, 1, 1, 4, 1};
    static const double weights[] = {1, 1, 2, 1, 0};
    float *means = calloc(2 * LONG, sizeof *means);
    assert_non_null(means);
    means[0] = 3;
    means[2 * LONG - 1] = 0.5f;
    ast_points points = ast_points_csr(numbers, AST_F4, first, at, AST_I4, COUNT, LONG);
    points.weights = weights;
    ast_context *context;
    ast_open(&context, 2);
    ast_options options;
    ast_report report = {.size = sizeof report};
    int32_t labels[COUNT];
    float cosines[COUNT];
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = means;
    options.start.means_count = 2;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_memory_equal(labels, ((int32_t[]){0, 1, 0, 1, 1}), sizeof labels);
    ast_assign_options known = ast_assign_to(means, 2);
    known.angle = 20;
    assert_int_equal(ast_assign(context, &points, &known, labels, cosines), AST_OK);
    assert_memory_equal(labels, ((int32_t[]){0, 1, 0, 1, 1}), sizeof labels);
    assert_true(cosines[0] == 1 && fabs((double)cosines[2] - 3 / sqrt(10)) < 1e-6);
    means[LONG + 5] = NAN;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "mean 2"));
    free(means);
    ast_close(context);
}

/* Memory that no machine has is refused before any is taken. */
static void too_many_columns_are_refused(void **state) {
    (void)state;
    ast_points points = ast_points_csr(values, AST_F4, starts, columns, AST_I4, ROWS, INT32_MAX);
    ast_options options = dp_options();
    options.method = AST_SPKM;
    options.clusters = 1 << 20;
    check_refused(&points, &options, AST_NO_MEMORY,
                  "the points have 2147483647 columns: 1048576 clusters of them take 54043196 GB, and this machine ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_structure_is_named),
        cmocka_unit_test(bad_views_are_refused),
        cmocka_unit_test(what_needs_dense_rows_says_so),
        cmocka_unit_test(missing_rows_and_wide_indices),
        cmocka_unit_test(bytes_equal_floats),
        cmocka_unit_test(long_means),
        cmocka_unit_test(too_many_columns_are_refused),
    };
    return cmocka_run_group_tests_name("sparse views", tests, NULL, NULL);
}
