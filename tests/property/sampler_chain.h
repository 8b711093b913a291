/* SPDX-License-Identifier: MIT
 *
 * A labelling with its points, components and sampler, as a Gibbs sampler has it, opened without the public interface
 * so that a test may turn one sweep at a time and change the points in between. */
#ifndef AST_TESTS_SAMPLER_CHAIN_H
#define AST_TESTS_SAMPLER_CHAIN_H

#include "gibbs.h"
#include "inside.h"
#include "reference/harness.h"

typedef struct sampler_chain {
    ast_labelling l;
    ast_pool *pool;
    ast_components c;
    ast_sampler s;
    ast_options options;
    float *x;
    size_t count, dimension;
} sampler_chain;

ast_options sampler_options(ast_method method, size_t clusters);
void chain_open(sampler_chain *c, ast_method method, size_t count, size_t dimension, size_t clusters, int threads);

/* Takes the points as they are now, and these labels of the components (or, before there are any, of their means). */
void chain_load(sampler_chain *c, const int32_t *labels);

/* Loads, and opens the sampler. */
void chain_start(sampler_chain *c, const int32_t *labels);
void chain_close(sampler_chain *c);

#endif
