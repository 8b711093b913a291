/* SPDX-License-Identifier: MIT
 *
 * A case is made in four steps, each drawing from the seed: its shape, the directions as doubles, what spoils them
 * (lengths, holes), and the memory layout the library will read them from. */
#include "cases.h"

#include "random.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct draft {
    ast_random random;
    size_t count, dimension;
    double angle;
    double *v;     /* (N, D) */
    double *means; /* (means_count, D) to start from, where the kind of data comes with its own */
    size_t means_count;
    ast_type type;
} draft;

typedef void fill(draft *d);

static size_t below(draft *d, size_t bound) {
    return (size_t)ast_random_below(&d->random, bound);
}

static double uniform(draft *d, double low, double high) {
    return low + (high - low) * ast_random_uniform(&d->random);
}

static void turn_to(double *row, double turn) {
    row[0] = cos(turn);
    row[1] = sin(turn);
}

/* ---- Directions ------------------------------------------------------------------------------------------------ */

static void fill_uniform(draft *d) {
    for (size_t i = 0; i < d->count; i++)
        ref_random_direction(&d->random, d->v + i * d->dimension, d->dimension);
}

/* Each row is one of `kinds` directions plus noise: by choice tight, wide or none at all (duplicates). */
static void fill_around(draft *d, size_t kinds, double spread) {
    double *centres = ref_take(kinds * d->dimension, sizeof *centres);
    for (size_t k = 0; k < kinds; k++)
        ref_random_direction(&d->random, centres + k * d->dimension, d->dimension);
    for (size_t i = 0; i < d->count; i++) {
        size_t k = below(d, kinds);
        double *row = d->v + i * d->dimension;
        for (size_t j = 0; j < d->dimension; j++)
            row[j] = centres[k * d->dimension + j] + (spread > 0 ? spread * ast_random_normal(&d->random) : 0);
        ref_make_unit(row, d->dimension);
    }
    free(centres);
}

static void fill_clustered(draft *d) {
    size_t groups = 1 + below(d, 8);
    fill_around(d, groups, uniform(d, 0.02, 0.4));
}

static void fill_duplicates(draft *d) {
    fill_around(d, 1 + below(d, 6), 0);
}

static void fill_all_equal(draft *d) {
    fill_around(d, 1, 0);
}

/* Closer to each other than floats can tell well: rounding decides. */
static void fill_nearly_equal(draft *d) {
    fill_around(d, 1 + below(d, 3), 1e-7);
}

/* Small whole numbers: exact ties everywhere, rows of zeros among them. */
static void fill_lattice(draft *d) {
    size_t reach = 1 + below(d, 2);
    for (size_t i = 0; i < d->count * d->dimension; i++)
        d->v[i] = (double)below(d, 2 * reach + 1) - (double)reach;
}

/* Axes and their opposites, a few coordinates at a time: scores are exactly 0, 1 or -1, sums are exactly zero. */
static void fill_axes(draft *d) {
    for (size_t i = 0; i < d->count; i++) {
        size_t axis = below(d, d->dimension);
        d->v[i * d->dimension + axis] = below(d, 2) ? 1 : -1;
    }
}

static void fill_antipodes(draft *d) {
    size_t groups = 1 + below(d, 4);
    fill_around(d, groups, below(d, 2) ? 0 : 1e-4);
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0, flip = below(d, 2); j < d->dimension; j++)
            d->v[i * d->dimension + j] *= flip ? -1 : 1;
}

/* Opposite pairs and even triples, up to noise below and above what makes a sum too short to have a direction. Only
 * wide angles bring them into one cluster. */
