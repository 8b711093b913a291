/* SPDX-License-Identifier: MIT
 *
 * What ast_cluster and ast_assign refuse, with which sentence, and what stays untouched; and every type of numbers. */
#include "reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bad input ------------------------------------------------------------------------------------------------- */

static int cancel_at_second(const ast_progress *progress, void *data) {
    (void)data;
    return progress->iteration == 2;
}

static void cancelling_leaves_labels_untouched(void **state) {
    (void)state;
    enum { N = 300 };
    float x[N * 3];
    int32_t labels[N], before[N];
    ast_report report = {.size = sizeof report}, report_before = {.size = sizeof report_before};
    ast_context *context = ref_context(REF_FAST, 2);
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 3);
    memset(before, 0x5a, sizeof before);
    memcpy(labels, before, sizeof labels);
    memset(&report, 0x5a, sizeof report);
    report.size = sizeof report;
    memcpy(&report_before, &report, sizeof report);
    ast_points points = ast_points_f4(x, N, 3);
    ast_options options = ref_dp_options(30);
    options.progress = cancel_at_second;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_CANCELLED);
    assert_memory_equal(labels, before, sizeof labels);
    assert_memory_equal(&report, &report_before, sizeof report);
    assert_true(strlen(ast_message(context)) > 0);
    options.progress = NULL;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_string_equal(ast_message(context), "");
}

/* Whether the message names the number, alone and not as part of another. */
static int names(const char *message, size_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", number);
    for (const char *at = strstr(message, digits); at; at = strstr(at + 1, digits)) {
        int before = at > message && at[-1] >= '0' && at[-1] <= '9', after = at[length] >= '0' && at[length] <= '9';
        if (!before && !after)
            return 1;
    }
    return 0;
}

static void infinity_names_its_row(void **state) {
    (void)state;
    static const size_t rows[] = {0, 137, 1023, 4999};
    enum { N = 5000, D = 5 };
    float *x = ref_take(N * D, sizeof *x);
    int32_t *labels = ref_take(N, sizeof *labels);
    for (size_t r = 0; r < 4; r++) {
        ast_report report = {.size = sizeof report};
        ast_context *context = ref_context(r % 2 ? "base" : REF_FAST, r < 2 ? 1 : 3);
        ref_fill_clustered(x, N, D, 4, 0.1, 0, 3);
        x[rows[r] * D + 3] = r % 2 ? -INFINITY : INFINITY;
        x[(N - 1) * D] = INFINITY; /* the first one is named */
        ast_points points = ast_points_f4(x, N, D);
        ast_options options = ref_dp_options(30);
        labels[0] = labels[N - 1] = -77;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
        if (!names(ast_message(context), rows[r]) && !names(ast_message(context), rows[r] + 1))
            fail_msg("an infinity in row %zu (from 0): %s", rows[r], ast_message(context));
        assert_int_equal(labels[0], -77);
        assert_int_equal(labels[N - 1], -77);
        ast_assign_options known = ast_assign_to(x + D, 1);
        assert_int_equal(ast_assign(context, &points, &known, labels, NULL), AST_BAD_DATA);
    }
    free(x);
    free(labels);
}

/* The options are a problem, the sentence mentions `word`, and a run says the same and writes nothing. */
static void check_problem(const ast_options *options, const char *word) {
    float x[] = {1, 0, 0, 1, 0.6f, 0.8f};
    int32_t labels[3] = {-77, -77, -77};
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(x, 3, 2);
    ast_context *context = ref_context("base", 1);
    const char *problem = ast_options_problem(options);
    if (!problem)
        fail_msg("no problem with a bad %s", word);
    if (!strstr(problem, word) || strlen(problem) < 15)
        fail_msg("a bad %s is described as: %s", word, problem);
    assert_int_equal(ast_cluster(context, &points, options, labels, &report), AST_BAD_OPTION);
    assert_true(strlen(ast_message(context)) > 0);
    assert_int_equal(labels[0], -77);
    assert_int_equal(labels[2], -77);
}

static void every_bad_option_has_a_sentence(void **state) {
    (void)state;
    static const double angles[] = {NAN, -1, -1e-9, 180.0001, INFINITY, -INFINITY};
    ast_options good = ref_dp_options(30), bad;
    float means[] = {1, 0};
    assert_null(ast_options_problem(&good));
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        bad = good;
        bad.angle = angles[i];
        check_problem(&bad, "angle");
    }
    bad = good, bad.max_iterations = 0;
    check_problem(&bad, "iterations");
    bad = good, bad.restarts = 0;
    check_problem(&bad, "restarts");
    bad = good, bad.method = (ast_method)9;
    check_problem(&bad, "method");
    bad = good, bad.parallel = (ast_parallel)9;
    check_problem(&bad, "parallel");
    bad = good, bad.start.by = (ast_start)9;
    check_problem(&bad, "start");
    bad = good, bad.start.by = AST_GIVEN;
    check_problem(&bad, "means");
    bad = good, bad.start.by = AST_GIVEN, bad.start.means = means;
    check_problem(&bad, "means");
    bad = good, bad.start.by = AST_GIVEN, bad.start.means_count = 1;
    check_problem(&bad, "means");
    bad = good, bad.start.means = means, bad.start.means_count = 1;
    check_problem(&bad, "means");
    bad = good, bad.method = AST_SPKM;
    check_problem(&bad, "clusters");
    bad = good, bad.method = AST_SPKM, bad.clusters = 2, bad.start.by = AST_GIVEN, bad.start.means = means,
    bad.start.means_count = 1;
    check_problem(&bad, "means");
}

