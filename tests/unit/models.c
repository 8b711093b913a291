/* SPDX-License-Identifier: MIT
 *
 * Models: what a run knew goes into bytes and comes back, labels are those of the run, and bytes that are not whole are
 * refused with one sentence. */
#include "checksum.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 600, DIMENSION = 5 };

typedef struct data {
    float points[POINTS * DIMENSION];
    int32_t labels[POINTS], again[POINTS];
    float similarity[POINTS];
} data;

static ast_points draw(ast_context *context, data *d) {
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = POINTS,
                           .dimension = DIMENSION,
                           .clusters = 6,
                           .kappa = 20,
                           .noise = 0.1,
                           .seed = 7};
    assert_int_equal(ast_sample_mixture(context, &mixture, d->points, NULL, NULL), AST_OK);
    memset(d->points + 3 * DIMENSION, 0, DIMENSION * sizeof(float)); /* a missing row */
    return ast_points_f4(d->points, POINTS, DIMENSION);
}

/* The model of a run with these options, by its bytes. */
static ast_model *fit(ast_context *context, const ast_points *points, const ast_options *options, data *d) {
    ast_report report = {.size = sizeof report};
    ast_model_info info = {.size = sizeof info};
    ast_model *model, *loaded;
    size_t size;
    assert_int_equal(ast_cluster(context, points, options, d->labels, &report), AST_OK);
    assert_int_equal(ast_model_of_result(context, &info), AST_OK);
    assert_int_equal(ast_model_open(&model, context, &info), AST_OK);
    const void *bytes = ast_model_save(model, &size);
    assert_non_null(bytes);
    assert_int_equal(ast_model_load(&loaded, context, bytes, size), AST_OK);
    ast_model_close(model);
    return loaded;
}

static int feed(size_t first, size_t count, void *rows, void *from) {
    memcpy(rows, (float *)from + first * DIMENSION, count * DIMENSION * sizeof(float));
    return 0;
}

static int take(size_t first, size_t count, const int32_t *labels, const float *similarity, void *to) {
    data *d = to;
    memcpy(d->again + first, labels, count * sizeof *labels);
    memcpy(d->similarity + first, similarity, count * sizeof *similarity);
    return 0;
}

static void check_own_labels(const ast_options *options) {
    ast_context *context = ref_context(REF_FAST, 2);
    data *d = calloc(1, sizeof *d);
    ast_points points = draw(context, d);
    ast_model *model = fit(context, &points, options, d);
    assert_int_equal(ast_model_assign(model, &points, NAN, d->again, d->similarity), AST_OK);
    assert_memory_equal(d->labels, d->again, sizeof d->labels);
    assert_true(isnan(d->similarity[3]) && d->again[3] == -1);
    const ast_source source = {
        .size = sizeof source, .count = POINTS, .dimension = DIMENSION, .read = feed, .data = d->points};
    const ast_label_sink sink = {sizeof sink, take, d};
    float similarity[POINTS];
    memcpy(similarity, d->similarity, sizeof similarity);
    memset(d->again, 0x55, sizeof d->again);
    assert_int_equal(ast_model_assign_source(model, &source, NAN, &sink), AST_OK);
    assert_memory_equal(d->labels, d->again, sizeof d->labels);
    assert_memory_equal(d->similarity, similarity, sizeof similarity);
    ast_model_close(model);
    free(d);
}

static ast_options options_of(ast_method method) {
    ast_options options;
    ast_options_init(&options);
    options.method = method;
    options.angle = method == AST_DP || method == AST_DPMEANS ? 45 : NAN;
    options.clusters = method == AST_DP || method == AST_DPMEANS ? 0 : 6;
    return options;
}

static void test_own_labels(void **state) {
    (void)state;
    ast_options dp = options_of(AST_DP), means = options_of(AST_DPMEANS), spkm = options_of(AST_SPKM),
                mixture = options_of(AST_MOVMF);
    means.angle = 60;
    check_own_labels(&dp);
    check_own_labels(&means);
    check_own_labels(&spkm);
    check_own_labels(&mixture);
    dp.center = 1;
    check_own_labels(&dp);
    dp.center = 0;
    dp.axial = 1;
    check_own_labels(&dp);
    dp.axial = 0;
    mixture.mixture.background = 1; /* points of the background, too */
    check_own_labels(&mixture);
    mixture.center = 1;
    check_own_labels(&mixture);
}