static void fill_balanced(draft *d) {
    static const double noises[] = {0, 1e-7, 1e-6, 3e-6};
    double noise = noises[below(d, 4)], step = below(d, 3) ? M_PI : 2 * M_PI / 3;
    size_t members = step == M_PI ? 2 : 3, p = below(d, d->dimension - 1);
    double turn = 0;
    d->angle = below(d, 4) ? 180 : d->angle;
    for (size_t i = 0; i < d->count; i++) {
        double *row = d->v + i * d->dimension;
        turn = i % members == 0 ? (below(d, 3) ? turn : uniform(d, 0, M_PI)) : turn;
        row[p] = cos(turn + step * (double)(i % members)) + noise * ast_random_normal(&d->random);
        row[p + 1] = sin(turn + step * (double)(i % members)) + noise * ast_random_normal(&d->random);
        ref_make_unit(row, d->dimension);
    }
}

/* Whole steps of the threshold angle along great circles: every score lies on the threshold, give or take rounding, or
 * eps, or a little more than eps. Among them the axis itself and rows whose score with it is cos - eps to the last bit
 * of a float, or a bit more or less. */
static void fill_threshold(draft *d) {
    static const double offsets[] = {0, 0, 1e-8, -1e-8, 1e-7, -1e-7, 1e-6, 2e-6};
    size_t p = below(d, d->dimension), q = (p + 1 + below(d, d->dimension - 1)) % d->dimension;
    double step = d->angle * M_PI / 180;
    for (size_t i = 0; i < d->count; i++) {
        double *row = d->v + i * d->dimension, turn = (double)below(d, 7) * step;
        turn += offsets[below(d, 8)];
        size_t kind = below(d, 4);
        float edge = (float)(ref_cosine(d->angle) - 0x1p-20);
        edge = kind == 0 ? edge : nextafterf(edge, kind == 1 ? 2.0f : -2.0f);
        if (i > 0 && below(d, 2) && fabsf(edge) <= 1) {
            row[p] = edge;
            row[q] = sqrt(1 - (double)edge * (double)edge);
        } else {
            row[p] = kind ? cos(turn) : 1;
            row[q] = kind ? sin(turn) : 0;
        }
    }
}

/* Chains in which the mean that a last point resets decides for a later point. In units of the angle, from means at 0,
 * -1.7 and 1.75: points at -0.7 and 0.7 join the first; those at -1.2 pull the second mean so near that the point at
 * -0.7 leaves in the next pass; the one at 0.7 is then alone and resets its mean, which the point at 1.15 prefers to
 * the third. Everything is shaken a little, and some rows are repeated or left out. */
static void fill_chain(draft *d) {
    static const double points[] = {-0.7, 0.7, 1.15, 2.35, -1.2, -1.2}, starts[] = {0, -1.7, 1.75};
    double shake = uniform(d, 0, 0.06), step = (d->angle = uniform(d, 10, 40)) * M_PI / 180;
    size_t planes = d->dimension / 2;
    d->means_count = 3 * planes;
    d->means = ref_take(d->means_count * d->dimension, sizeof *d->means);
    for (size_t k = 0; k < d->means_count; k++)
        turn_to(d->means + k * d->dimension + k / 3 * 2, step * (starts[k % 3] + uniform(d, -shake, shake)));
    for (size_t i = 0; i < d->count; i++) {
        size_t part = below(d, 5) ? i % 6 : below(d, 6), plane = i / 6 % planes * 2;
        turn_to(d->v + i * d->dimension + plane, step * (points[part] + uniform(d, -shake, shake)));
    }
}

/* Crowded on an arc a few threshold angles long: clusters of two or three that take each other's points, lose their
 * last ones and are left with one. */
static void fill_arc(draft *d) {
    double reach = fmin(fmax(d->angle, 10), 60) * uniform(d, 2, 6) * M_PI / 180;
    for (size_t i = 0; i < d->count; i++)
        turn_to(d->v + i * d->dimension, uniform(d, 0, reach));
}

/* Even steps around a circle: points half-way between means that move. */
static void fill_circle(draft *d) {
    size_t steps = 3 + below(d, 30);
    for (size_t i = 0; i < d->count; i++)
        turn_to(d->v + i * d->dimension, 2 * M_PI * (double)below(d, steps) / (double)steps);
}