static void check_bad_call(const ast_points *points, const ast_options *options, const char *what) {
    int32_t labels[4] = {-77, -77, -77, -77};
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context(REF_FAST, 2);
    ast_status status = ast_cluster(context, points, options, labels, &report);
    if (status != AST_BAD_OPTION && status != AST_BAD_DATA)
        fail_msg("%s gives status %d", what, status);
    if (strlen(ast_message(context)) < 10 || labels[0] != -77)
        fail_msg("%s: message \"%s\", first label %d", what, ast_message(context), labels[0]);
}

static void bad_points_are_refused(void **state) {
    (void)state;
    float x[] = {1, 0, 0, 1, 0.6f, 0.8f, 0, -1};
    double weights[4] = {1, 1, 1, 1};
    float means[] = {NAN, 1}, zero[] = {0, 0}, infinite[] = {INFINITY, 0};
    ast_options options = ref_dp_options(30);
    ast_points good = ast_points_f4(x, 4, 2), bad;
    bad = good, bad.dimension = 1;
    check_bad_call(&bad, &options, "dimension 1");
    bad = good, bad.dimension = 4097;
    check_bad_call(&bad, &options, "dimension 4097");
    bad = good, bad.count = (size_t)1 << 31;
    check_bad_call(&bad, &options, "2^31 points");
    bad = good, bad.data = NULL;
    check_bad_call(&bad, &options, "no data");
    bad = good, bad.type = (ast_type)6;
    check_bad_call(&bad, &options, "type 6");
    static const double strange[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        bad = good, bad.weights = weights;
        weights[2] = strange[i];
        check_bad_call(&bad, &options, "a weight below 0 or not finite");
    }
    const float *bad_means[] = {means, zero, infinite};
    for (size_t i = 0; i < 3; i++) {
        options.start.by = AST_GIVEN;
        options.start.means = bad_means[i];
        options.start.means_count = 1;
        check_bad_call(&good, &options, "a mean without direction");
    }
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* Whole numbers below 128, and zero rows, are exact in every type; halves by hand. */
static void put(unsigned char *place, ast_type type, int value) {
    float single = (float)value;
    double wide = value;
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &single, sizeof bits);
    if (type == AST_F4)
        memcpy(place, &single, sizeof single);
    else if (type == AST_F8)
        memcpy(place, &wide, sizeof wide);
    else if (type == AST_I1 || type == AST_U1)
        *place = (unsigned char)value;
    else {
        half = (uint16_t)(type == AST_B2 ? bits >> 16 : value ? ((bits >> 23) - 112) << 10 | (bits >> 13 & 1023) : 0);
        memcpy(place, &half, sizeof half);
    }
}

static void every_type_gives_the_same(void **state) {
    (void)state;
    enum { N = 700 };
    static const size_t sizes[] = {[AST_F4] = 4, [AST_F8] = 8, [AST_F2] = 2, [AST_I1] = 1, [AST_U1] = 1, [AST_B2] = 2};
    static const size_t dimensions[] = {3, 20};
    ast_context *context = ref_context(REF_FAST, 2);
    ast_options options = ref_dp_options(30);
    for (size_t i = 0; i < 2; i++) {
        size_t d = dimensions[i];
        unsigned char *bytes = ref_take(N * d, 8);
        int32_t first[N], labels[N];
        ast_report expected = {.size = sizeof expected}, report = {.size = sizeof report};
        for (int type = AST_F4; type <= AST_B2; type++) {
            for (size_t e = 0; e < N * d; e++)
                put(bytes + e * sizes[type], (ast_type)type, e / d % 50 == 7 ? 0 : (int)(e * e % 977 * 127 / 976));
            ast_points points = ast_points_dense(bytes, (ast_type)type, sizes[type], N, d);
            bool reference = type == AST_F4;
            assert_int_equal(
                ast_cluster(context, &points, &options, reference ? first : labels, reference ? &expected : &report),
                AST_OK);
            if (reference)
                continue;
            assert_memory_equal(labels, first, sizeof first);
            assert_true(report.missing == expected.missing && report.missing >= N / 50 &&
                        report.clusters == expected.clusters && report.objective == expected.objective);
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_leaves_labels_untouched), cmocka_unit_test(infinity_names_its_row),
        cmocka_unit_test(every_bad_option_has_a_sentence),    cmocka_unit_test(bad_points_are_refused),
        cmocka_unit_test(every_type_gives_the_same),
    };
    return cmocka_run_group_tests_name("input of the batch", tests, NULL, ref_contexts_end);
}
