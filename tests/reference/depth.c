/* SPDX-License-Identifier: MIT */
#include "reference/depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIAN (180 / M_PI)

/* ---- The definitions ------------------------------------------------------------------------------------------- */

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

/* ---- Total variation ------------------------------------------------------------------------------------------- */

typedef struct vectors {
    size_t width, height;
    const double *given;
    double *u, *ahead, *px, *py; /* (H, W, 3) */
} vectors;

/* Whether the pixel and its neighbour at an offset are both there. */
static int joined(const vectors *s, ptrdiff_t u, ptrdiff_t v, int du, int dv) {
    ptrdiff_t x = u + du, y = v + dv, width = (ptrdiff_t)s->width, height = (ptrdiff_t)s->height;
    if (u < 0 || v < 0 || x < 0 || y < 0 || u >= width || v >= height || x >= width || y >= height)
        return 0;
    return !isnan(s->given[3 * (v * width + u)]) && !isnan(s->given[3 * (y * width + x)]);
}

static void dual_step(vectors *s, size_t u, size_t v, double sigma, double weight) {
    size_t at = 3 * (v * s->width + u);
    int right = joined(s, (ptrdiff_t)u, (ptrdiff_t)v, 1, 0), down = joined(s, (ptrdiff_t)u, (ptrdiff_t)v, 0, 1);
    double squared = 0;
    for (size_t c = at; c < at + 3; c++) {
        if (right)
            s->px[c] += sigma * (s->ahead[c + 3] - s->ahead[c]);
        if (down)
            s->py[c] += sigma * (s->ahead[c + 3 * s->width] - s->ahead[c]);
        squared += s->px[c] * s->px[c] + s->py[c] * s->py[c];
    }
    for (size_t c = at; c < at + 3 && squared > weight * weight; c++) {
        s->px[c] *= weight / sqrt(squared);
        s->py[c] *= weight / sqrt(squared);
    }
}

static void primal_step(vectors *s, size_t u, size_t v, double tau) {
    size_t at = 3 * (v * s->width + u);
    double next[3], squared = 0;
    for (size_t c = 0; c < 3; c++) {
        const double *px = s->px + at + c, *py = s->py + at + c;
        double divergence = *px + *py - (u > 0 ? px[-3] : 0) - (v > 0 ? py[-3 * (ptrdiff_t)s->width] : 0);
        next[c] = s->u[at + c] + tau * (divergence + s->given[at + c]);
        squared += next[c] * next[c];
    }
    for (size_t c = 0; c < 3; c++) {
        s->ahead[at + c] = 2 * next[c] / sqrt(squared) - s->u[at + c];
        s->u[at + c] = next[c] / sqrt(squared);
    }
}

void ref_normals_smooth(double *normals, size_t width, size_t height, double weight, int iterations) {
    size_t n = 3 * width * height;
    double *memory = calloc(4 * n, sizeof *memory);
    if (!memory)
        abort();
    vectors s = {width, height, memory, normals, memory + n, memory + 2 * n, memory + 3 * n};
    memcpy(memory, normals, n * sizeof *memory);
    memcpy(s.ahead, normals, n * sizeof *memory);
    for (int i = 0; i < iterations; i++) {
        for (size_t p = 0; p < width * height; p++)
            if (!isnan(s.given[3 * p]))
                dual_step(&s, p % width, p / width, 1.2, weight);
        for (size_t p = 0; p < width * height; p++)
            if (!isnan(s.given[3 * p]))
                primal_step(&s, p % width, p / width, 0.1);
    }
    free(memory);
}

double ref_normals_energy(const float *normals, const float *given, size_t width, size_t height, double weight) {
    double energy = 0;
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++) {
            const float *n = normals + 3 * (v * width + u), *g = given + 3 * (v * width + u);
            double change = 0, distance = 0;
            for (int c = 0; c < 3 && !isnan(n[0]); c++) {
                double x = u + 1 < width && !isnan(n[3]) ? n[3 + c] - n[c] : 0;
                double y = v + 1 < height && !isnan(n[3 * width]) ? n[3 * width + (size_t)c] - n[c] : 0;
                change += x * x + y * y;
                distance += (n[c] - g[c]) * (n[c] - g[c]);
            }
            energy += weight * sqrt(change) + distance / 2;
        }
    return energy;
}

/* ---- Images ---------------------------------------------------------------------------------------------------- */

uint16_t ref_plane_value(const double *n, double distance, const ast_depth_options *options, double u, double v,
                         double noise, ast_random *random) {
    const ast_camera *camera = &options->camera;
    double slope = n[0] * (u - camera->cx) / camera->fx + n[1] * (v - camera->cy) / camera->fy + n[2];
    double z = slope < 0 ? -distance / slope : INFINITY;
    if (noise > 0)
        z += noise * (0.0012 + 0.0019 * (z - 0.4) * (z - 0.4)) * ast_random_normal(random);
    double value = rint(z * options->units_per_metre);
    return value >= 1 && value <= UINT16_MAX ? (uint16_t)value : 0;
}

void ref_facing(double *n, double tilt, ast_random *random) {
    double angle = 2 * M_PI * ast_random_uniform(random), z = cos(tilt / RADIAN * sqrt(ast_random_uniform(random)));
    n[0] = sqrt(1 - z * z) * cos(angle);
    n[1] = sqrt(1 - z * z) * sin(angle);
    n[2] = -z;
}

void ref_depth_image(uint16_t *values, size_t width, size_t height, const ast_depth_options *options,
                     ast_random *random) {
    double plane[3][3], distance[3], noise = ast_random_uniform(random) < 0.5 ? 0 : 2 * ast_random_uniform(random);
    double scattered = ast_random_uniform(random) < 0.5 ? 0 : 0.2 * ast_random_uniform(random);
    int nonsense = ast_random_below(random, 8) == 0, areas = ast_random_below(random, 2) == 0;
    size_t column = (size_t)ast_random_below(random, width + 1), row = (size_t)ast_random_below(random, height + 1);
    size_t size = (size_t)ast_random_below(random, 9);
    for (int p = 0; p < 3; p++) {
        ref_facing(plane[p], 75, random);
        distance[p] = 0.3 + 5 * ast_random_uniform(random);
    }
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++) {
            int p = u < column ? 0 : v < row ? 1 : 2;
            uint16_t value = ref_plane_value(plane[p], distance[p], options, (double)u, (double)v, noise, random);
            if (nonsense)
                value = (uint16_t)ast_random_below(random, 65536);
            if (ast_random_uniform(random) < scattered || (areas && (u / 8 + v / 8) % 9 == size))
                value = 0;
            values[v * width + u] = value;
        }
}

double ref_degrees(const float *a, const double *b) {
    double cross[3], dot = 0;
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        cross[c] = a[d] * b[e] - a[e] * b[d];
        dot += a[c] * b[c];
    }
    return atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), dot) * RADIAN;
}
