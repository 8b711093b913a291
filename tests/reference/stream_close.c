/* SPDX-License-Identifier: MIT
 *
 * The end of a frame, section 4: what is learnt, who gets an id, who lives on, and what is told of each. Read
 * ref_close_frame first. */
#include "reference/stream_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double ref_radians(double degrees) {
    return degrees * M_PI / 180;
}

static int by_beta(const ast_stream_options *options) {
    return !isnan(options->beta);
}

/* Its own spread, to which that of all clusters together counts as one point. */
double ref_spread_square(const ref_stream *stream, const ref_cluster *cluster) {
    return fmax(0, (cluster->num + stream->num / stream->den) / (cluster->den + 1));
}

double ref_current_beta(const ref_stream *stream, const ref_cluster *cluster) {
    const ast_stream_options *options = &stream->options;
    if (by_beta(options))
        return options->beta;
    double drift = ref_radians(options->drift), phi = ref_radians(options->angle);
    double square = ref_spread_square(stream, cluster);
    square = fmax(square, 9 * drift * drift);
    square = fmin(square, phi * phi);
    return square / (drift * drift);
}

int ref_nearest(const ast_stream_options *options) {
    int chosen = options->score == AST_SCORE_OF_TRACKER ? !by_beta(options) && options->revive_near
                                                        : options->score == AST_SCORE_NEAREST;
    return chosen && options->method == AST_STREAM_DDP;
}

double ref_rho_square(const ref_stream *stream) {
    return fmax(0.01, fmin(1, stream->like_num / stream->like_den));
}

double ref_reliability(double rows, double rho_square) {
    return sqrt(rows * rho_square / (1 + (rows - 1) * rho_square));
}

/* What the frame says about the cosine of two rows of one identity: pairs within the frame, and a single row with the
 * earlier ones, whose mean has with it the cosine rho r_n. */
static void learn_likeness(ref_stream *stream, const setting *s) {
    double rho = sqrt(ref_rho_square(stream)), num = 0, den = 0;
    for (size_t k = 0; k < stream->count; k++) {
        const ref_cluster *cluster = stream->list[k];
        double n = (double)cluster->members, dot = 0;
        if (n >= 2) {
            num += (cluster->length * cluster->length - n) / n;
            den += n - 1;
        } else if (n == 1 && cluster->role != BORN) {
            for (size_t d = 0; d < s->dimension; d++)
                dot += (double)cluster->sum[d] * (double)cluster->m[d];
            dot = s->points->axial ? fabs(dot / SCALE) : dot / SCALE;
            num += dot * rho / ref_reliability(cluster->rows, rho * rho);
            den += 1;
        }
    }
    if (den > 0) {
        stream->like_num = 0.99 * stream->like_num + num;
        stream->like_den = 0.99 * stream->like_den + den;
    }
}

/* What the frame says about the spreads. */
static void learn_spread(ref_stream *stream, size_t dimension, int axial) {
    double drift = ref_radians(stream->options.drift), num = 0, den = 0;
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        double own_num = 0, own_den = 0;
        if (cluster->members >= 2) {
            own_num = 2 * ((double)cluster->members - cluster->length);
            own_den = (double)cluster->members - 1;
        } else if (cluster->members == 1 && cluster->raw_count > 0) {
            double dot = 0;
            for (size_t d = 0; d < dimension; d++)
                dot += cluster->raw[d] * (double)cluster->last[d];
            dot = axial ? fabs(dot) : dot;
            own_num = fmax(0, 2 * (1 - dot) - cluster->dt * drift * drift) / (1 + 1 / cluster->raw_count);
            own_den = 1;
        }
        num += own_num;
        den += own_den;
        if (own_den > 0) {
            cluster->num = 0.9 * cluster->num + own_num;
            cluster->den = 0.9 * cluster->den + own_den;
        }
    }
    if (den > 0) {
        stream->num = 0.9 * stream->num + num;
        stream->den = 0.9 * stream->den + den;
    }
}

static double updated_weight(const ref_stream *stream, const ref_cluster *cluster) {
    ast_weight_update update = stream->options.weight_update;
    if (update == AST_UPDATE_OF_TRACKER)
        update = by_beta(&stream->options) ? AST_PAPER : AST_POSTERIOR;
    if (cluster->role != TRACKED)
        return cluster->length;
    if (update == AST_PAPER)
        return cluster->f;
    return 1 / (1 / cluster->weight + cluster->dt / cluster->beta) + cluster->length;
}

/* Without a direction of the data the last one that there was stays. */
static void remember_data(ref_cluster *cluster, size_t dimension) {
    if (!ref_has_direction(cluster))
        return;
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (double)cluster->sum[d] * (double)cluster->sum[d];
    for (size_t d = 0; d < dimension; d++)
        cluster->raw[d] = (double)(float)((double)cluster->sum[d] / sqrt(squares));
    cluster->raw_count = (double)cluster->members;
}

static ast_event event_of(const ref_cluster *cluster) {
    if (cluster->members == 0)
        return AST_UNSEEN;
    if (cluster->role == BORN)
        return AST_BORN;
    return cluster->dt > 1 ? AST_REVIVED : AST_SEEN;
}

/* On which side an axial mean is kept: that of a new cluster as a batch's, another's as it was. */
static void choose_side(const setting *s, ref_cluster *cluster) {
    if (!s->points->axial)
        return;
    if (cluster->role == BORN)
        ref_turn_mean(cluster->mean, s->dimension);
    else if (cluster->role == GIVEN && ref_score(cluster->mean, cluster->m, s->dimension) < 0)
        ref_negate(cluster->mean, s->dimension);
}

