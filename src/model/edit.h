/* SPDX-License-Identifier: MIT
 *
 * Labels and clusters that a method sets by itself, between passes: mixtures and samplers decide labels without a rule,
 * merging joins clusters, streams begin with the clusters of earlier frames. */
#ifndef AST_EDIT_H
#define AST_EDIT_H

#include "labelling.h"

/* The labels of the view, to be changed. ast_labelling_recount must follow before the next pass. */
int32_t *ast_labelling_labels(ast_labelling *labelling);

/* Sums and members of the clusters, from the labels as they are now. Means stay. */
ast_status ast_labelling_recount(ast_labelling *labelling, ast_fault *fault);

/* The same; then clusters without points are dropped, and all others get the mean of their points. */
ast_status ast_labelling_rebuild(ast_labelling *labelling, ast_fault *fault);

/* The labels become the given ones (padded), and the signs (padded / AST_LANES), unless NULL; then as above. */
ast_status ast_labelling_adopt(ast_labelling *labelling, const int32_t *labels, const uint8_t *signs, ast_fault *fault);

/* Points of cluster `slot` become points of into[slot]; a cluster that gives its points away is dropped, the others get
 * means (slots, D). Sums follow. */
ast_status ast_labelling_relabel(ast_labelling *labelling, const int32_t *into, const float *means, ast_fault *fault);

/* Points lose their labels, and all clusters are gone: as after loading. */
void ast_labelling_restart(ast_labelling *labelling);

/* Adds means (count, D) as clusters without points, at the end of the order. */
ast_status ast_labelling_add_means(ast_labelling *labelling, const float *means, size_t count, ast_fault *fault);

/* All clusters are replaced by these, without points; labels stay. */
ast_status ast_labelling_set_means(ast_labelling *labelling, const float *means, size_t count, ast_fault *fault);

/* Moves the mean of one cluster. */
void ast_labelling_set_mean(ast_labelling *labelling, int32_t slot, const float *mean);

/* The first `count` clusters are tracked: they outlive their points. uninstantiated (count): whether one has no points
 * now; the rule reads it. NULL: such a cluster is a candidate with its old mean. */
void ast_labelling_set_tracked(ast_labelling *labelling, size_t count, uint8_t *uninstantiated);

/* Points of cluster `from` count as those of `into`; the sums are added, axial: on the side of `into`. Means stay. */
void ast_labelling_absorb(ast_labelling *labelling, int32_t from, int32_t into);

#endif
