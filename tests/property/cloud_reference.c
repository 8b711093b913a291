/* SPDX-License-Identifier: MIT
 *
 * Planes of clouds against a slow reference, exactly: the plane of every point, and every number of every plane.
 * Clouds of rooms, steps, bent walls, curved surfaces, clutter, lines, equal points and grids; with labels and normals
 * that are missing or wrong, and any options. */
#include "asterism_depth.h"
#include "random.h"
#include "reference/cloud_regions.h"
#include "reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 70000 };

typedef enum kind { ROOM, STEPS, BENT, TUBE, BALL, CLUTTER, LINES, PLACES, GRID, TILES, MIX, KINDS } kind;

static const char *const names[] = {"room",  "steps",  "bent walls", "tube",  "ball", "clutter",
                                    "lines", "places", "grid",       "tiles", "mix"};

/* What the points of one cloud share. */
typedef struct scene {
    kind kind;
    size_t count;
    double size[3], noise, wrong, bend, gap; /* wrong: of normals */
    double axes[3][3], shift, scale;
    double places[8][3], directions[8][3];
    int labels;       /* 0: by the nearest axis; else as many at random, or one */
    double mislabel;  /* share of points with any label */
    uint64_t without; /* one in so many points has no label, and as many no place, or no normal; 0: none */
    bool undirected;
} scene;

static float points[3 * MOST], normals[3 * MOST];
static int32_t labels[MOST], plane_of[MOST];

/* How many clouds met a rule, over all cases. */
static size_t with_planes, with_joins, with_full;

/* ---- Clouds ------------------------------------------------------------------------------------------------------ */

static double pick(ast_random *r, const double *from, size_t count) {
    return from[ast_random_below(r, count)];
}

static void make_axes(ast_random *r, double axes[3][3]) {
    for (int i = 0; i < 3; i++) {
        ref_random_direction(r, axes[i], 3);
        for (int j = 0; j < i; j++) {
            double dot = axes[i][0] * axes[j][0] + axes[i][1] * axes[j][1] + axes[i][2] * axes[j][2];
            for (int c = 0; c < 3; c++)
                axes[i][c] -= dot * axes[j][c];
        }
        ref_make_unit(axes[i], 3);
    }
}

static size_t choose_count(ast_random *r) {
    size_t range = (size_t)ast_random_below(r, 20);
    return (size_t)ast_random_below(r, range < 2 ? 80 : range < 8 ? 900 : range < 18 ? 3000 : 9000);
}

static void make_scene(scene *s, ast_random *r) {
    static const double noises[] = {0, 1e-5, 1e-3, 0.005, 0.02}, wrongs[] = {0, 0, 0.02, 0.1, 0.3};
    static const double shifts[] = {0, 0, 0, 100, -1e5}, scales[] = {1, 1, 1, 1e-4, 1e4};
    static const double bends[] = {0.002, 0.01, 0.05}, gaps[] = {0.002, 0.02, 0.06, 0.3};
    static const double mislabels[] = {0, 0, 0.02, 0.3};
    static const kind more[] = {ROOM, STEPS, BENT, BENT};
    size_t k = (size_t)ast_random_below(r, KINDS + 4);
    *s = (scene){.kind = k < KINDS ? (kind)k : more[k - KINDS], .count = choose_count(r)};
    for (int c = 0; c < 3; c++) {
        s->size[c] = 0.5 + 3 * ast_random_uniform(r);
        s->axes[c][c] = 1;
    }
    if (ast_random_below(r, 2))
        make_axes(r, s->axes);
    for (int i = 0; i < 8; i++)
        for (int c = 0; c < 3; c++) {
            s->places[i][c] = 2 * ast_random_normal(r);
            s->directions[i][c] = ast_random_normal(r);
        }
    s->noise = pick(r, noises, 5);
    s->wrong = pick(r, wrongs, 5);
    s->bend = pick(r, bends, 3);
    s->gap = pick(r, gaps, 4);
    s->shift = pick(r, shifts, 5);
    s->scale = pick(r, scales, 5);
    s->mislabel = pick(r, mislabels, 4);
    s->labels = ast_random_below(r, 3) ? 0 : 1 + (int)ast_random_below(r, 4);
    s->without = ast_random_below(r, 3) ? 0 : 2 + ast_random_below(r, 60);
    s->undirected = ast_random_below(r, 4) == 0;
}

