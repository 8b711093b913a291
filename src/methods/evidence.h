/* SPDX-License-Identifier: MIT
 *
 * The evidence for a partition (docs/merging.md): how probable the points are under one von Mises-Fisher distribution
 * per cluster, less what the parameters of K clusters cost. It follows from the weight n_k and the length |s_k| of the
 * sum of each cluster, so the levels of a tree of joins are compared without looking at a point again. */
#ifndef AST_EVIDENCE_H
#define AST_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ast_evidence {
    size_t dimension, clusters, nodes;
    double points;   /* N */
    double scale;    /* weights are scaled to add up to N */
    double lengths;  /* sum of |s_k| */
    double shares;   /* sum of n_k ln n_k */
    double *weights; /* (2 leaves) of every node */
} ast_evidence;

/* For `leaves` clusters of `points` points whose weights add up to `total`. false: no memory. */
bool ast_evidence_open(ast_evidence *evidence, size_t leaves, size_t dimension, double points, double total);
void ast_evidence_close(ast_evidence *evidence);

/* The clusters of the finest partition, in order; then joins of two nodes, numbered like those of the tree. */
void ast_evidence_leaf(ast_evidence *evidence, double weight, double length);
void ast_evidence_join(ast_evidence *evidence, size_t a, size_t b, double loss);

/* Of the partition as it is now; more is better. */
double ast_evidence_value(const ast_evidence *evidence);

#endif
