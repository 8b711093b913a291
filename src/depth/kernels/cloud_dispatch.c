/* SPDX-License-Identifier: MIT */
#include "cloud_kernels.h"

#include <string.h>

const ast_cloud_kernels *ast_cloud_kernels_choose(const char *name) {
#if defined(__x86_64__)
    if (strcmp(name, "avx2") == 0)
        return &ast_cloud_kernels_avx2;
#else
    (void)name;
#endif
    return &ast_cloud_kernels_base;
}
