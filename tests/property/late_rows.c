/* SPDX-License-Identifier: MIT
 *
 * Late rows: everything but their labels and counts is as if they were missing, and they go to the nearest mean that
 * the other rows found, if it fits. */
#include "reference/harness.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000, MOST_DIMENSION = 6 };

/* A scene of points around a few directions, some rows missing, some late; `known` has NaN for both. */
typedef struct scene {
    size_t count, dimension;
    int axial;
    float rows[MOST * MOST_DIMENSION], known[MOST * MOST_DIMENSION];
    uint8_t late[MOST];
    int32_t labels[MOST], expected[MOST];
} scene;

static double normal(ast_random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += ast_random_uniform(random);
    return sum;
}

static void draw(scene *s, ast_random *random) {
    float heart[4][MOST_DIMENSION];
    size_t D = s->dimension;
    for (size_t k = 0; k < 4 * D; k++)
        heart[k / D][k % D] = (float)normal(random);
    for (size_t i = 0; i < s->count; i++) {
        size_t k = (size_t)ast_random_below(random, 4);
        s->late[i] = (uint8_t)(ast_random_below(random, 3) == 0 ? 1 + ast_random_below(random, 255) : 0);
        double spread = s->late[i] ? 1 : 0.05;
        bool gone = ast_random_below(random, 20) == 0;
        for (size_t d = 0; d < D; d++) {
            float x = gone ? NAN : (float)((double)heart[k][d] + spread * normal(random));
            s->rows[i * D + d] = x;
            s->known[i * D + d] = s->late[i] ? NAN : x;
        }
    }
}

static void make_all_late(scene *s) {
    memset(s->late, 1, s->count);
    for (size_t i = 0; i < s->count * s->dimension; i++)
        s->known[i] = NAN;
}

/* The mean that a late row belongs to, of those that are open to it; -1 for none. */
static int32_t nearest(const scene *s, size_t i, double angle, const float *const *means, const size_t *open,
                       size_t count) {
    float unit[MOST_DIMENSION];
    double row[MOST_DIMENSION], best = -2;
    int32_t found = -1;
    for (size_t d = 0; d < s->dimension; d++)
        row[d] = s->rows[i * s->dimension + d];
    if (isnan(row[0]) || !ref_normalise(row, s->dimension, 0, unit))
        return -1;
    for (size_t k = 0; k < count; k++) {
        double score = open[k] ? ref_closeness(s->axial, unit, means[k], s->dimension) : -3;
        if (score > best) {
            best = score;
            found = (int32_t)k;
        }
    }
    return found >= 0 && (isnan(angle) || ref_fits(best, angle)) ? found : -1;
}

static scene *make_scene(ast_random *random, int round) {
    scene *s = ref_take(1, sizeof *s);
    s->count = (size_t)ast_random_below(random, round % 8 ? 2000 : MOST);
    s->dimension = round % 3 ? 3 : 2 + (size_t)ast_random_below(random, MOST_DIMENSION - 1);
    s->axial = round % 5 == 4;
    draw(s, random);
    return s;
}

/* ---- Streams -------------------------------------------------------------------------------------------------------
 */

/* Whether cluster k is farther than the angle from every cluster with points, and from those that were seen later. */
static bool is_far(const scene *s, double angle, size_t k, const ast_tracked *records, size_t count) {
    for (size_t j = 0; j < count; j++) {
        bool later = records[j].age < records[k].age || (records[j].age == records[k].age && j < k);
        if ((records[j].count > 0 || (records[j].event == AST_UNSEEN && later)) &&
            ref_fits(ref_closeness(s->axial, records[k].mean, records[j].mean, s->dimension), angle))
            return false;
    }
    return true;
}

static size_t unseen; /* late rows that got the id of a cluster without points */

static void compare_records(const scene *s, double angle, ast_stream *late, ast_stream *known, const ast_frame *report,
                            const ast_frame *before) {
    size_t count, clusters = 0, unassigned = 0, labelled = 0, counts[256] = {0}, open[256] = {0}, gained[256] = {0};
    const ast_tracked *a = ast_stream_clusters(late, &count), *b = ast_stream_clusters(known, &count);
    const float *means[256];
    assert_true(count <= 256);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(a[k].id, b[k].id);
        assert_int_equal(a[k].event, b[k].event);
        assert_memory_equal(a[k].mean, b[k].mean, s->dimension * sizeof *a[k].mean);
        means[k] = b[k].mean;
        counts[k] = b[k].count;
    }
    for (size_t k = 0; k < count; k++)
        open[k] = counts[k] > 0 || (b[k].event == AST_UNSEEN && is_far(s, angle, k, b, count));
    for (size_t i = 0; i < s->count; i++) {
        if (s->late[i] && !isnan(s->rows[i * s->dimension])) {
            int32_t k = nearest(s, i, angle, means, open, count);
            assert_int_equal(s->labels[i], k < 0 ? -1 : b[k].id);
            unseen += k >= 0 && counts[k] == 0;
            unassigned += k < 0;
            labelled += k >= 0;
            if (k >= 0)
                gained[k]++;
        } else {
            assert_int_equal(s->labels[i], s->expected[i]);
        }
    }
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(a[k].count, counts[k] + gained[k]);
        clusters += a[k].count > 0;
    }
    assert_int_equal(report->late, labelled);
    assert_int_equal(report->unassigned, unassigned);
    assert_int_equal(report->missing, before->missing - labelled);
    assert_int_equal(report->clusters, clusters);
    assert_true(report->objective == before->objective);
}

