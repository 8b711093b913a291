/* SPDX-License-Identifier: MIT
 *
 * Planes of meshes: boxes whose sides are cut into triangles at random, with shared vertices or with three of their own
 * for each triangle, in any order: six planes with exactly the area of the sides; holes; what is no mesh of planes. */
#include "asterism_depth.h"
#include "random.h"
#include "reference/harness.h"

#include <math.h>
#include <string.h>

enum { SIDE = 8, FACES = 6 * SIDE * SIDE * 2 };

typedef struct mesh {
    float vertices[FACES * 9];
    int32_t faces[FACES * 3], labels[FACES];
    size_t vertex_count, face_count;
} mesh;

static void add_triangle(mesh *m, double corners[3][3], int32_t label) {
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            m->vertices[3 * m->vertex_count + (size_t)c] = (float)corners[k][c];
        m->faces[3 * m->face_count + (size_t)k] = (int32_t)m->vertex_count++;
    }
    m->labels[m->face_count++] = label;
}

/* A cell of side `side` of the box, as two triangles that look outwards. */
static void add_cell(mesh *m, const double *sizes, int side, int row, int column, bool other) {
    int axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    double corners[4][3];
    for (int k = 0; k < 4; k++) {
        int up = k == 2 || k == 3, right = k == 1 || k == 2;
        corners[k][axis] = side % 2 ? sizes[axis] : 0;
        corners[k][u] = sizes[u] * (column + right) / SIDE;
        corners[k][v] = sizes[v] * (row + up) / SIDE;
    }
    for (int t = 0; t < 2; t++) {
        int order[3] = {other, 1 + other + t, (2 + other + t) % 4};
        double triangle[3][3];
        for (int k = 0; k < 3; k++)
            memcpy(triangle[side % 2 ? k : 2 - k], corners[order[k]], sizeof corners[0]);
        add_triangle(m, triangle, side);
    }
}

static void shuffle(mesh *m, ast_random *random) {
    for (size_t i = m->face_count; i > 1; i--) {
        size_t j = ast_random_below(random, i);
        for (int k = 0; k < 3; k++) {
            int32_t held = m->faces[3 * (i - 1) + (size_t)k];
            m->faces[3 * (i - 1) + (size_t)k] = m->faces[3 * j + (size_t)k];
            m->faces[3 * j + (size_t)k] = held;
        }
        int32_t held = m->labels[i - 1];
        m->labels[i - 1] = m->labels[j];
        m->labels[j] = held;
    }
}

/* `hole`: the middle of side 5 is open. */
static void make_box(mesh *m, const double *sizes, bool hole, ast_random *random) {
    m->vertex_count = m->face_count = 0;
    for (int side = 0; side < 6; side++)
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++)
                if (!hole || side != 5 || row < 2 || row >= 6 || column < 3 || column >= 5)
                    add_cell(m, sizes, side, row, column, ast_random_u64(random) % 2);
    shuffle(m, random);
}

static const ast_plane_info *find(ast_plane_map *map, const mesh *m, int32_t *plane_of, size_t *count) {
    assert_int_equal(
        ast_plane_map_mesh(map, m->vertices, m->vertex_count, m->faces, m->face_count, m->labels, plane_of), AST_OK);
    return ast_plane_list(map, count);
}

static ast_plane_map *open_map(int undirected) {
    ast_plane_map *map;
    ast_plane_options options;
    ast_plane_options_init(&options);
    options.undirected = undirected;
    assert_int_equal(ast_plane_map_open(&map, ref_context(REF_FAST, 2), &options), AST_OK);
    return map;
}

static void boxes(void **state) {
    static mesh m;
    static int32_t plane_of[FACES];
    ast_plane_map *map = open_map(0);
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(60); seed++) {
        ast_random random;
        size_t count;
        ast_random_seed(&random, seed, 31);
        double sizes[3];
        for (int c = 0; c < 3; c++) /* cells at exact floats */
            sizes[c] = (double)(SIDE * (1 + ast_random_u64(&random) % 100)) / 64;
        make_box(&m, sizes, seed % 2, &random);
        const ast_plane_info *planes = find(map, &m, plane_of, &count);
        assert_int_equal(count, 6);
        for (size_t i = 0; i < 6; i++) {
            int side = planes[i].direction, axis = side / 2;
            double area = sizes[(axis + 1) % 3] * sizes[(axis + 2) % 3];
            bool hole = seed % 2 && side == 5;
            assert_true(fabs(planes[i].area - area * (hole ? 1 - 8.0 / 64 : 1)) < 1e-9);
            assert_true(fabs(planes[i].normal[axis] - (side % 2 ? 1 : -1)) < 1e-12);
            assert_true(fabs(planes[i].offset - (side % 2 ? sizes[axis] : 0)) < 1e-9 && planes[i].rms < 1e-9);
            assert_int_equal(planes[i].polygons, hole ? 2 : 1);
            assert_int_equal(planes[i].ends[0], 4); /* a rectangle */
            assert_true(i == 0 || planes[i].area <= planes[i - 1].area);
        }
        for (size_t i = 0; i < m.face_count; i++)
            assert_int_equal(planes[plane_of[i]].direction, m.labels[i]);
    }
    ast_plane_map_close(map);
}

