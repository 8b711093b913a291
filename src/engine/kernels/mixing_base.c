/* SPDX-License-Identifier: MIT
 *
 * The loops of mixtures for any processor, and the choice between them. */
#define TABLE ast_mixing_base
#include "mixing.inc"
#include "tables.h"

const ast_mixing *ast_mixing_of(const ast_kernels *kernels) {
#if defined(__x86_64__)
    if (kernels == &ast_kernels_avx2)
        return &ast_mixing_avx2;
#else
    (void)kernels;
#endif
    return &ast_mixing_base;
}
