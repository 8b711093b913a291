/* SPDX-License-Identifier: MIT
 *
 * Kernels for depth images: every table against plain C, bit for bit, in rows that end where nobody may read. */
#include "common.h"

#include "image_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RADIUS 7
#define ROWS (2 * MOST_RADIUS + 1)

static const ast_image_kernels *tables[3];

static const size_t radii[] = {0, 1, 2, 3, 6, 7};
#define RADII (sizeof radii / sizeof *radii)

static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};
#define LENGTHS (sizeof lengths / sizeof *lengths)

/* A row with `side` numbers to read on either side of n, filled by `make`. */
static float *row_of(ast_random *random, size_t n, size_t side, float (*make)(ast_random *)) {
    float *row = guarded_floats(NULL, side + padded(n) + side);
    for (size_t i = 0; i < side + padded(n) + side; i++)
        row[i] = make(random);
    return row + side;
}

static float any_s(ast_random *random) {
    return ast_random_below(random, 4) == 0 ? 0 : (float)(0.3 + 0.05 * ast_random_uniform(random));
}

static float any_number(ast_random *random) {
    return (float)ast_random_normal(random);
}

static float any_positive(ast_random *random) {
    return (float)ast_random_uniform(random);
}

static float any_count(ast_random *random) {
    return (float)ast_random_below(random, 16);
}

static void same_floats(const float *got, const float *expected, size_t n, const char *what, const char *table) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &expected[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(expected[i])))
            fail_msg("%s of %s: number %zu of %zu is %.9g, should be %.9g", what, table, i, n, got[i], expected[i]);
}

/* ---- Inverse depth --------------------------------------------------------------------------------------------- */

static void test_invert(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 31, 0);
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
            uint16_t *values = guarded(n * sizeof *values);
            ast_depth_range range = {(uint16_t)(1 + ast_random_below(&random, 900)),
                                     (uint16_t)(64636 + ast_random_below(&random, 900)), n % 2 ? 1000 : 4999.7f};
            float *s = guarded_floats(NULL, padded(n)), expected[MOST_POINTS];
            for (size_t i = 0; i < n; i++) {
                values[i] = (uint16_t)ast_random_below(&random, 65536);
                if (i % 5 == 0)
                    values[i] = i % 2 ? range.lowest : range.highest;
                if (i % 7 == 0)
                    values[i] = (uint16_t)(i % 2 ? range.lowest - 1 : range.highest + 1);
                int hole = values[i] < range.lowest || values[i] > range.highest;
                expected[i] = hole ? 0 : range.units / (float)values[i];
            }
            (*kernels)->invert(values, n, range, s);
            same_floats(s, expected, n, "invert", (*kernels)->name);
            release_all();
        }
}

/* ---- The filter ------------------------------------------------------------------------------------------------ */

static void test_moments(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 32, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                size_t n = lengths[l], room = padded(n), radius = radii[k];
                const float *rows[ROWS];
                for (size_t row = 0; row <= 2 * radius; row++)
                    rows[row] = row_of(&random, n, 0, any_s);
                ast_moments got = {guarded_floats(NULL, room), guarded_floats(NULL, room), guarded(room * 8),
                                   guarded(room * 8)};
                (*kernels)->moments(rows, radius, n, got);
                for (size_t i = 0; i < n; i++) {
                    float count = 0, tilt = 0;
                    double sum = 0, square = 0;
                    for (size_t row = 0; row <= 2 * radius; row++) {
                        float s = rows[row][i];
                        count += s > 0;
                        tilt += ((float)row - (float)radius) * s;
                        sum += (double)s;
                        square += (double)s * (double)s;
                    }
                    assert_true(got.count[i] == count && got.tilt[i] == tilt);
                    assert_true(got.sum[i] == sum && got.square[i] == square);
                }
                release_all();
            }
}

