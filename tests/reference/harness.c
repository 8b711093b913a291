/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED -77 /* what label arrays hold before a call */

static const char *const sets[] = {"base", REF_FAST};
static const int threads[] = {1, 2, 3, 8};
static ast_context *contexts[2][4];

ref_setup ref_setup_number(size_t number) {
    ref_setup setup;
    setup.isa = sets[number % 2];
    setup.threads = threads[number / 2 % 4];
    setup.parallel = (ast_parallel)(number / 8 % 3);
    setup.bounds = (int)(number / 24);
    return setup;
}

ref_setup ref_setup_of_way(ast_random *random, size_t way, size_t ways) {
    return ref_setup_number(ways == REF_SETUPS ? way : (size_t)ast_random_below(random, REF_SETUPS));
}

ast_options ref_dp_options(double angle) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    return options;
}

const char *ref_setup_text(const ref_setup *setup) {
    static const char *const modes[] = {"ordered", "oir", "serial"};
    static char text[80];
    snprintf(text, sizeof text, "%s, %d threads, %s, bounds %s", setup->isa, setup->threads, modes[setup->parallel],
             setup->bounds ? "on" : "off");
    return text;
}

bool ref_has(const char *isa) {
    static bool said;
    bool has = strcmp(isa, "base") == 0;
#if defined(__x86_64__)
    has |= strcmp(isa, "avx2") == 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
    has |= strcmp(isa, "neon") == 0;
#endif
    if (!has && !said)
        print_message("SKIPPED: this machine has no %s, so the runs that compare it with base are left out\n", isa);
    said |= !has;
    return has;
}

ast_context *ref_context(const char *isa, int wanted) {
    int s = strcmp(isa, REF_FAST) == 0, t = 0;
    while (t < 3 && threads[t] != wanted)
        t++;
    if (!contexts[s][t]) {
        setenv("ASTERISM_ISA", isa, 1);
        ast_open(&contexts[s][t], threads[t]);
        unsetenv("ASTERISM_ISA");
    }
    assert_non_null(contexts[s][t]);
    assert_string_equal(ast_instruction_set(contexts[s][t]), ref_has(isa) ? isa : "base");
    return contexts[s][t];
}

void ref_contexts_close(void) {
    for (int s = 0; s < 2; s++) {
        for (int t = 0; t < 4; t++) {
            ast_close(contexts[s][t]);
            contexts[s][t] = NULL;
        }
    }
}

int ref_contexts_end(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

void ref_check_seeds(void (*check)(uint64_t seed, ref_size size, size_t ways), ref_size size, size_t most,
                     size_t ways) {
    if (ref_case_only() > 0) {
        check(ref_case_only(), size, REF_SETUPS);
        return;
    }
    for (uint64_t seed = 1; seed <= ref_case_count(most); seed++)
        check(seed, size, ways);
}

int ref_trace_record(const ast_progress *state, void *data) {
    ref_trace *trace = data;
    if (state->iteration == 0) { /* a start was drawn */
        trace->starts++;
        return 0;
    }
    if (trace->count == trace->capacity) {
        size_t capacity = 2 * trace->capacity + 16;
        ast_progress *passes = ref_take(capacity, sizeof *passes);
        if (trace->count > 0)
            memcpy(passes, trace->passes, trace->count * sizeof *passes);
        free(trace->passes);
        trace->passes = passes;
        trace->capacity = capacity;
    }
    trace->passes[trace->count++] = *state;
    return 0;
}

void ref_trace_free(ref_trace *trace) {
    free(trace->passes);
    memset(trace, 0, sizeof *trace);
}

/* ---- Comparing ------------------------------------------------------------------------------------------------- */

/* Where a comparison stands, for its message. */
typedef struct place {
    const ref_case *made;
    const ref_setup *setup;
} place;

static const char *where(const place *at) {
    static char text[400];
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu (%s; %s)", (unsigned long long)at->made->seed, at->made->text,
             ref_setup_text(at->setup));
    return text;
}

static void check_labels(const place *at, const int32_t *labels, const int32_t *expected, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (labels[i] != expected[i])
            fail_msg("%s: label of point %zu is %d, should be %d", where(at), i, labels[i], expected[i]);
}

static void check_means(const place *at, const float *means, const ref_result *expected, size_t dimension) {
    for (size_t i = 0; i < expected->clusters * dimension; i++)
        if (memcmp(&means[i], &expected->means[i], sizeof *means) != 0)
            fail_msg("%s: component %zu of mean %zu is %.9g, should be %.9g", where(at), i % dimension, i / dimension,
                     (double)means[i], (double)expected->means[i]);
}

/* Objectives are sums of doubles in whatever order: equal up to rounding of what went into them. */
static int same_objective(double got, double expected, const ref_points *points) {
    return fabs(got - expected) <= 1e-12 * fmax(points->total, fabs(expected));
}

