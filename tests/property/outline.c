/* SPDX-License-Identifier: MIT
 *
 * Outlines of random regions: a point is inside the polygons (by counting crossings) exactly if the interpolation
 * between the centres of four cells says so, on thousands of grids; and vertices that are left out move no edge by more
 * than the tolerance. */
#include "outline.h"
#include "random.h"
#include "reference/harness.h"

#include <math.h>

enum { MOST = 14 };

typedef struct field {
    size_t across, down;
    float shares[MOST * MOST];
} field;

/* Noise, blobs, or only 0 and 1. */
static field make_field(ast_random *random, int kind) {
    field f = {.across = 1 + ast_random_u64(random) % MOST, .down = 1 + ast_random_u64(random) % MOST};
    double x = ast_random_uniform(random) * MOST, y = ast_random_uniform(random) * MOST,
           radius = ast_random_uniform(random) * MOST / 2;
    for (size_t i = 0; i < f.across * f.down; i++) {
        double away = hypot((double)(i % f.across) - x, (double)(i / f.across) - y), noise = ast_random_uniform(random);
        double share = kind == 0 ? noise : kind == 1 ? radius - away + 0.3 * noise : noise < 0.6;
        f.shares[i] = (float)(share < 0 ? 0 : share > 1 ? 1 : share);
    }
    return f;
}

static double share_of(const field *f, ptrdiff_t column, ptrdiff_t row) {
    bool in = column >= 0 && row >= 0 && column < (ptrdiff_t)f->across && row < (ptrdiff_t)f->down;
    return in ? (double)f->shares[(size_t)row * f->across + (size_t)column] : 0;
}

/* The number of times that the polygons go around a point, clockwise (the second axis up) positive. */
static int winding(const ast_polygons *p, double x, double y) {
    int turns = 0;
    for (size_t k = 0, first = 0; k < p->count; first = p->ends[k++])
        for (size_t i = first; i < p->ends[k]; i++) {
            const double *a = p->vertices[i], *b = p->vertices[i + 1 < p->ends[k] ? i + 1 : first];
            double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
            if (a[1] <= y && b[1] > y && side > 0)
                turns--;
            else if (a[1] > y && b[1] <= y && side < 0)
                turns++;
        }
    return turns;
}

/* At the centres of cells, and halfway between neighbours, where the interpolation is linear. */
static void check_field(const field *f, const ast_polygons *p, uint64_t seed) {
    for (ptrdiff_t row = -1; row <= (ptrdiff_t)f->down; row++)
        for (ptrdiff_t column = -1; column <= (ptrdiff_t)f->across; column++)
            for (int way = 0; way < 3; way++) {
                double here = share_of(f, column, row), there = share_of(f, column + (way == 1), row + (way == 2));
                double middle = way ? (here + there) / 2 : here, x = (double)column + (way == 1) * 0.5,
                       y = (double)row + (way == 2) * 0.5;
                if (fabs(middle - 0.5) < 1e-6) /* on the edge */
                    continue;
                if (winding(p, x, y) != (middle > 0.5))
                    fail_msg("seed %llu: (%g, %g) has the share %g, and %d turns around it", (unsigned long long)seed,
                             x, y, middle, winding(p, x, y));
            }
}

static void outlines_are_contours(void **state) {
    ast_polygons polygons = {0};
    size_t cases = ref_case_count(3000);
    (void)state;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 11);
        field f = make_field(&random, (int)(seed % 3));
        assert_true(ast_polygons_trace(&polygons, f.shares, f.across, f.down, 0, 0));
        check_field(&f, &polygons, seed);
        for (size_t k = 0; k + 1 < polygons.count; k++)
            assert_true(polygons.ends[k + 1] >= polygons.ends[k] + 3);
    }
    ast_polygons_free(&polygons);
}

static double area_of(const ast_polygons *p, size_t k) {
    size_t first = k ? p->ends[k - 1] : 0;
    return fabs(ast_polygon_area(p->vertices + first, p->ends[k] - first));
}

static void the_largest_comes_first(void **state) {
    ast_polygons polygons = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(1000); seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 12);
        field f = make_field(&random, (int)(seed % 3));
        assert_true(ast_polygons_trace(&polygons, f.shares, f.across, f.down, 2, 0));
        for (size_t k = 1; k < polygons.count; k++)
            assert_true(area_of(&polygons, k) >= 2 && area_of(&polygons, k) <= area_of(&polygons, 0));
    }
    ast_polygons_free(&polygons);
}

static double distance_from(const double *p, const double *a, const double *b) {
    double x = b[0] - a[0], y = b[1] - a[1], squares = x * x + y * y;
    double t = squares > 0 ? ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / squares : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(p[0] - a[0] - t * x, p[1] - a[1] - t * y);
}

/* Every vertex that is left out is near an edge of what is left; a chain may double back, hence the little more. */
static void fewer_vertices(void **state) {
    enum { COUNT = 200 };
    ast_polygons out = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(500); seed++) {
        double all[COUNT][2];
        out.vertex_count = out.count = 0;
        ast_random random;
        ast_random_seed(&random, seed, 13);
        for (size_t i = 0; i < COUNT; i++) {
            double angle = 6.283185307 * (double)i / COUNT,
                   radius = 5 + 0.2 * ast_random_uniform(&random) + 2 * cos(3 * angle);
            all[i][0] = radius * cos(angle);
            all[i][1] = radius * sin(angle);
            assert_true(ast_polygons_add_vertex(&out, all[i][0], all[i][1]));
        }
        assert_true(ast_polygons_close(&out, 0, 0.3) && out.count == 1 && out.ends[0] == out.vertex_count);
        size_t count = out.vertex_count;
        assert_true(count >= 3 && count < COUNT / 2);
        for (size_t i = 0; i < COUNT; i++) {
            double least = INFINITY;
            for (size_t k = 0; k < count; k++)
                least = fmin(least, distance_from(all[i], out.vertices[k], out.vertices[(k + 1) % count]));
            assert_true(least <= 0.3 + 0.05);
        }
    }
    ast_polygons_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlines_are_contours),
        cmocka_unit_test(the_largest_comes_first),
        cmocka_unit_test(fewer_vertices),
    };
    return cmocka_run_group_tests_name("outline", tests, NULL, NULL);
}