/* Long runs of one direction with noise between them, as a row of an image has. */
static void fill_runs(draft *d) {
    double centre[128];
    for (size_t i = 0; i < d->count; i++) {
        double *row = d->v + i * d->dimension;
        if (i == 0 || below(d, 40) == 0)
            ref_random_direction(&d->random, centre, d->dimension);
        if (below(d, 5) == 0)
            ref_random_direction(&d->random, row, d->dimension);
        else
            for (size_t j = 0; j < d->dimension; j++)
                row[j] = centre[j] + 0.05 * ast_random_normal(&d->random);
        ref_make_unit(row, d->dimension);
    }
}

static const struct {
    const char *name;
    fill *make;
    int continuous;
} kinds[] = {
    {"clustered", fill_clustered, 1},
    {"uniform", fill_uniform, 1},
    {"runs", fill_runs, 1},
    {"lattice", fill_lattice, 0},
    {"axes", fill_axes, 0},
    {"antipodes", fill_antipodes, 0},
    {"duplicates", fill_duplicates, 0},
    {"all equal", fill_all_equal, 0},
    {"nearly equal", fill_nearly_equal, 0},
    {"balanced", fill_balanced, 0},
    {"threshold", fill_threshold, 0},
    {"circle", fill_circle, 0},
    {"arc", fill_arc, 0},
    {"chain", fill_chain, 0},
};

/* ---- What spoils them ------------------------------------------------------------------------------------------ */

static const char *const length_names[] = {"as made", "any length", "nearly unit", "huge and small"};

static double row_length(draft *d, size_t kind) {
    double decades = d->type == AST_F8 ? 300 : d->type == AST_F4 ? 30 : 1;
    switch (kind) {
    case 1:
        return uniform(d, 0.25, 4);
    case 2:
        return 1 + uniform(d, -0x1p-22, 0x1p-22); /* both sides of "taken as it is" */
    case 3:
        return pow(10, uniform(d, -decades, decades));
    default:
        return 1;
    }
}

static void spoil(draft *d, size_t lengths, int holes) {
    for (size_t i = 0; i < d->count; i++) {
        double *row = d->v + i * d->dimension, length = row_length(d, lengths);
        for (size_t j = 0; j < d->dimension; j++)
            row[j] *= length;
        if (!holes || below(d, 8) > 0)
            continue;
        if (below(d, 2))
            memset(row, 0, d->dimension * sizeof *row);
        else
            row[below(d, d->dimension)] = NAN;
    }
}

/* ---- Memory layout --------------------------------------------------------------------------------------------- */

static uint16_t half_from_double(double x) {
    unsigned sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x))
        return 0x7e00;
    frexp(x, &exponent);
    if (exponent < -13)
        return (uint16_t)(sign | (unsigned)rint(ldexp(fabs(x), 24)));
    /* A fraction that rounds up to 2048 carries into the exponent, as it should. */
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + (unsigned)rint(ldexp(fabs(x), 11 - exponent))));
}

static void put(char *at, ast_type type, double value) {
    float f4 = (float)value;
    uint16_t f2 = half_from_double(type == AST_F2 ? value : 0);
    if (type == AST_F8)
        memcpy(at, &value, sizeof value);
    else if (type == AST_F4)
        memcpy(at, &f4, sizeof f4);
    else
        memcpy(at, &f2, sizeof f2);
}

static const char *const layout_names[] = {"C order", "Fortran order", "padded", "spaced columns", "last row first"};
static const char *const type_names[] = {"f4", "f8", "f2"};