/* A point of a wall of a box, and its normal to the inside. */
static void on_box(const scene *s, ast_random *r, double *p, double *n, bool whole) {
    size_t wall = (size_t)ast_random_below(r, 6);
    for (int c = 0; c < 3; c++)
        p[c] = whole ? (double)ast_random_below(r, 12) : s->size[c] * ast_random_uniform(r);
    p[wall / 2] = wall % 2 == 0 ? 0 : whole ? 11 : s->size[wall / 2];
    n[wall / 2] = wall % 2 == 0 ? 1 : -1;
}

/* A floor in four strips, each one gap above the one before; or a floor in waves, the larger ones longer. */
static void on_floor(const scene *s, ast_random *r, double *p, double *n) {
    double x = (s->bend > 0.01 ? 12 : 4) * ast_random_uniform(r), y = s->size[1] * ast_random_uniform(r);
    bool waves = s->kind == BENT;
    p[0] = x;
    p[1] = y;
    p[2] = waves ? s->bend * sin(2 * x) : s->gap * floor(x);
    n[0] = waves ? -2 * s->bend * cos(2 * x) : 0;
    n[2] = 1;
}

static void on_round(const scene *s, ast_random *r, double *p, double *n, bool ball) {
    ref_random_direction(r, n, 3);
    if (!ball)
        n[2] = 0;
    ref_make_unit(n, 3);
    for (int c = 0; c < 3; c++)
        p[c] = s->size[0] * n[c];
    p[2] += ball ? 0 : s->size[2] * ast_random_uniform(r);
}

static void at_places(const scene *s, ast_random *r, double *p, double *n) {
    size_t i = (size_t)ast_random_below(r, 8);
    double t = s->kind == LINES ? ast_random_uniform(r) : 0;
    for (int c = 0; c < 3; c++) {
        p[c] = s->places[i][c] + t * s->directions[i][c];
        n[c] = s->directions[(i + 3) % 8][c];
    }
}

/* Squares of which each has a quarter of the area of the one before, and as many points. */
static void on_tiles(const scene *s, ast_random *r, double *p, double *n) {
    size_t i = (size_t)ast_random_below(r, 8);
    for (int c = 0; c < 2; c++)
        p[c] = 3 * s->places[i][c] + ldexp(s->size[0] * ast_random_uniform(r), -(int)i);
    p[2] = (double)i;
    n[2] = i % 2 ? 1 : -1;
}

static void make_point(const scene *s, ast_random *r, double *p, double *n) {
    for (int c = 0; c < 3; c++)
        n[c] = 0;
    if (s->kind == ROOM || s->kind == GRID)
        on_box(s, r, p, n, s->kind == GRID);
    else if (s->kind == STEPS || s->kind == BENT)
        on_floor(s, r, p, n);
    else if (s->kind == TUBE || s->kind == BALL)
        on_round(s, r, p, n, s->kind == BALL);
    else if (s->kind == LINES || s->kind == PLACES)
        at_places(s, r, p, n);
    else if (s->kind == TILES)
        on_tiles(s, r, p, n);
    else {
        for (int c = 0; c < 3; c++)
            p[c] = s->size[c] * ast_random_uniform(r);
        ref_random_direction(r, n, 3);
    }
}

static int32_t label_of(const scene *s, ast_random *r, const double *n) {
    int32_t found = 0;
    double most = -1;
    for (int32_t a = 0; a < 6; a++) {
        double dot = a % 2 ? -n[a / 2] : n[a / 2];
        if (dot > most && (!s->undirected || a % 2 == 0)) {
            most = s->undirected ? fabs(dot) : dot;
            found = a;
        }
    }
    if (s->labels > 0 || ast_random_uniform(r) < s->mislabel)
        found = (int32_t)ast_random_below(r, s->labels > 0 ? (uint64_t)s->labels : 6);
    return found;
}

/* What is missing: the label, the place, the normal, or its length. */
static void take_away(const scene *s, ast_random *r, size_t i) {
    if (s->without == 0 || ast_random_below(r, s->without) > 0)
        return;
    size_t what = (size_t)ast_random_below(r, 4), c = (size_t)ast_random_below(r, 3);
    if (what == 0)
        labels[i] = -1;
    else if (what == 1)
        points[3 * i + c] = NAN;
    else if (what == 2)
        normals[3 * i + c] = NAN;
    else
        normals[3 * i] = normals[3 * i + 1] = normals[3 * i + 2] = 0;
}

