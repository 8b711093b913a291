/* SPDX-License-Identifier: MIT
 *
 * The state of the search for a number of components (mixture_auto.c), which its start (mixture_start.c) and its joins
 * (mixture_joins.c) share. */
#pragma once

#include "evidence.h"
#include "kappa_posterior.h"
#include "mixture.h"

#include <math.h>

#define AST_JOIN_NEIGHBOURS 5                    /* of a component are candidates for a join */
#define AST_LEAST_LOG_KAPPA (-6.907755278982137) /* kappa 0.001: the lowest centre of the prior */

typedef struct ast_join_candidate {
    size_t a, b; /* b = count: the background */
    double gain; /* of F */
    bool overlap_unknown;
} ast_join_candidate;

/* The clusters that the search starts from (mixture_moves.c). */
typedef struct ast_mixture_pieces {
    size_t count;
    double *mass, *sums; /* (count), (count, D) */
    size_t *group;       /* (count) */
    double *means;       /* (room, D) of coarse groups */
    double *scratch;     /* (2 count) */
} ast_mixture_pieces;

typedef struct ast_mixture_search {
    ast_mixture_steps m;
    ast_labelling_view v;
    ast_distinct distinct;
    ast_kappa_prior prior;
    double points;                   /* N: those that count */
    double row_scale;                /* a row x counts as row_scale x */
    size_t count;                    /* components */
    bool hard;                       /* memberships are labels */
    double *mass;                    /* (room + 1) n_k; the last is the background */
    double *sums;                    /* (room, D) s_k */
    double *lengths;                 /* (room) */
    ast_kappa_posterior *posteriors; /* (room) */
    ast_join_candidate *pairs;       /* (room (AST_JOIN_NEIGHBOURS + 1)) */
    size_t pair_count;
    int64_t *overlaps; /* (threads, pairs) */
    size_t *nearest;   /* (room, AST_JOIN_NEIGHBOURS) */
    double evidence;   /* F */
    ast_components best;
    ast_kappa_prior best_prior;
    double best_evidence;
    size_t room; /* components that there is memory for */
    ast_mixture_pieces pieces;
    double work, most_work;   /* products of passes, and how many the moves may cost */
    double *scratch;          /* (4, D) */
    ast_family_cache *caches; /* (room), or NULL: components are von Mises-Fisher */
    double *cached;           /* what they point to */
    double *best_of;          /* (room + 1) the largest F seen with so many components; -infinity: none */
} ast_mixture_search;

static inline double *ast_search_sum(const ast_mixture_search *s, size_t k) {
    return s->sums + k * s->prior.dimension;
}

/* |a + b|; b may be NULL. */
static inline double ast_search_length(const double *a, const double *b, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++) {
        double x = a[d] + (b ? b[d] : 0);
        squares += x * x;
    }
    return sqrt(squares);
}

/* ---- mixture_auto.c ---- */

/* The posterior of one component from its mass and the sum of its rows (D). cache: as in family.h, or NULL. */
ast_kappa_posterior ast_search_posterior(const ast_mixture_search *s, double mass, const double *sum,
                                         ast_family_cache *cache);

/* The posterior of every component's kappa, from masses and sums. */
void ast_search_find_posteriors(ast_mixture_search *s);
/* c(K): what the number of components adds to F. */
double ast_search_log_count_prior(const ast_mixture_search *s, size_t count);
/* F without the entropy: the evidence of hard memberships. */
double ast_search_evidence(const ast_mixture_search *s);
/* Removes the mass and the sum of component k, which the caller removes from the components. */
void ast_search_remove_sums(ast_mixture_search *s, size_t k);

/* Keeps the components as the best. */
void ast_search_keep(ast_mixture_search *s);
/* EM from masses and sums, without joins, until F has converged or will clearly stay below the best. */
ast_status ast_search_converge(ast_mixture_search *s, ast_fault *fault);

/* ---- mixture_moves.c ---- */

/* Raises the best F by coarse starts, splits and joins. */
ast_status ast_search_try_moves(ast_mixture_search *s, ast_fault *fault);

/* ---- mixture_joins.c ---- */

/* For ast_pool_each: finds the components that lose least of sum |s_k| in a join with a. */
void ast_search_find_nearest(void *data, size_t a);
/* Joins pairs that gain, the best first, no component twice; forced: the best even if it loses. One is always left. */
ast_status ast_search_join(ast_mixture_search *s, bool forced, size_t *joined, ast_fault *fault);
/* Takes the level of the tree of joins with the largest evidence, if that is above F. */
ast_status ast_search_take_best_level(ast_mixture_search *s, bool *climbed, ast_fault *fault);

/* ---- mixture_start.c ---- */

/* The first components: clusters around many starts, joined while the evidence rises. */
ast_status ast_search_start(ast_mixture_search *s, ast_fault *fault);
/* Also after a failed start. */
void ast_search_close(ast_mixture_search *s);