/* The fit of one window, in the order of the kernels. */
static void plain_fit(ast_moments of, ptrdiff_t i, size_t radius, float epsilon2, float out[5]) {
    double sum = 0, square = 0, lean = 0;
    float count = 0, tilt = 0, side = (float)(2 * radius + 1), area = side * side;
    float inertia = radius ? area * (float)(radius * (radius + 1)) / 3 : 1;
    for (ptrdiff_t at = i - (ptrdiff_t)radius; at <= i + (ptrdiff_t)radius; at++) {
        count += of.count[at];
        tilt += of.tilt[at];
        sum += of.sum[at];
        lean += (double)(at - i) * of.sum[at];
        square += of.square[at];
    }
    int whole = count == area;
    float x = whole ? (float)lean * (1 / inertia) : 0, y = whole ? tilt * (1 / inertia) : 0;
    float share = 1 / (count > 1 ? count : 1);
    float variance = (float)(square * (double)count - sum * sum) * share * share - (x * x + y * y) * (inertia / area);
    float flat = epsilon2 / ((variance > 0 ? variance : 0) + epsilon2);
    float weight = count * flat * (whole ? 1 : AST_PART), shrink = weight * flat;
    const float all[5] = {weight, shrink, shrink * ((float)sum * share), shrink * x, shrink * y};
    memcpy(out, all, sizeof all);
}

static void check_fit(ast_random *random, size_t n, size_t radius, int whole, const ast_image_kernels *kernels) {
    size_t room = padded(n);
    ast_moments of = {row_of(random, n, radius, any_count), row_of(random, n, radius, any_number),
                      (double *)guarded((room + 2 * radius) * 8) + radius,
                      (double *)guarded((room + 2 * radius) * 8) + radius};
    for (ptrdiff_t i = -(ptrdiff_t)radius; i < (ptrdiff_t)(room + radius); i++) {
        if (whole)
            of.count[i] = (float)(2 * radius + 1);
        of.sum[i] = of.count[i] * (0.3 + 0.01 * ast_random_uniform(random));
        of.square[i] = of.count[i] * (0.093 + 0.01 * ast_random_uniform(random));
    }
    float *got[5], expected[5];
    for (int k = 0; k < 5; k++)
        got[k] = guarded_floats(NULL, room);
    kernels->fit(of, radius, 3e-5f, n, (ast_fits){got[0], got[1], got[2], got[3], got[4]});
    for (size_t i = 0; i < n; i++) {
        plain_fit(of, (ptrdiff_t)i, radius, 3e-5f, expected);
        for (int k = 0; k < 5; k++)
            same_floats(&got[k][i], &expected[k], 1, "fit", kernels->name);
    }
    release_all();
}

static void test_fit(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 33, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                check_fit(&random, lengths[l], radii[k], 0, *kernels);
                check_fit(&random, lengths[l], radii[k], 1, *kernels);
            }
}

static float plain_window(const float *centre, size_t radius) {
    float sum = centre[-(ptrdiff_t)radius];
    for (ptrdiff_t k = 1 - (ptrdiff_t)radius; k <= (ptrdiff_t)radius; k++)
        sum += centre[k];
    return sum;
}

static float plain_guide(ast_fits fits, const float *tilt, size_t radius, float here, size_t i) {
    float weight = plain_window(fits.weight + i, radius), level = plain_window(fits.level + i, radius);
    float x = plain_window(fits.x + i, radius), y = plain_window(fits.y + i, radius), shrink = 0, centre = 0;
    for (ptrdiff_t k = -(ptrdiff_t)radius; k <= (ptrdiff_t)radius; k++) {
        shrink += fits.shrink[(ptrdiff_t)i + k];
        centre += (float)k * fits.shrink[(ptrdiff_t)i + k];
    }
    float aside = (x * centre + y * plain_window(tilt + i, radius)) / (shrink > AST_LEAST ? shrink : AST_LEAST);
    float smooth = (here * (weight - shrink) + (level - aside)) / weight;
    return here > 0 ? (smooth > 0 ? smooth : here) : 0;
}

static void test_guide(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 34, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                size_t n = lengths[l], radius = radii[k];
                ast_fits fits = {row_of(&random, n, radius, any_positive), row_of(&random, n, radius, any_positive),
                                 row_of(&random, n, radius, any_positive), row_of(&random, n, radius, any_number),
                                 row_of(&random, n, radius, any_number)};
                float *tilt = row_of(&random, n, radius, any_number), *s = row_of(&random, n, 0, any_s);
                float *got = guarded_floats(NULL, padded(n)), expected[MOST_POINTS];
                (*kernels)->guide(fits, tilt, radius, s, n, got);
                for (size_t i = 0; i < n; i++)
                    expected[i] = plain_guide(fits, tilt, radius, s[i], i);
                same_floats(got, expected, n, "guide", (*kernels)->name);
                release_all();
            }
}