static void add_point(const scene *s, ast_random *r, size_t i) {
    double p[3], n[3], at[3], turned[3], length;
    scene one = *s;
    if (s->kind == MIX)
        one.kind = (kind)(i % MIX);
    make_point(&one, r, p, n);
    for (int c = 0; c < 3; c++) {
        p[c] += s->kind == GRID ? 0 : s->noise * ast_random_normal(r);
        n[c] += s->wrong * ast_random_normal(r);
    }
    ref_make_unit(n, 3);
    labels[i] = label_of(s, r, n);
    length = s->undirected && ast_random_below(r, 2) ? -1 : 1;
    length *= 0.1 + ast_random_uniform(r);
    for (int c = 0; c < 3; c++) {
        at[c] = s->axes[0][c] * p[0] + s->axes[1][c] * p[1] + s->axes[2][c] * p[2];
        turned[c] = s->axes[0][c] * n[0] + s->axes[1][c] * n[1] + s->axes[2][c] * n[2];
        points[3 * i + (size_t)c] = (float)(s->scale * (at[c] + s->shift));
        normals[3 * i + (size_t)c] = (float)(length * turned[c]);
    }
    take_away(s, r, i);
}

static ast_plane_options choose_options(const scene *s, ast_random *r) {
    static const double distances[] = {0, 0, 0, 0.001, 0.01, 0.1}, areas[] = {-1, -1, -1, 0, 0.01, 2};
    ast_plane_options options;
    ast_plane_options_init(&options);
    options.distance = s->scale * pick(r, distances, 6);
    options.area = s->scale * s->scale * pick(r, areas, 6);
    options.undirected = s->undirected;
    return options;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static const char *text_of(uint64_t seed, const scene *s, const ref_setup *setup) {
    static char text[200];
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu (%zu points, %s; %s, %d threads)", (unsigned long long)seed,
             s->count, names[s->kind], setup->isa, setup->threads);
    return text;
}

static bool same_plane(const ast_plane_info *a, const ast_plane_info *b) {
    return a->id == b->id && a->direction == b->direction && a->count == b->count && a->offset == b->offset &&
           a->rms == b->rms && a->area == b->area && memcmp(a->normal, b->normal, sizeof a->normal) == 0 &&
           memcmp(a->centroid, b->centroid, sizeof a->centroid) == 0;
}

static void compare(const char *text, const ref_cloud_planes *expected, ast_plane_map *map, size_t count) {
    size_t planes;
    const ast_plane_info *plane = ast_plane_list(map, &planes);
    if (planes != expected->count)
        fail_msg("%s: %zu planes, should be %zu", text, planes, expected->count);
    for (size_t i = 0; i < count; i++)
        if (plane_of[i] != expected->plane_of[i])
            fail_msg("%s: point %zu is on plane %d, should be on %d", text, i, plane_of[i], expected->plane_of[i]);
    for (size_t i = 0; i < planes; i++)
        if (!same_plane(&plane[i], &expected->planes[i]))
            fail_msg("%s: plane %zu has direction %d, %zu points, offset %.17g, area %.17g, rms %.17g, should have %d, "
                     "%zu, %.17g, %.17g, %.17g",
                     text, i, plane[i].direction, plane[i].count, plane[i].offset, plane[i].area, plane[i].rms,
                     expected->planes[i].direction, expected->planes[i].count, expected->planes[i].offset,
                     expected->planes[i].area, expected->planes[i].rms);
}

static void check_in(const char *text, const ref_setup *setup, const ref_cloud_planes *expected,
                     const ast_plane_options *options, size_t count) {
    ast_plane_map *map;
    memset(plane_of, 77, sizeof plane_of);
    assert_int_equal(ast_plane_map_open(&map, ref_context(setup->isa, setup->threads), options), AST_OK);
    assert_int_equal(ast_plane_map_cloud(map, points, normals, labels, count, plane_of), AST_OK);
    compare(text, expected, map, count);
    ast_plane_map_close(map);
}

static void check_scene(uint64_t seed, const scene *s, ast_random *r, size_t ways) {
    ref_cloud_planes expected;
    for (size_t i = 0; i < s->count; i++)
        add_point(s, r, i);
    ast_plane_options options = choose_options(s, r);
    ref_cloud_planes_find(&expected, points, normals, labels, s->count, &options);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(r, way, ways);
        check_in(text_of(seed, s, &setup), &setup, &expected, &options, s->count);
    }
    with_planes += expected.count > 1;
    with_joins += expected.joined > 0;
    with_full += expected.full > 0;
    ref_cloud_planes_free(&expected);
}

