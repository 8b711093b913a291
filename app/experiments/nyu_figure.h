/* SPDX-License-Identifier: MIT
 *
 * The paper's Figure 4: scenes from left to right, one method per row, clusters as colours over the depth. */
#pragma once

#include <thumbnail.h>

enum { AST_NYU_FIGURE_ROWS = 4, AST_NYU_FIGURE_SCENES = 7 };

/* Zeroed at first, but for the names; to be freed. */
typedef struct ast_nyu_figure {
    const char *names[AST_NYU_FIGURE_ROWS]; /* short, without <, > and & */
    size_t count;                           /* scenes */
    size_t scenes[AST_NYU_FIGURE_SCENES];   /* their numbers */
    ast_text images[AST_NYU_FIGURE_ROWS][AST_NYU_FIGURE_SCENES];
    size_t clusters[AST_NYU_FIGURE_ROWS][AST_NYU_FIGURE_SCENES];
    int32_t *colours; /* (pixels) the labels of the current scene's first row */
} ast_nyu_figure;

/* Sets the picture in row `row` of scene `count`; the first row comes first. The labels are changed: a cluster gets the
 * number, and so the colour, of the cluster of the first row that it shares most pixels with. False with a sentence. */
bool ast_nyu_figure_add(ast_nyu_figure *figure, size_t row, const ast_thumbnail *small, int32_t *labels,
                        size_t clusters, ast_format_error *error);

/* As SVG with the pictures inside it. `figure` is an ast_nyu_figure with one scene or more. */
void ast_nyu_figure_write(const void *data, ast_text *svg);
void ast_nyu_figure_free(ast_nyu_figure *figure);