/* Writes the drafted rows into a block laid out in one of the five ways, and nothing beside them. */
static void lay_out(ref_case *made, const draft *d, size_t layout) {
    size_t size = d->type == AST_F8 ? 8 : d->type == AST_F4 ? 4 : 2;
    size_t row = size * d->dimension, column = size, first = 0;
    if (layout == 1) {
        row = size;
        column = size * d->count;
    } else if (layout == 2) {
        row += 3 * size;
    } else if (layout == 3) {
        row *= 2;
        column *= 2;
    } else if (layout == 4 && d->count > 0) {
        first = (d->count - 1) * row;
    }
    ptrdiff_t row_stride = layout == 4 ? -(ptrdiff_t)row : (ptrdiff_t)row;
    size_t bytes = d->count == 0 ? 0 : (d->count - 1) * row + (d->dimension - 1) * column + size;
    made->data = ref_take(bytes, 1);
    made->points = (ast_points){.size = sizeof(ast_points),
                                .data = (char *)made->data + first,
                                .type = d->type,
                                .count = d->count,
                                .dimension = d->dimension,
                                .row_stride = row_stride,
                                .column_stride = (ptrdiff_t)column};
    for (size_t i = 0; i < d->count; i++)
        for (size_t j = 0; j < d->dimension; j++)
            put((char *)made->data + (ptrdiff_t)first + (ptrdiff_t)i * row_stride + (ptrdiff_t)(j * column), d->type,
                d->v[i * d->dimension + j]);
}

/* ---- Weights and means ----------------------------------------------------------------------------------------- */

static const char *const weight_names[] = {"none",       "none",        "none",    "random",   "whole, some 0",
                                           "huge ratio", "huger ratio", "all 2.5", "mostly 0", "powers of 2"};

static double draw_weight(draft *d, size_t kind) {
    switch (kind) {
    case 3:
        return uniform(d, 0.1, 10);
    case 4:
        return (double)below(d, 4);
    case 5:
        return pow(10, uniform(d, -4, 4));
    case 6:
        return pow(10, uniform(d, -7.5, 7.5));
    case 7:
        return 2.5;
    case 8:
        return below(d, 10) ? 0 : uniform(d, 1, 2);
    default:
        return ldexp(1, (int)below(d, 40) - 20);
    }
}

/* A row that is there must count, or there is nothing to cluster. */
static void make_weights(ref_case *made, draft *d, size_t kind) {
    int counted = 0;
    ptrdiff_t there = -1;
    made->weights = ref_take(d->count, sizeof *made->weights);
    for (size_t i = 0; i < d->count; i++) {
        double squares = 0;
        for (size_t j = 0; j < d->dimension; j++)
            squares += d->v[i * d->dimension + j] != 0 ? fabs(d->v[i * d->dimension + j]) : 0;
        made->weights[i] = draw_weight(d, kind);
        if (squares > 0)
            there = (ptrdiff_t)i;
        counted |= squares > 0 && made->weights[i] > 0;
    }
    if (!counted && there >= 0)
        made->weights[there] = 1;
    made->points.weights = made->weights;
}

/* A row that floats can hold as a mean: a point, half-way between two points, or any direction. */
static void draw_mean(draft *d, double *mean) {
    size_t kind = d->count > 0 ? below(d, 4) : 3;
    ref_random_direction(&d->random, mean, d->dimension);
    if (kind == 3)
        return;
    const double *first = d->v + below(d, d->count) * d->dimension;
    const double *second = kind == 0 ? first : d->v + below(d, d->count) * d->dimension;
    double largest = 0;
    for (size_t j = 0; j < d->dimension; j++)
        largest = fmax(largest, isnan(first[j] + second[j]) ? INFINITY : fabs(first[j] + second[j]));
    for (size_t j = 0; j < d->dimension && largest > 1e-30 && largest < 1e30; j++)
        mean[j] = first[j] + second[j];
}

/* Means to start from, of any length, some of them twice. */
static void make_means(ref_case *made, draft *d, size_t count) {
    double row[128];
    made->given = ref_take(count * d->dimension, sizeof *made->given);
    for (size_t k = 0; k < count; k++) {
        if (d->means)
            memcpy(row, d->means + k * d->dimension, d->dimension * sizeof *row);
        else if (k == 0 || below(d, 6) > 0)
            draw_mean(d, row);
        for (size_t j = 0; j < d->dimension; j++)
            made->given[k * d->dimension + j] = (float)row[j];
    }
    made->means = made->given;
    made->means_count = count;
}

