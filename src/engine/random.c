/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <assert.h>
#include <math.h>

void ast_random_seed(ast_random *random, uint64_t seed, uint64_t stream) {
    uint64_t base = ast_mix64(seed) ^ ast_mix64(~stream);
    for (int i = 0; i < 4; i++)
        random->s[i] = ast_mix64(base + (uint64_t)i * 0x9e3779b97f4a7c15u);
}

static uint64_t rotate_left(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

uint64_t ast_random_u64(ast_random *random) {
    uint64_t *s = random->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t ast_random_below(ast_random *random, uint64_t bound) {
    assert(bound > 0);
    uint64_t unfair = -bound % bound; /* 2^64 mod bound: draws below it would favour small results */
    for (;;) {
        uint64_t draw = ast_random_u64(random);
        if (draw >= unfair)
            return draw % bound;
    }
}

double ast_random_uniform(ast_random *random) {
    return (double)(ast_random_u64(random) >> 11) * 0x1p-53;
}

double ast_random_normal(ast_random *random) {
    /* Marsaglia's polar method. The second number of the pair is dropped, so that the generator needs no other
     * state. */
    for (;;) {
        double u = 2 * ast_random_uniform(random) - 1, v = 2 * ast_random_uniform(random) - 1;
        double s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * log(s) / s);
    }
}

void ast_random_permutation(ast_random *random, uint32_t *order, size_t count) {
    assert(count <= UINT32_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t j = ast_random_below(random, i + 1);
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
}
