/* SPDX-License-Identifier: MIT
 *
 * How reliable the mean of a tracked cluster is. Points scatter around the true direction of their cluster: let rho be
 * the mean cosine of a point and the true direction, so that rho^2 is the mean cosine of two points. A
 * further point and the mean of n points have a smaller mean cosine than rho:
 *
 *     rho r_n,    r_n = sqrt(n rho^2 / (1 + (n - 1) rho^2)),
 *
 * which is rho^2 for n = 1. With AST_SCORE_NEAREST a point fits a tracked cluster if its score is at least
 * cos(angle) r_n - 2^-20: the angle then means the angle from the true direction, however few points there were. With
 * hundreds of points r_n is 1. The scores themselves are not divided by r_n, because that would favour clusters of few
 * points over a nearer one of many. */
#include "stream.h"

#include "vectors.h"

#include <math.h>

#define MEMORY 0.99 /* factor of the sums of earlier frames in the next one */
#define PRIOR 10    /* points that the first guess counts as */
#define LEAST 0.01  /* of rho^2: r_n stays defined */

bool ast_options_score_nearest(const ast_stream_options *o) {
    bool standard = o->score == AST_SCORE_OF_TRACKER && isnan(o->beta) && o->revive_near;
    return (standard || o->score == AST_SCORE_NEAREST) && o->method == AST_STREAM_DDP;
}

bool ast_stream_scores_nearest(const ast_stream *s) {
    return ast_options_score_nearest(&s->options);
}

/* rho^2 */
static double pair_cosine(const ast_stream *s) {
    double squared = s->pair_cosine.num / s->pair_cosine.den;
    return squared < LEAST ? LEAST : squared > 1 ? 1 : squared;
}

/* Rows of small weights make no mean that is easier to fit than that of one row. */
static double reliability(double rows, double squared) {
    rows = rows < 1 ? 1 : rows;
    return sqrt(rows * squared / (1 + (rows - 1) * squared));
}

double ast_stream_reliability(const ast_stream *s, double rows) {
    return reliability(rows, pair_cosine(s));
}

double ast_stream_fit_limit(const ast_stream *s, double rows) {
    double cosine = ast_cosine(s->options.angle);
    bool exact = !ast_stream_scores_nearest(s) || cosine <= 0 || rows <= 0;
    return ast_least_score(s->options.angle) - (exact ? 0 : cosine * (1 - reliability(rows, pair_cosine(s))));
}

double ast_stream_rows_after_frame(const ast_stream *s, size_t k, double count) {
    double rows = s->track[k].rows, beta = s->tracks.beta[k];
    double before = rows > 0 && beta > 0 ? 1 / (1 / rows + (double)s->track[k].dt / beta) : 0;
    return before + count;
}

/* A guess: the points of a cluster lie within the angle of its true direction, most of them at two thirds of it. */
ast_spread ast_first_pair_cosine(double angle) {
    double rho = ast_cosine(angle * 2 / 3);
    return (ast_spread){PRIOR * rho * rho, PRIOR};
}

/* From the length of the sum of two or more points; from the cosine of a single point and the mean, which is
 * rho r_n. */
void ast_stream_learn_pair_cosine(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    double rho = sqrt(pair_cosine(s));
    ast_spread all = {0, 0};
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        double weight = ast_clusters_weight(c, slot), n = (double)c->members[slot], along = 0;
        if (c->members[slot] >= 2) { /* with weights of 1 in the mean */
            double length = ast_clusters_length(c, slot) * (n / weight);
            all.num += (length * length - n) / n;
            all.den += n - 1;
        } else if (c->members[slot] == 1 && (size_t)slot < s->count) {
            const float *m = s->tracks.m + (size_t)slot * c->dimension;
            const int64_t *sum = c->sums + (size_t)slot * c->dimension;
            for (size_t d = 0; d < c->dimension; d++)
                along += (double)sum[d] * (double)m[d];
            along /= c->unit * weight;
            double r = reliability(s->track[slot].rows, rho * rho);
            all.num += (s->options.axial ? fabs(along) : along) * rho / r;
            all.den += 1;
        }
    }
    if (all.den > 0) {
        s->pair_cosine.num = MEMORY * s->pair_cosine.num + all.num;
        s->pair_cosine.den = MEMORY * s->pair_cosine.den + all.den;
    }
}
