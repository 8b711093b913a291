/* SPDX-License-Identifier: MIT
 *
 * Planes of clouds against truth: rectangles, L-shapes and frames with a hole, sampled at random or in rows, turned and
 * moved; parallel walls; a step; points that are on no plane. */
#include "asterism_depth.h"
#include "random.h"
#include "reference/harness.h"

#include <math.h>
#include <string.h>

enum { MOST = 60000 };

static float points[3 * MOST], normals[3 * MOST];
static int32_t labels[MOST], plane_of[MOST];

/* A shape is a rectangle of `sides` without another one, from low to high. */
typedef struct shape {
    const char *name;
    double sides[2], low[2], high[2];
} shape;

static const shape shapes[] = {{"rectangle", {4, 3}, {0, 0}, {0, 0}},
                               {"L", {4, 3}, {2.2, 1}, {4, 3}},
                               {"frame", {4, 3}, {1.2, 0.8}, {2.7, 2.1}},
                               {"strip", {6, 0.7}, {0, 0}, {0, 0}}};

static double area_of(const shape *s) {
    return s->sides[0] * s->sides[1] - (s->high[0] - s->low[0]) * (s->high[1] - s->low[1]);
}

static bool covers(const shape *s, double x, double y) {
    return x >= 0 && y >= 0 && x <= s->sides[0] && y <= s->sides[1] &&
           !(x > s->low[0] && x < s->high[0] && y > s->low[1] && y < s->high[1]);
}

/* A random rotation by Gram-Schmidt. */
static void turn(ast_random *random, double axes[3][3]) {
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++)
            axes[i][c] = ast_random_normal(random);
        for (int j = 0; j < i; j++) {
            double dot = axes[i][0] * axes[j][0] + axes[i][1] * axes[j][1] + axes[i][2] * axes[j][2];
            for (int c = 0; c < 3; c++)
                axes[i][c] -= dot * axes[j][c];
        }
        double length = sqrt(axes[i][0] * axes[i][0] + axes[i][1] * axes[i][1] + axes[i][2] * axes[i][2]);
        for (int c = 0; c < 3; c++)
            axes[i][c] /= length;
    }
}

typedef struct sampling {
    bool rows;      /* in rows with four times the distance between them */
    double density; /* of the sparse end over the dense end, for points at random */
    double noise;
} sampling;

/* Fills points[first..first + count) and says how many there are. */
static size_t sample(ast_random *random, const shape *s, const sampling *how, double axes[3][3], const double *at,
                     size_t first, size_t count) {
    size_t made = 0;
    double step = sqrt(s->sides[0] * s->sides[1] / (double)count) / 2, x = step / 2, y = 2 * step;
    while (made < count && y <= s->sides[1]) {
        double u = x, v = y, thin;
        if (how->rows) {
            x += step;
            if (x > s->sides[0]) {
                x = step / 2;
                y += 4 * step;
            }
        } else {
            u = ast_random_uniform(random) * s->sides[0];
            v = ast_random_uniform(random) * s->sides[1];
        }
        thin = 1 - (1 - how->density) * u / s->sides[0];
        if (!covers(s, u, v) || (!how->rows && ast_random_uniform(random) > thin))
            continue;
        double w = how->noise * ast_random_normal(random);
        for (int c = 0; c < 3; c++)
            points[3 * (first + made) + (size_t)c] = (float)(at[c] + u * axes[0][c] + v * axes[1][c] + w * axes[2][c]);
        made++;
    }
    return made;
}

/* Normals by neighbours, towards `viewpoint`; one label for each of the six sides of the frame that is nearest. */
static void label(ast_context *context, size_t count, double axes[3][3], const double *viewpoint) {
    ast_cloud_options options;
    ast_cloud_options_init(&options);
    memcpy(options.viewpoint, viewpoint, sizeof options.viewpoint);
    assert_int_equal(ast_cloud_normals(context, points, count, &options, normals, NULL), AST_OK);
    for (size_t i = 0; i < count; i++) {
        double most = -1;
        labels[i] = -1;
        for (int a = 0; a < 6 && !isnan(normals[3 * i]); a++) {
            const double *axis = axes[a / 2];
            double dot = normals[3 * i] * axis[0] + normals[3 * i + 1] * axis[1] + normals[3 * i + 2] * axis[2];
            dot = a % 2 ? -dot : dot;
            if (dot > most) {
                most = dot;
                labels[i] = a;
            }
        }
    }
}

static ast_plane_map *open_map(ast_context *context) {
    ast_plane_map *map;
    ast_plane_options options;
    ast_plane_options_init(&options);
    assert_int_equal(ast_plane_map_open(&map, context, &options), AST_OK);
    return map;
}

