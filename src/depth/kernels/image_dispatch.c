/* SPDX-License-Identifier: MIT */
#include "image_kernels.h"

#include <string.h>

const ast_image_kernels *ast_image_kernels_choose(const char *name) {
#if defined(__x86_64__)
    if (strcmp(name, "avx2") == 0)
        return &ast_image_kernels_avx2;
#else
    (void)name;
#endif
    return &ast_image_kernels_base;
}
