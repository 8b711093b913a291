/* SPDX-License-Identifier: MIT
 *
 * Contours are Kamb's, smoothed by an exponential kernel (Vollmer, Computers & Geosciences 21, 1995): the density in
 * standard deviations of that of uniform directions. Sets that have one direction have no cone. */
#include "net.h"

#include "canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define SIGMAS 3.0 /* Kamb's: the smoothing grows as n falls */
enum {
    WIDTH = 880,
    HEIGHT = 540,
    CENTRE_X = 275,
    CENTRE_Y = 285,
    RADIUS = 225,
    LEGEND = 545,
    LINE = 20,
    MOST_POINTS = 4000,
    MOST_SETS = 20, /* in the legend and with cones */
    GRID = 72,      /* cells across the net */
    LEVELS = 8,
    STEPS = 180,
    BINS = 36
};

typedef struct set {
    size_t count;
    double mean[3], resultant, precision, alpha95;
    double axes[2][3],
        ellipse[2]; /* of a confidence ellipse: its axes, half their lengths in radians; 0: there is none */
    bool girdle;    /* the mean is its pole */
} set;

typedef struct drawing {
    const ast_stereonet *net;
    ast_canvas canvas;
    double (*at)[3]; /* (count) unit vectors; z is 0 in the plane */
    int32_t *labels; /* (count) negative: not drawn in a colour; INT32_MIN: missing */
    size_t count;
    set *sets; /* (clusters) */
    size_t clusters;
} drawing;

static const ast_colour grey = {0x88, 0x88, 0x88}, light = {0xcc, 0xcc, 0xcc}, dark = {0x33, 0x33, 0x33};

/* ---- Means ------------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double normalise(double *v) {
    double length = sqrt(dot(v, v));
    for (int d = 0; d < 3; d++)
        v[d] = length > 0 ? v[d] / length : 0;
    return length;
}

/* The resultant; of axes that of the signs on the side of the mean, in a few rounds. */
static void find_mean(const drawing *d, int32_t label, set *s) {
    for (int round = 0; round < (d->net->axial ? 30 : 1); round++) {
        double sum[3] = {0};
        s->count = 0;
        for (size_t i = 0; i < d->count; i++) {
            if (d->labels[i] != label)
                continue;
            double side =
                d->net->axial && s->count + (size_t)round > 0 && dot(round ? s->mean : sum, d->at[i]) < 0 ? -1 : 1;
            for (int c = 0; c < 3; c++)
                sum[c] += side * d->at[i][c];
            s->count++;
        }
        memcpy(s->mean, sum, sizeof sum);
        s->resultant = normalise(s->mean);
    }
}

static void find_errors(const drawing *d, set *s) {
    double n = (double)s->count, away = n - s->resultant;
    bool known = s->count > 1 && away > 1.2e-7 * n;
    s->precision = known ? d->net->points->dimension == 3 ? (n - 1) / away : ast_vmf_kappa(2, s->resultant / n) : NAN;
    double cosine = 1 - away / s->resultant * (pow(20, 1 / (n - 1)) - 1);
    s->alpha95 = known && d->net->points->dimension == 3 ? acos(fmax(-1, cosine)) : NAN;
}

/* What the run knows better: components overlap, and pieces of a set reach to its mean. */
static void take_mean(const ast_cluster_info *info, size_t dimension, set *s) {
    for (size_t c = 0; c < dimension; c++)
        s->mean[c] = (double)info->mean[c];
    s->precision = info->precision;
    s->alpha95 = info->alpha95 / AST_DEGREES_PER_RADIAN;
    s->girdle = info->kappa < 0;
    for (int i = 0; info->axes && i < 2; i++) {
        s->ellipse[i] = info->ellipse95[i] / AST_DEGREES_PER_RADIAN;
        for (int c = 0; c < 3; c++)
            s->axes[i][c] = (double)info->axes[3 * i + c];
    }
}