/* One cluster at close; its record is made before it is known who dies. */
static void close_cluster(ref_stream *stream, const setting *s, ref_cluster *cluster, ref_record *record) {
    if (cluster->role == BORN)
        cluster->id = stream->next_id++;
    record->event = event_of(cluster);
    record->age = cluster->members > 0 ? 0 : cluster->dt;
    if (cluster->members > 0) {
        cluster->weight = updated_weight(stream, cluster);
        choose_side(s, cluster);
        memcpy(cluster->m, cluster->mean, s->dimension * sizeof *cluster->m);
        remember_data(cluster, s->dimension);
        if (cluster->role == TRACKED && cluster->rows > 0 && cluster->beta > 0)
            cluster->rows = 1 / (1 / cluster->rows + cluster->dt / cluster->beta) + (double)cluster->members;
        else
            cluster->rows = (double)cluster->members;
        cluster->dt = 1;
        /* "zero sum: it dies at close" is said of the born, and of nothing in section 2. */
        cluster->dead =
            stream->options.method == AST_STREAM_DDP && cluster->role == BORN && !ref_has_direction(cluster);
    } else {
        cluster->dt++;
    }
    if (stream->options.method == AST_STREAM_DDP && (s->lifetime <= 1 || cluster->dt > s->lifetime))
        cluster->dead = 1;
    if (stream->options.method == AST_STREAM_DP)
        cluster->dead = 1;
    /* Who dies at the end of a frame with points (the lifetime is 1 or less, or the method dp) says what it was in it.
     */
    if (cluster->dead && cluster->members == 0)
        record->event = AST_DIED;
    record->id = cluster->id;
    record->into = -1;
    record->weight = cluster->weight;
    record->spread = sqrt(ref_spread_square(stream, cluster)) / (M_PI / 180);
    record->mean = ref_take(s->dimension, sizeof *record->mean);
    memcpy(record->mean, cluster->m, s->dimension * sizeof *record->mean);
}

/* Of two clusters, whether the first goes first: the longest unseen, then the lightest, then the youngest id. */
static int goes_first(const ref_cluster *a, const ref_cluster *b) {
    if (a->dt != b->dt)
        return a->dt > b->dt;
    if (a->weight != b->weight)
        return a->weight < b->weight;
    return a->id > b->id;
}

static void keep_to_limit(ref_stream *stream, ref_frame *frame) {
    size_t limit = stream->options.max_clusters;
    while (limit > 0) {
        size_t first = 0, alive = 0;
        for (size_t k = 0; k < stream->count; k++) {
            ref_cluster *cluster = stream->list[k];
            if (cluster->dead)
                continue;
            if (alive++ == 0 || goes_first(cluster, stream->list[first]))
                first = k;
        }
        if (alive <= limit)
            return;
        stream->list[first]->dead = 1;
        frame->records[first].event = AST_DIED;
    }
}

/* Labels become ids, and the points of each cluster are counted. */
static void write_labels(const ref_stream *stream, const ref_points *points, ref_frame *frame) {
    for (size_t i = 0; i < points->count; i++) {
        if (frame->labels[i] < 0)
            continue;
        frame->records[frame->labels[i]].count++;
        frame->labels[i] = stream->list[frame->labels[i]]->id;
    }
}

static int compare_records(const void *a, const void *b) {
    const ref_record *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Clusters of sDP that died during the frame: found no points, or lost them. */
static void record_gone(ref_stream *stream, ref_frame *frame) {
    while (stream->gone) {
        ref_cluster *cluster = stream->gone;
        ref_record *record = &frame->records[frame->records_count++];
        *record = (ref_record){.id = cluster->id, .event = AST_DIED, .age = cluster->dt, .weight = cluster->weight};
        record->into = -1;
        record->spread = sqrt(ref_spread_square(stream, cluster)) / (M_PI / 180);
        record->mean = cluster->m;
        cluster->m = NULL;
        stream->gone = cluster->next;
        ref_cluster_free(cluster);
    }
    qsort(frame->records, frame->records_count, sizeof *frame->records, compare_records);
}

void ref_close_frame(ref_stream *stream, const setting *s, ref_frame *frame) {
    size_t gone = 0;
    ref_absorb_pieces(stream, s, frame->labels);
    for (const ref_cluster *cluster = stream->gone; cluster; cluster = cluster->next)
        gone++;
    frame->records = ref_take(stream->count + gone, sizeof *frame->records);
    frame->records_count = stream->count;
    if (stream->options.rigid)
        ref_learn_turn(stream, s);
    learn_spread(stream, s->dimension, s->points->axial);
    if (ref_nearest(&stream->options))
        learn_likeness(stream, s);
    for (size_t k = 0; k < stream->count; k++) {
        close_cluster(stream, s, stream->list[k], &frame->records[k]);
        frame->clusters += stream->list[k]->members > 0;
    }
    write_labels(stream, s->points, frame);
    ref_merge_tracked(stream, s, frame->records);
    for (size_t k = 0; k < stream->count; k++)
        frame->merged += frame->records[k].event == AST_MERGED;
    keep_to_limit(stream, frame);
    record_gone(stream, frame);
    ref_drop_dead(stream, NULL, 0);
    while (stream->gone) { /* recorded above */
        ref_cluster *cluster = stream->gone;
        stream->gone = cluster->next;
        ref_cluster_free(cluster);
    }
}