static void check(uint64_t seed, ref_size size, size_t ways) {
    ast_random random;
    scene s;
    (void)size;
    ast_random_seed(&random, seed, 41);
    make_scene(&s, &random);
    check_scene(seed, &s, &random, ways);
}

static void planes_are_those_of_the_reference(void **state) {
    size_t cases = ref_case_count(800);
    (void)state;
    ref_check_seeds(check, REF_SMALL, 800, 2);
    print_message("%zu clouds: %zu with planes, %zu with joined regions, %zu with as many neighbours as there may be\n",
                  cases, with_planes, with_joins, with_full);
    if (!ref_case_only() && cases >= 100) /* these cases are not about nothing */
        assert_true(with_planes > cases / 4 && with_joins > cases / 20 && with_full > cases / 20);
}

/* So many patches that the noise is found from one in two of them; on a tube the noise decides where planes end. */
static void many_patches(void **state) {
    scene s = {.kind = TUBE, .count = ref_scaled(MOST), .size = {1, 1, 4}, .noise = 0.004, .wrong = 0.02, .scale = 1};
    ast_random random;
    (void)state;
    ast_random_seed(&random, 1, 42);
    for (int c = 0; c < 3; c++)
        s.axes[c][c] = 1;
    check_scene(1, &s, &random, 2);
}

/* Clouds in which rules decide that seldom do: a second round of joining, the angle between the planes of a bent wall,
 * and the area of regions that have joined. */
static void rare_clouds(void **state) {
    static const uint64_t seeds[] = {653, 1017, 2118};
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        check(seeds[i], REF_SMALL, 2);
}

static void put_point(size_t i, double x, double y, double z, int32_t label) {
    points[3 * i] = (float)x;
    points[3 * i + 1] = (float)y;
    points[3 * i + 2] = (float)z;
    normals[3 * i] = normals[3 * i + 1] = 0;
    normals[3 * i + 2] = label < 0 ? NAN : 1;
    labels[i] = label;
}

/* Turns the normal of a point by 50 degrees, to one of four sides. */
static void tilt_normal(size_t i, size_t side) {
    static const float at[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    normals[3 * i] = 0.766f * at[side][0];
    normals[3 * i + 1] = 0.766f * at[side][1];
    normals[3 * i + 2] = 0.643f;
}

/* More planes around one leaf than are looked at. 64 places of 32 equal points, one plane each, are in a row. The 16
 * points of the leaf are in a row beside it, so far apart that each of its four patches reaches 16 other places; the
 * points lie on the planes of places 17 to 32, of which the first eight are among the 24 that are looked at. All other
 * points only see to it that these 16 are a leaf. */
static void more_planes_than_are_looked_at(void **state) {
    enum { PLACE = 32, ROW = 64 * PLACE, LEAF = 16, ALL = 2 * ROW };
    ref_setup setup = {.isa = REF_FAST, .threads = 2};
    ast_plane_options options;
    ref_cloud_planes expected;
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < ROW; i++)
        put_point(i, 25.0 * (double)(i / PLACE) - 200, 0, 0.1 * (double)(i / PLACE), 0);
    for (size_t i = 0; i < LEAF; i++) {
        put_point(ROW + i, 100.0 * (double)i, 50, 0.1 * (double)(17 + i), 1);
        tilt_normal(ROW + i, i / 4);
    }
    for (size_t i = ROW + LEAF; i < ALL; i++)
        put_point(i, 0, 1e4 + 10.0 * (double)i, 0, -1);
    ast_plane_options_init(&options);
    options.distance = 0.01;
    options.area = 0;
    ref_cloud_planes_find(&expected, points, normals, labels, ALL, &options);
    for (size_t i = ROW; i < ROW + LEAF; i++)
        found += expected.plane_of[i] >= 0;
    assert_int_equal(found, 8);
    check_in("more planes than are looked at", &setup, &expected, &options, ALL);
    ref_cloud_planes_free(&expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_those_of_the_reference),
        cmocka_unit_test(rare_clouds),
        cmocka_unit_test(many_patches),
        cmocka_unit_test(more_planes_than_are_looked_at),
    };
    return cmocka_run_group_tests_name("cloud_reference", tests, NULL, ref_contexts_end);
}