static bool load(drawing *d) {
    const ast_stereonet *net = d->net;
    size_t dimension = net->points->dimension;
    d->count = net->points->count;
    d->clusters = net->labels ? net->clusters : 1;
    d->at = calloc(d->count + 1, sizeof *d->at);
    d->labels = malloc((d->count + 1) * sizeof *d->labels);
    d->sets = calloc(d->clusters + 1, sizeof *d->sets);
    if (!d->at || !d->labels || !d->sets)
        return false;
    for (size_t i = 0; i < d->count; i++) {
        double row[3] = {0};
        ast_points_row(net->points, i, row);
        if (dimension == 2)
            row[2] = 0;
        memcpy(d->at[i], row, sizeof row);
        double length = normalise(d->at[i]);
        d->labels[i] = !(length > 0) || isinf(length) ? INT32_MIN : net->labels ? net->labels[i] : 0;
    }
    for (size_t k = 0; k < d->clusters; k++) {
        find_mean(d, (int32_t)k, &d->sets[k]);
        find_errors(d, &d->sets[k]);
        if (net->means && net->means[k].mean)
            take_mean(&net->means[k], dimension, &d->sets[k]);
    }
    return true;
}

/* ---- The net ----------------------------------------------------------------------------------------------------- */

/* A direction on the lower hemisphere, or its opposite: true if that is what was drawn. */
static bool project(const drawing *d, const double *v, double *to) {
    bool opposite = v[2] > 0;
    double down = fabs(v[2]), across = hypot(v[0], v[1]), sign = opposite ? -1 : 1;
    double radius = d->net->equal_angle ? across / (1 + down) : sqrt(fmax(0, 1 - down));
    double scale = across > 0 ? RADIUS * radius / across : 0;
    to[0] = CENTRE_X + sign * scale * v[0];
    to[1] = CENTRE_Y - sign * scale * v[1];
    return opposite;
}

/* The lower hemisphere at a place of the net; outside of it the nearest direction of the rim. */
static void unproject(const drawing *d, double x, double y, double *v) {
    double a = (x - CENTRE_X) / RADIUS, b = (CENTRE_Y - y) / RADIUS, square = a * a + b * b;
    if (square > 1) {
        a /= sqrt(square);
        b /= sqrt(square);
        square = 1;
    }
    double down = d->net->equal_angle ? (1 - square) / (1 + square) : 1 - square;
    double scale = square > 0 ? sqrt((1 - down * down) / square) : 0;
    v[0] = scale * a;
    v[1] = scale * b;
    v[2] = -down;
}

/* Where the line between two directions crosses the rim, on the side of the one that was drawn as its opposite or not.
 */
static void project_rim(const drawing *d, const double *before, const double *after, bool opposite, double *to) {
    double t = before[2] / (before[2] - after[2]), rim[3] = {0};
    for (int c = 0; c < 2; c++)
        rim[c] = before[c] + t * (after[c] - before[c]);
    normalise(rim);
    project(d, rim, to);
    if (opposite) {
        to[0] = 2 * CENTRE_X - to[0];
        to[1] = 2 * CENTRE_Y - to[1];
    }
}

/* A curve on the sphere, broken where it leaves the hemisphere. */
static void draw_curve(drawing *d, double (*curve)[3], size_t count, ast_pen pen) {
    double path[2 * (STEPS + 4)];
    size_t length = 0;
    bool last = false;
    for (size_t i = 0; i < count; i++) {
        double at[2];
        bool opposite = project(d, curve[i], at);
        if (length > 0 && opposite != last) {
            project_rim(d, curve[i - 1], curve[i], last, path + 2 * length);
            ast_canvas_path(&d->canvas, path, length + 1, pen);
            project_rim(d, curve[i - 1], curve[i], opposite, path);
            length = 1;
        }
        memcpy(path + 2 * length++, at, sizeof at);
        last = opposite;
    }
    ast_canvas_path(&d->canvas, path, length, pen);
}

/* An ellipse on the sphere; its axes are across the mean, half their lengths are angles. */
static void draw_ellipse(drawing *d, const double *mean, const double axes[2][3], const double half[2], ast_pen pen) {
    double curve[STEPS + 1][3];
    for (int i = 0; i <= STEPS; i++) {
        double t = 2 * PI * i / STEPS, x = half[0] * cos(t), y = half[1] * sin(t), angle = hypot(x, y);
        for (int c = 0; c < 3; c++)
            curve[i][c] = cos(angle) * mean[c] + sin(angle) / angle * (x * axes[0][c] + y * axes[1][c]);
    }
    draw_curve(d, curve, STEPS + 1, pen);
}