/* ---- Putting a case together ----------------------------------------------------------------------------------- */

static double draw_angle(draft *d, double least) {
    static const double angles[] = {0, 1, 10, 25, 45, 60, 60, 70, 83, 90, 90, 100, 120, 150, 180};
    double angle = below(d, 4) ? angles[below(d, sizeof angles / sizeof *angles)] : uniform(d, 0, 180);
    return fmax(angle, least);
}

static void draw_shape(draft *d, ref_size size) {
    static const size_t dimensions[] = {2, 3, 3, 3, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100};
    static const size_t edges[] = {63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 600, 1023, 1024, 1025};
    static const size_t large_edges[] = {4095, 4096, 4097, 8192, 8193, 16385};
    if (size == REF_LARGE) {
        d->dimension = 3;
        d->count = below(d, 2) ? large_edges[below(d, 6)] : 5000 + below(d, 15001);
        d->angle = draw_angle(d, 25);
        return;
    }
    d->dimension = dimensions[below(d, sizeof dimensions / sizeof *dimensions)];
    size_t chance = below(d, 20), most = 24000 / d->dimension;
    d->count = chance < 13 ? below(d, 61) : chance < 18 ? below(d, 301) : edges[below(d, sizeof edges / sizeof *edges)];
    d->count = d->count < most ? d->count : most;
    d->angle = draw_angle(d, 0);
}

void ref_case_make(ref_case *made, uint64_t seed, ref_size size) {
    draft d = {0};
    memset(made, 0, sizeof *made);
    ast_random_seed(&d.random, seed, 17 + (uint64_t)size);
    draw_shape(&d, size);
    size_t kind = below(&d, sizeof kinds / sizeof *kinds), layout = below(&d, 5), lengths = below(&d, 7) % 5 % 4;
    size_t weights = below(&d, sizeof weight_names / sizeof *weight_names);
    size_t means = below(&d, 3) ? 0 : 1 + below(&d, below(&d, 2) ? 6 : 60);
    int holes = below(&d, 4) == 0;
    d.type = below(&d, 2) ? AST_F4 : (ast_type)below(&d, 3);
    d.v = ref_take(d.count * d.dimension, sizeof *d.v);
    kinds[kind].make(&d);
    means = d.means ? d.means_count : means;
    spoil(&d, lengths, holes);
    lay_out(made, &d, layout);
    if (weights > 2)
        make_weights(made, &d, weights);
    if (means > 0)
        make_means(made, &d, means);
    made->seed = seed;
    made->angle = d.angle;
    made->continuous = kinds[kind].continuous;
    snprintf(made->text, sizeof made->text, "%s %zu x %zu, %s, %s, %s%s, weights %s, %zu given means, %.17g degrees",
             kinds[kind].name, d.count, d.dimension, type_names[d.type], layout_names[layout], length_names[lengths],
             holes ? ", holes" : "", weight_names[weights], means, d.angle);
    free(d.v);
    free(d.means);
}

void ref_case_free(ref_case *made) {
    free(made->data);
    free(made->weights);
    free(made->given);
    memset(made, 0, sizeof *made);
}

bool ref_long(void) {
    return getenv("AST_TEST_LONG") != NULL;
}

static size_t number_from(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text && atol(text) > 0 ? (size_t)atol(text) : otherwise;
}

size_t ref_scaled(size_t most) {
    return REF_SLOWER > 1 || ref_long() ? most / REF_SLOWER : most / 2;
}

size_t ref_share(void) {
    return number_from("AST_TEST_SHARE", 1);
}

size_t ref_case_count(size_t most) {
    size_t divisor = REF_SLOWER * (ref_long() ? 1 : 2) * ref_share();
    return number_from("AST_TEST_CASES", most > divisor ? most / divisor : 1);
}

uint64_t ref_case_only(void) {
    const char *wanted = getenv("AST_TEST_SEED");
    return wanted ? strtoull(wanted, NULL, 10) : 0;
}
