/* SPDX-License-Identifier: MIT
 *
 * Kernels of the normals of depth images and of their smoothing: every table against plain C, bit for bit. */
#include "image_rows.h"

#include <math.h>
#include <string.h>

static void test_blocks_of_rows(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 39, 0);
    for (size_t count = 1; count <= ROWS; count++)
        for (size_t n = 1; n <= MOST_POINTS; n += 1 + count % 3)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                float *rows[ROWS], expected[MOST_POINTS], prefix[MOST_POINTS];
                float *got = guarded_floats(NULL, padded(n)), *out = guarded_floats(NULL, padded(n));
                for (size_t r = 0; r < count; r++)
                    rows[r] = row_of(&random, n, 0, any_number);
                (*kernels)->sliding_sum(rows[0], rows[count / 2], rows[count - 1], n, got, out);
                for (size_t i = 0; i < n; i++) {
                    prefix[i] = rows[0][i] + rows[count / 2][i];
                    expected[i] = rows[count - 1][i] + prefix[i];
                }
                same_floats(got, prefix, n, "sliding_sum's prefix", (*kernels)->name);
                same_floats(out, expected, n, "sliding_sum", (*kernels)->name);
                for (size_t i = 0; i < n; i++) {
                    expected[i] = rows[count - 1][i];
                    for (size_t r = count - 1; r-- > 0;)
                        expected[i] += rows[r][i];
                }
                (*kernels)->suffix_sums(rows, count, n);
                same_floats(rows[0], expected, n, "suffix_sums", (*kernels)->name);
                release_all();
            }
}

/* x, y, weight and whether it is has_slopes, of one pixel. */
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
    int has_slopes = s > 0 && sides[0] > 0 && sides[1] > 0;
    float weight = has_slopes && !edge ? (sides[0] + sides[1]) / 4 : 0;
    out[0] = weight * step[0] * (1.5f - 0.5f * sides[0]);
    out[1] = weight * step[1] * (1.5f - 0.5f * sides[1]);
    out[2] = weight;
    out[3] = (float)has_slopes;
}

static void test_differ(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 36, 0);
    for (size_t n = 1; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            const float *rows[3] = {row_of(&random, n, 0, any_s), row_of(&random, n, 1, any_s),
                                    row_of(&random, n, 0, any_s)};
            float *got[4], expected[4];
            for (int k = 0; k < 4; k++)
                got[k] = guarded_floats(NULL, padded(n));
            (*kernels)->slopes(rows[0], rows[1], rows[2], 0.03f, n, (ast_slopes){{got[0], got[1], got[2]}}, got[3]);
            for (size_t i = 0; i < n; i++) {
                plain_differ(rows, (ptrdiff_t)i, 0.03f, expected);
                for (int k = 0; k < 4; k++)
                    assert_true(got[k][i] == expected[k]); /* 0 and -0 are the same */
            }
            release_all();
        }
}

static const int shifts[8][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}, {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};

static int plain_meets(const ast_normals_input *from, ptrdiff_t i, const float window[3], int row, int column) {
    float s = from->s[1][i], radius = (float)from->radius, limit = from->jump * (s > 1 ? s : 1);
    for (int k = 0; k < 8; k++) {
        float other = from->s[1 + shifts[k][0]][i + shifts[k][1] * (ptrdiff_t)from->radius];
        if (shifts[k][0] * row < 0 || shifts[k][1] * column < 0 || !(other > 0))
            continue;
        float expected = window[0] * ((float)shifts[k][1] * radius) + window[1] * ((float)shifts[k][0] * radius);
        if (!(fabsf((other - s) * window[2] - expected) <= limit * window[2]))
            return 0;
    }
    return 1;
}

