/* SPDX-License-Identifier: MIT
 *
 * The evidence for a partition: the probability of the points if every cluster is one von Mises-Fisher distribution of
 * unknown mean and unknown concentration kappa, relative to points that are uniform on the sphere. Means and kappas are
 * integrated out, so that there is no parameter to choose (docs/merging.md).
 *
 * With n points in a cluster, R the length of their sum and L(kappa) = ln C_D(kappa) - ln C_D(0):
 *
 *     ln m(cluster | kappa) = n L(kappa) - L(kappa R)                          the mean is uniform on the sphere
 *     ln m(cluster)         = ln sum_j p_j exp(ln m(cluster | kappa_j))        kappa_j = 2^(j/2), j = -4 .. 40
 *     E                     = sum_k ln m(cluster k) + sum_k n_k ln(n_k / N)
 *
 * The prior p is normal in j. Its centre and its width (0, 2 or 4 steps; 0 is one kappa for all clusters) are those
 * with the largest E. Counts and sums are those of distinct rows: a copy is no second observation, and the kappa of
 * two equal rows would be infinite. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AST_KAPPAS = 45, AST_WIDTHS = 3, AST_PRIORS = AST_KAPPAS * AST_WIDTHS };

typedef struct ast_evidence {
    size_t dimension, nodes, clusters;
    size_t space;               /* the dimension of the sphere */
    size_t leaves;              /* clusters that were added */
    double unit;                /* sums are in units of 1 / unit */
    double row_scale;           /* 1, or less: a row x counts as so much of x (rounding.h); set before the leaves */
    double points;              /* N */
    double count_logs;          /* sum of n_k ln n_k */
    size_t joined_since_totals; /* joins since `totals` were computed from all clusters */
    double *counts;             /* (leaves) n of the node in each place; below 0: no node */
    int64_t *sums;              /* (leaves, D) */
    double *parts;              /* (leaves, AST_PRIORS) ln m of the node under every prior */
    int32_t *places;            /* (2 leaves) the place of each node */
    double totals[AST_PRIORS];
    bool prepared;                          /* the tables below are set */
    double constants[AST_KAPPAS];           /* L(kappa_j) */
    double (*logs)[AST_KAPPAS][AST_KAPPAS]; /* (AST_WIDTHS) ln p_j for each centre; -infinity beyond three widths */
} ast_evidence;

/* Memory for `leaves` clusters. false: no memory, and nothing to close. */
bool ast_evidence_open(ast_evidence *evidence, size_t leaves, size_t dimension, double unit);

/* The same for rows on a sphere in more dimensions, given by their components in the space that they span. */
bool ast_evidence_open_in(ast_evidence *evidence, size_t leaves, size_t dimension, size_t space, double unit);
void ast_evidence_close(ast_evidence *evidence);

/* Forgets all clusters. */
void ast_evidence_clear(ast_evidence *evidence);

/* Adds a cluster: the number of its distinct rows, and their sum (D) in units of 1 / unit. Then joins two nodes, which
 * are numbered as in tree.h; flipped: b counts as -b. ast_evidence_opposite: whether flipping b makes the sum longer.
 */
void ast_evidence_leaf(ast_evidence *evidence, double count, const int64_t *sum);
void ast_evidence_join(ast_evidence *evidence, size_t a, size_t b, bool flipped);
bool ast_evidence_opposite(const ast_evidence *evidence, size_t a, size_t b);

/* E of the partition as it is now. */
double ast_evidence_value(const ast_evidence *evidence);

static inline double ast_n_log_n(double n) {
    return n > 0 ? n * log(n) : 0;
}

/* L(kappa). */
double ast_evidence_constant(size_t dimension, double kappa);
