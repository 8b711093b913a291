/* SPDX-License-Identifier: MIT */
#include "sampler_chain.h"

#include <stdlib.h>
#include <string.h>

ast_options sampler_options(ast_method method, size_t clusters) {
    ast_options options;
    ast_options_init(&options);
    options.method = method;
    options.clusters = clusters;
    return options;
}

void chain_open(sampler_chain *c, ast_method method, size_t count, size_t dimension, size_t clusters, int threads) {
    memset(c, 0, sizeof *c);
    c->count = count;
    c->dimension = dimension;
    c->options = sampler_options(method, clusters);
    ast_pool_open(&c->pool, threads);
    c->x = ref_take(count * dimension, sizeof *c->x);
    assert_true(ast_components_open(&c->c, clusters, dimension));
    for (size_t k = 0; k < clusters; k++) {
        c->c.kappas[k] = c->c.weights[k] = c->c.offsets[k] = 1;
        for (size_t d = 0; d < dimension; d++)
            c->c.means[k * dimension + d] = d == k % dimension;
    }
}

void chain_load(sampler_chain *c, const int32_t *labels) {
    ast_fault fault = {0};
    ast_points points = ast_points_f4(c->x, c->count, c->dimension);
    ast_labelling_input input = {.kernels = ast_kernels_choose(REF_FAST), .pool = c->pool, .points = &points};
    assert_int_equal(ast_labelling_load(&c->l, &input, &fault), AST_OK);
    for (size_t i = 0; i < c->count; i++)
        if (c->l.labels[i] != AST_MISSING)
            c->l.labels[i] = labels[i];
    assert_int_equal(ast_components_to_clusters(&c->c, &c->l, &fault), AST_OK);
}

void chain_start(sampler_chain *c, const int32_t *labels) {
    ast_fault fault = {0};
    chain_load(c, labels);
    assert_int_equal(ast_sampler_open(&c->s, &c->l, &c->options, 0, &c->c, &fault), AST_OK);
}

void chain_close(sampler_chain *c) {
    ast_sampler_close(&c->s);
    ast_components_free(&c->c);
    ast_labelling_clear(&c->l);
    ast_pool_close(c->pool);
    free(c->x);
}
