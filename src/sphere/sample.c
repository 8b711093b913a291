/* SPDX-License-Identifier: MIT
 *
 * Exact draws from the von Mises-Fisher distribution, and from mixtures of it, or of those in sample_shapes.c, with
 * known labels.
 *
 * The main idea: only y = 1 - (cosine to the mean) depends on kappa. y is drawn directly, because the cosine would lose
 * all its digits for large kappa. The rest is a uniform direction orthogonal to the mean: it is drawn about the first
 * axis and then moved to the mean by one Householder reflection. */
#include "vmf.h"

#include "degree.h"
#include "memory.h"
#include "sample_shapes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* What draws of y need, computed once per (D, kappa). */
typedef struct radial {
    double kappa;
    double m;     /* D - 1 */
    double ratio; /* D = 3: exp(-2 kappa) - 1; otherwise Wood's b */
    double mode;  /* Wood's 1 - x0 */
} radial;

static radial radial_of(size_t dimension, double kappa);
static void sample_about(ast_random *random, const radial *shape, size_t dimension, const double *mean, double *x);
static bool place_means(ast_random *random, const ast_mixture *mixture, double *means);

void ast_vmf_sample(ast_random *random, size_t dimension, const double *mean, double kappa, double *x) {
    radial shape = radial_of(dimension, kappa);
    sample_about(random, &shape, dimension, mean, x);
}

void ast_uniform_direction(ast_random *random, size_t dimension, double *x) {
    ast_vmf_sample(random, dimension, NULL, 0, x);
}

/* ---- One draw -------------------------------------------------------------------------------------------------- */

/* Wood (1994), after Ulrich (1984). b is written without a difference of two large numbers. */
static radial radial_of(size_t dimension, double kappa) {
    double m = (double)dimension - 1;
    double b = m / (2 * kappa + hypot(2 * kappa, m));
    return (radial){kappa, m, dimension == 3 ? expm1(-2 * kappa) : b, 2 * b / (1 + b)};
}

/* A point of the unit disc, not its centre. Returns its squared length, which is uniform and independent of its
 * direction. */
static double disc(ast_random *random, double *u, double *v) {
    for (;;) {
        *u = 2 * ast_random_uniform(random) - 1;
        *v = 2 * ast_random_uniform(random) - 1;
        double s = *u * *u + *v * *v;
        if (s > 0 && s < 1)
            return s;
    }
}

/* D = 3: the cosine is an exponential variable truncated at both poles; its distribution function has a closed
 * inverse. */
static double draw_y3(ast_random *random, const radial *shape) {
    double u = ast_random_uniform(random);
    return shape->kappa > 0 ? -log1p(u * shape->ratio) / shape->kappa : 2 * u;
}

/* Any D: Z from the symmetric beta distribution with parameter (D - 1) / 2 (Ulrich: 2 Z - 1 is the projection of a
 * radius with 1 - radius^2 = U^(2 / (D-2)) on a uniform diameter), W = (1 - (1+b) Z) / (1 - (1-b) Z), and Wood's test.
 * With y = 1 - W and v = kappa (y - y0) / (D-1), y0 = 1 - x0, the test is (D-1) (v - log(1 + v)) <= -log U: no
 * difference of large numbers for any D and kappa. An infinite or NaN kappa ends the loop at once. */
static double draw_y(ast_random *random, const radial *shape) {
    double y, v;
    do {
        double along, across, s = disc(random, &along, &across);
        double radius2 = shape->m > 1 ? -expm1(2 * log(s) / (shape->m - 1)) : 1;
        double centred = along * sqrt(radius2 / s);
        y = 2 * shape->ratio * (1 + centred) / ((1 - centred) + shape->ratio * (1 + centred));
        v = shape->kappa * (y - shape->mode) / shape->m;
    } while (shape->m * (v - log1p(v)) > -log(ast_random_uniform(random)));
    return y;
}

/* n normal numbers, in pairs by the polar method. Returns the sum of their squares, which is not zero. */
static double normals(ast_random *random, size_t n, double *x) {
    double sum = 0;
    while (sum == 0)
        for (size_t i = 0; i < n; i += 2) {
            double u, v, s = disc(random, &u, &v), scale = sqrt(-2 * log(s) / s);
            x[i] = u * scale;
            sum += x[i] * x[i];
            if (i + 1 < n) {
                x[i + 1] = v * scale;
                sum += x[i + 1] * x[i + 1];
            }
        }
    return sum;
}

