/* SPDX-License-Identifier: MIT
 *
 * Normals and areas of triangles, from the cross product of two edges in double. */
#include "surface_normals.h"

#include <math.h>

#define BLOCK_FACES 8192

/* If |a x b| is below this share of |a| |b|, it is rounding: the corners are on a line. */
#define ROUNDING 0x1p-50

typedef struct mesh {
    const float *vertices;
    const int32_t *faces;
    size_t face_count;
    float *normals;
    double *areas;
} mesh;

static void measure_faces(void *data, size_t block, int worker);

void ast_normals_of_mesh(ast_pool *pool, const float *vertices, const int32_t *faces, size_t face_count, float *normals,
                         double *areas) {
    mesh m = {vertices, faces, face_count, normals, areas};
    ast_pool_run_cancellable(pool, (face_count + BLOCK_FACES - 1) / BLOCK_FACES, measure_faces, &m);
}

static double length_of(const double *v) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Returns twice the area, and the vector of that length along the normal; 0 if there is no area. */
static double cross_edges(const mesh *m, size_t face, double cross[3]) {
    const float *corner[3];
    double a[3], b[3];
    for (int c = 0; c < 3; c++)
        corner[c] = m->vertices + 3 * (size_t)m->faces[3 * face + (size_t)c];
    for (int d = 0; d < 3; d++) {
        a[d] = (double)corner[1][d] - corner[0][d];
        b[d] = (double)corner[2][d] - corner[0][d];
    }
    for (int d = 0; d < 3; d++)
        cross[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    double length = length_of(cross);
    return length > ROUNDING * length_of(a) * length_of(b) ? length : 0;
}

static void measure_faces(void *data, size_t block, int worker) {
    const mesh *m = data;
    size_t end = (block + 1) * BLOCK_FACES < m->face_count ? (block + 1) * BLOCK_FACES : m->face_count;
    (void)worker;
    for (size_t face = block * BLOCK_FACES; face < end; face++) {
        double cross[3], length = cross_edges(m, face, cross);
        for (int d = 0; m->normals && d < 3; d++)
            m->normals[3 * face + (size_t)d] = length > 0 ? (float)(cross[d] / length) : NAN;
        if (m->areas)
            m->areas[face] = length / 2;
    }
}
