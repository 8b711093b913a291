/* SPDX-License-Identifier: MIT */
#include "reference/noise.h"
#include "reference/planes.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 8, SUMS = 10 };

/* n, x, y, xx, xy, yy, s, xs, ys, ss of the pixels that are no holes. */
typedef struct patch {
    double sum[SUMS];
} patch;

typedef struct plane {
    double a, b, c, rest; /* s = a x + b y + c */
} plane;

typedef struct mosaic {
    const float *s;
    size_t width, height, across, down;
    const ast_depth_options *options;
    patch *patches;
    ref_noise noise;
    double most; /* error of a normal */
    int *of;     /* (cells) which patch a cell is in; -1 for none */
} mosaic;

static double s_at(const mosaic *m, ptrdiff_t u, ptrdiff_t v) {
    int inside = u >= 0 && v >= 0 && u < (ptrdiff_t)m->width && v < (ptrdiff_t)m->height;
    return inside ? m->s[(size_t)v * m->width + (size_t)u] : 0;
}

static patch both(const patch *p, const patch *q) {
    patch sum;
    for (int i = 0; i < SUMS; i++)
        sum.sum[i] = p->sum[i] + q->sum[i];
    return sum;
}

/* Columns are summed from top to bottom, and then from left to right. */
static patch sum_cell(const mosaic *m, size_t column, size_t row) {
    patch cell = {{0}};
    for (size_t i = 0; i < CELL; i++) {
        double x = (double)(column * CELL + i) - (double)(m->width / 2), n = 0, y = 0, yy = 0, s = 0, ys = 0, ss = 0;
        for (size_t j = 0; j < CELL; j++) {
            double v = (double)(row * CELL + j) - (double)(m->height / 2);
            double value = s_at(m, (ptrdiff_t)(column * CELL + i), (ptrdiff_t)(row * CELL + j));
            n += value > 0;
            y += value > 0 ? v : 0;
            yy += value > 0 ? v * v : 0;
            s += value;
            ys += value * v;
            ss += value * value;
        }
        patch line = {{n, n * x, y, n * (x * x), y * x, yy, s, s * x, ys, ss}};
        cell = both(&cell, &line);
    }
    return cell;
}

static plane fit(const patch *p) {
    const double *t = p->sum;
    double one = 1 / t[0], mx = t[1] * one, my = t[2] * one, ms = t[6] * one;
    double xx = t[3] - t[1] * mx, xy = t[4] - t[1] * my, yy = t[5] - t[2] * my;
    double xs = t[7] - t[1] * ms, ys = t[8] - t[2] * ms, ss = t[9] - t[6] * ms, det = 1 / (xx * yy - xy * xy);
    plane f = {(xs * yy - ys * xy) * det, (ys * xx - xs * xy) * det, 0, 0};
    f.c = ms - f.a * mx - f.b * my;
    f.rest = fmax(0, ss - f.a * xs - f.b * ys);
    return f;
}

static double slope2(const plane *f) {
    return f->a * f->a + f->b * f->b;
}

static double variance(const mosaic *m, double s, double slope) {
    return m->noise.variance[ref_noise_level(s)] + m->noise.jitter * slope;
}

/* What the residual of a patch may grow by when it joins a larger one. */
static double allowed(const mosaic *m, const patch *p) {
    plane f = fit(p);
    double n = p->sum[0], s = p->sum[6] / n, bent = 0.7 * m->noise.tolerance[ref_noise_level(s)];
    return n * (bent * bent) + 16 * variance(m, s, slope2(&f));
}

/* Below 1: the two may join. */
static double cost(const mosaic *m, int one, int other) {
    const patch *p = &m->patches[one < other ? one : other], *q = &m->patches[one < other ? other : one];
    patch sum = both(p, q);
    double more = fit(&sum).rest - fit(p).rest - fit(q).rest;
    return more > 0 ? more / allowed(m, q->sum[0] < p->sum[0] ? q : p) : 0;
}

/* Everything that was in patch `from` is in patch `to`. */
static void join(mosaic *m, int to, int from) {
    m->patches[to] = both(&m->patches[to], &m->patches[from]);
    for (size_t k = 0; k < m->across * m->down; k++)
        m->of[k] = m->of[k] == from ? to : m->of[k];
}

static void compare(const mosaic *m, size_t k, size_t other, double *least, int *choice) {
    int p = m->of[k], q = m->of[other];
    if (p < 0 || q < 0 || p == q)
        return;
    double c = cost(m, p, q);
    if (c < least[p]) {
        least[p] = c;
        choice[p] = q;
    }
    if (c < least[q]) {
        least[q] = c;
        choice[q] = p;
    }
}

