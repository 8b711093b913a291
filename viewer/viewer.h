/* SPDX-License-Identifier: MIT
 *
 * The page that shows a result, as the build bundled it: one HTML file in which AST_VIEWER_MARKER stands exactly once,
 * where the data goes (DATA.md). Where the build had no npm there is no page. */
#ifndef ASTERISM_VIEWER_H
#define ASTERISM_VIEWER_H

#include <stddef.h>

#define AST_VIEWER_MARKER "<!--asterism:data-->"

/* The page and its length without the closing zero; NULL and 0 where this build has none. */
const char *ast_viewer_page(size_t *length);

#endif