static void test_sums(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 35, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t n = 1; n <= MOST_POINTS; n++)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                size_t radius = radii[k];
                const float *rows[ROWS];
                float *row = row_of(&random, n, radius, any_number), expected[3][MOST_POINTS], *got[4];
                for (size_t r = 0; r <= 2 * radius; r++)
                    rows[r] = row_of(&random, n, 0, any_number);
                for (int g = 0; g < 4; g++)
                    got[g] = guarded_floats(NULL, padded(n));
                for (size_t i = 0; i < n; i++) {
                    expected[0][i] = rows[0][i];
                    expected[1][i] = 0;
                    for (size_t r = 0; r <= 2 * radius; r++) {
                        expected[0][i] += r ? rows[r][i] : 0;
                        expected[1][i] += ((float)r - (float)radius) * rows[r][i];
                    }
                    expected[2][i] = plain_window(row + i, radius);
                }
                (*kernels)->sum_rows(rows, 2 * radius + 1, n, got[0]);
                (*kernels)->tilt_rows(rows, radius, n, got[1], got[2]);
                (*kernels)->sum_columns(row, radius, n, got[3]);
                same_floats(got[0], expected[0], n, "sum_rows", (*kernels)->name);
                same_floats(got[1], expected[0], n, "tilt_rows' sum", (*kernels)->name);
                same_floats(got[2], expected[1], n, "tilt_rows", (*kernels)->name);
                same_floats(got[3], expected[2], n, "sum_columns", (*kernels)->name);
                release_all();
            }
}

static void test_blocks_of_rows(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 39, 0);
    for (size_t count = 1; count <= ROWS; count++)
        for (size_t n = 1; n <= MOST_POINTS; n += 1 + count % 3)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                float *rows[ROWS], expected[MOST_POINTS], prefix[MOST_POINTS];
                float *got = guarded_floats(NULL, padded(n)), *out = guarded_floats(NULL, padded(n));
                for (size_t r = 0; r < count; r++)
                    rows[r] = row_of(&random, n, 0, any_number);
                (*kernels)->slide(rows[0], rows[count / 2], rows[count - 1], n, got, out);
                for (size_t i = 0; i < n; i++) {
                    prefix[i] = rows[0][i] + rows[count / 2][i];
                    expected[i] = rows[count - 1][i] + prefix[i];
                }
                same_floats(got, prefix, n, "slide's prefix", (*kernels)->name);
                same_floats(out, expected, n, "slide", (*kernels)->name);
                for (size_t i = 0; i < n; i++) {
                    expected[i] = rows[count - 1][i];
                    for (size_t r = count - 1; r-- > 0;)
                        expected[i] += rows[r][i];
                }
                (*kernels)->fold(rows, count, n);
                same_floats(rows[0], expected, n, "fold", (*kernels)->name);
                release_all();
            }
}

/* ---- Normals --------------------------------------------------------------------------------------------------- */

/* x, y, weight and whether it is known, of one pixel. */
static void plain_differ(const float *const rows[3], ptrdiff_t i, float jump, float out[4]) {
    const float s = rows[1][i], other[4] = {rows[1][i - 1], rows[1][i + 1], rows[0][i], rows[2][i]};
    float sides[2] = {0, 0}, step[2] = {0, 0};
    int edge = 0;
    for (int k = 0; k < 4; k++) {
        float nearer = fmaxf(fmaxf(s, other[k]), 1);
        int level = fabsf(s - other[k]) <= jump * nearer;
        edge |= other[k] > 0 && !level;
        if (other[k] > 0 && level) {
            sides[k / 2] += 1;
            step[k / 2] += k % 2 ? other[k] - s : s - other[k];
        }
    }
    int known = s > 0 && sides[0] > 0 && sides[1] > 0;
    float weight = known && !edge ? (sides[0] + sides[1]) / 4 : 0;
    out[0] = weight * step[0] * (1.5f - 0.5f * sides[0]);
    out[1] = weight * step[1] * (1.5f - 0.5f * sides[1]);
    out[2] = weight;
    out[3] = (float)known;
}

