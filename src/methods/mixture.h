/* SPDX-License-Identifier: MIT
 *
 * The steps of expectation maximisation that mixture.c, with a given number of components, and mixture_auto.c, which
 * finds their number, share. */
#pragma once

#include "methods.h"

#define AST_FIRST_SHARE 0.1 /* of the background at the start */

typedef struct ast_mixture_steps {
    ast_labelling *l;
    ast_run *run;
    ast_components *c;
    ast_tiles tiles;
    const uint8_t *copies; /* (N) rows that do not count, the others count 1; NULL: rows count by their weights */
    double weight_scale;   /* weights times this add up to N */
    double sum_unit;       /* sums are multiples of it */
    double *soft;          /* (chunks) sum of log p(x_i) */
    double *hard;          /* (chunks) sum of the largest log pi_k f_k(x_i) */
    size_t *changed;       /* (chunks) points that changed label */
    int64_t *sums;         /* (K, D + 1) in multiples of sum_unit: s_k, n_k */
    double *scratch;       /* (D) one of them */
} ast_mixture_steps;

/* Memory for `count` components, and a background if the options ask for one. l, run and c are set, the rest is zero.
 * Close it in any case. */
ast_status ast_mixture_open(ast_mixture_steps *mixture, size_t count, ast_fault *fault);
void ast_mixture_close(ast_mixture_steps *mixture);

/* The E step: memberships under the components, whose offsets are set, and their sums. The log-likelihood goes to the
 * run. Labels become those of the best components; *changed: points with another label. */
ast_status ast_mixture_expect(ast_mixture_steps *mixture, size_t *changed, ast_fault *fault);

/* The ceiling of kappa (mixture.c): lowers the kappas of components with fewer than two distinct points. Memberships
 * are those under `before`, the components before the M step; NULL: they are the labels. rising: no kappa becomes lower
 * than in `before`. */
ast_status ast_mixture_cap_kappas(ast_mixture_steps *mixture, ast_distinct *distinct, const ast_components *before,
                                  bool rising, ast_fault *fault);

/* The end of a run, after an E step: BIC, -2 L + (free numbers) log N; labels; outliers; clusters. */
ast_status ast_mixture_finish(ast_mixture_steps *mixture, ast_fault *fault);

/* mixture_auto.c */
ast_status ast_run_movmf_auto(ast_labelling *labelling, ast_run *run, ast_fault *fault);