/* The small circle of an angle around an axis; 90 degrees: the plane whose pole it is. */
static void draw_circle(drawing *d, const double *axis, double angle, ast_pen pen) {
    double one[3] = {0}, axes[2][3], half[2] = {angle, angle};
    int least = fabs(axis[0]) < fabs(axis[1]) ? 0 : 1;
    least = fabs(axis[2]) < fabs(axis[least]) ? 2 : least;
    one[least] = 1;
    double along = dot(one, axis);
    for (int c = 0; c < 3; c++)
        one[c] -= along * axis[c];
    normalise(one);
    for (int c = 0; c < 3; c++) {
        axes[0][c] = one[c];
        axes[1][c] = axis[(c + 1) % 3] * one[(c + 2) % 3] - axis[(c + 2) % 3] * one[(c + 1) % 3];
    }
    draw_ellipse(d, axis, axes, half, pen);
}

static void draw_frame(drawing *d) {
    static const char *const names[] = {"N", "E", "S", "W"};
    ast_canvas *c = &d->canvas;
    for (int i = 0; i < 36; i++) {
        double a = i * PI / 18, from = RADIUS, to = RADIUS + (i % 9 ? 5 : 10);
        double tick[4] = {CENTRE_X + from * sin(a), CENTRE_Y - from * cos(a), CENTRE_X + to * sin(a),
                          CENTRE_Y - to * cos(a)};
        ast_canvas_path(c, tick, 2, (ast_pen){dark, 1, 1, false});
        if (i % 9 == 0)
            ast_canvas_text(c, CENTRE_X + (RADIUS + 20) * sin(a), CENTRE_Y - (RADIUS + 20) * cos(a) + 4, AST_SVG_MIDDLE,
                            names[i / 9]);
    }
    ast_canvas_ring(c, CENTRE_X, CENTRE_Y, RADIUS, (ast_pen){dark, 1.4, 1, false});
    double cross[8] = {CENTRE_X - 5, CENTRE_Y, CENTRE_X + 5, CENTRE_Y, CENTRE_X, CENTRE_Y - 5, CENTRE_X, CENTRE_Y + 5};
    ast_canvas_path(c, cross, 2, (ast_pen){dark, 1, 1, false});
    ast_canvas_path(c, cross + 4, 2, (ast_pen){dark, 1, 1, false});
}

/* ---- Contours ---------------------------------------------------------------------------------------------------- */

/* Standard deviations of the density at the corners of the grid; NaN: there are none. */
static void find_density(const drawing *d, double density[GRID + 1][GRID + 1]) {
    size_t step = d->count / MOST_POINTS + 1, used = 0;
    for (size_t i = 0; i < d->count; i += step)
        used += d->labels[i] != INT32_MIN;
    double n = (double)used, f = 2 * (1 + n / (SIGMAS * SIGMAS)), unit = sqrt(n * (f / 2 - 1) / (f * f));
    for (int row = 0; row <= GRID; row++)
        for (int column = 0; column <= GRID; column++) {
            double v[3], sum = 0, x = CENTRE_X - RADIUS + 2.0 * RADIUS * column / GRID,
                         y = CENTRE_Y - RADIUS + 2.0 * RADIUS * row / GRID;
            unproject(d, x, y, v);
            for (size_t i = 0; i < d->count; i += step)
                if (d->labels[i] != INT32_MIN)
                    sum += exp(f * (fabs(dot(v, d->at[i])) - 1));
            density[row][column] = unit > 0 ? (sum - 0.5) / unit : NAN;
        }
}

/* Where the level crosses the edge between two corners. */
static bool cross(const double *a, const double *b, double va, double vb, double level, double *at) {
    if ((va < level) == (vb < level))
        return false;
    double t = (level - va) / (vb - va);
    at[0] = a[0] + t * (b[0] - a[0]);
    at[1] = a[1] + t * (b[1] - a[1]);
    return true;
}

/* Moves the end of a segment that lies outside of the net to the rim. */
static void cut_at_rim(const double *inside, double *end) {
    double x = inside[0] - CENTRE_X, y = inside[1] - CENTRE_Y, dx = end[0] - inside[0], dy = end[1] - inside[1];
    double a = dx * dx + dy * dy, b = x * dx + y * dy, c = x * x + y * y - (double)RADIUS * RADIUS;
    double t = a > 0 ? (sqrt(fmax(0, b * b - a * c)) - b) / a : 1;
    if (t < 1) {
        end[0] = inside[0] + t * dx;
        end[1] = inside[1] + t * dy;
    }
}

static bool outside(const double *at) {
    return hypot(at[0] - CENTRE_X, at[1] - CENTRE_Y) > RADIUS;
}

