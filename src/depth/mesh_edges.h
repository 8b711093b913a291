/* SPDX-License-Identifier: MIT
 *
 * Which faces of a mesh share an edge. A side is number 3 face + k: from corner k of the face to corner k + 1. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ast_mesh_edges {
    int32_t *corners; /* (faces, 3) vertex numbers; vertices at the same position share a number */
    int64_t *next;    /* (3 faces) the next side on the same edge, in a ring */
} ast_mesh_edges;

/* False if memory runs out. The caller must free the edges even if it fails. */
bool ast_mesh_edges_find(ast_mesh_edges *edges, const float *vertices, size_t vertex_count, const int32_t *faces,
                         size_t face_count);
void ast_mesh_edges_free(ast_mesh_edges *edges);

/* The vertex at which a side ends. */
static inline int32_t ast_side_end(const ast_mesh_edges *edges, size_t side) {
    return edges->corners[side % 3 == 2 ? side - 2 : side + 1];
}
