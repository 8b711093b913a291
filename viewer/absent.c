/* SPDX-License-Identifier: MIT
 *
 * Stands in for the page where the build had no npm. */
#include "viewer.h"

const char *ast_viewer_page(size_t *length) {
    *length = 0;
    return NULL;
}