static void plain_aim(const ast_normals_input *from, ast_row_camera view, ptrdiff_t i, float out[3]) {
    float best[3] = {from->sums[1].x[i], from->sums[1].y[i], from->sums[1].weight[i]};
    out[0] = out[1] = out[2] = NAN;
    if (from->has_slopes[i] > 0 && best[2] < from->enough_weight) {
        float rank = best[2] * (plain_meets(from, i, best, 0, 0) ? 1.25f : 0.5f);
        for (int k = 0; k < 8; k++) {
            const ast_slopes *row = &from->sums[1 + shifts[k][0]];
            ptrdiff_t at = i + shifts[k][1] * (ptrdiff_t)from->radius;
            const float other[3] = {row->x[at], row->y[at], row->weight[at]};
            if (other[2] > rank && from->s[1 + shifts[k][0]][at] > 0 &&
                plain_meets(from, i, other, shifts[k][0], shifts[k][1])) {
                memcpy(best, other, sizeof best);
                rank = other[2];
            }
        }
    }
    if (!(from->has_slopes[i] > 0 && best[2] > 0))
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
    for (size_t radius = 1; radius <= MOST_RADIUS; radius++)
        for (size_t n = 1; n <= MOST_POINTS; n++)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                ast_normals_input from = {.radius = radius, .enough_weight = 0.7f, .jump = n % 2 ? 0.3f : 3};
                for (int r = 0; r < 3; r++) {
                    from.s[r] = row_of(&random, n, radius, any_s);
                    from.sums[r] =
                        (ast_slopes){{row_of(&random, n, radius, any_number), row_of(&random, n, radius, any_number),
                                      row_of(&random, n, radius, any_positive)}};
                }
                from.has_slopes = row_of(&random, n, 0, any_s);
                ast_row_camera view = {525, 519, 30.7f, -3.2f};
                float *got = guarded_floats(NULL, 3 * n), expected[3];
                (*kernels)->normals(&from, view, 0, n, got);
                for (size_t i = 0; i < n; i++) {
                    plain_aim(&from, view, (ptrdiff_t)i, expected);
                    same_floats(got + 3 * i, expected, 3, "normals", (*kernels)->name);
                }
                release_all();
            }
}

/* ---- Total variation ------------------------------------------------------------------------------------------- */

typedef struct tv_buffers {
    ast_tv_row row;
    float *input[3], *below[3], *above[3], *right, *down;
} tv_buffers;

static void fill_tv(ast_random *random, size_t n, tv_buffers *b) {
    for (int c = 0; c < 3; c++) {
        b->row.input[c] = b->input[c] = row_of(random, n, 0, any_number);
        b->row.below[c] = b->below[c] = row_of(random, n, 0, any_number);
        b->row.above[c] = b->above[c] = row_of(random, n, 0, any_number);
        b->row.u[c] = row_of(random, n, 0, any_number);
        b->row.extrapolated[c] = row_of(random, n, 1, any_number);
        b->row.px[c] = row_of(random, n, 1, any_number);
        b->row.py[c] = row_of(random, n, 0, any_number);
    }
    b->row.right = b->right = row_of(random, n, 0, any_positive);
    b->row.down = b->down = row_of(random, n, 0, any_positive);
}

static void plain_dual(const ast_tv_row *row, size_t i, float sigma, float weight, float out[6]) {
    float squared = 0;
    for (int c = 0; c < 3; c++) {
        out[c] = row->px[c][i] + row->right[i] * sigma * (row->extrapolated[c][i + 1] - row->extrapolated[c][i]);
        out[3 + c] = row->py[c][i] + row->down[i] * sigma * (row->below[c][i] - row->extrapolated[c][i]);
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
        next[c] = row->u[c][i] + tau * ((across + down) + row->input[c][i]);
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
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
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
                    same_floats(&b.row.extrapolated[c][i], &expected[i][3 + c], 1, "tv_primal", (*kernels)->name);
                }
            release_all();
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_rows),
        cmocka_unit_test(test_differ),
        cmocka_unit_test(test_aim),
        cmocka_unit_test(test_tv),
    };
    return cmocka_run_group_tests_name("kernels of the normals", tests, find_image_tables, NULL);
}
