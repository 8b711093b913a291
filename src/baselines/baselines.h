/* SPDX-License-Identifier: MIT
 *
 * The methods that the paper and others compare with: Gibbs samplers of a mixture (gibbs_fsd.c, gibbs_crp.c), online
 * spherical k-means (ospkm.c) and Euclidean DP-means (dpmeans.c). They run like the methods of methods.h, which do not
 * know them.
 */
#pragma once

#include "methods.h"

ast_status ast_run_fsd(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_crp(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_ospkm(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_dpmeans(ast_labelling *labelling, ast_run *run, ast_fault *fault);