static const ast_plane_info *find(ast_plane_map *map, size_t count, size_t *planes) {
    assert_int_equal(ast_plane_map_cloud(map, points, normals, labels, count, plane_of), AST_OK);
    return ast_plane_list(map, planes);
}

/* The area inside the polygons, holes subtracted, seen from the side of the normal. */
static double polygon_area(const ast_plane_info *plane) {
    double sum = 0;
    for (size_t p = 0, first = 0; p < plane->polygons; first = plane->ends[p++])
        for (size_t i = first; i < plane->ends[p]; i++) {
            const double *a = plane->vertices + 3 * i,
                         *b = plane->vertices + 3 * (i + 1 < plane->ends[p] ? i + 1 : first), *n = plane->normal;
            sum += n[0] * (a[1] * b[2] - a[2] * b[1]) + n[1] * (a[2] * b[0] - a[0] * b[2]) +
                   n[2] * (a[0] * b[1] - a[1] * b[0]);
        }
    return sum / 2;
}

static void check_shape(const shape *s, const sampling *how, uint64_t seed) {
    ast_random random;
    double axes[3][3], at[3], eye[3], true_offset = 0, off, dot = 0;
    ast_context *context = ref_context(REF_FAST, 2);
    ast_random_seed(&random, seed, 21);
    turn(&random, axes);
    for (int c = 0; c < 3; c++) {
        at[c] = 20 * ast_random_uniform(&random) - 10;
        eye[c] = at[c] + 5 * axes[2][c];
        true_offset += at[c] * axes[2][c];
    }
    size_t planes, count = sample(&random, s, how, axes, at, 0, 12000);
    label(context, count, axes, eye);
    ast_plane_map *map = open_map(context);
    const ast_plane_info *plane = find(map, count, &planes);
    assert_true(planes >= 1);
    for (int c = 0; c < 3; c++)
        dot += plane->normal[c] * axes[2][c];
    off = fabs(plane->offset - true_offset);
    if (planes != 1 || !(dot > 0.9999) || off > 0.005 ||
        fabs(plane->area / area_of(s) - 1) > (how->rows ? 0.05 : 0.03) ||
        fabs(polygon_area(plane) / area_of(s) - 1) > 0.05 || plane->count < count * 98 / 100 ||
        fabs(plane->rms - how->noise) > 0.15 * how->noise)
        fail_msg("%s, seed %llu: %zu planes, cosine %g, %g off, area %g and %g by outline, true %g, %zu of %zu points, "
                 "rms %g",
                 s->name, (unsigned long long)seed, planes, dot, off, plane->area, polygon_area(plane), area_of(s),
                 plane->count, count, plane->rms);
    ast_plane_map_close(map);
}

static void shapes_have_their_area(void **state) {
    static const sampling ways[] = {{false, 1, 0.003}, {false, 0.1, 0.003}, {true, 1, 0.002}};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t w = 0; w < 3; w++)
            for (uint64_t seed = 1; seed <= (REF_SLOWER > 1 ? 1 : 4); seed++)
                check_shape(&shapes[s], &ways[w], seed);
}

