/* SPDX-License-Identifier: MIT
 *
 * The main idea: about g1 the azimuth is integrated in closed form,
 *
 *     c = 2 pi exp(kappa) integral_0^2 exp(-kappa y) I_0(beta y (2 - y)) dy,    y = 1 - g1.x,
 *
 * and the integral over y is computed by the double exponential rule. Its nodes crowd at y = 0: if beta is nearly kappa
 * / 2, the integrand falls within 1 / beta and then has a far longer tail. All terms are positive: nothing cancels. */
#include "kent.h"

#include "asterism.h"

#include <math.h>

#define NODES 61          /* to each side */
#define WIDTH 3.9         /* of the rule in its own variable: the weights are below 1e-17 beyond */
#define NEGLIGIBLE 60     /* nats below the largest: where the integral ends */
#define MOST_RATIO 0.9999 /* of 2 beta and kappa, in a fit */
#define FIT_STEPS 100

/* exp(-x) I_0(x), I_1 / I_0 and (I_0 + I_2) / (2 I_0): means of 1, cos and cos^2 of an angle with the weight
 * exp(x cos). By the series for small x, by Hankel's expansion for large x (DLMF 10.40.1). */
typedef struct bessel {
    double scaled, first, second;
} bessel;

static bessel bessel_at(double x) {
    double i0 = 1, i1 = 1, term = 1, other = 1, quarter = x * x / 4;
    if (x < 30) {
        for (int j = 1; term > 1e-18 * i0; j++) {
            term *= quarter / ((double)j * j);
            other *= quarter / ((double)j * (j + 1));
            i0 += term;
            i1 += other;
        }
        double ratio = x / 2 * i1 / i0;
        return (bessel){i0 * exp(-x), ratio, x > 0.1 ? 1 - ratio / x : 1 - i1 / i0 / 2};
    }
    i0 = i1 = 1;
    for (int j = 1; j < 40 && fabs(term) > 1e-18; j++) {
        double odd = 2 * j - 1;
        term *= odd * odd / (8 * j * x);
        other *= (odd * odd - 4) / (8 * j * x);
        i0 += term;
        i1 += other;
    }
    return (bessel){i0 / sqrt(2 * M_PI * x), i1 / i0, 1 - i1 / i0 / x};
}

ast_kent_moments ast_kent_moments_at(double kappa, double beta) {
    double rate = fmax(kappa - 2 * beta, 0), root = rate + sqrt(rate * rate + 4 * beta * NEGLIGIBLE);
    double end = root > 0 ? fmin(2, 2 * NEGLIGIBLE / root) : 2; /* rate y + beta y^2 = NEGLIGIBLE */
    double mass = 0, y1 = 0, y2 = 0, d1 = 0, d2 = 0, yd = 0, step = WIDTH / NODES;
    for (int j = -NODES; j <= NODES; j++) {
        double t = j * step, u = M_PI_2 * sinh(t), share = 1 / (1 + exp(-2 * u)); /* (1 + tanh u) / 2 */
        double weight = M_PI_2 * cosh(t) / (cosh(u) * cosh(u)) * end / 2 * step;
        double y = end * share, square = y * (2 - y); /* sin^2 */
        bessel b = bessel_at(beta * square);
        double part = weight * b.scaled * exp(-rate * y - beta * y * y); /* -kappa y + beta square */
        mass += part;
        y1 += part * y;
        y2 += part * y * y;
        d1 += part * square * b.first;
        d2 += part * square * square * b.second;
        yd += part * y * square * b.first;
    }
    y1 /= mass;
    d1 /= mass;
    return (ast_kent_moments){log(2 * M_PI * mass), y1, d1, y2 / mass - y1 * y1, yd / mass - y1 * d1,
                              d2 / mass - d1 * d1};
}

double ast_kent_log_density(double kappa, double beta, double cosine, double difference) {
    if (!(kappa >= 0 && beta >= 0 && 2 * beta <= kappa) || isinf(kappa))
        return NAN;
    return kappa * (cosine - 1) + beta * difference - ast_kent_moments_at(kappa, beta).log_constant;
}

/* Per point: kappa (1 - y) + beta d - ln c, relative to exp(kappa). */
static double height(double y, double d, double kappa, double beta) {
    return -kappa * y + beta * d - ast_kent_moments_at(kappa, beta).log_constant;
}

/* The log-likelihood is concave in kappa and beta: damped Newton steps in kappa and in ratio = 2 beta / kappa, within
 * their limits. It starts from bivariate normal points, with variances 1 / (kappa -+ 2 beta). */
void ast_kent_fit(double y, double d, double most, double *kappa, double *beta) {
    double wide = fmax(y + d / 2, 1e-300), narrow = fmax(y - d / 2, 1e-300);
    d = fmin(d, 2 * y * (1 - 1e-9));
    *kappa = fmin(most, fmax(1e-3, (1 / wide + 1 / narrow) / 2));
    *beta = fmin(MOST_RATIO * *kappa / 2, fmax(0, (1 / narrow - 1 / wide) / 4));
    double now = height(y, d, *kappa, *beta);
    for (int i = 0; i < FIT_STEPS; i++) {
        ast_kent_moments m = ast_kent_moments_at(*kappa, *beta);
        double along_kappa = m.y - y, along_beta = d - m.d, a = m.yy, b = -m.yd, c = m.dd;
        double determinant = a * c - b * b, size = 1, kappa_step, beta_step;
        if (!(determinant > 1e-12 * a * c)) {
            kappa_step = along_kappa / a;
            beta_step = along_beta / c / 2;
        } else {
            kappa_step = (c * along_kappa - b * along_beta) / determinant;
            beta_step = (a * along_beta - b * along_kappa) / determinant;
        }
        double next_kappa = *kappa, next_beta = *beta, next = -INFINITY;
        while (size > 1e-6 && !(next >= now)) {
            next_kappa = fmin(most, fmax(*kappa / 4, *kappa + size * kappa_step));
            next_beta = fmin(MOST_RATIO * next_kappa / 2, fmax(0, *beta + size * beta_step));
            next = height(y, d, next_kappa, next_beta);
            size /= 2;
        }
        double moved = fabs(next_kappa - *kappa) + fabs(next_beta - *beta);
        if (!(next >= now))
            break;
        *kappa = next_kappa;
        *beta = next_beta;
        now = next;
        if (moved <= 1e-10 * *kappa)
            break;
    }
}