static void check_report(const place *at, const ast_report *report, const ref_points *points,
                         const ref_result *expected) {
    if (report->points != points->count || report->missing != points->missed || report->dimension != points->dimension)
        fail_msg("%s: the report counts %zu points, %zu missing, dimension %zu", where(at), report->points,
                 report->missing, report->dimension);
    if (report->clusters != expected->clusters)
        fail_msg("%s: %zu clusters, should be %zu", where(at), report->clusters, expected->clusters);
    if (points->count == 0)
        return; /* no pass is needed to know */
    if (report->iterations != expected->iterations || report->converged != expected->converged)
        fail_msg("%s: %d iterations, converged %d, should be %d, %d", where(at), report->iterations, report->converged,
                 expected->iterations, expected->converged);
    if (!same_objective(report->objective, expected->objective, points))
        fail_msg("%s: objective %.17g, should be %.17g", where(at), report->objective, expected->objective);
}

static void check_trace(const place *at, const ref_trace *trace, const ref_points *points, const ref_result *expected) {
    if (points->count == 0)
        return;
    if (trace->count != (size_t)expected->iterations)
        fail_msg("%s: %zu calls of progress for %d passes", where(at), trace->count, expected->iterations);
    for (size_t t = 0; t < trace->count; t++) {
        const ast_progress *got = &trace->passes[t];
        const ref_pass *should = &expected->passes[t];
        if (got->iteration != (int)t + 1 || got->restart != 0 || got->clusters != should->clusters)
            fail_msg("%s: pass %zu reported as restart %d, iteration %d, %zu clusters; %zu are alive", where(at), t + 1,
                     got->restart, got->iteration, got->clusters, should->clusters);
        if (got->changed != should->changed)
            fail_msg("%s: %zu points changed in pass %zu, should be %zu", where(at), got->changed, t + 1,
                     should->changed);
        if (!same_objective(got->objective, should->objective, points))
            fail_msg("%s: objective %.17g after pass %zu, should be %.17g", where(at), got->objective, t + 1,
                     should->objective);
    }
}

/* Sizes count every point with the label; weights are as given. */
static void check_clusters(const place *at, const ast_context *context, const ref_points *points,
                           const ref_result *expected) {
    size_t count = 99;
    const ast_cluster_info *info = ast_clusters(context, &count);
    if (count != expected->clusters)
        fail_msg("%s: ast_clusters gives %zu clusters, should be %zu", where(at), count, expected->clusters);
    size_t *sizes = ref_take(count, sizeof *sizes);
    double *weights = ref_take(count, sizeof *weights);
    for (size_t i = 0; i < points->count; i++) {
        if (expected->labels[i] < 0)
            continue;
        sizes[expected->labels[i]]++;
        weights[expected->labels[i]] += at->made->weights ? at->made->weights[i] : 1;
    }
    for (size_t k = 0; k < count; k++) {
        if (info[k].count != sizes[k] || fabs(info[k].weight - weights[k]) > 1e-9 * weights[k])
            fail_msg("%s: cluster %zu has size %zu, weight %.17g, should be %zu, %.17g", where(at), k, info[k].count,
                     info[k].weight, sizes[k], weights[k]);
        if (!(info[k].resultant >= 0 && info[k].resultant <= 1))
            fail_msg("%s: cluster %zu has resultant %.17g", where(at), k, info[k].resultant);
        if (memcmp(info[k].mean, expected->means + k * points->dimension, points->dimension * sizeof(float)) != 0)
            fail_msg("%s: the mean of cluster %zu in ast_clusters is not that of ast_means", where(at), k);
    }
    free(sizes);
    free(weights);
}

void ref_check_run(const ref_case *made, const ref_points *points, const ref_result *expected,
                   const ast_options *options, const ref_setup *setup) {
    place at = {made, setup};
    size_t count = points->count;
    ref_trace trace = {0};
    ast_options run = *options;
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context(setup->isa, setup->threads);
    int32_t *labels = ref_take(count + 1, sizeof *labels);
    for (size_t i = 0; i <= count; i++)
        labels[i] = UNTOUCHED;
    run.parallel = setup->parallel;
    run.bounds = setup->bounds;
    run.progress = ref_trace_record;
    run.progress_data = &trace;

    ast_status status = ast_cluster(context, &made->points, &run, labels, &report);
    if (count > 0 && points->missed == count && options->method == AST_DP) { /* nothing there: no clusters */
        if (status != AST_OK || report.clusters != 0 || labels[0] != -1)
            fail_msg("%s: status %d, %s", where(&at), status, ast_message(context));
    } else if (count > 0 && points->used == 0) { /* more clusters than points, or no weight at all */
        if (status != AST_BAD_DATA || labels[0] != UNTOUCHED)
            fail_msg("%s: status %d without a usable row", where(&at), status);
    } else {
        if (status != AST_OK || strcmp(ast_message(context), "") != 0)
            fail_msg("%s: status %d, %s", where(&at), status, ast_message(context));
        check_report(&at, &report, points, expected);
        check_labels(&at, labels, expected->labels, count);
        check_means(&at, ast_means(context), expected, points->dimension);
        check_trace(&at, &trace, points, expected);
        check_clusters(&at, context, points, expected);
    }
    if (labels[count] != UNTOUCHED)
        fail_msg("%s: wrote past the end of labels", where(&at));
    ref_trace_free(&trace);
    free(labels);
}
