/* SPDX-License-Identifier: MIT
 *
 * The loops of silhouettes for any processor, and the choice between them. */
#define TABLE ast_apart_base
#include "apart.inc"

const ast_apart *ast_apart_of(const ast_kernels *kernels) {
#if defined(__x86_64__)
    if (kernels == &ast_kernels_avx2)
        return &ast_apart_avx2;
#else
    (void)kernels;
#endif
    return &ast_apart_base;
}
