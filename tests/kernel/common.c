/* SPDX-License-Identifier: MIT */
#include "common.h"

#include "reference/harness.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_BLOCKS 1024
#define CANARY 64 /* bytes of 0xa5 before the start */

/* Mapping pages takes longer than most kernels: blocks are kept for whoever wants as many pages next. */
typedef struct block {
    uint8_t *pages, *start;
    size_t usable; /* bytes before the forbidden page */
    bool taken;
} block;

static block blocks[MOST_BLOCKS];
static size_t block_count;

static const ast_kernels *found[3];
const ast_kernels *const *const all_tables = found;

__attribute__((constructor)) static void find_tables(void) {
    found[0] = &ast_kernels_base;
    if (ref_has(REF_FAST))
        found[1] = ast_kernels_choose(REF_FAST);
}

size_t padded(size_t n) {
    return (n + AST_LANES - 1) / AST_LANES * AST_LANES;
}

static block *find_block(size_t usable, size_t page) {
    for (size_t i = 0; i < block_count; i++)
        if (!blocks[i].taken && blocks[i].usable == usable)
            return &blocks[i];
    uint8_t *pages = mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED && block_count < MOST_BLOCKS);
    assert_int_equal(mprotect(pages + usable, page, PROT_NONE), 0);
    blocks[block_count] = (block){.pages = pages, .usable = usable};
    return &blocks[block_count++];
}

void *guarded(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), usable = (bytes + CANARY + page - 1) / page * page;
    block *b = find_block(usable, page);
    b->taken = true;
    b->start = b->pages + usable - bytes;
    memset(b->start - CANARY, 0xa5, CANARY);
    memset(b->start, 0xff, bytes);
    return b->start;
}

void release_all(void) {
    for (block *b = blocks; b < blocks + block_count; b++) {
        for (int i = 1; b->taken && i <= CANARY; i++)
            if (b->start[-i] != 0xa5)
                fail_msg("wrote %d bytes before the start of a buffer", i);
        b->taken = false;
    }
}

float *guarded_floats(const float *from, size_t n) {
    float *copy = guarded(n * sizeof *copy);
    if (from && n)
        memcpy(copy, from, n * sizeof *copy);
    return copy;
}

int32_t *guarded_ints(const int32_t *from, size_t n) {
    int32_t *copy = guarded(n * sizeof *copy);
    if (from && n)
        memcpy(copy, from, n * sizeof *copy);
    return copy;
}

void guarded_columns(const float *rows, size_t n, size_t dimension, const float **x) {
    for (size_t d = 0; d < dimension; d++) {
        float *column = guarded_floats(NULL, padded(n));
        for (size_t i = 0; i < n; i++)
            column[i] = rows[i * dimension + d];
        x[d] = column;
    }
}

ast_scores guarded_scores(size_t n, bool pad) {
    size_t room = pad ? padded(n) : n;
    return (ast_scores){guarded_floats(NULL, room), guarded_floats(NULL, room), guarded_ints(NULL, room)};
}

void random_unit(ast_random *random, float *x, size_t dimension) {
    double v[4096], squared = 0;
    assert_true(dimension <= sizeof v / sizeof *v);
    for (size_t d = 0; d < dimension; d++) {
        v[d] = ast_random_normal(random);
        squared += v[d] * v[d];
    }
    for (size_t d = 0; d < dimension; d++)
        x[d] = (float)(v[d] / sqrt(squared));
}