/* The segments of a level in a cell: marching squares. */
static void draw_cell(drawing *d, double density[GRID + 1][GRID + 1], int row, int column, double level, ast_pen pen) {
    double corner[4][2], value[4], found[4][2];
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int right = column + (i == 1 || i == 2), low = row + (i >= 2);
        corner[i][0] = CENTRE_X - RADIUS + 2.0 * RADIUS * right / GRID;
        corner[i][1] = CENTRE_Y - RADIUS + 2.0 * RADIUS * low / GRID;
        value[i] = density[low][right];
        if (isnan(value[i]))
            return;
    }
    for (int i = 0; i < 4; i++)
        count += cross(corner[i], corner[(i + 1) % 4], value[i], value[(i + 1) % 4], level, found[count]);
    for (int i = 0; i + 1 < count; i += 2) {
        double segment[4] = {found[i][0], found[i][1], found[i + 1][0], found[i + 1][1]};
        if (outside(segment) && outside(segment + 2))
            continue;
        if (outside(segment))
            cut_at_rim(segment + 2, segment);
        else
            cut_at_rim(segment, segment + 2);
        ast_canvas_path(&d->canvas, segment, 2, pen);
    }
}

/* Returns the step between two contours. */
static double draw_contours(drawing *d) {
    double density[GRID + 1][GRID + 1], most = 0;
    find_density(d, density);
    for (int row = 0; row <= GRID; row++)
        for (int column = 0; column <= GRID; column++)
            most = fmax(most, density[row][column]);
    double step = 2;
    while (step * LEVELS < most)
        step *= 2;
    for (int level = 1; level <= LEVELS && step * level < most; level++) {
        ast_colour shade = {(unsigned char)(210 - 14 * level), (unsigned char)(214 - 14 * level),
                            (unsigned char)(222 - 10 * level)};
        for (int row = 0; row < GRID; row++)
            for (int column = 0; column < GRID; column++)
                draw_cell(d, density, row, column, step * level, (ast_pen){shade, 1.1, 1, false});
    }
    return step;
}

/* ---- Points and means -------------------------------------------------------------------------------------------- */

static ast_colour ink_of(int32_t label) {
    ast_colour colour = label < 0 ? grey : ast_palette(label);
    double luma = 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue, part = luma > 150 ? 150 / luma : 1;
    return (ast_colour){(unsigned char)(part * colour.red), (unsigned char)(part * colour.green),
                        (unsigned char)(part * colour.blue)};
}

static bool has_planes(const ast_stereonet *net) {
    return net->notation == AST_DIP_DIRECTION || net->notation == AST_STRIKE_DIP;
}

/* Directions that point up are rings at the place of their opposites. */
static bool has_rings(const ast_stereonet *net) {
    return !net->axial && !has_planes(net);
}

static void draw_points(drawing *d) {
    size_t step = d->count / MOST_POINTS + 1;
    double radius = d->count > 1000 ? 1.5 : 2.8;
    for (size_t i = 0; i < d->count; i += step) {
        double at[2];
        if (d->labels[i] == INT32_MIN)
            continue;
        bool opposite = project(d, d->at[i], at) && has_rings(d->net);
        ast_pen pen = {ink_of(d->labels[i]), 1, 0.9, false};
        (opposite ? ast_canvas_ring : ast_canvas_disc)(&d->canvas, at[0], at[1], radius, pen);
    }
}

static void draw_means(drawing *d) {
    for (size_t k = 0; k < d->clusters && k < MOST_SETS; k++) {
        const set *s = &d->sets[k];
        ast_colour ink = ink_of((int32_t)k);
        double at[2];
        if (s->count == 0 || s->resultant == 0)
            continue;
        if (has_planes(d->net))
            draw_circle(d, s->mean, PI / 2, (ast_pen){ink, 1.6, 1, false});
        if (s->girdle)
            draw_circle(d, s->mean, PI / 2, (ast_pen){ink, 1.6, 1, true});
        if (s->ellipse[1] > 0)
            draw_ellipse(d, s->mean, s->axes, s->ellipse, (ast_pen){dark, 1.3, 1, false});
        else if (isfinite(s->alpha95) && s->alpha95 > 0 && s->alpha95 < PI / 2)
            draw_circle(d, s->mean, s->alpha95, (ast_pen){dark, 1.3, 1, false});
        project(d, s->mean, at);
        ast_canvas_disc(&d->canvas, at[0], at[1], 5, (ast_pen){{255, 255, 255}, 0, 1, false});
        ast_canvas_disc(&d->canvas, at[0], at[1], 4, (ast_pen){ink, 0, 1, false});
    }
    if (d->net->orientation && d->net->orientation->shape == AST_SHAPE_GIRDLE)
        draw_circle(d, d->net->orientation->axes[2], PI / 2, (ast_pen){dark, 1.2, 1, true});
}

