/* SPDX-License-Identifier: MIT
 *
 * Seeded random numbers: xoshiro256++ seeded by splitmix64. The same seed gives the same numbers everywhere. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct ast_random {
    uint64_t s[4];
} ast_random;

/* Streams of one seed are independent: use one per restart, thread or purpose. */
void ast_random_seed(ast_random *random, uint64_t seed, uint64_t stream);
uint64_t ast_random_u64(ast_random *random);
uint64_t ast_random_below(ast_random *random, uint64_t bound); /* 0..bound-1, unbiased; bound > 0 */
double ast_random_uniform(ast_random *random);                 /* [0, 1), 53 bits */
double ast_random_normal(ast_random *random);                  /* mean 0, variance 1 */
void ast_random_permutation(ast_random *random, uint32_t *order, size_t count);

/* splitmix64's finaliser: a bijection that scrambles its argument. */
static inline uint64_t ast_mix64(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
