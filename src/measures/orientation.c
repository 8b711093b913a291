/* SPDX-License-Identifier: MIT
 *
 * The orientation tensor, and Gine's tests of uniformity (Ann. Statist. 3, 1975), which detect every departure from
 * uniformity. With the angles psi of all pairs
 *
 *     F = (1 / n) sum_ij h(psi_ij),   h = 3/2 - (2 / pi) (psi + sin psi)
 *     G = (1 / n) sum_ij h(psi_ij),   h = 1/2 - (2 / pi) sin psi          axes: only even harmonics
 *
 * For uniform directions both are sums of independent chi-square variables with 2 l + 1 degrees of freedom, each times
 * a_l = 1/2 integral of h P_l, l = 1, 2, ...; the tail is Imhof's integral (Biometrika 48, 1961). */
#include "orientation.h"

#include "degree.h"
#include "mean_error.h"
#include "special.h"

#include <math.h>

#define PI 3.14159265358979323846
#define TERMS 24        /* harmonics; the others add their mean, since their variance is below 1e-6 */
#define STEPS 2048      /* of the integrals of h P_l */
#define LEAST_TAIL 1e-7 /* below it the integral has no digits left */
#define FAR 30          /* statistics beyond have a tail below LEAST_TAIL */
#define NOTHING 32      /* logarithm of rho */
#define SIGNIFICANT 0.05
#define LONG 0.5 /* the mean squared cosine to the axis of a cluster: at least as much along it as across */
#define FLAT                                                                                                           \
    (1.0 / 6) /* the mean squared sine to the plane of a girdle: at most half of that of uniform directions            \
               */

/* ---- Eigenvalues ------------------------------------------------------------------------------------------------- */

/* One Jacobi rotation in the plane of axes p and q; the rows of v follow. */
static void rotate_plane(double m[3][3], double v[3][3], int p, int q) {
    if (m[p][q] == 0)
        return;
    double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(1, theta)), c = 1 / hypot(1, t), s = t * c;
    int r = 3 - p - q;
    double mrp = m[r][p], mrq = m[r][q];
    m[p][p] -= t * m[p][q];
    m[q][q] += t * m[p][q];
    m[p][q] = m[q][p] = 0;
    m[r][p] = m[p][r] = c * mrp - s * mrq;
    m[r][q] = m[q][r] = s * mrp + c * mrq;
    for (int d = 0; d < 3; d++) {
        double a = v[p][d], b = v[q][d];
        v[p][d] = c * a - s * b;
        v[q][d] = s * a + c * b;
    }
}

static void swap_axes(double values[3], double vectors[3][3], int a, int b) {
    if (values[a] >= values[b])
        return;
    double value = values[a];
    values[a] = values[b];
    values[b] = value;
    for (int d = 0; d < 3; d++) {
        double component = vectors[a][d];
        vectors[a][d] = vectors[b][d];
        vectors[b][d] = component;
    }
}

void ast_eigen3(const double matrix[3][3], double values[3], double vectors[3][3]) {
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m[i][j] = matrix[i][j];
            vectors[i][j] = i == j;
        }
    for (int sweep = 0; sweep < 30 && fabs(m[0][1]) + fabs(m[0][2]) + fabs(m[1][2]) > 0; sweep++) {
        rotate_plane(m, vectors, 0, 1);
        rotate_plane(m, vectors, 0, 2);
        rotate_plane(m, vectors, 1, 2);
    }
    for (int i = 0; i < 3; i++)
        values[i] = m[i][i];
    swap_axes(values, vectors, 0, 1);
    swap_axes(values, vectors, 0, 2);
    swap_axes(values, vectors, 1, 2);
}

/* ---- Gine's tests ------------------------------------------------------------------------------------------------ */

static double kernel(int axial, double cosine) {
    double c = fmax(-1, fmin(1, cosine)), sine = sqrt((1 - c) * (1 + c));
    return axial ? 0.5 - 2 / PI * sine : 1.5 - 2 / PI * (acos(c) + sine);
}

/* a_l for l = 1 .. TERMS, by the midpoint rule over the angle; returns the mean of what is left out. */
static double find_factors(int axial, double factors[TERMS]) {
    double left = kernel(axial, 1);
    for (int l = 0; l < TERMS; l++)
        factors[l] = 0;
    for (int i = 0; i < STEPS; i++) {
        double angle = PI * (i + 0.5) / STEPS, x = cos(angle), before = 1, now = x;
        double weight = 0.5 * PI / STEPS * sin(angle) * kernel(axial, x);
        for (int l = 1; l <= TERMS; l++) {
            factors[l - 1] += weight * now;
            double next = ((2 * l + 1) * x * now - l * before) / (l + 1);
            before = now;
            now = next;
        }
    }
    for (int l = 1; l <= TERMS; l++) {
        if (factors[l - 1] < 1e-6)
            factors[l - 1] = 0; /* the odd ones of axes */
        left -= (2 * l + 1) * factors[l - 1];
    }
    return fmax(0, left);
}

