/* SPDX-License-Identifier: MIT
 *
 * The generator is splitmix64 (Steele, Lea and Flood 2014): small, and good enough to pick what is drawn. */
#include "fair.h"

static uint64_t next(ast_fair *fair) {
    uint64_t z = fair->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The high half of a product instead of a remainder: its bias is below limit / 2^64. */
size_t ast_fair_below(ast_fair *fair, size_t limit) {
    return (size_t)((unsigned __int128)next(fair) * limit >> 64);
}

/* Knuth's selection sampling: with chance open / left. */
int ast_fair_takes(ast_fair *fair, size_t left, size_t open) {
    return open > 0 && (open >= left || ast_fair_below(fair, left) < open);
}