/* ---- The rose ---------------------------------------------------------------------------------------------------- */

/* Of a direction one, of an axis two. */
static int ends_of(const drawing *d) {
    return d->net->axial ? 2 : 1;
}

static int bin_of(const drawing *d, size_t i, bool turned) {
    double azimuth = atan2(d->at[i][0], d->at[i][1]) + (turned ? PI : 0);
    int bin = (int)floor(azimuth / (2 * PI) * BINS);
    return (bin % BINS + BINS) % BINS;
}

/* Areas are counts; the sets of a petal lie behind each other. Axes have a petal on either side. */
static void draw_rose(drawing *d) {
    double counts[BINS] = {0}, most = 0, inner[BINS] = {0};
    for (size_t i = 0; i < d->count; i++)
        for (int turned = 0; turned < ends_of(d) && d->labels[i] != INT32_MIN; turned++)
            counts[bin_of(d, i, turned)]++;
    for (int b = 0; b < BINS; b++)
        most = fmax(most, counts[b]);
    for (int ring = 1; ring < 4; ring++)
        ast_canvas_ring(&d->canvas, CENTRE_X, CENTRE_Y, RADIUS * sqrt(ring / 4.0), (ast_pen){light, 1, 1, false});
    memset(counts, 0, sizeof counts);
    for (int32_t k = -1; k < (int32_t)d->clusters; k++) {
        for (size_t i = 0; i < d->count; i++)
            for (int turned = 0; turned < ends_of(d); turned++)
                if (d->labels[i] != INT32_MIN && (d->labels[i] == k || (k < 0 && d->labels[i] < 0)))
                    counts[bin_of(d, i, turned)]++;
        for (int b = 0; b < BINS; b++) {
            double outer = RADIUS * sqrt(counts[b] / fmax(1, most)), from = 2 * PI * b / BINS;
            if (outer > inner[b])
                ast_canvas_sector(&d->canvas, CENTRE_X, CENTRE_Y, inner[b], outer, from, from + 2 * PI / BINS,
                                  (ast_pen){ink_of(k), 0, 0.85, false});
            inner[b] = outer;
        }
    }
    for (size_t k = 0; k < d->clusters && k < MOST_SETS; k++) {
        const double *m = d->sets[k].mean;
        double back = d->net->axial ? RADIUS : 0;
        double line[4] = {CENTRE_X - back * m[0], CENTRE_Y + back * m[1], CENTRE_X + RADIUS * m[0],
                          CENTRE_Y - RADIUS * m[1]};
        ast_canvas_path(&d->canvas, line, 2, (ast_pen){dark, 1.4, 1, false});
    }
}

/* ---- The legend -------------------------------------------------------------------------------------------------- */

static void write_mean(const drawing *d, const set *s, char text[64]) {
    double azimuth, inclination;
    const float mean[3] = {(float)s->mean[0], (float)s->mean[1], (float)s->mean[2]};
    ast_notation notation = d->net->points->dimension == 2 ? AST_AZIMUTH
                            : d->net->notation             ? d->net->notation
                                                           : AST_TREND_PLUNGE;
    ast_field_angles(notation, d->net->axial, mean, &azimuth, &inclination);
    if (isnan(inclination))
        snprintf(text, 64, "%05.1f", azimuth);
    else
        snprintf(text, 64, "%05.1f/%04.1f", azimuth, inclination);
}

/* What is drawn, in words. */
static void draw_words(drawing *d, double contour) {
    bool girdle = d->net->orientation && d->net->orientation->shape == AST_SHAPE_GIRDLE;
    double y = HEIGHT - 90;
    char text[128];
    if (d->net->points->dimension == 2) {
        ast_canvas_text(&d->canvas, LEGEND, y, AST_SVG_START, "petals of 10 degrees; areas are counts");
        return;
    }
    snprintf(text, sizeof text, "%s, lower hemisphere%s", d->net->equal_angle ? "equal angle" : "equal area",
             has_planes(d->net) ? "; poles and planes" : "");
    ast_canvas_text(&d->canvas, LEGEND, y, AST_SVG_START, text);
    snprintf(text, sizeof text, "contours: every %g sigma (Kamb)", contour);
    ast_canvas_text(&d->canvas, LEGEND, y += LINE, AST_SVG_START, text);
    ast_canvas_text(&d->canvas, LEGEND, y += LINE, AST_SVG_START,
                    girdle ? "dark ovals: a95 cones; dashed: the girdle" : "dark ovals: a95 cones of the means");
    if (has_rings(d->net))
        ast_canvas_text(&d->canvas, LEGEND, y + LINE, AST_SVG_START, "rings: directions that point up");
}