static void test_differ(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 36, 0);
    for (size_t n = 1; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
            const float *rows[3] = {row_of(&random, n, 0, any_s), row_of(&random, n, 1, any_s),
                                    row_of(&random, n, 0, any_s)};
            float *got[4], expected[4];
            for (int k = 0; k < 4; k++)
                got[k] = guarded_floats(NULL, padded(n));
            (*kernels)->differ(rows[0], rows[1], rows[2], 0.03f, n, (ast_slopes){got[0], got[1], got[2]}, got[3]);
            for (size_t i = 0; i < n; i++) {
                plain_differ(rows, (ptrdiff_t)i, 0.03f, expected);
                for (int k = 0; k < 4; k++)
                    assert_true(got[k][i] == expected[k]); /* 0 and -0 are the same */
            }
            release_all();
        }
}

static const int shifts[8][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

static int plain_meets(const ast_aim *from, ptrdiff_t i, const float window[3], int row, int column) {
    float s = from->s[1][i], reach = (float)from->reach, limit = from->jump * (s > 1 ? s : 1);
    for (int k = 0; k < 8; k++) {
        float other = from->s[1 + shifts[k][0]][i + shifts[k][1] * (ptrdiff_t)from->reach];
        if (shifts[k][0] * row < 0 || shifts[k][1] * column < 0 || !(other > 0))
            continue;
        float expected = window[0] * ((float)shifts[k][1] * reach) + window[1] * ((float)shifts[k][0] * reach);
        if (!(fabsf((other - s) * window[2] - expected) <= limit * window[2]))
            return 0;
    }
    return 1;
}

static void plain_aim(const ast_aim *from, ast_view view, ptrdiff_t i, float out[3]) {
    float best[3] = {from->sums[1].x[i], from->sums[1].y[i], from->sums[1].weight[i]};
    out[0] = out[1] = out[2] = NAN;
    if (from->known[i] > 0 && best[2] < from->enough) {
        float rank = best[2] * (plain_meets(from, i, best, 0, 0) ? 1.25f : 0.5f);
        for (int k = 0; k < 8; k++) {
            const ast_slopes *row = &from->sums[1 + shifts[k][0]];
            ptrdiff_t at = i + shifts[k][1] * (ptrdiff_t)from->reach;
            const float other[3] = {row->x[at], row->y[at], row->weight[at]};
            if (other[2] > rank && from->s[1 + shifts[k][0]][at] > 0 &&
                plain_meets(from, i, other, shifts[k][0], shifts[k][1])) {
                memcpy(best, other, sizeof best);
                rank = other[2];
            }
        }
    }
    if (!(from->known[i] > 0 && best[2] > 0))
        return;
    float a = best[0] * view.fx, b = best[1] * view.fy;
    float c = from->s[1][i] * best[2] - (best[0] * ((float)i - view.cx) + best[1] * view.row);
    float length = -1 / sqrtf(a * a + b * b + c * c);
    out[0] = a * length;
    out[1] = b * length;
    out[2] = c * length;
}

static void test_aim(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 37, 0);
    for (size_t reach = 1; reach <= MOST_RADIUS; reach++)
        for (size_t n = 1; n <= MOST_POINTS; n++)
            for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
                ast_aim from = {.reach = reach, .enough = 0.7f, .jump = n % 2 ? 0.3f : 3};
                for (int r = 0; r < 3; r++) {
                    from.s[r] = row_of(&random, n, reach, any_s);
                    from.sums[r] =
                        (ast_slopes){row_of(&random, n, reach, any_number), row_of(&random, n, reach, any_number),
                                     row_of(&random, n, reach, any_positive)};
                }
                from.known = row_of(&random, n, 0, any_s);
                ast_view view = {525, 519, 30.7f, -3.2f};
                float *got = guarded_floats(NULL, 3 * n), expected[3];
                (*kernels)->aim(&from, view, n, got);
                for (size_t i = 0; i < n; i++) {
                    plain_aim(&from, view, (ptrdiff_t)i, expected);
                    same_floats(got + 3 * i, expected, 3, "aim", (*kernels)->name);
                }
                release_all();
            }
}

/* ---- Total variation ------------------------------------------------------------------------------------------- */

