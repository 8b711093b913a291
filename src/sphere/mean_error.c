/* SPDX-License-Identifier: MIT
 *
 * The main idea: given the length R of the sum of n points, the direction of the sum follows a vMF distribution with
 * concentration kappa R around the true mean, and R alone carries the marginal likelihood of kappa (Schou, Biometrika
 * 65, 1978)
 *
 *     L(kappa) = n log C_D(kappa) - log C_D(kappa R),   L' = R A(kappa R) - n A(kappa),
 *     -L'' = n A'(kappa) - R^2 A'(kappa R).
 *
 * Its maximum k and shape s = -k^2 L''(k) approximate kappa by k times a chi-square variable with 2 s degrees of
 * freedom over 2 s. For concentrated points s = (n - 1) (D - 1) / 2, and this is the classical result that 2 kappa
 * (n - R) is chi-square (Watson and Williams, Biometrika 43, 1956); for many points it is the normal approximation with
 * the observed information. Then 2 kappa R (1 - cos) of the angle between the mean and the true mean is chi-square with
 * D - 1 degrees of freedom, and with k in place of kappa it is F with D - 1 and 2 s.
 *
 * In three dimensions these are Fisher's statistics (Proc. R. Soc. A 217, 1953) in closed form: k = (n - 1) / (n - R),
 * s = n - 1, cos alpha95 = 1 - (n - R) / R (20^(1 / (n - 1)) - 1); the interval of kappa is Cox's (1969). */
#include "mean_error.h"

#include "degree.h"
#include "special.h"
#include "vmf.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define CONFIDENCE 0.95

typedef struct estimate {
    double k, shape;
} estimate;

/* L' and -kappa^2 L''. Complements of A, so that nothing cancels for concentrated points. */
static double slope_at(size_t dimension, double n, double resultant, double kappa, double *shape) {
    double length = n * resultant;
    ast_vmf_shape one = ast_vmf_shape_at(dimension, kappa), all = ast_vmf_shape_at(dimension, kappa * length);
    double far = kappa * length;
    *shape = n * kappa * kappa * one.slope - far * far * all.slope;
    return n * one.complement - length * all.complement - n * (1 - resultant);
}

/* Newton steps in 1 / kappa, in which L' is linear for concentrated points, from the maximum likelihood estimate, which
 * is never below the maximum. k = 0: R is not longer than that of uniform points. */
static estimate maximise(size_t dimension, double n, double resultant, double kappa) {
    double low = 0, high = kappa, shape = 0;
    if (n * resultant * resultant <= 1)
        return (estimate){0, 0};
    for (int i = 0; i < 100; i++) {
        double slope = slope_at(dimension, n, resultant, kappa, &shape);
        *(slope > 0 ? &low : &high) = kappa;
        double next = kappa / (1 - kappa * slope / shape);
        if (!(next > low && next < high))
            next = (low + high) / 2;
        bool done = fabs(next - kappa) <= 1e-10 * kappa;
        kappa = next;
        if (done)
            break;
    }
    return (estimate){kappa, shape};
}

/* 1 - cos of the 95% cone. */
static double cone(size_t dimension, double n, double resultant, const estimate *found) {
    double length = n * resultant, degrees = (double)dimension - 1;
    if (dimension == 3)
        return n * (1 - resultant) / length * expm1(-log1p(-CONFIDENCE) / (n - 1));
    return degrees / (2 * found->k * length) * ast_f_quantile(degrees, 2 * found->shape, CONFIDENCE);
}

ast_mean_error ast_mean_error_of(size_t dimension, double n, double resultant, double kappa) {
    assert(dimension >= 2);
    ast_mean_error none = {NAN, NAN, NAN, {NAN, NAN}};
    if (!(n > 1) || !(resultant > 0 && resultant < 1) || !(kappa > 0) || isinf(kappa))
        return none;
    estimate found =
        dimension == 3 ? (estimate){(n - 1) / (n * (1 - resultant)), n - 1} : maximise(dimension, n, resultant, kappa);
    ast_mean_error error = none;
    error.precision = found.k;
    error.alpha95 = 180;
    if (!(found.k > 0 && found.shape > 0))
        return error;
    /* acos(1 - x) = 2 asin(sqrt(x / 2)), accurate for small x */
    double away = ast_vmf_shape_at(dimension, found.k * n * resultant).complement;
    error.standard_error = 2 * asin(sqrt(away / 2)) / AST_DEGREE;
    error.alpha95 = 2 * asin(sqrt(fmin(1, cone(dimension, n, resultant, &found) / 2))) / AST_DEGREE;
    for (int end = 0; end < 2; end++) {
        double p = end ? (1 + CONFIDENCE) / 2 : (1 - CONFIDENCE) / 2;
        error.kappa_interval[end] = found.k * ast_chi_square_quantile(2 * found.shape, p) / (2 * found.shape);
    }
    if (error.kappa_interval[1] < found.k) /* far less than a degree of freedom says nothing about kappa */
        error.kappa_interval[0] = error.kappa_interval[1] = NAN;
    return error;
}

double ast_rayleigh(size_t dimension, double n, double resultant, double *p) {
    double statistic = (double)dimension * n * resultant * resultant;
    *p = ast_chi_square_tail((double)dimension, statistic);
    return statistic;
}

double ast_bingham(size_t dimension, double n, double squares, double *p) {
    double d = (double)dimension, excess = squares - 1 / d;
    double statistic = d * (d + 2) / 2 * n * (excess < 0 ? 0 : excess); /* stays NaN */
    *p = ast_chi_square_tail((d - 1) * (d + 2) / 2, statistic);
    return statistic;
}
