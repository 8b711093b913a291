/* SPDX-License-Identifier: MIT
 *
 * Section 10, duplicates: two clusters with points whose means are closer than half the angle, three frames in a row,
 * become one. Read ref_merge_tracked first. Before that, clusters that are pieces of others (docs/rules.md, streams):
 * read ref_absorb_pieces first. */
#include "reference/stream_inside.h"

#include "geodesic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For how many frames in a row the two were near, up to the frame before. */
static int frames_near(const ref_stream *stream, int32_t a, int32_t b) {
    for (size_t p = 0; p < stream->near_count; p++)
        if (stream->near[p][0] == a && stream->near[p][1] == b)
            return stream->near[p][2];
    return 0;
}

static int has_points(const ref_cluster *cluster) {
    return cluster->members > 0 && !cluster->dead;
}

/* The weighted geodesic mean of both: section 5 between the two means, without a step in between. */
static void join_means(const setting *s, ref_cluster *older, ref_cluster *younger) {
    double *u = ref_take(s->dimension, sizeof *u), squares = 0;
    int side = ref_sign(s->points->axial, younger->m, older->m, s->dimension);
    for (size_t d = 0; d < s->dimension; d++)
        squares += (double)younger->m[d] * (double)younger->m[d];
    for (size_t d = 0; d < s->dimension; d++)
        u[d] = side * (double)younger->m[d] / sqrt(squares);
    if (younger->weight > 0) {
        ast_geodesic g;
        double zeta = ast_angle_from(u, older->m, s->dimension);
        ast_geodesic_solve(zeta, older->weight, 0, 0, younger->weight, &g);
        float *mean = ref_take(s->dimension, sizeof *mean);
        ast_geodesic_mean(s->dimension, u, older->m, g.eta, zeta, mean);
        memcpy(older->m, mean, s->dimension * sizeof *mean);
        free(mean);
    }
    free(u);
}

/* The last data of both together, each with as many points as it had. */
static void join_data(const setting *s, ref_cluster *older, const ref_cluster *younger) {
    double dot = 0, squares = 0, *sum = ref_take(s->dimension, sizeof *sum);
    for (size_t d = 0; d < s->dimension; d++)
        dot += older->raw[d] * younger->raw[d];
    double added = s->points->axial && dot < 0 ? -younger->raw_count : younger->raw_count;
    for (size_t d = 0; d < s->dimension; d++) {
        sum[d] = older->raw_count * older->raw[d] + added * younger->raw[d];
        squares += sum[d] * sum[d];
    }
    for (size_t d = 0; d < s->dimension && squares > 0; d++)
        older->raw[d] = (double)(float)(sum[d] / sqrt(squares));
    older->raw_count += younger->raw_count;
    older->rows += younger->rows;
    free(sum);
}

static void join(const ref_stream *stream, const setting *s, size_t a, size_t b, ref_record *records) {
    ref_cluster *older = stream->list[a], *younger = stream->list[b];
    join_means(s, older, younger);
    join_data(s, older, younger);
    older->weight += younger->weight;
    older->num += younger->num;
    older->den += younger->den;
    younger->dead = 1;
    records[b].event = AST_MERGED;
    records[b].into = older->id;
    records[a].weight = older->weight;
    records[a].spread = sqrt(ref_spread_square(stream, older)) / (M_PI / 180);
    memcpy(records[a].mean, older->m, s->dimension * sizeof *older->m);
}

/* Who is near whom now, and since when. cosines (count, count), of the means before anything is joined. */
static void note_near(ref_stream *stream, const setting *s, double *cosines) {
    int(*near)[3] = ref_take(stream->count * stream->count + 1, sizeof *near);
    size_t count = 0;
    for (size_t a = 0; a < stream->count; a++)
        for (size_t b = a + 1; b < stream->count; b++) {
            const ref_cluster *x = stream->list[a], *y = stream->list[b];
            double cosine = ref_closeness(s->points->axial, x->m, y->m, s->dimension);
            cosines[a * stream->count + b] = cosine;
            if (!has_points(x) || !has_points(y) || !(cosine > ref_cosine(stream->options.angle / 2)))
                continue;
            near[count][0] = x->id;
            near[count][1] = y->id;
            near[count++][2] = frames_near(stream, x->id, y->id) + 1;
        }
    free(stream->near);
    stream->near = near;
    stream->near_count = count;
}

