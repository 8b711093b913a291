/* SPDX-License-Identifier: MIT */
#include "reference/depth.h"

#include <math.h>
#include <stdlib.h>

void ref_depth_invert(const ast_depth_image *image, const ast_depth_options *options, float *s) {
    for (size_t v = 0; v < image->height; v++)
        for (size_t u = 0; u < image->width; u++) {
            const char *row = (const char *)image->values + (ptrdiff_t)v * image->row_stride;
            uint16_t value = ((const uint16_t *)(const void *)row)[u];
            double z = value / options->units_per_metre;
            int hole = value == 0 || z < options->nearest || z > options->farthest;
            s[v * image->width + u] = hole ? 0 : (float)options->units_per_metre / (float)value;
        }
}

typedef struct window {
    size_t left, right, top, bottom; /* the last two of each pair are beyond */
} window;

static window around(size_t u, size_t v, size_t radius, size_t width, size_t height) {
    return (window){u < radius ? 0 : u - radius, u + radius + 1 < width ? u + radius + 1 : width,
                    v < radius ? 0 : v - radius, v + radius + 1 < height ? v + radius + 1 : height};
}

/* A window's count, mean, slopes and what those leave of the variance. */
typedef struct fitted {
    double count, mean, x, y, variance;
} fitted;

static fitted window_fit(const float *s, size_t width, size_t height, size_t radius, size_t u, size_t v) {
    window w = around(u, v, radius, width, height);
    fitted fit = {0, 0, 0, 0, 0};
    double inertia = 0;
    for (size_t y = w.top; y < w.bottom; y++)
        for (size_t x = w.left; x < w.right; x++)
            if (s[y * width + x] > 0) {
                double du = (double)x - (double)u, dv = (double)y - (double)v;
                fit.count++;
                fit.mean += s[y * width + x];
                fit.x += s[y * width + x] * du;
                fit.y += s[y * width + x] * dv;
                inertia += du * du;
            }
    int whole = fit.count == (double)((2 * radius + 1) * (2 * radius + 1)) && radius > 0;
    fit.mean = fit.count > 0 ? fit.mean / fit.count : 0;
    fit.x = whole ? fit.x / inertia : 0;
    fit.y = whole ? fit.y / inertia : 0;
    for (size_t y = w.top; y < w.bottom; y++)
        for (size_t x = w.left; x < w.right; x++)
            if (s[y * width + x] > 0) {
                double du = (double)x - (double)u, dv = (double)y - (double)v;
                double rest = s[y * width + x] - fit.mean - fit.x * du - fit.y * dv;
                fit.variance += rest * rest / fit.count;
            }
    if (!whole && radius > 0)
        fit.count /= 1024;
    return fit;
}

/* The filtered value of a pixel that is no hole. */
static double guided_at(const float *s, size_t width, size_t height, size_t radius, double epsilon, size_t u,
                        size_t v) {
    window w = around(u, v, radius, width, height);
    double sum = 0, weights = 0, here = s[v * width + u];
    double shrink = 0, slope[2] = {0, 0}, centre[2] = {0, 0};
    for (size_t y = w.top; y < w.bottom; y++)
        for (size_t x = w.left; x < w.right; x++) {
            fitted fit = window_fit(s, width, height, radius, x, y);
            double a = fit.variance / (fit.variance + epsilon * epsilon), weight = fit.count * (1 - a);
            sum += weight * (a * here + (1 - a) * fit.mean);
            weights += weight;
            shrink += weight * (1 - a);
            slope[0] += weight * (1 - a) * fit.x;
            slope[1] += weight * (1 - a) * fit.y;
            centre[0] += weight * (1 - a) * ((double)x - (double)u);
            centre[1] += weight * (1 - a) * ((double)y - (double)v);
        }
    sum -= (slope[0] * centre[0] + slope[1] * centre[1]) / shrink;
    return sum > 0 ? sum / weights : here;
}

void ref_depth_guided(const float *s, size_t width, size_t height, int radius, double epsilon, double *out,
                      double *scale) {
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++) {
            size_t at = v * width + u;
            window w = around(u, v, 2 * (size_t)radius, width, height);
            out[at] = s[at] > 0 ? guided_at(s, width, height, (size_t)radius, epsilon, u, v) : 0;
            scale[at] = 0;
            for (size_t y = w.top; y < w.bottom; y++)
                for (size_t x = w.left; x < w.right; x++)
                    if (s[y * width + x] > scale[at])
                        scale[at] = s[y * width + x];
        }
}

typedef struct field {
    const float *s;
    size_t width, height;
    const ast_depth_options *options;
    double *x, *y, *weight, *size, *known; /* slopes times weight, weights, differences without sign, 1 or 0 */
} field;

/* The difference towards a neighbour: 1 if it counts, 0 if there is no neighbour, -1 if there is an edge between. */
static int difference(const field *f, size_t u, size_t v, int du, int dv, double *step) {
    ptrdiff_t x = (ptrdiff_t)u + du, y = (ptrdiff_t)v + dv;
    if (x < 0 || y < 0 || x >= (ptrdiff_t)f->width || y >= (ptrdiff_t)f->height)
        return 0;
    float a = f->s[v * f->width + u], b = f->s[(size_t)y * f->width + (size_t)x];
    float nearer = a > b ? a : b, limit = (float)f->options->jump * (nearer > 1 ? nearer : 1);
    *step = ((double)b - a) * (du + dv);
    return b == 0 ? 0 : fabsf(a - b) <= limit ? 1 : -1;
}