/* Dissolving moves means once more at the end: a few labels differ, and outliers stay outliers. */
static void test_dissolved(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 1);
    data *d = calloc(1, sizeof *d);
    ast_points points = draw(context, d);
    ast_options options = options_of(AST_DP);
    options.merge.min_size = 30;
    ast_model *model = fit(context, &points, &options, d);
    assert_int_equal(ast_model_assign(model, &points, NAN, d->again, NULL), AST_OK);
    size_t differ = 0, outliers = 0, both = 0;
    for (size_t i = 0; i < POINTS; i++) {
        differ += d->labels[i] != d->again[i];
        outliers += d->labels[i] < 0;
        both += d->labels[i] < 0 && d->again[i] < 0;
    }
    assert_true(differ < POINTS / 20 && outliers > 20 && both > outliers * 8 / 10);
    ast_model_close(model);
    free(d);
}

/* Everything that a model can hold comes back, and ids, thresholds and the angle decide labels. */
static void test_contents(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 1);
    const float means[] = {1, 0, 0, 0, 1, 0}, center[] = {0, 0, 0}, thresholds[] = {0.9f, -1};
    const int32_t ids[] = {4, 9};
    const uint64_t counts[] = {3, 5};
    const double kappas[] = {2.5, NAN};
    const char *const names[] = {"caf\xC3\xA9 \"x\"", ""};
    ast_model_info info = {.size = sizeof info,
                           .method = AST_DP,
                           .dimension = 3,
                           .clusters = 2,
                           .angle = 33.25,
                           .background = NAN,
                           .next_id = 12,
                           .means = means,
                           .ids = ids,
                           .counts = counts,
                           .kappas = kappas,
                           .thresholds = thresholds,
                           .center = center,
                           .names = names},
                   back = {.size = sizeof back};
    ast_model *model;
    assert_int_equal(ast_model_open(&model, context, &info), AST_OK);
    assert_int_equal(ast_model_view(model, &back), AST_OK);
    assert_true(back.method == AST_DP && back.dimension == 3 && back.clusters == 2 && !back.axial);
    assert_true(back.angle == 33.25 && isnan(back.background) && back.next_id == 12);
    assert_memory_equal(back.means, means, sizeof means);
    assert_memory_equal(back.ids, ids, sizeof ids);
    assert_memory_equal(back.counts, counts, sizeof counts);
    assert_memory_equal(back.kappas, kappas, sizeof kappas);
    assert_memory_equal(back.thresholds, thresholds, sizeof thresholds);
    assert_memory_equal(back.center, center, sizeof center);
    assert_string_equal(back.names[0], names[0]);
    assert_string_equal(back.names[1], "");
    assert_true(!back.shares && !back.lengths);
    const float rows[] = {1, 0.1f, 0, 1, 0.7f, 0, 0, 1, 0, 0.5f, 1, 0};
    const ast_points points = ast_points_f4(rows, 4, 3);
    int32_t labels[4];
    assert_int_equal(ast_model_assign(model, &points, NAN, labels, NULL), AST_OK);
    assert_memory_equal(labels, ((int32_t[]){4, -1, 9, 9}), sizeof labels);
    assert_int_equal(ast_model_assign(model, &points, 20, labels, NULL), AST_OK);
    assert_memory_equal(labels, ((int32_t[]){4, -1, 9, -1}), sizeof labels);
    const ast_points other = ast_points_f4(rows, 6, 2);
    assert_int_equal(ast_model_assign(model, &other, NAN, labels, NULL), AST_BAD_DATA);
    assert_string_equal(ast_message(context), "the points have dimension 2, but the model 3");
    assert_int_equal(ast_model_assign(model, &points, 200, labels, NULL), AST_BAD_OPTION);
    ast_model_close(model);
}