/* Three parallel walls, one of them a step of 6 cm beside another, and the floor. */
static void parallel_walls(void **state) {
    static const double frames[2][3][3] = {{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    static const double at[4][3] = {{0, 4, 0}, {4, 3.94, 0}, {0, 5.5, 0}, {0, 0, 0}};
    static const shape walls[4] = {{"wall", {4, 2.5}, {0, 0}, {0, 0}},
                                   {"step", {3, 2.5}, {0, 0}, {0, 0}},
                                   {"behind", {4, 2.5}, {0, 0}, {0, 0}},
                                   {"floor", {7, 3.5}, {0, 0}, {0, 0}}};
    double eye[3] = {3, 1, 1.5}, world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ast_context *context = ref_context(REF_FAST, 2);
    ast_random random;
    size_t count = 0, planes, seen = 0;
    (void)state;
    ast_random_seed(&random, 5, 22);
    for (int w = 0; w < 4; w++) {
        double axes[3][3];
        memcpy(axes, frames[w == 3], sizeof axes);
        count += sample(&random, &walls[w], &(sampling){false, 1, 0.003}, axes, at[w], count, 12000);
    }
    label(context, count, world, eye);
    ast_plane_map *map = open_map(context);
    const ast_plane_info *plane = find(map, count, &planes);
    assert_int_equal(planes, 4);
    for (size_t i = 0; i < planes; i++)
        for (int w = 0; w < 4; w++) {
            double truth = w == 3 ? 0 : -at[w][1];
            if (plane[i].direction != (w == 3 ? 4 : 3) || fabs(plane[i].offset - truth) > 0.003)
                continue;
            assert_true(fabs(plane[i].area / area_of(&walls[w]) - 1) < 0.04);
            seen |= (size_t)1 << w;
        }
    assert_int_equal(seen, 15);
    ast_plane_map_close(map);
}

static uint64_t hash_planes(ast_context *context, size_t count) {
    ast_plane_map *map = open_map(context);
    size_t planes;
    const ast_plane_info *plane = find(map, count, &planes);
    uint64_t hash = planes, bits;
    for (size_t i = 0; i < count; i++)
        hash = ast_mix64(hash ^ (uint64_t)(uint32_t)plane_of[i]);
    for (size_t i = 0; i < planes; i++) {
        const double numbers[] = {plane[i].normal[0], plane[i].normal[1], plane[i].normal[2],  plane[i].offset,
                                  plane[i].area,      plane[i].rms,       plane[i].vertices[0]};
        for (int k = 0; k < 7; k++) {
            memcpy(&bits, &numbers[k], sizeof bits);
            hash = ast_mix64(hash ^ bits);
        }
    }
    ast_plane_map_close(map);
    return hash;
}

/* A curved surface, many labels, noise: planes are cut wherever, but everywhere the same. */
static void the_same_on_any_machine(void **state) {
    static const char *const sets[] = {"base", REF_FAST};
    ast_random random;
    size_t count = 20000;
    uint64_t expected = 0;
    (void)state;
    ast_random_seed(&random, 9, 23);
    for (size_t i = 0; i < count; i++) {
        double angle = 6.283185307 * ast_random_uniform(&random), radius = 1 + 0.002 * ast_random_normal(&random),
               z = 3 * ast_random_uniform(&random);
        points[3 * i] = (float)(radius * cos(angle));
        points[3 * i + 1] = (float)(i % 3 ? radius * sin(angle) : 2 * sin(angle));
        points[3 * i + 2] = (float)(i % 100 == 7 ? NAN : z);
    }
    double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, eye[3] = {0};
    for (int s = 0; s < 2 && ref_has(sets[s]); s++)
        for (int threads = 1; threads <= 8; threads = threads * 2 + (threads == 1)) {
            ast_context *context = ref_context(sets[s], threads);
            label(context, count, world, eye);
            uint64_t hash = hash_planes(context, count);
            expected = expected ? expected : hash;
            assert_true(hash == expected);
        }
}

/* The tree that normals leave behind is used only for the same points. */
static void another_cloud(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, eye[3] = {0, 0, 9}, at[3] = {0};
    ast_random random;
    size_t planes;
    (void)state;
    ast_random_seed(&random, 3, 24);
    size_t count = sample(&random, &shapes[0], &(sampling){false, 1, 0.001}, world, at, 0, 5000);
    label(context, count, world, eye);
    uint64_t first = hash_planes(context, count);
    static float held[3 * MOST];
    memcpy(held, points, sizeof held);
    for (size_t i = 0; i < count; i++)
        points[3 * i + 2] += i == 17 ? 0.5f : 0; /* one point of the same cloud elsewhere */
    hash_planes(context, count);
    assert_int_equal(plane_of[17], -1);
    memcpy(points, held, sizeof held);
    ast_plane_map *map = open_map(context);
    find(map, count - 1000, &planes); /* fewer points */
    assert_int_equal(planes, 1);
    ast_plane_map_close(map);
    assert_true(hash_planes(context, count) == first);
}

/* ---- What has no planes ------------------------------------------------------------------------------------------ */

static void few_points(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_plane_map *map = open_map(context);
    size_t planes;
    (void)state;
    assert_int_equal(ast_plane_map_cloud(map, NULL, NULL, NULL, 0, NULL), AST_OK);
    for (size_t n = 1; n <= 40; n++) {
        for (size_t i = 0; i < 40; i++) {
            points[3 * i] = (float)(i % 7);
            points[3 * i + 1] = (float)(i / 7);
            points[3 * i + 2] = 0;
            normals[3 * i] = normals[3 * i + 1] = 0;
            normals[3 * i + 2] = 1;
            labels[i] = 0;
        }
        find(map, n, &planes);
        assert_int_equal(planes, n >= 32);
    }
    for (size_t i = 0; i < 40; i++) /* no direction */
        labels[i] = -1;
    assert_int_equal(find(map, 40, &planes)->direction, -1);
    assert_int_equal(planes, 1);
    for (size_t i = 0; i < 40; i++) { /* labels without normals */
        labels[i] = 0;
        normals[3 * i] = NAN;
    }
    find(map, 40, &planes);
    assert_int_equal(planes, 0);
    ast_plane_map_close(map);
}

/* On a line, at one place, far away, and huge: no plane need come of it, and nothing else may happen. */
static void awkward_points(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_plane_map *map = open_map(context);
    size_t planes;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < 500; i++) {
            double x = (double)(i % 25), y = (double)(i / 25), size = kind == 3 ? 1e36 : 1;
            points[3 * i] = (float)(kind == 0 ? (double)i : kind == 1 ? 5 : size * x + (kind == 2 ? 1e7 : 0));
            points[3 * i + 1] = (float)(kind < 2 ? 5 : size * y);
            points[3 * i + 2] = 5;
            normals[3 * i] = normals[3 * i + 1] = 0;
            normals[3 * i + 2] = 7;
            labels[i] = 3;
        }
        const ast_plane_info *plane = find(map, 500, &planes);
        for (size_t i = 0; i < planes; i++)
            assert_true(isfinite(plane[i].area) && isfinite(plane[i].offset) && plane[i].polygons > 0);
        assert_true(kind < 2 || (planes == 1 && plane->count == 500));
    }
    ast_plane_map_close(map);
}