/* Moves the first axis to the mean: H = I - 2 h h' / h'h with h = mean + sign e_0 maps it to -sign mean, and x becomes
 * -sign H x. Nothing cancels, wherever the mean points. */
static void map_axis_to_mean(size_t dimension, const double *mean, double *x) {
    double sign = mean[0] < 0 ? -1 : 1, along = sign * x[0];
    for (size_t d = 0; d < dimension; d++)
        along += mean[d] * x[d];
    double factor = along / (1 + fabs(mean[0]));
    x[0] = sign * (factor * (mean[0] + sign) - x[0]);
    for (size_t d = 1; d < dimension; d++)
        x[d] = sign * (factor * mean[d] - x[d]);
}

static void sample_about(ast_random *random, const radial *shape, size_t dimension, const double *mean, double *x) {
    double y = fmin(2, dimension == 3 ? draw_y3(random, shape) : draw_y(random, shape));
    double sine = sqrt(y * (2 - y));
    x[0] = 1 - y;
    if (dimension == 3) { /* twice the angle of a point in the disc is uniform too and needs no root */
        double u, v, s = disc(random, &u, &v);
        x[1] = sine * (u * u - v * v) / s;
        x[2] = sine * 2 * u * v / s;
    } else {
        double scale = sine / sqrt(normals(random, dimension - 1, x + 1));
        for (size_t d = 1; d < dimension; d++)
            x[d] *= scale;
    }
    if (mean)
        map_axis_to_mean(dimension, mean, x);
}

/* ---- Mixtures -------------------------------------------------------------------------------------------------- */

#define TELL ((size_t)1 << 18) /* numbers drawn between two calls of the progress function: a few milliseconds */

/* What draws of the points of a mixture need. */
typedef struct drawing {
    const ast_mixture *mixture;
    radial cluster, uniform;
    ast_shape_sampler shape; /* of distributions that are not von Mises-Fisher */
    const double *means;     /* (K, D) */
    const double *turns;     /* (K, D - 1) the long axes of Kent and Bingham, as seen from the mean */
} drawing;

static void draw_of_cluster(ast_random *random, const drawing *all, size_t k, double *x) {
    size_t dimension = all->mixture->dimension;
    const double *mean = all->means + k * dimension;
    if (all->mixture->distribution == AST_VON_MISES_FISHER) {
        sample_about(random, &all->cluster, dimension, mean, x);
        return;
    }
    ast_shape_sample(random, &all->shape, x);
    if (dimension > 2)
        map_axis_to_mean(dimension - 1, all->turns + k * (dimension - 1), x + 1);
    map_axis_to_mean(dimension, mean, x);
}

/* Draws all points; false if the caller cancels. Noise points are chosen by selection sampling (Knuth 3.4.2, algorithm
 * S): exactly `noise` of them, every subset equally likely, without a list. */
static bool draw_points(const drawing *all, size_t noise, double *x, float *points, int32_t *labels) {
    const ast_mixture *mixture = all->mixture;
    size_t dimension = mixture->dimension, tell = TELL / dimension;
    ast_random random, signs; /* separate, so that the rows equal those of directed data except for their signs */
    ast_random_seed(&random, mixture->seed, 1);
    ast_random_seed(&signs, mixture->seed, 2);
    for (size_t i = 0; i < mixture->points; i++) {
        int32_t label = -1;
        if (i % tell == 0 && mixture->progress && mixture->progress(i, mixture->progress_data) != 0)
            return false;
        if (noise > 0 && ast_random_uniform(&random) * (double)(mixture->points - i) < (double)noise) {
            noise--;
            sample_about(&random, &all->uniform, dimension, NULL, x);
        } else {
            label = (int32_t)ast_random_below(&random, mixture->clusters);
            draw_of_cluster(&random, all, (size_t)label, x);
        }
        double sign = mixture->axial && ast_random_below(&signs, 2) ? -1 : 1;
        for (size_t d = 0; d < dimension; d++)
            points[i * dimension + d] = (float)(sign * x[d]);
        if (labels)
            labels[i] = label;
    }
    return true;
}

