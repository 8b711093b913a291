/* SPDX-License-Identifier: MIT
 *
 * The planes of a room: walls that face the same way are one direction and several planes. The room is 5 x 4 x 2.5
 * metres with a cupboard in it, scanned from its middle with 3 mm of noise.
 *
 *     planes */
#include <asterism_depth.h>

#include <stdio.h>
#include <stdlib.h>

enum { PER_SQUARE_METRE = 400, MOST = 60000 };

/* A rectangle: a corner and two sides. */
typedef struct rectangle {
    double corner[3], a[3], b[3];
} rectangle;

static const rectangle room[] = {
    {{0, 0, 0}, {5, 0, 0}, {0, 4, 0}},     {{0, 0, 2.5}, {5, 0, 0}, {0, 4, 0}}, /* floor, ceiling */
    {{0, 0, 0}, {5, 0, 0}, {0, 0, 2.5}},   {{0, 4, 0}, {5, 0, 0}, {0, 0, 2.5}}, /* walls */
    {{0, 0, 0}, {0, 4, 0}, {0, 0, 2.5}},   {{5, 0, 0}, {0, 4, 0}, {0, 0, 2.5}},
    {{1, 3.4, 0}, {1.5, 0, 0}, {0, 0, 2}}, /* the front of a cupboard, which hides a part of the wall */
};

static double uniform(void) {
    return rand() / (RAND_MAX + 1.0);
}

/* Points on a rectangle, with noise along its normal, which is one of the axes. */
static size_t scan(const rectangle *r, float *points, size_t count) {
    double area = 0;
    int normal = 0;
    for (int c = 0; c < 3; c++) {
        double cross = r->a[(c + 1) % 3] * r->b[(c + 2) % 3] - r->a[(c + 2) % 3] * r->b[(c + 1) % 3];
        if (cross != 0) {
            area = cross < 0 ? -cross : cross;
            normal = c;
        }
    }
    for (size_t end = count + (size_t)(area * PER_SQUARE_METRE); count < end; count++) {
        double u = uniform(), v = uniform(), noise = -2;
        for (int draw = 0; draw < 4; draw++)
            noise += uniform();
        for (int c = 0; c < 3; c++)
            points[3 * count + (size_t)c] =
                (float)(r->corner[c] + u * r->a[c] + v * r->b[c] + (c == normal) * 0.003 * 1.73 * noise);
    }
    return count;
}

static int find_planes(ast_context *context, const float *points, size_t count, float *normals, int32_t *labels) {
    ast_cloud_options how = {0};
    ast_options cluster;
    ast_plane_options planes;
    ast_plane_map *map = NULL;
    ast_report report = {.size = sizeof report};
    ast_points directions = ast_points_f4(normals, count, 3);
    ast_cloud_options_init(&how);
    how.viewpoint[0] = 2.5;
    how.viewpoint[1] = 2;
    how.viewpoint[2] = 1.2;
    ast_options_init(&cluster);
    cluster.angle = 30;
    cluster.dp.order = AST_ORDER_CONTENT;
    ast_plane_options_init(&planes);
    if (ast_cloud_normals(context, points, count, &how, normals, NULL) != AST_OK ||
        ast_cluster(context, &directions, &cluster, labels, &report) != AST_OK ||
        ast_plane_map_open(&map, context, &planes) != AST_OK ||
        ast_plane_map_cloud(map, points, normals, labels, count, NULL) != AST_OK) {
        fprintf(stderr, "%s\n", ast_message(context));
        ast_plane_map_close(map);
        return 1;
    }
    size_t found;
    const ast_plane_info *plane = ast_plane_list(map, &found);
    for (size_t i = 0; i < found; i++)
        printf("plane %d: %5.2f square metres, faces (%5.2f, %5.2f, %5.2f), %5.2f from the origin, %zu corners\n",
               plane[i].id, plane[i].area, plane[i].normal[0], plane[i].normal[1], plane[i].normal[2], plane[i].offset,
               plane[i].ends[0]);
    ast_plane_map_close(map);
    return 0;
}

int main(void) {
    ast_context *context;
    float *points = malloc(3 * MOST * sizeof *points), *normals = malloc(3 * MOST * sizeof *normals);
    int32_t *labels = malloc(MOST * sizeof *labels);
    size_t count = 0;
    int failed = 1;
    if (points && normals && labels && ast_open(&context, 0) == AST_OK) {
        for (size_t i = 0; i < sizeof room / sizeof *room; i++)
            count = scan(&room[i], points, count);
        failed = find_planes(context, points, count, normals, labels);
        ast_close(context);
    }
    free(points);
    free(normals);
    free(labels);
    return failed;
}
