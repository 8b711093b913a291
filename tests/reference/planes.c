/* SPDX-License-Identifier: MIT */
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
    int *of; /* (cells) which patch a cell is in; -1 for none */
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

static double cost(const mosaic *m, int p, int q) {
    patch sum = both(&m->patches[p], &m->patches[q]);
    double more = fit(&sum).rest - fit(&m->patches[p]).rest - fit(&m->patches[q]).rest;
    return fmax(0, more) / fmin(m->patches[p].sum[0], m->patches[q].sum[0]);
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
static int one_round(mosaic *m, double limit) {
    size_t cells = m->across * m->down;
    double *least = ref_take(cells, sizeof *least);
    int *choice = ref_take(cells, sizeof *choice), *now = ref_take(cells, sizeof *now), joined = 0;
    for (size_t k = 0; k < cells; k++) {
        least[k] = limit;
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
        if (cost(m, now[q], (int)k) < limit)
            join(m, now[q], (int)k);
    }
    free(least);
    free(choice);
    free(now);
    return joined;
}

/* False: the patch is too narrow for its distance to be sure of its direction. */
static int aim(const mosaic *m, const patch *p, float *normal) {
    const ast_camera *camera = &m->options->camera;
    plane f = fit(p);
    double cx = camera->cx - (double)(m->width / 2), cy = camera->cy - (double)(m->height / 2);
    double n[3] = {camera->fx * f.a, camera->fy * f.b, f.c + f.a * cx + f.b * cy};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), mx = p->sum[1] / p->sum[0];
    double my = p->sum[2] / p->sum[0], xx = p->sum[3] / p->sum[0] - mx * mx, xy = p->sum[4] / p->sum[0] - mx * my;
    double yy = p->sum[5] / p->sum[0] - my * my;
    double narrow = sqrt(fmax(0, (xx + yy) / 2 - sqrt((xx - yy) * (xx - yy) / 4 + xy * xy)));
    for (int d = 0; d < 3; d++)
        normal[d] = (float)(-n[d] / length);
    return fmax(camera->fx, camera->fy) * 0.25 * m->options->filter_epsilon < 0.15 * narrow * length;
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

static void write_pixel(const mosaic *m, size_t u, size_t v, float *normal) {
    static const int around[9][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    float limit = (float)(2.0 * m->options->filter_epsilon), least = INFINITY, found[3];
    normal[0] = normal[1] = normal[2] = NAN;
    for (int k = 0; k < 9; k++) {
        ptrdiff_t column = (ptrdiff_t)(u / CELL) + around[k][0], row = (ptrdiff_t)(v / CELL) + around[k][1];
        if (column < 0 || row < 0 || column >= (ptrdiff_t)m->across || row >= (ptrdiff_t)m->down)
            continue;
        int of = m->of[(size_t)row * m->across + (size_t)column];
        if (of < 0 || m->patches[of].sum[0] < 1.0 / 480 * (double)(m->width * m->height))
            continue;
        plane f = fit(&m->patches[of]);
        size_t left = u / CELL * CELL, top = v / CELL * CELL;
        ptrdiff_t i = (ptrdiff_t)(u - left), j = (ptrdiff_t)(v - top);
        float sum = ask_around(m, &f, left, top, i, j, limit);
        if (!(off(m, &f, left, top, i, j, limit) < limit) || !(sum < least))
            continue;
        least = sum;
        int sure = aim(m, &m->patches[of], found);
        for (int d = 0; d < 3; d++)
            normal[d] = sure ? found[d] : NAN;
    }
}

void ref_planes_normals(const float *s, size_t width, size_t height, const ast_depth_options *options, float *normals) {
    mosaic m = {s, width, height, (width + CELL - 1) / CELL, (height + CELL - 1) / CELL, options, NULL, NULL};
    double epsilon = options->filter_epsilon, most = 0.7 * epsilon;
    m.patches = ref_take(m.across * m.down, sizeof *m.patches);
    m.of = ref_take(m.across * m.down, sizeof *m.of);
    for (size_t k = 0; k < m.across * m.down; k++) {
        m.patches[k] = sum_cell(&m, k % m.across, k / m.across);
        double n = m.patches[k].sum[0];
        m.of[k] = n >= 48 && fit(&m.patches[k]).rest <= epsilon * epsilon * n ? (int)k : -1;
    }
    while (one_round(&m, most * most))
        ;
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++)
            write_pixel(&m, u, v, normals + 3 * (v * width + u));
    free(m.patches);
    free(m.of);
}
