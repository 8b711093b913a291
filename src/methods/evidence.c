/* SPDX-License-Identifier: MIT
 *
 * -BIC / 2 of a mixture with one shared kappa: N ln C_D(kappa) + kappa sum |s_k| + sum n_k ln(n_k / N) - K D ln(N) / 2,
 * where kappa is the most likely one, A_D(kappa) = sum |s_k| / N. */
#include "evidence.h"

#include "asterism.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define MOST_KAPPA 1e6 /* of a partition whose clusters are points */

bool ast_evidence_open(ast_evidence *e, size_t leaves, size_t dimension, double points, double total) {
    *e = (ast_evidence){.dimension = dimension, .points = points, .scale = total > 0 ? points / total : 1};
    e->weights = ast_allocate(2 * leaves, sizeof *e->weights);
    return e->weights != NULL;
}

void ast_evidence_close(ast_evidence *e) {
    free(e->weights);
    *e = (ast_evidence){0};
}

static double n_log_n(double n) {
    return n > 0 ? n * log(n) : 0;
}

void ast_evidence_leaf(ast_evidence *e, double weight, double length) {
    double n = weight * e->scale;
    e->weights[e->nodes++] = n;
    e->lengths += length * e->scale;
    e->shares += n_log_n(n);
    e->clusters++;
}

void ast_evidence_join(ast_evidence *e, size_t a, size_t b, double loss) {
    double n = e->weights[a] + e->weights[b];
    e->lengths -= loss * e->scale;
    e->shares += n_log_n(n) - n_log_n(e->weights[a]) - n_log_n(e->weights[b]);
    e->weights[e->nodes++] = n;
    e->clusters--;
}

double ast_evidence_value(const ast_evidence *e) {
    double resultant = fmin(fmax(e->lengths / e->points, 0), 1);
    double kappa = fmin(ast_vmf_kappa(e->dimension, resultant), MOST_KAPPA);
    double likelihood = e->points * ast_vmf_log_density(e->dimension, kappa, 0) + kappa * e->lengths;
    double labels = e->shares - n_log_n(e->points);
    return likelihood + labels - (double)e->clusters * (double)e->dimension * log(e->points) / 2;
}