static void streams_label_them(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 1, 82);
    unseen = 0;
    for (int round = 0; round < 40 / REF_SLOWER; round++) {
        ast_context *context = ref_context(round % 2 ? "base" : REF_FAST, 1 + round % 3);
        ast_stream_options options;
        ast_stream_options_init(&options);
        options.angle = round % 4 ? 40 : 90;
        options.method = (ast_stream_method)(round % 7 == 6 ? AST_STREAM_SDP : AST_STREAM_DDP);
        scene *s = make_scene(&random, round);
        options.dimension = s->dimension;
        options.axial = s->axial;
        options.rigid = s->dimension == 3 && round % 4 == 1 && options.method == AST_STREAM_DDP;
        ast_stream *streams[2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(ast_stream_open(&streams[k], context, &options), AST_OK);
        for (int frame = 0; frame < 7; frame++) {
            ast_frame reports[2] = {{.size = sizeof(ast_frame)}, {.size = sizeof(ast_frame)}};
            draw(s, &random);
            if (frame % 4 == 3)
                make_all_late(s);
            ast_points rows = ast_points_f4(s->rows, s->count, s->dimension);
            ast_points known = ast_points_f4(s->known, s->count, s->dimension);
            rows.late = s->late;
            assert_int_equal(ast_stream_step(streams[0], &rows, s->labels, &reports[0]), AST_OK);
            assert_int_equal(ast_stream_step(streams[1], &known, s->expected, &reports[1]), AST_OK);
            compare_records(s, options.angle, streams[0], streams[1], &reports[0], &reports[1]);
        }
        ast_stream_close(streams[0]);
        ast_stream_close(streams[1]);
        free(s);
    }
    assert_true(unseen > 1000 / REF_SLOWER);
}

/* ---- Batches -------------------------------------------------------------------------------------------------------
 */

static void compare_clusters(const scene *s, double angle, const ast_cluster_info *infos, const size_t *counts,
                             const ast_report *report, const ast_report *before) {
    const float *means[256];
    size_t unassigned = 0, labelled = 0, gained[256] = {0};
    assert_int_equal(report->clusters, before->clusters);
    assert_true(report->clusters <= 256 && report->objective == before->objective);
    for (size_t k = 0; k < report->clusters; k++)
        means[k] = infos[k].mean;
    for (size_t i = 0; i < s->count; i++) {
        if (s->late[i] && !isnan(s->rows[i * s->dimension])) {
            int32_t k = nearest(s, i, angle, means, counts, report->clusters);
            assert_int_equal(s->labels[i], k);
            unassigned += k < 0;
            labelled += k >= 0;
            if (k >= 0)
                gained[k]++;
        } else {
            assert_int_equal(s->labels[i], s->expected[i]);
        }
    }
    for (size_t k = 0; k < report->clusters; k++)
        assert_int_equal(infos[k].count, counts[k] + gained[k]);
    assert_int_equal(report->outliers, before->outliers + unassigned);
    assert_int_equal(report->missing, before->missing - unassigned - labelled);
}

static void batches_label_them(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 2, 82);
    for (int round = 0; round < 60 / REF_SLOWER; round++) {
        ast_context *context = ref_context(round % 2 ? "base" : REF_FAST, 1 + round % 3);
        ast_report reports[2] = {{.size = sizeof(ast_report)}, {.size = sizeof(ast_report)}};
        ast_options options = ref_dp_options(round % 4 ? 40 : 90);
        scene *s = make_scene(&random, round);
        if (round % 6 == 5 && s->count > 100) {
            options.method = AST_SPKM;
            options.clusters = 4;
        }
        options.dp.order = (ast_order)(options.method == AST_DP ? round % 3 : 0);
        options.restarts = round % 6 == 4 ? 3 : 1;
        options.axial = s->axial;
        ast_points rows = ast_points_f4(s->rows, s->count, s->dimension);
        ast_points known = ast_points_f4(s->known, s->count, s->dimension);
        rows.late = s->late;
        size_t clusters, counts[256] = {0};
        assert_int_equal(ast_cluster(context, &known, &options, s->expected, &reports[1]), AST_OK);
        const ast_cluster_info *infos = ast_clusters(context, &clusters);
        for (size_t k = 0; k < clusters && k < 256; k++)
            counts[k] = infos[k].count;
        assert_int_equal(ast_cluster(context, &rows, &options, s->labels, &reports[0]), AST_OK);
        double angle = options.method == AST_DP ? options.angle : (double)NAN;
        compare_clusters(s, angle, ast_clusters(context, &clusters), counts, &reports[0], &reports[1]);
        free(s);
    }
}

/* All rows late: no cluster, no label, and nothing else to complain about. */
static void nothing_but_late_rows(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 2);
    static const float rows[6] = {1, 0, 0, 0, 1, 0};
    static const uint8_t late[2] = {1, 1};
    int32_t labels[2] = {7, 7};
    ast_report report = {.size = sizeof report};
    ast_options options = ref_dp_options(60);
    ast_points points = ast_points_f4(rows, 2, 3);
    points.late = late;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_true(report.clusters == 0 && report.outliers == 2 && report.missing == 0);
    assert_true(labels[0] == -1 && labels[1] == -1);
    options.center = 1;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_OPTION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_label_them),
        cmocka_unit_test(batches_label_them),
        cmocka_unit_test(nothing_but_late_rows),
    };
    return cmocka_run_group_tests_name("late rows", tests, NULL, ref_contexts_end);
}