/* Triangles that look either way, as in meshes nobody has oriented. */
static void any_winding(void **state) {
    static mesh m;
    static int32_t plane_of[FACES];
    static const double sizes[3] = {1, 2, 3};
    ast_plane_map *map = open_map(1);
    ast_random random;
    size_t count;
    (void)state;
    ast_random_seed(&random, 1, 32);
    make_box(&m, sizes, true, &random);
    for (size_t i = 0; i < m.face_count; i++)
        if (ast_mix64(i) % 2) {
            int32_t held = m.faces[3 * i];
            m.faces[3 * i] = m.faces[3 * i + 1];
            m.faces[3 * i + 1] = held;
        }
    const ast_plane_info *planes = find(map, &m, plane_of, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(planes[i].ends[0], 4);
    ast_plane_map_close(map);
}

/* Two boxes that stand apart: coplanar sides are planes of their own. A cylinder has planes, too, of two triangles. */
static void pieces_and_cylinders(void **state) {
    static mesh m;
    static int32_t plane_of[FACES];
    static const double sizes[3] = {1, 1, 1};
    enum { AROUND = 40 };
    ast_plane_map *map = open_map(0);
    ast_random random;
    size_t count;
    (void)state;
    ast_random_seed(&random, 1, 33);
    m.vertex_count = m.face_count = 0;
    for (int box = 0; box < 2; box++)
        for (int side = 0; side < 6; side++) {
            add_cell(&m, sizes, side, 0, 0, false);
            for (size_t i = m.vertex_count - 6; i < m.vertex_count; i++)
                m.vertices[3 * i] += (float)box * 5;
        }
    find(map, &m, plane_of, &count);
    assert_int_equal(count, 12);
    m.vertex_count = m.face_count = 0;
    for (int k = 0; k < AROUND; k++) {
        double a = 6.283185307 * k / AROUND, b = 6.283185307 * (k + 1) / AROUND;
        double corners[4][3] = {{cos(a), sin(a), 0}, {cos(b), sin(b), 0}, {cos(b), sin(b), 2}, {cos(a), sin(a), 2}};
        double first[3][3], second[3][3];
        for (int c = 0; c < 3; c++) {
            memcpy(first[c], corners[c], sizeof first[c]);
            memcpy(second[c], corners[c == 0 ? 0 : c + 1], sizeof second[c]);
        }
        add_triangle(&m, first, k / 4);
        add_triangle(&m, second, k / 4);
    }
    const ast_plane_info *planes = find(map, &m, plane_of, &count);
    assert_int_equal(count, AROUND);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(planes[i].count, 2);
    ast_plane_map_close(map);
}

static void bad_meshes(void **state) {
    const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, NAN, 0, 0};
    const int32_t faces[] = {0, 1, 2, 0, 0, 1, 0, 1, 3}, wrong[] = {0, 1, 9}, labels[] = {0, -1, -1};
    ast_context *context = ref_context(REF_FAST, 2);
    ast_plane_map *map = open_map(0);
    int32_t plane_of[3] = {7, 7, 7};
    size_t count;
    (void)state;
    assert_int_equal(ast_plane_map_mesh(map, vertices, 4, wrong, 1, labels, plane_of), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "face 1 (counting from 1) names vertex 9"));
    assert_int_equal(plane_of[0], 7);
    assert_int_equal(ast_plane_map_mesh(map, NULL, 0, faces, 1, labels, NULL), AST_BAD_OPTION);
    assert_null(ast_plane_list(map, &count));
    assert_int_equal(count, 0);
    assert_int_equal(ast_plane_map_mesh(map, vertices, 4, faces, 3, labels, plane_of), AST_OK);
    assert_int_equal(ast_plane_list(map, &count)->polygons, 1);
    assert_int_equal(count, 1);
    assert_true(plane_of[0] == 0 && plane_of[1] == -1 && plane_of[2] == -1);
    assert_int_equal(ast_plane_map_mesh(map, NULL, 0, NULL, 0, NULL, NULL), AST_OK);
    ast_plane_map_close(map);
    ast_plane_options options;
    ast_plane_options_init(&options);
    options.distance = -1;
    assert_int_equal(ast_plane_map_open(&map, context, &options), AST_BAD_OPTION);
    assert_null(map);
    assert_int_equal(ast_plane_map_cloud(NULL, NULL, NULL, NULL, 0, NULL), AST_BAD_OPTION);
    ast_plane_map_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes),
        cmocka_unit_test(any_winding),
        cmocka_unit_test(pieces_and_cylinders),
        cmocka_unit_test(bad_meshes),
    };
    return cmocka_run_group_tests_name("mesh_planes", tests, NULL, ref_contexts_end);
}