typedef struct tv_buffers {
    ast_tv_row row;
    float *given[3], *below[3], *above[3], *right, *down;
} tv_buffers;

static void fill_tv(ast_random *random, size_t n, tv_buffers *b) {
    for (int c = 0; c < 3; c++) {
        b->row.given[c] = b->given[c] = row_of(random, n, 0, any_number);
        b->row.below[c] = b->below[c] = row_of(random, n, 0, any_number);
        b->row.above[c] = b->above[c] = row_of(random, n, 0, any_number);
        b->row.u[c] = row_of(random, n, 0, any_number);
        b->row.ahead[c] = row_of(random, n, 1, any_number);
        b->row.px[c] = row_of(random, n, 1, any_number);
        b->row.py[c] = row_of(random, n, 0, any_number);
    }
    b->row.right = b->right = row_of(random, n, 0, any_positive);
    b->row.down = b->down = row_of(random, n, 0, any_positive);
}

static void plain_dual(const ast_tv_row *row, size_t i, float sigma, float weight, float out[6]) {
    float squared = 0;
    for (int c = 0; c < 3; c++) {
        out[c] = row->px[c][i] + row->right[i] * sigma * (row->ahead[c][i + 1] - row->ahead[c][i]);
        out[3 + c] = row->py[c][i] + row->down[i] * sigma * (row->below[c][i] - row->ahead[c][i]);
        squared += out[c] * out[c] + out[3 + c] * out[3 + c];
    }
    float scale = weight / fmaxf(sqrtf(squared), weight);
    for (int c = 0; c < 6; c++)
        out[c] *= scale;
}

/* u and ahead. */
static void plain_primal(const ast_tv_row *row, ptrdiff_t i, float tau, float out[6]) {
    float next[3], squared = 0;
    for (int c = 0; c < 3; c++) {
        float across = row->px[c][i] - row->px[c][i - 1], down = row->py[c][i] - row->above[c][i];
        next[c] = row->u[c][i] + tau * ((across + down) + row->given[c][i]);
        squared += next[c] * next[c];
    }
    float scale = 1 / fmaxf(sqrtf(squared), 1e-12f);
    for (int c = 0; c < 3; c++) {
        out[c] = next[c] * scale;
        out[3 + c] = 2 * (next[c] * scale) - row->u[c][i];
    }
}

static void test_tv(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 38, 0);
    for (size_t n = 1; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = tables; *kernels; kernels++) {
            tv_buffers b;
            float expected[MOST_POINTS][6];
            fill_tv(&random, n, &b);
            for (size_t i = 0; i < n; i++)
                plain_dual(&b.row, i, 0.7f, 1.9f, expected[i]);
            (*kernels)->tv_dual(&b.row, 0.7f, 1.9f, n);
            for (size_t i = 0; i < n; i++)
                for (int c = 0; c < 3; c++) {
                    same_floats(&b.row.px[c][i], &expected[i][c], 1, "tv_dual", (*kernels)->name);
                    same_floats(&b.row.py[c][i], &expected[i][3 + c], 1, "tv_dual", (*kernels)->name);
                }
            for (size_t i = 0; i < n; i++)
                plain_primal(&b.row, (ptrdiff_t)i, 0.1f, expected[i]);
            (*kernels)->tv_primal(&b.row, 0.1f, n);
            for (size_t i = 0; i < n; i++)
                for (int c = 0; c < 3; c++) {
                    same_floats(&b.row.u[c][i], &expected[i][c], 1, "tv_primal", (*kernels)->name);
                    same_floats(&b.row.ahead[c][i], &expected[i][3 + c], 1, "tv_primal", (*kernels)->name);
                }
            release_all();
        }
}

int main(void) {
    for (size_t i = 0; all_tables[i]; i++) {
        tables[i] = ast_image_kernels_choose(all_tables[i]->name);
        if (strcmp(tables[i]->name, all_tables[i]->name) != 0)
            return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invert), cmocka_unit_test(test_moments), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_guide),  cmocka_unit_test(test_sums),    cmocka_unit_test(test_blocks_of_rows),
        cmocka_unit_test(test_differ), cmocka_unit_test(test_aim),     cmocka_unit_test(test_tv),
    };
    return cmocka_run_group_tests_name("kernels for images", tests, NULL, NULL);
}
