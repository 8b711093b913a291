/* SPDX-License-Identifier: MIT
 *
 * An id that two people share, in exclusive frames: two voices that are alike have one id until they are first heard
 * together. Then one row has the id, and the other, which fits it too, starts an id of its own. Without a correction
 * the old mean, which lies between the two people, stays nearer to both than the mean of one row that the new id has.
 * So the mean m is divided. If the rows behind it are those of the two people v_a and v_b in the shares 1 - q and q,
 * which have the cosine c, then
 *
 *     m = ((1 - q) v_a + q v_b) / L,    v_a = L m - q (v_b - v_a),    v_b = L m + (1 - q) (v_b - v_a),
 *
 * with L^2 = (1 - q)^2 + q^2 + 2 q (1 - q) c. The two rows x_a, x_b of the frame, whose cosine with their person is
 * rho, tell the rest: c from x_a . x_b = rho^2 c; q from the ratio of the cosines of both with m,
 *
 *     (x_b . m) / (x_a . m) = ((1 - q) c + q) / ((1 - q) + q c);
 *
 * and v_b - v_a from x_b - x_a, as the multiple of it that comes nearest on average. If q is small, the id was that of
 * one person, and stays as it is; the other person is like that one, and her mean starts nearer to it than the row. */
#include "stream.h"

#include "vectors.h"

#include <math.h>

#define LEAST_SHARE 0.25 /* of the rows: smaller shares are within the error of the estimate */
#define LEAST_ROWS 4     /* fewer say nothing about a mixture */
#define ROWS_LEFT 4      /* a mean that was divided is as sure as that of so many rows */

/* Whether track k is the only mean of its id, which nobody has named or locked, and has a point in the frame. */
static bool is_free(const ast_stream *s, size_t k) {
    const ast_track *track = &s->track[k];
    return track->dt == 1 && track->part == 0 && ast_stream_end_of_id(s, k) == k + 1 &&
           !(track->flags & (AST_KNOWN | AST_LOCKED));
}

/* The id of the frame that the row of the newborn track `born` fits best; the number of tracks if it fits none. */
static size_t best_fitting(const ast_stream *s, size_t born) {
    const size_t dimension = s->options.dimension;
    size_t best = s->count;
    double most = -2;
    for (size_t k = 0; k < born; k++) {
        if (!is_free(s, k) || s->track[k].sightings == 1 || s->track[k].rows < LEAST_ROWS)
            continue;
        double score = ast_exact_score(s->data_direction + born * dimension, s->m + k * dimension, dimension);
        if (score < ast_stream_fit_limit(s, s->track[k].rows) || score <= most)
            continue;
        best = k;
        most = score;
    }
    return best;
}

/* q, from c and the ratio. */
static double share_of(double ratio, double c) {
    double one = 1 - ratio * c, other = ratio - c;
    return other <= 0 ? 0 : one <= 0 ? 1 : other / (one + other);
}

static void set_mean(ast_stream *s, size_t k, double *mean, double rows) {
    const size_t dimension = s->options.dimension;
    ast_track *track = &s->track[k];
    ast_tracked *record = ast_stream_record(s, track->id);
    ast_normalise(mean, dimension);
    for (size_t d = 0; d < dimension; d++)
        s->m[k * dimension + d] = (float)mean[d];
    track->weight *= rows / track->rows;
    track->rows = rows;
    record->weight = track->weight;
    ast_stream_set_record_mean(s, record, s->m + k * dimension);
}

/* The mean m of `known` is that of one person, whom the one of `born` resembles: v_b = c m + what is across m, of which
 * the row tells a part. */
static void start_near(ast_stream *s, size_t known, size_t born) {
    const size_t dimension = s->options.dimension;
    const float *m = s->m + known * dimension, *y = s->data_direction + born * dimension;
    const double rho = ast_stream_reliability(s, 1), along = ast_exact_score(y, m, dimension);
    const double c = along / (rho * ast_stream_reliability(s, s->track[known].rows));
    const double across = rho * (1 - c * c) / (1 - along * along);
    double mean[AST_MAX_DIMENSION];
    if (!(c < 1) || !(along < 1))
        return;
    for (size_t d = 0; d < dimension; d++)
        mean[d] = c * (double)m[d] + across * ((double)y[d] - along * (double)m[d]);
    set_mean(s, born, mean, s->track[born].rows);
}

static double rows_left(double rows) {
    return rows < 1 ? 1 : rows < ROWS_LEFT ? rows : ROWS_LEFT;
}

static void divide(ast_stream *s, size_t a, size_t b, double q, double c) {
    const size_t dimension = s->options.dimension;
    const float *m = s->m + a * dimension, *x = s->data_direction + a * dimension;
    const float *y = s->data_direction + b * dimension;
    const double length = sqrt((1 - q) * (1 - q) + q * q + 2 * q * (1 - q) * c), rows = s->track[a].rows;
    const double step = ast_stream_reliability(s, 1) * (1 - c) / (1 - ast_exact_score(x, y, dimension));
    double one[AST_MAX_DIMENSION], other[AST_MAX_DIMENSION];
    for (size_t d = 0; d < dimension; d++) {
        double apart = step * ((double)y[d] - (double)x[d]);
        one[d] = length * (double)m[d] - q * apart;
        other[d] = length * (double)m[d] + (1 - q) * apart;
    }
    set_mean(s, a, one, rows_left(rows * (1 - q)));
    set_mean(s, b, other, rows_left(rows * q));
}

/* Tells the people of track a, which has one row of the frame, and of the newborn track b. */
static void tell_apart(ast_stream *s, size_t a, size_t b) {
    const size_t dimension = s->options.dimension;
    const float *m = s->m + a * dimension, *x = s->data_direction + a * dimension;
    const float *y = s->data_direction + b * dimension;
    const double rho = ast_stream_reliability(s, 1), c = fmax(0, ast_exact_score(x, y, dimension) / (rho * rho));
    const double q = share_of(ast_exact_score(y, m, dimension) / ast_exact_score(x, m, dimension), c);
    if (c < 1 && q >= LEAST_SHARE && q <= 1 - LEAST_SHARE)
        divide(s, a, b, q, c);
    else if (q < LEAST_SHARE)
        start_near(s, a, b);
}

void ast_stream_divide_shared(ast_stream *s) {
    for (size_t k = 0; s->options.exclusive && k < s->count; k++) {
        if (s->track[k].sightings != 1 || !is_free(s, k))
            continue;
        size_t shared = best_fitting(s, k);
        if (shared < s->count)
            tell_apart(s, shared, k);
    }
}