/* Rows of a model with a metric are mapped before they are compared. */
static void test_metric(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 2);
    data *d = calloc(1, sizeof *d);
    ast_points points = draw(context, d);
    float center[DIMENSION] = {0.2f, -0.1f}, matrix[DIMENSION * DIMENSION] = {0}, mapped[DIMENSION] = {0, 0, 0.05f};
    for (size_t i = 0; i < DIMENSION; i++)
        matrix[i * DIMENSION + i] = 1 / (float)(1 + i);
    const ast_metric metric = {sizeof metric, DIMENSION, center, matrix, mapped};
    float *rows = calloc(POINTS * DIMENSION, sizeof *rows);
    assert_int_equal(ast_metric_apply(context, &points, &metric, rows), AST_OK);
    const ast_points there = ast_points_f4(rows, POINTS, DIMENSION);
    const ast_options options = options_of(AST_DP);
    ast_report report = {.size = sizeof report};
    ast_model_info info = {.size = sizeof info};
    ast_model *model;
    assert_int_equal(ast_cluster(context, &there, &options, d->labels, &report), AST_OK);
    assert_int_equal(ast_model_of_result(context, &info), AST_OK);
    info.center = center;
    info.matrix = matrix;
    info.mapped_center = mapped;
    assert_int_equal(ast_model_open(&model, context, &info), AST_OK);
    assert_int_equal(ast_model_assign(model, &points, NAN, d->again, NULL), AST_OK);
    assert_memory_equal(d->labels, d->again, sizeof d->labels);
    ast_model_close(model);
    info.mapped_center = NULL;
    assert_int_equal(ast_model_open(&model, context, &info), AST_BAD_OPTION);
    assert_string_equal(ast_message(context), "a metric has a matrix and two centres");
    free(rows);
    free(d);
}

static void refused(const ast_model_info *info, const char *sentence) {
    ast_context *context = ref_context("base", 1);
    ast_model *model = (ast_model *)(uintptr_t)1;
    assert_int_equal(ast_model_open(&model, context, info), AST_BAD_OPTION);
    assert_null(model);
    assert_string_equal(ast_message(context), sentence);
}

static void test_refused(void **state) {
    (void)state;
    const float means[] = {1, 0, 0, 1}, bad[] = {1, 1, 0, 1}, nan[] = {NAN, 0};
    const int32_t ids[] = {3, 3};
    const double shares[] = {0.5, 0.5};
    const ast_model_info good = {.size = sizeof good,
                                 .dimension = 2,
                                 .clusters = 2,
                                 .angle = 20,
                                 .background = NAN,
                                 .next_id = 4,
                                 .means = means};
    ast_model_info info = good;
    info.means = bad;
    refused(&info, "a mean is no unit vector");
    info = good;
    info.ids = ids;
    refused(&info, "the ids do not increase from 0 to below next_id");
    info = good;
    info.next_id = 1;
    refused(&info, "the ids do not increase from 0 to below next_id");
    info = good;
    info.shares = shares;
    refused(&info, "its arrays are not those of its method");
    info = good;
    info.thresholds = nan;
    refused(&info, "a threshold is NaN");
    info = good;
    info.clusters = 0;
    refused(&info, "there must be at least one cluster");
    info = good;
    info.dimension = 1;
    refused(&info, "the dimension must be between 2 and 2147483647");
    info = good;
    info.means = NULL;
    refused(&info, "there are no means");
    info = good;
    info.size = 4;
    refused(&info, "info: the size of the struct is not set");
}

/* Bytes that are cut short or have one bit flipped are refused; with a new checksum most still are, and none crashes.
 */
static void test_damage(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 1);
    data *d = calloc(1, sizeof *d);
    ast_points points = draw(context, d);
    ast_options options = options_of(AST_MOVMF);
    ast_model *model = fit(context, &points, &options, d), *damaged;
    size_t size, end;
    const unsigned char *bytes = ast_model_save(model, &size);
    unsigned char *copy = malloc(size);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(ast_model_load(&damaged, context, bytes, cut), AST_BAD_DATA);
    assert_string_equal(ast_message(context), "the model ends early: it has only 735 bytes");
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(copy, bytes, size);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(ast_model_load(&damaged, context, copy, size), AST_BAD_DATA);
        assert_null(damaged);
        end = size - sizeof(uint64_t);
        uint64_t sum = ast_checksum(copy, end);
        memcpy(copy + end, &sum, sizeof sum);
        if (bit / 8 < end && ast_model_load(&damaged, context, copy, size) == AST_OK)
            ast_model_close(damaged);
    }
    memcpy(copy, bytes, size);
    copy[8] = 9;
    assert_int_equal(ast_model_load(&damaged, context, copy, size), AST_BAD_DATA);
    assert_string_equal(ast_message(context),
                        "the model has version 9; this library reads version 1, so write the model again with it");
    assert_int_equal(ast_model_load(&damaged, context, "NUMPY and so on, and on", 24), AST_BAD_DATA);
    assert_string_equal(ast_message(context), "this is no model");
    ast_model_close(model);
    free(copy);
    free(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_labels), cmocka_unit_test(test_dissolved),
                                       cmocka_unit_test(test_contents),   cmocka_unit_test(test_metric),
                                       cmocka_unit_test(test_refused),    cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