static void draw_legend(drawing *d, double contour) {
    static const char *const means[] = {"trend/plunge", "dip direction/dip", "strike/dip", "trend/plunge", "azimuth"};
    bool flat = d->net->points->dimension == 2;
    double y = 60;
    char mean[64], text[128];
    ast_canvas_text(&d->canvas, LEGEND + 14, y, AST_SVG_START, means[flat ? AST_AZIMUTH : d->net->notation]);
    ast_canvas_text(&d->canvas, LEGEND + 165, y, AST_SVG_END, "n");
    ast_canvas_text(&d->canvas, LEGEND + 215, y, AST_SVG_END, "k");
    ast_canvas_text(&d->canvas, LEGEND + 265, y, AST_SVG_END, "a95");
    for (size_t k = 0; k < d->clusters && k < MOST_SETS; k++) {
        const set *s = &d->sets[k];
        y += LINE;
        ast_canvas_disc(&d->canvas, LEGEND + 3, y - 4, 5, (ast_pen){ink_of((int32_t)k), 0, 1, false});
        write_mean(d, s, mean);
        ast_canvas_text(&d->canvas, LEGEND + 14, y, AST_SVG_START, mean);
        snprintf(text, sizeof text, "%zu", s->count);
        ast_canvas_text(&d->canvas, LEGEND + 165, y, AST_SVG_END, text);
        snprintf(text, sizeof text, isfinite(s->precision) ? "%.1f" : "-", s->precision);
        ast_canvas_text(&d->canvas, LEGEND + 215, y, AST_SVG_END, text);
        snprintf(text, sizeof text, isfinite(s->alpha95) ? "%.1f" : "-", s->alpha95 * AST_DEGREES_PER_RADIAN);
        ast_canvas_text(&d->canvas, LEGEND + 265, y, AST_SVG_END, text);
    }
    if (d->clusters > MOST_SETS) {
        snprintf(text, sizeof text, "and %zu more", d->clusters - MOST_SETS);
        ast_canvas_text(&d->canvas, LEGEND + 14, y + LINE, AST_SVG_START, text);
    }
    draw_words(d, contour);
}

static bool draw(drawing *d) {
    double contour = 0;
    if (!load(d))
        return false;
    ast_canvas_begin(&d->canvas, "directions");
    ast_canvas_text(&d->canvas, CENTRE_X, 20, AST_SVG_MIDDLE, d->net->title);
    if (d->net->points->dimension == 2) {
        draw_rose(d);
        draw_frame(d);
    } else {
        contour = draw_contours(d);
        draw_frame(d);
        draw_points(d);
        draw_means(d);
    }
    draw_legend(d, contour);
    ast_canvas_end(&d->canvas);
    return true;
}

static void free_drawing(drawing *d) {
    free(d->at);
    free(d->labels);
    free(d->sets);
}

bool ast_stereonet_draw(const ast_stereonet *net, ast_text *svg) {
    drawing d = {.net = net, .canvas = {.svg = svg, .width = WIDTH, .height = HEIGHT}};
    bool good = draw(&d);
    free_drawing(&d);
    return good && !svg->failed;
}

bool ast_stereonet_write(const ast_stereonet *net, bool png, ast_output *output, ast_format_error *error) {
    ast_picture picture = {0};
    ast_text svg = {0};
    drawing d = {.net = net, .canvas = {.picture = &picture, .width = WIDTH, .height = HEIGHT}};
    bool good;
    if (png) {
        good = ast_pixels_resize(&picture, (size_t)AST_CANVAS_SCALE * WIDTH, (size_t)AST_CANVAS_SCALE * HEIGHT, 3,
                                 "the stereonet", error);
        if (good)
            good = draw(&d) || ast_format_no_memory(error, "the stereonet");
        good = good && ast_write_picture(output, picture.rgb, picture.width, picture.height, error);
        free_drawing(&d);
    } else {
        good = (ast_stereonet_draw(net, &svg) || ast_format_no_memory(error, "the stereonet")) &&
               ast_text_write(&svg, output, error);
    }
    ast_pixels_free(&picture);
    ast_text_free(&svg);
    return good;
}
