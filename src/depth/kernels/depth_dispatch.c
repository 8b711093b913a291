/* SPDX-License-Identifier: MIT */
#include "cloud_kernels.h"
#include "image_kernels.h"

#include <string.h>

#if defined(__x86_64__)
#define CHOOSE(stem, name) (strcmp(name, "avx2") == 0 ? &stem##_avx2 : &stem##_base)
#elif defined(__aarch64__)
#define CHOOSE(stem, name) (strcmp(name, "neon") == 0 ? &stem##_neon : &stem##_base)
#else
#define CHOOSE(stem, name) ((void)(name), &stem##_base)
#endif

const ast_image_kernels *ast_image_kernels_choose(const char *name) {
    return CHOOSE(ast_image_kernels, name);
}

const ast_cloud_kernels *ast_cloud_kernels_choose(const char *name) {
    return CHOOSE(ast_cloud_kernels, name);
}