/* Returns whether anything joined. */
static int one_round(mosaic *m) {
    size_t cells = m->across * m->down;
    double *least = ref_take(cells, sizeof *least);
    int *choice = ref_take(cells, sizeof *choice), *now = ref_take(cells, sizeof *now), joined = 0;
    for (size_t k = 0; k < cells; k++) {
        least[k] = 1;
        choice[k] = -1;
    }
    for (size_t k = 0; k < cells; k++) {
        if (k % m->across + 1 < m->across)
            compare(m, k, k + 1, least, choice);
        if (k + m->across < cells)
            compare(m, k, k + m->across, least, choice);
    }
    for (size_t k = 0; k < cells; k++)
        now[k] = (int)k;
    for (size_t k = 0; k < cells; k++) {
        int q = choice[k];
        if (q > (int)k && choice[q] == (int)k) {
            join(m, (int)k, q);
            now[q] = (int)k;
            joined = 1;
        }
    }
    for (size_t k = 0; k < cells; k++) {
        int q = choice[k];
        if (q < 0 || choice[q] == (int)k || choice[q] < 0 || choice[choice[q]] != q)
            continue;
        if (cost(m, now[q], (int)k) < 1)
            join(m, now[q], (int)k);
    }
    free(least);
    free(choice);
    free(now);
    return joined;
}

/* False: the patch is too narrow for its distance to be sure of its direction. */
static int aim(const mosaic *m, const patch *p, double most, float *normal) {
    const ast_camera *camera = &m->options->camera;
    plane f = fit(p);
    double cx = camera->cx - (double)(m->width / 2), cy = camera->cy - (double)(m->height / 2);
    double n[3] = {camera->fx * f.a, camera->fy * f.b, f.c + f.a * cx + f.b * cy};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), mx = p->sum[1] / p->sum[0];
    double my = p->sum[2] / p->sum[0], xx = p->sum[3] / p->sum[0] - mx * mx, xy = p->sum[4] / p->sum[0] - mx * my;
    double yy = p->sum[5] / p->sum[0] - my * my;
    double narrow = sqrt(fmax(0, (xx + yy) / 2 - sqrt((xx - yy) * (xx - yy) / 4 + xy * xy)));
    for (int d = 0; normal && d < 3; d++)
        normal[d] = (float)(-n[d] / length);
    double n0 = p->sum[0], s = p->sum[6] / n0, bent = 0.25 * m->noise.tolerance[ref_noise_level(s)];
    double error = sqrt(bent * bent + 3.0 * 3.0 * variance(m, s, slope2(&f)) / n0);
    if (n0 >= 0.04 * (double)(m->width * m->height))
        most = fmax(most, 0.2);
    return fmax(camera->fx, camera->fy) * error < most * narrow * length;
}

/* How far pixel (u, v) is from the plane, seen from the cell that starts at (left, top); at most `limit`. */
static float off(const mosaic *m, const plane *f, size_t left, size_t top, ptrdiff_t i, ptrdiff_t j, float limit) {
    float s = (float)s_at(m, (ptrdiff_t)left + i, (ptrdiff_t)top + j);
    double x = (double)left - (double)(m->width / 2), y = (double)top - (double)(m->height / 2);
    float level = (float)(f->c + f->a * x + f->b * y);
    float distance = fabsf(level + (float)j * (float)f->b + (float)i * (float)f->a - s);
    return s > 0 && distance < limit ? distance : limit;
}

static float ask_around(const mosaic *m, const plane *f, size_t left, size_t top, ptrdiff_t i, ptrdiff_t j,
                        float limit) {
    float line[5];
    for (int b = 0; b < 5; b++) {
        line[b] = off(m, f, left, top, i - 2, j - 2 + b, limit);
        for (int a = 1; a < 5; a++)
            line[b] += off(m, f, left, top, i - 2 + a, j - 2 + b, limit);
    }
    return line[0] + line[1] + line[2] + line[3] + line[4];
}

/* How far a pixel of the cell may be from the plane. */
static float limit_of(const mosaic *m, const patch *p, size_t left, size_t top) {
    plane own = fit(p), *f = &own;
    double x = (double)left - (double)(m->width / 2), y = (double)top - (double)(m->height / 2);
    double s = fmax(0, f->c + f->a * x + f->b * y);
    double tolerance = m->noise.tolerance[ref_noise_level(s)], noisy = 3 * sqrt(variance(m, s, slope2(f)));
    return (float)(aim(m, p, 0.15, NULL) ? fmax(2 * tolerance, noisy) : 0.25 * tolerance + noisy);
}

