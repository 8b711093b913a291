/* SPDX-License-Identifier: MIT
 *
 * Two hash tables with open addressing: one maps positions to vertices, because STL repeats the corners of every
 * triangle; the other maps pairs of vertices to sides. Entries are inserted in order, so each holds the first vertex or
 * side with its key. */
#include "mesh_edges.h"

#include "memory.h"
#include "random.h"

#include <string.h>

typedef struct table {
    int64_t *slots; /* -1: free */
    size_t mask;
} table;

static bool open_table(table *t, size_t entries) {
    size_t size = 16;
    while (size < 2 * entries)
        size *= 2;
    t->mask = size - 1;
    t->slots = ast_allocate(size, sizeof *t->slots);
    for (size_t i = 0; t->slots && i < size; i++)
        t->slots[i] = -1;
    return t->slots != NULL;
}

static uint64_t bits_of(float x) {
    float zero = x + 0.0f; /* -0 is 0 */
    uint32_t bits;
    memcpy(&bits, &zero, sizeof bits);
    return bits;
}

static bool same_place(const float *a, const float *b) {
    return bits_of(a[0]) == bits_of(b[0]) && bits_of(a[1]) == bits_of(b[1]) && bits_of(a[2]) == bits_of(b[2]);
}

/* first[v] is the first vertex at the place of v. */
static bool find_places(const float *vertices, size_t count, int32_t *first) {
    table t;
    if (!open_table(&t, count))
        return false;
    for (size_t v = 0; v < count; v++) {
        const float *p = vertices + 3 * v;
        uint64_t hash = ast_mix64(bits_of(p[0]) ^ ast_mix64(bits_of(p[1]) ^ ast_mix64(bits_of(p[2]))));
        size_t at = hash & t.mask;
        while (t.slots[at] >= 0 && !same_place(vertices + 3 * t.slots[at], p))
            at = (at + 1) & t.mask;
        if (t.slots[at] < 0)
            t.slots[at] = (int64_t)v;
        first[v] = (int32_t)t.slots[at];
    }
    ast_free_all(t.slots);
    return true;
}

static uint64_t edge_of(const ast_mesh_edges *edges, size_t side) {
    uint64_t a = (uint64_t)edges->corners[side], b = (uint64_t)ast_side_end(edges, side);
    return a < b ? a << 32 | b : b << 32 | a;
}

static bool find_rings(ast_mesh_edges *edges, size_t sides) {
    table t;
    if (!open_table(&t, sides))
        return false;
    for (size_t side = 0; side < sides; side++) {
        uint64_t edge = edge_of(edges, side);
        size_t at = ast_mix64(edge) & t.mask;
        while (t.slots[at] >= 0 && edge_of(edges, (size_t)t.slots[at]) != edge)
            at = (at + 1) & t.mask;
        edges->next[side] = (int64_t)side;
        if (t.slots[at] < 0) {
            t.slots[at] = (int64_t)side;
        } else {
            edges->next[side] = edges->next[t.slots[at]];
            edges->next[t.slots[at]] = (int64_t)side;
        }
    }
    ast_free_all(t.slots);
    return true;
}

bool ast_mesh_edges_find(ast_mesh_edges *edges, const float *vertices, size_t vertex_count, const int32_t *faces,
                         size_t face_count) {
    int32_t *first = ast_allocate(vertex_count, sizeof *first);
    *edges = (ast_mesh_edges){.corners = ast_allocate(3 * face_count, sizeof *edges->corners),
                              .next = ast_allocate(3 * face_count, sizeof *edges->next)};
    bool good = first && edges->corners && edges->next && find_places(vertices, vertex_count, first);
    for (size_t i = 0; good && i < 3 * face_count; i++)
        edges->corners[i] = first[faces[i]];
    good = good && find_rings(edges, 3 * face_count);
    ast_free_all(first);
    return good;
}

void ast_mesh_edges_free(ast_mesh_edges *edges) {
    ast_free_all(edges->corners, edges->next);
    *edges = (ast_mesh_edges){0};
}