/* The sign of undirected normals says nothing. */
static void undirected_normals(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, eye[3] = {0, 0, 9}, at[3] = {0};
    ast_plane_map *map;
    ast_plane_options options;
    ast_random random;
    size_t planes;
    (void)state;
    ast_random_seed(&random, 4, 25);
    size_t count = sample(&random, &shapes[0], &(sampling){false, 1, 0.001}, world, at, 0, 5000);
    label(context, count, world, eye);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            normals[3 * i + (size_t)c] *= ast_mix64(i) % 2 ? 1 : -1;
            labels[i] = 0;
        }
    ast_plane_options_init(&options);
    options.undirected = 1;
    assert_int_equal(ast_plane_map_open(&map, context, &options), AST_OK);
    const ast_plane_info *plane = find(map, count, &planes);
    assert_int_equal(planes, 1);
    assert_true(fabs(plane->area / 12 - 1) < 0.03 && fabs(fabs(plane->normal[2]) - 1) < 1e-6);
    ast_plane_map_close(map);
}

/* Labels, whatever they are, name the directions of planes and change nothing else; none are needed. */
static void labels_do_not_cut(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, eye[3] = {2, 1.5, 2}, at[3] = {0};
    double wall[3][3] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    static int32_t expected[MOST];
    ast_plane_map *map = open_map(context);
    ast_random random;
    size_t planes, count;
    (void)state;
    ast_random_seed(&random, 8, 27);
    count = sample(&random, &shapes[0], &(sampling){false, 1, 0.003}, world, at, 0, 12000);
    count += sample(&random, &shapes[0], &(sampling){true, 1, 0.003}, wall, (double[]){0, 3, 0}, count, 12000);
    label(context, count, world, eye);
    double area = find(map, count, &planes)->area;
    assert_int_equal(planes, 2);
    memcpy(expected, plane_of, sizeof expected);
    for (int way = 0; way < 4; way++) {
        for (size_t i = 0; i < count; i++)
            labels[i] = way == 0 ? 7 : way == 1 ? (int32_t)(ast_mix64(i) % 3) - 1 : (int32_t)i;
        assert_int_equal(ast_plane_map_cloud(map, points, normals, way == 3 ? NULL : labels, count, plane_of), AST_OK);
        const ast_plane_info *plane = ast_plane_list(map, &planes);
        assert_int_equal(planes, 2);
        assert_true(plane->area == area && memcmp(expected, plane_of, count * sizeof *plane_of) == 0);
        assert_true(way == 0 ? plane->direction == 7 : way == 3 ? plane->direction == -1 : plane->direction >= 0);
    }
    ast_plane_map_close(map);
}

/* Points that have a label but no normal do not hide the noise of the others. */
static void labels_without_normals(void **state) {
    ast_context *context = ref_context(REF_FAST, 2);
    double world[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, eye[3] = {0, 0, 9}, at[3] = {0};
    ast_plane_map *map = open_map(context);
    ast_random random;
    size_t planes, with = 0;
    (void)state;
    ast_random_seed(&random, 6, 26);
    size_t count = sample(&random, &shapes[0], &(sampling){false, 1, 0.01}, world, at, 0, 5000);
    label(context, count, world, eye);
    for (size_t i = 0; i < count; i++) {
        bool has = points[3 * i] < 1.5f;
        normals[3 * i] = has ? normals[3 * i] : NAN;
        with += has;
    }
    const ast_plane_info *plane = find(map, count, &planes);
    assert_int_equal(planes, 1);
    assert_true(plane->count > with * 95 / 100 && plane->count <= with);
    ast_plane_map_close(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_their_area),
        cmocka_unit_test(parallel_walls),
        cmocka_unit_test(the_same_on_any_machine),
        cmocka_unit_test(another_cloud),
        cmocka_unit_test(few_points),
        cmocka_unit_test(awkward_points),
        cmocka_unit_test(undirected_normals),
        cmocka_unit_test(labels_do_not_cut),
        cmocka_unit_test(labels_without_normals),
    };
    return cmocka_run_group_tests_name("cloud_planes", tests, NULL, ref_contexts_end);
}
