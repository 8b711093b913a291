/* SPDX-License-Identifier: MIT
 *
 * The generator is splitmix64 (Steele, Lea and Flood 2014): small, and good enough to choose the points to draw. */
#include "sampling.h"

static uint64_t next(ast_sampling *sampling) {
    uint64_t z = sampling->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The high half of a product instead of a remainder: its bias is below limit / 2^64. */
size_t ast_sampling_below(ast_sampling *sampling, size_t limit) {
    return (size_t)((unsigned __int128)next(sampling) * limit >> 64);
}

/* Knuth's selection sampling: takes the item with probability open / left. */
int ast_sampling_takes(ast_sampling *sampling, size_t left, size_t open) {
    return open > 0 && (open >= left || ast_sampling_below(sampling, left) < open);
}
