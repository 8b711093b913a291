/* SPDX-License-Identifier: MIT
 *
 * Labels and clusters that a method sets by itself, between passes: mixtures and samplers decide labels without a rule,
 * merging joins clusters, streams begin with the clusters of earlier frames. */
#pragma once

#include "labelling.h"

/* The labels of the view, to be changed. ast_labelling_recount must follow before the next pass. */
int32_t *ast_labelling_labels(ast_labelling *labelling);

/* Computes the sums and members of the clusters from the labels. Means stay, also of clusters without points. */
ast_status ast_labelling_recount(ast_labelling *labelling, ast_fault *fault);

/* Sets the labels (padded: slots, or AST_MISSING) and, unless NULL, the signs (padded / AST_LANES) of the open window,
 * and saves them; no window may be open afterwards. */
ast_status ast_labelling_take(ast_labelling *labelling, const int32_t *labels, const uint8_t *signs, ast_fault *fault);

/* Labels were taken for all windows, with this status: rebuilds the clusters from them. Recounts, drops clusters
 * without points, and gives all others the mean of their points. ast_labelling_rebuild_from: both, of one window. */
ast_status ast_labelling_rebuild(ast_labelling *labelling, ast_status status, ast_fault *fault);
ast_status ast_labelling_rebuild_from(ast_labelling *labelling, const int32_t *labels, const uint8_t *signs,
                                      ast_fault *fault);

/* Moves the points of every cluster `slot` to cluster into[slot]. Drops clusters that gave their points away, sets the
 * means (slots, D) of the others, and recounts. */
ast_status ast_labelling_relabel(ast_labelling *labelling, const int32_t *into, const float *means, ast_fault *fault);

/* Removes all labels and clusters: the state after loading. */
ast_status ast_labelling_restart(ast_labelling *labelling, ast_fault *fault);

/* Adds means (count, D) as clusters without points at the end of the order. */
ast_status ast_labelling_add_means(ast_labelling *labelling, const float *means, size_t count, ast_fault *fault);

/* Replaces all clusters by means (count, D) without points. Labels stay. */
ast_status ast_labelling_set_means(ast_labelling *labelling, const float *means, size_t count, ast_fault *fault);

/* Sets the mean of one cluster. */
void ast_labelling_set_mean(ast_labelling *labelling, int32_t slot, const float *mean);

/* Makes the first `count` clusters tracked: they stay without points. uninstantiated (count): whether a cluster has no
 * points now; the rule reads it. NULL: such a cluster is a candidate with its old mean. */
void ast_labelling_set_tracked(ast_labelling *labelling, size_t count, uint8_t *uninstantiated);

/* Adds sum and members of cluster `from` to those of `into` and updates the mean of `into`. Axial: with the sign that
 * makes the sum longer. */
void ast_labelling_move_sums(ast_labelling *labelling, int32_t from, int32_t into);