/* Points about means that are placed. x: (D) for the point being drawn. */
static ast_status draw_about(ast_fault *fault, const ast_mixture *mixture, const double *centres, double *x,
                             float *points, int32_t *labels) {
    size_t dimension = mixture->dimension, clusters = mixture->clusters;
    double share = fmin(1, fmax(0, mixture->noise)), *turns = NULL;
    size_t noise = clusters > 0 ? (size_t)llround(share * (double)mixture->points) : mixture->points;
    drawing all = {.mixture = mixture, .uniform = radial_of(dimension, 0), .means = centres};
    if (mixture->distribution == AST_VON_MISES_FISHER) {
        all.cluster = radial_of(dimension, mixture->kappa);
    } else {
        ast_random random;
        ast_random_seed(&random, mixture->seed, 3);
        turns = ast_allocate(clusters * (dimension - 1), sizeof *turns);
        if (!turns || !ast_shape_sampler_open(&all.shape, mixture)) {
            ast_free(turns);
            return ast_fail_memory(fault);
        }
        for (size_t k = 0; k < clusters && dimension > 2; k++)
            ast_uniform_direction(&random, dimension - 1, turns + k * (dimension - 1));
        all.turns = turns;
    }
    bool drawn = draw_points(&all, noise, x, points, labels);
    ast_shape_sampler_close(&all.shape);
    ast_free(turns);
    return drawn ? AST_OK : ast_fail(fault, AST_CANCELLED, "cancelled while points were drawn");
}

ast_status ast_mixture_draw(ast_fault *fault, const ast_mixture *given, float *points, int32_t *labels, float *means) {
    size_t dimension = given->dimension, clusters = given->clusters;
    ast_mixture mixture = *given;
    mixture.axial = given->axial || ast_distribution_is_axial(given->distribution);
    if (dimension < 2)
        return ast_fail(fault, AST_BAD_OPTION, "directions need at least 2 dimensions");
    double *centres =
        ast_allocate_zero(clusters + 1, dimension * sizeof *centres); /* plus one row for the point being drawn */
    if (!centres)
        return ast_fail_memory(fault);
    ast_random random;
    ast_random_seed(&random, mixture.seed, 0);
    if (!place_means(&random, &mixture, centres)) {
        ast_free(centres);
        return ast_fail(fault, AST_BAD_DATA,
                        "%zu means could not be placed %g degrees apart in %zu dimensions: "
                        "use a smaller separation or fewer clusters",
                        clusters, mixture.separation, dimension);
    }
    ast_status status = draw_about(fault, &mixture, centres, centres + clusters * dimension, points, labels);
    for (size_t i = 0; means && status == AST_OK && i < clusters * dimension; i++)
        means[i] = (float)centres[i];
    ast_free(centres);
    return status;
}

/* ---- Means that keep their distance ---------------------------------------------------------------------------- */

/* Means are finally rounded to float, which moves them by about 4e-6 degrees: SLACK covers that. */
#define SLACK (1e-5 * AST_DEGREE)
#define REJECTION_SETS 10   /* sets of means started by rejection ... */
#define REJECTION_DRAWS 200 /* ... with this many draws per mean before the set is abandoned */
#define REPULSION_SETS 5
#define REPULSION_WORK 3e9 /* multiplications over all sets: two or three seconds, spent only for tight packings */

static double dot(size_t dimension, const double *x, const double *y) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += x[d] * y[d];
    return sum;
}

static void normalise(size_t dimension, double *x) {
    double scale = 1 / sqrt(dot(dimension, x, x));
    for (size_t d = 0; d < dimension; d++)
        x[d] *= scale;
}

/* Whether a bound proves that no such means exist; if no bound applies, only trying can tell. Beyond a right angle at
 * most D + 1 points fit, best as a regular simplex, and at a right angle 2 D (Rankin 1955). The circle needs a division
 * only. On the ordinary sphere Fejes Toth's bound (1943) is reached by tetrahedron, octahedron and icosahedron. */
static bool is_impossible(size_t dimension, size_t count, double separation) {
    double n = (double)count, cosine = cos(separation);
    if (count < 2)
        return false;
    if (dimension == 2)
        return separation > 2 * M_PI / n + SLACK;
    if (dimension == 3 && count > 2) {
        double cotangent = 1 / tan(n / (n - 2) * M_PI / 6);
        if (cosine < (cotangent * cotangent - 1) / 2 - 1e-9)
            return true;
    }
    if (cosine > -1e-9)
        return cosine < 1e-9 && count > 2 * dimension;
    return count > dimension + 1 || cosine < -1 / (n - 1) - 1e-9;
}

/* The cosine of the angle between two means, or between two axes. */
static double cosine_of(const ast_mixture *mixture, const double *x, const double *y) {
    double cosine = dot(mixture->dimension, x, y);
    return mixture->axial ? fabs(cosine) : cosine;
}