/* The nearest pair that was near for three frames and of which nobody has been joined yet. */
static int choose(const ref_stream *stream, const double *cosines, const int *busy, size_t *a, size_t *b) {
    double best = -2;
    for (size_t i = 0; i < stream->count; i++)
        for (size_t j = i + 1; j < stream->count; j++) {
            double cosine = cosines[i * stream->count + j];
            if (busy[i] || busy[j] || frames_near(stream, stream->list[i]->id, stream->list[j]->id) < 3 ||
                !(cosine > best))
                continue;
            best = cosine;
            *a = i;
            *b = j;
        }
    return best > -2;
}

void ref_merge_tracked(ref_stream *stream, const setting *s, ref_record *records) {
    size_t count = stream->count, a, b;
    if (!stream->options.merge_tracked || stream->options.method != AST_STREAM_DDP)
        return;
    double *cosines = ref_take(count * count + 1, sizeof *cosines);
    int *busy = ref_take(count + 1, sizeof *busy);
    note_near(stream, s, cosines);
    while (choose(stream, cosines, busy, &a, &b)) {
        join(stream, s, a, b, records);
        busy[a] = busy[b] = 1;
    }
    free(cosines);
    free(busy);
}

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

static double near(const setting *s, const float *x, const float *y) {
    return ref_closeness(s->points->axial, x, y, s->dimension);
}

static int here(const ref_cluster *cluster) {
    return cluster->members > 0 && ref_has_direction(cluster);
}

/* Had points in the frame before. */
static int recent(const ref_cluster *cluster) {
    return cluster->role == TRACKED && cluster->dt == 1;
}

static int jumped(const setting *s, const ref_cluster *cluster) {
    return near(s, cluster->m, cluster->mean) < ref_cosine(s->angle / 4);
}

/* Whether cluster b could be a piece of a, wherever they are. */
static int could_be_piece(const ref_stream *stream, const setting *s, size_t b, size_t a) {
    const ref_cluster *piece = stream->list[b], *whole = stream->list[a];
    if (a == b || !here(piece) || whole->absorbed)
        return 0;
    if (piece->role == BORN)
        return a < b;
    return recent(whole) && (!recent(piece) || jumped(s, piece));
}

/* How near they are: where the whole was expected if it was seen in the frame before, or where it is now. */
static double nearness(const setting *s, const ref_cluster *piece, const ref_cluster *whole) {
    double best = -2;
    if (recent(whole))
        best = near(s, whole->m, piece->mean);
    if (here(whole) && !(recent(whole) && jumped(s, whole)))
        best = fmax(best, near(s, whole->mean, piece->mean));
    return best;
}

static void absorb(ref_stream *stream, const setting *s, size_t b, size_t a, int32_t *labels) {
    ref_cluster *piece = stream->list[b], *whole = stream->list[a];
    double dot = 0;
    for (size_t i = 0; i < s->points->count; i++)
        labels[i] = labels[i] == (int32_t)b ? (int32_t)a : labels[i];
    for (size_t d = 0; d < s->dimension; d++)
        dot += (double)whole->sum[d] * (double)piece->sum[d];
    for (size_t d = 0; d < s->dimension; d++)
        whole->sum[d] += s->points->axial && dot < 0 ? -piece->sum[d] : piece->sum[d];
    whole->members += piece->members;
    whole->last = piece->last; /* matters if it is the only one */
    memset(piece->sum, 0, s->dimension * sizeof *piece->sum);
    piece->members = 0;
    piece->dead = piece->role == BORN;
    piece->absorbed = 1;
    ref_update_mean(s, whole);
}

void ref_absorb_pieces(ref_stream *stream, const setting *s, int32_t *labels) {
    if (!stream->options.merge_tracked || stream->options.method != AST_STREAM_DDP || s->lifetime <= 1)
        return;
    for (;;) {
        double best = ref_cosine(s->angle / 2);
        size_t from = 0, into = 0;
        for (size_t b = 0; b < stream->count; b++)
            for (size_t a = 0; a < stream->count; a++) {
                if (!could_be_piece(stream, s, b, a))
                    continue;
                double cosine = nearness(s, stream->list[b], stream->list[a]);
                if (cosine > best) {
                    best = cosine;
                    from = b;
                    into = a;
                }
            }
        if (from == into)
            break;
        absorb(stream, s, from, into, labels);
    }
    for (size_t k = 0; k < stream->count; k++)
        stream->list[k]->absorbed = 0;
    ref_drop_dead(stream, labels, s->points->count);
}