/* sin(theta) / (u rho) of Imhof's integral; 0 where rho is so large that nothing is left. */
static double imhof(const double factors[TERMS], double x, double u) {
    double theta = -0.5 * x * u, log_rho = 0;
    for (int l = 1; l <= TERMS; l++) {
        double t = factors[l - 1] * u;
        theta += 0.5 * (2 * l + 1) * atan(t);
        log_rho += 0.25 * (2 * l + 1) * log1p(t * t);
    }
    return log_rho < NOTHING ? sin(theta) / (u * exp(log_rho)) : 0;
}

/* P(sum > x) far out: the largest factor decides, the others multiply. */
static double far_tail(const double factors[TERMS], double x) {
    int first = factors[0] > 0 ? 0 : 1;
    double product = 1;
    for (int l = first + 1; l < TERMS; l++)
        product *= pow(1 - factors[l] / factors[first], -0.5 * (2 * l + 3));
    return fmin(LEAST_TAIL, product * ast_chi_square_tail(2 * first + 3, x / factors[first]));
}

/* By the trapezoidal rule, which converges fast: the integrand is smooth, even, and gone at the end. */
static double tail(int axial, double statistic) {
    double factors[TERMS], x = statistic - find_factors(axial, factors), slope = -0.5 * x;
    if (!(x > 0))
        return isnan(x) ? (double)NAN : 1;
    if (x > FAR)
        return far_tail(factors, x);
    for (int l = 1; l <= TERMS; l++)
        slope += 0.5 * (2 * l + 1) * factors[l - 1];
    double step = 0.1 / fmax(1, x), sum = slope / 2, term = slope;
    for (int i = 1; term != 0; i++)
        sum += term = imhof(factors, x, step * i);
    double p = 0.5 + sum * step / PI;
    return p > LEAST_TAIL ? fmin(1, p) : far_tail(factors, x);
}

static double weight_of(const ast_directions *d, size_t i) {
    return d->weights ? d->weights[i] : 1;
}

static double gine(const ast_directions *d, int axial) {
    size_t step = (d->count - 1) / AST_ORIENTATION_SAMPLE + 1;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < d->count; i += step) {
        double w = weight_of(d, i), row = 0;
        for (size_t j = 0; j < i; j += step) {
            const double *a = d->at[i], *b = d->at[j];
            row += weight_of(d, j) * kernel(axial, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        }
        sum += 2 * w * row + w * w * kernel(axial, 1);
        squares += w * w;
    }
    return sum / squares;
}

/* ---- The orientation --------------------------------------------------------------------------------------------- */

static ast_shape shape_of(const ast_orientation *o) {
    double squares = 0, p;
    for (int i = 0; i < 3; i++)
        squares += o->eigenvalues[i] * o->eigenvalues[i];
    ast_bingham(3, o->effective, squares, &p);
    if (!(p <= SIGNIFICANT))
        return AST_SHAPE_UNIFORM;
    if (o->shape_ratio >= 1)
        return o->eigenvalues[0] >= LONG ? AST_SHAPE_CLUSTER : AST_SHAPE_UNIFORM;
    return o->eigenvalues[2] <= FLAT ? AST_SHAPE_GIRDLE : AST_SHAPE_UNIFORM;
}

void ast_orientation_find(const ast_directions *d, int axial, ast_orientation *o) {
    double tensor[3][3] = {{0}}, total = 0, squares = 0;
    *o = (ast_orientation){.size = o->size, .count = d->count, .shape_ratio = NAN, .strength = NAN, .p = NAN};
    for (size_t i = 0; i < d->count; i++) {
        double w = weight_of(d, i);
        total += w;
        squares += w * w;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                tensor[a][b] += w * d->at[i][a] * d->at[i][b];
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            tensor[a][b] /= total;
    o->statistic = NAN;
    if (d->count == 0) {
        for (int i = 0; i < 3; i++)
            o->eigenvalues[i] = NAN;
        return;
    }
    ast_eigen3((const double(*)[3])tensor, o->eigenvalues, o->axes);
    const double *s = o->eigenvalues;
    o->effective = total * total / squares;
    double least = fmax(s[2], 1e-15), middle = fmax(s[1], 1e-15);
    o->strength = log(s[0] / least);
    o->shape_ratio = middle > least ? log(s[0] / middle) / log(middle / least) : INFINITY;
    o->shape = shape_of(o);
    if (d->count < 2)
        return;
    o->statistic = gine(d, axial);
    o->p = tail(axial, o->statistic);
}