static bool is_apart(const ast_mixture *mixture, const double *means, double cosine) {
    for (size_t i = 1; i < mixture->clusters; i++)
        for (size_t j = 0; j < i; j++)
            if (cosine_of(mixture, means + i * mixture->dimension, means + j * mixture->dimension) > cosine)
                return false;
    return true;
}

/* Draws one uniform mean after the other, again while it is too close to an earlier one. */
static bool place_by_rejection(ast_random *random, const ast_mixture *mixture, double cosine, double *means) {
    size_t dimension = mixture->dimension;
    for (size_t i = 0; i < mixture->clusters; i++) {
        double *mean = means + i * dimension;
        bool free_place = false;
        for (int draws = 0; draws < REJECTION_DRAWS && !free_place; draws++) {
            ast_uniform_direction(random, dimension, mean);
            free_place = true;
            for (size_t j = 0; j < i && free_place; j++)
                free_place = cosine_of(mixture, mean, means + j * dimension) <= cosine;
        }
        if (!free_place)
            return false;
    }
    return true;
}

/* Moves two means `angle` apart, symmetrically about their midpoint on their great circle; for axes, their near
 * ends. */
static void push_apart(const ast_mixture *mixture, double *x, double *y, double angle) {
    size_t dimension = mixture->dimension;
    double sum2 = 0, difference2 = 0;
    bool flipped = mixture->axial && dot(dimension, x, y) < 0;
    for (size_t d = 0; flipped && d < dimension; d++)
        y[d] = -y[d];
    for (size_t d = 0; d < dimension; d++) {
        sum2 += (x[d] + y[d]) * (x[d] + y[d]);
        difference2 += (x[d] - y[d]) * (x[d] - y[d]);
    }
    if (!(sum2 > 0 && difference2 > 0))
        return;
    double along = cos(angle / 2) / sqrt(sum2), across = sin(angle / 2) / sqrt(difference2);
    for (size_t d = 0; d < dimension; d++) {
        double middle = along * (x[d] + y[d]), half = across * (x[d] - y[d]);
        x[d] = middle + half;
        y[d] = middle - half;
    }
    normalise(dimension, x); /* errors in the lengths would tilt the next push and grow */
    normalise(dimension, y);
}

/* Uniform means push each other away until all are far enough apart. This reaches packings that rejection, which jams
 * at half the density, never finds. The target is slightly more than requested, so that it is reached in finite
 * time. */
static bool place_by_repulsion(ast_random *random, const ast_mixture *mixture, double separation, int sweeps,
                               double *means) {
    size_t dimension = mixture->dimension, count = mixture->clusters;
    double most = mixture->axial ? M_PI_2 : M_PI;
    double aim = fmin(most, separation + fmin(0.01 * separation, 0.2 * AST_DEGREE)), aim_cosine = cos(aim);
    double enough = cos(fmin(most, separation + SLACK));
    for (size_t i = 0; i < count; i++)
        ast_uniform_direction(random, dimension, means + i * dimension);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        if (sweep == sweeps * 3 / 4) { /* a tight packing: aim for no more than requested */
            aim = separation;
            aim_cosine = cos(aim);
        }
        double closest = -1;
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++) {
                double *x = means + i * dimension, *y = means + j * dimension, cosine = cosine_of(mixture, x, y);
                closest = fmax(closest, cosine);
                if (cosine > aim_cosine)
                    push_apart(mixture, x, y, aim);
            }
        if (closest <= enough && is_apart(mixture, means, enough))
            return true;
    }
    return is_apart(mixture, means, cos(separation - SLACK));
}

static bool place_means(ast_random *random, const ast_mixture *mixture, double *means) {
    size_t dimension = mixture->dimension, count = mixture->clusters;
    double separation = mixture->separation * AST_DEGREE;
    bool any = !(separation > 0);
    size_t ends = mixture->axial && count > 1 ? 2 * count : count; /* if axes are apart, so are both of their ends */
    if (!any && is_impossible(dimension, ends, separation))
        return false;
    double cosine = any ? 2 : cos(fmin(M_PI, separation + SLACK));
    for (int set = 0; set < REJECTION_SETS; set++)
        if (place_by_rejection(random, mixture, cosine, means))
            return true;
    /* half a dot product and half a push per pair */
    double sweep_work = 2 * (double)count * (double)count * (double)dimension;
    int sweeps = (int)fmin(20000, fmax(10, REPULSION_WORK / REPULSION_SETS / sweep_work));
    for (int set = 0; set < REPULSION_SETS; set++)
        if (place_by_repulsion(random, mixture, separation, sweeps, means))
            return true;
    return false;
}