/* The planes around a cell; returns how many. */
static int list_planes(const mosaic *m, size_t u, size_t v, int of[9]) {
    static const int around[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    int count = 0;
    for (int k = 0; k < 9; k++) {
        ptrdiff_t column = (ptrdiff_t)(u / CELL) + around[k][0], row = (ptrdiff_t)(v / CELL) + around[k][1];
        if (column < 0 || row < 0 || column >= (ptrdiff_t)m->across || row >= (ptrdiff_t)m->down)
            continue;
        int found = m->of[(size_t)row * m->across + (size_t)column];
        if (found >= 0 && m->patches[found].sum[0] >= 1.0 / 480 * (double)(m->width * m->height))
            of[count++] = found;
    }
    return count;
}

/* The eight pixels two steps away, as far as they are in the image, are nearer than the limit. */
static int is_inside(const mosaic *m, const plane *f, size_t left, size_t top, ptrdiff_t i, ptrdiff_t j, float limit) {
    int away = 0;
    for (int b = -2; b <= 2; b += 2)
        for (int a = -2; a <= 2; a += 2) {
            ptrdiff_t u = (ptrdiff_t)left + i + a, v = (ptrdiff_t)top + j + b;
            int image = u >= 0 && v >= 0 && u < (ptrdiff_t)m->width && v < (ptrdiff_t)m->height;
            away += image && (a || b) && !(off(m, f, left, top, i + a, j + b, limit) < limit);
        }
    return away == 0;
}

static void write_pixel(const mosaic *m, size_t u, size_t v, float *normal, uint8_t *edge) {
    float most = 0, least = INFINITY, found[3];
    size_t left = u / CELL * CELL, top = v / CELL * CELL;
    ptrdiff_t i = (ptrdiff_t)(u - left), j = (ptrdiff_t)(v - top);
    int of[9], count = list_planes(m, u, v, of);
    normal[0] = normal[1] = normal[2] = NAN;
    *edge = 0;
    for (int k = 0; k < count; k++) {
        most = fmaxf(most, limit_of(m, &m->patches[of[k]], left, top));
    }
    for (int k = 0; k < count; k++) {
        plane f = fit(&m->patches[of[k]]);
        float sum = ask_around(m, &f, left, top, i, j, most);
        if (!(off(m, &f, left, top, i, j, most) < limit_of(m, &m->patches[of[k]], left, top)) || !(sum < least))
            continue;
        least = sum;
        int sure = aim(m, &m->patches[of[k]], m->most, found);
        *edge = !aim(m, &m->patches[of[k]], 0.15, NULL) &&
                !is_inside(m, &f, left, top, i, j, limit_of(m, &m->patches[of[k]], left, top));
        sure = sure && !*edge;
        for (int d = 0; d < 3; d++)
            normal[d] = sure ? found[d] : NAN;
    }
}

/* What a cell shows of the noise. */
static ref_cell look_at(const mosaic *m, const patch *p) {
    if (p->sum[0] < 48)
        return (ref_cell){0, -1, 0};
    plane f = fit(p);
    double s = p->sum[6] / p->sum[0], steepest = 4 * s / fmax(m->options->camera.fx, m->options->camera.fy);
    double spread = f.rest / (p->sum[0] - 3);
    int shows = slope2(&f) <= steepest * steepest && spread <= s / 16 * (s / 16);
    return (ref_cell){s, shows ? slope2(&f) : -1, spread};
}

static void find_noise(mosaic *m, const uint16_t *values, const ref_cell *cells) {
    uint16_t *some = ref_take(m->width * m->height, sizeof *some);
    size_t count = 0;
    for (size_t i = 0; i < m->width * m->height; i++)
        if (i / m->width % 4 == 0 && values[i] > 0)
            some[count++] = values[i];
    ref_noise_find(cells, m->across * m->down, some, count, m->options->units_per_metre, m->options->filter_epsilon,
                   &m->noise);
    free(some);
}

/* Within the noise of its distance and slant. */
static int is_flat(const mosaic *m, const patch *p, const ref_cell *cell) {
    double tolerance = m->noise.tolerance[ref_noise_level(cell->s)];
    double most = fmax(tolerance * tolerance, 3 * variance(m, cell->s, fmax(0, cell->slope2)));
    return p->sum[0] >= 48 && fit(p).rest <= most * p->sum[0];
}

void ref_planes_normals(const float *s, const uint16_t *values, size_t width, size_t height,
                        const ast_depth_options *options, double most, float *normals, uint8_t *edge) {
    mosaic m = {.most = most,
                .s = s,
                .width = width,
                .height = height,
                .across = (width + CELL - 1) / CELL,
                .down = (height + CELL - 1) / CELL,
                .options = options};
    uint8_t unused;
    ref_cell *seen = ref_take(m.across * m.down, sizeof *seen);
    m.patches = ref_take(m.across * m.down, sizeof *m.patches);
    m.of = ref_take(m.across * m.down, sizeof *m.of);
    for (size_t k = 0; k < m.across * m.down; k++) {
        m.patches[k] = sum_cell(&m, k % m.across, k / m.across);
        seen[k] = look_at(&m, &m.patches[k]);
    }
    find_noise(&m, values, seen);
    for (size_t k = 0; k < m.across * m.down; k++)
        m.of[k] = is_flat(&m, &m.patches[k], &seen[k]) ? (int)k : -1;
    while (one_round(&m))
        ;
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++)
            write_pixel(&m, u, v, normals + 3 * (v * width + u), edge ? &edge[v * width + u] : &unused);
    free(m.patches);
    free(m.of);
    free(seen);
}
