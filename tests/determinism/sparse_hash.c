/* SPDX-License-Identifier: MIT
 *
 * Documents as sparse rows: one hash of labels and means for every number of threads, instruction set, way of running a
 * pass, and type of indices. Nothing here is ever dense but the means. */
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 1500, WORDS = 15, SUBJECTS = 12 };

typedef struct documents {
    size_t count;
    float *values;
    int32_t *starts, *columns;
    int64_t *wide_starts, *wide_columns;
} documents;

/* Every document draws its words from one subject's, some of everybody's, and no word twice: they are in order. */
static void open_documents(documents *d, size_t count) {
    ast_random random;
    size_t entry = 0;
    ast_random_seed(&random, 3, 3);
    *d = (documents){count,
                     ref_take(count * WORDS, sizeof *d->values),
                     ref_take(count + 1, sizeof *d->starts),
                     ref_take(count * WORDS, sizeof *d->columns),
                     ref_take(count + 1, sizeof *d->wide_starts),
                     ref_take(count * WORDS, sizeof *d->wide_columns)};
    for (size_t i = 0; i < count; i++) {
        size_t subject = ast_random_below(&random, SUBJECTS);
        for (size_t w = 0; w < WORDS && i % 97; w++) { /* a few are empty */
            size_t part = TERMS / WORDS * w, of_subject = subject * 8 + ast_random_below(&random, 8);
            size_t word = ast_random_below(&random, 4) ? of_subject : ast_random_below(&random, TERMS / WORDS);
            if (ast_random_below(&random, 3) == 0)
                continue;
            d->columns[entry] = (int32_t)(part + word);
            d->wide_columns[entry] = d->columns[entry];
            d->values[entry++] = (float)(1 + ast_random_below(&random, 5));
        }
        d->starts[i + 1] = (int32_t)entry;
        d->wide_starts[i + 1] = (int64_t)entry;
    }
}

static void close_documents(documents *d) {
    free(d->values);
    free(d->starts);
    free(d->columns);
    free(d->wide_starts);
    free(d->wide_columns);
}

static ast_points view_of(const documents *d, int wide) {
    if (wide)
        return ast_points_csr(d->values, AST_F4, d->wide_starts, d->wide_columns, AST_I8, d->count, TERMS);
    return ast_points_csr(d->values, AST_F4, d->starts, d->columns, AST_I4, d->count, TERMS);
}

static uint64_t hash_of(const documents *d, const ast_options *options, const ref_setup *setup, int wide) {
    ast_points points = view_of(d, wide);
    ast_context *context = ref_context(setup->isa, setup->threads);
    ast_options run = *options;
    ast_report report = {.size = sizeof report};
    int32_t *labels = ref_take(d->count, sizeof *labels);
    run.parallel = setup->parallel;
    run.bounds = setup->bounds;
    assert_int_equal(ast_cluster(context, &points, &run, labels, &report), AST_OK);
    assert_true(report.clusters > 1 && report.missing > 0);
    uint64_t hash =
        ref_hash(labels, d->count) ^ (ref_hash((const int32_t *)ast_means(context), report.clusters * TERMS) << 1);
    free(labels);
    return hash;
}

static void check(const documents *d, const ast_options *options) {
    uint64_t expected = 0;
    for (size_t number = 0; number<REF_SETUPS; number += REF_SLOWER> 1 ? 7 : 1) {
        ref_setup setup = ref_setup_number(number);
        if (!ref_has(setup.isa))
            continue;
        if (setup.parallel == AST_OIR && options->method == AST_DP &&
            number % 16) /* scores everything anew for a birth */
            continue;
        uint64_t hash = hash_of(d, options, &setup, number % 3 == 1);
        expected = number == 0 ? hash : expected;
        if (hash != expected)
            fail_msg("method %d: another result with %s", options->method, ref_setup_text(&setup));
    }
}

static void one_hash_for_documents(void **state) {
    (void)state;
    documents d;
    ast_options options;
    open_documents(&d, REF_SLOWER > 1 ? 300 : 1200);
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = 14;
    check(&d, &options);
    options.method = AST_DP;
    options.clusters = 0;
    options.angle = 80;
    options.max_iterations = 5;
    check(&d, &options);
    close_documents(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_hash_for_documents)};
    return cmocka_run_group_tests_name("sparse hash", tests, NULL, ref_contexts_end);
}