static void slopes_at(const field *f, size_t u, size_t v) {
    static const int side[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    double sum[2] = {0, 0}, size = 0, count[2] = {0, 0};
    size_t at = v * f->width + u;
    int edge = 0;
    for (int k = 0; k < 4; k++) {
        double step;
        int kind = difference(f, u, v, side[k][0], side[k][1], &step);
        edge |= kind < 0;
        if (kind > 0) {
            sum[k / 2] += step;
            size += fabs(step);
            count[k / 2]++;
        }
    }
    f->x[at] = f->y[at] = f->weight[at] = f->size[at] = 0;
    f->known[at] = f->s[at] > 0 && count[0] > 0 && count[1] > 0;
    if (f->known[at] && !edge) {
        f->weight[at] = (count[0] + count[1]) / 4;
        f->x[at] = f->weight[at] * sum[0] / count[0];
        f->y[at] = f->weight[at] * sum[1] / count[1];
        f->size[at] = size;
    }
}

typedef struct sums {
    double x, y, weight, size;
} sums;

static sums window_sums(const field *f, ptrdiff_t u, ptrdiff_t v) {
    sums total = {0, 0, 0, 0};
    if (u < 0 || v < 0 || u >= (ptrdiff_t)f->width || v >= (ptrdiff_t)f->height)
        return total;
    window w = around((size_t)u, (size_t)v, (size_t)f->options->window, f->width, f->height);
    for (size_t y = w.top; y < w.bottom; y++)
        for (size_t x = w.left; x < w.right; x++) {
            size_t at = y * f->width + x;
            total.x += f->x[at];
            total.y += f->y[at];
            total.weight += f->weight[at];
            total.size += f->size[at];
        }
    return total;
}

/* s at a place, 0 outside the image. */
static double surface(const field *f, ptrdiff_t u, ptrdiff_t v) {
    if (u < 0 || v < 0 || u >= (ptrdiff_t)f->width || v >= (ptrdiff_t)f->height)
        return 0;
    return f->s[(size_t)v * f->width + (size_t)u];
}

static const int shift[8][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};

/* Whether the plane through a pixel with the slopes of the window shifted by (du, dv) meets the surface at those of the
 * eight places that are not on the other side. *close becomes 1 if rounding could decide otherwise. */
static int meets(const field *f, sums w, size_t u, size_t v, int du, int dv, int *close) {
    double s = surface(f, (ptrdiff_t)u, (ptrdiff_t)v), limit = f->options->jump * (s > 1 ? s : 1) * w.weight;
    int reach = f->options->window, all = 1;
    for (int k = 0; k < 8; k++) {
        int x = shift[k][0] * reach, y = shift[k][1] * reach;
        double other = surface(f, (ptrdiff_t)u + x, (ptrdiff_t)v + y);
        if (other == 0 || x * du < 0 || y * dv < 0)
            continue;
        double off = fabs((other - s) * w.weight - w.x * x - w.y * y);
        *close |= fabs(off - limit) <= 1e-5 * (limit + fabs(other - s) * w.weight + w.size * 2 * reach);
        all &= off <= limit;
    }
    return all;
}

static sums best_sums(const field *f, size_t u, size_t v, int *close) {
    int w = f->options->window;
    double full = (2 * w + 1) * (2 * w + 1);
    sums best = window_sums(f, (ptrdiff_t)u, (ptrdiff_t)v);
    *close = 0;
    if (best.weight * 32 >= full * 31)
        return best;
    double rank = best.weight * (meets(f, best, u, v, 0, 0, close) ? 1.25 : 0.5);
    for (int k = 0; k < 8; k++) {
        ptrdiff_t x = (ptrdiff_t)u + shift[k][0] * w, y = (ptrdiff_t)v + shift[k][1] * w;
        sums other = window_sums(f, x, y);
        if (surface(f, x, y) > 0 && other.weight > rank && meets(f, other, u, v, shift[k][0], shift[k][1], close)) {
            best = other;
            rank = other.weight;
        }
    }
    return best;
}

static void normal_at(const field *f, size_t u, size_t v, double *n, double *condition) {
    const ast_camera *camera = &f->options->camera;
    size_t at = v * f->width + u;
    int close;
    sums g = best_sums(f, u, v, &close);
    if (f->known[at] == 0 || g.weight == 0) {
        n[0] = n[1] = n[2] = NAN;
        return;
    }
    double du = (double)u - camera->cx, dv = (double)v - camera->cy;
    n[0] = -g.x * camera->fx;
    n[1] = -g.y * camera->fy;
    n[2] = g.x * du + g.y * dv - f->s[at] * g.weight;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    *condition =
        close ? INFINITY : (g.size * (camera->fx + camera->fy + fabs(du) + fabs(dv)) + f->s[at] * g.weight) / length;
    for (int c = 0; c < 3; c++)
        n[c] /= length;
}

void ref_depth_normals(const float *s, size_t width, size_t height, const ast_depth_options *options, double *normals,
                       double *condition) {
    size_t pixels = width * height;
    double *memory = malloc(5 * pixels * sizeof *memory);
    if (!memory)
        abort();
    field f = {s,
               width,
               height,
               options,
               memory,
               memory + pixels,
               memory + 2 * pixels,
               memory + 3 * pixels,
               memory + 4 * pixels};
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++)
            slopes_at(&f, u, v);
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++)
            normal_at(&f, u, v, normals + 3 * (v * width + u), &condition[v * width + u]);
    free(memory);
}
