/* SPDX-License-Identifier: MIT
 *
 * A stream of frames: what is remembered between them. */
#pragma once

#include "landmarks.h"
#include "late.h"
#include "methods.h"
#include "tracks.h"

/* The mean square of the angles between members and the direction of their cluster: num / den, in radians squared. Each
 * frame multiplies both by a factor below 1 and then adds to both, so that older frames count less. */
typedef struct ast_spread {
    double num, den;
} ast_spread;

/* Exclusive frames: the ids that an id has met, that is, was in one frame with. Up to AST_MET ids are a list; more are
 * a Bloom filter with two bits for each, which may also contain other ids (stream_met.c). */
#define AST_MET 24
#define AST_MET_FILTER UINT32_MAX
typedef struct ast_met {
    uint32_t count; /* ids in `words`; or AST_MET_FILTER */
    uint32_t words[AST_MET];
} ast_met;

/* One mean between frames. Vectors are in arrays beside it. An id may have several means, which are next to each other;
 * dt and flags of all of them are the same. */
typedef struct ast_track {
    int32_t id;
    uint32_t part;      /* number of the mean among those of its id */
    uint32_t dt;        /* frames since the id last had points, at least 1 */
    uint32_t flags;     /* AST_LOCKED, AST_KNOWN */
    double weight;      /* w_k */
    double n_prev;      /* points when it last had some */
    double rows;        /* points that the mean is known from; drift lowers it, as it lowers w_k */
    uint64_t sightings; /* frames in which the id had points: below options.born_after it is not shown */
    ast_spread spread;  /* of this cluster alone */
    ast_met met;        /* of the id; only in its first mean */
    uint32_t zero;      /* in place of padding, whose bytes are undefined: a state holds the bytes of this struct */
} ast_track;
_Static_assert(sizeof(ast_track) == offsetof(ast_track, zero) + sizeof(uint32_t), "a state would hold padding");

#define AST_LOCKED 1U  /* the means do not move */
#define AST_KNOWN 2U   /* has a name or was enrolled: two of them are never merged */
#define AST_TOUCHED 4U /* of any mean: something of the id has changed since the last save, besides its age */

/* Two tracked clusters that may be pieces of one: both have points, and their means are closer than half the angle. */
typedef struct ast_near_pair {
    int32_t older, younger; /* ids */
    uint32_t frames; /* successive frames in which they were near; counted up to the number at which they are joined */
} ast_near_pair;

/* A cluster with points, in the frame that is being closed. */
typedef struct ast_sighting {
    int32_t slot, id;
} ast_sighting;

/* Working memory of stream_joins.c and stream_pieces.c. */
typedef struct ast_joins {
    ast_near_pair *pairs; /* (count) after the last frame, in order of the ids */
    size_t count, capacity;
    ast_near_pair *found; /* (found_count) in the frame that is being closed */
    double *cosines;      /* (found_count) of their means */
    size_t found_count, found_capacity, cosine_capacity;
    uint32_t *view;     /* (view_count) exclusive frames: tracks of ids in view, in order */
    uint32_t *partners; /* (partner_count) tracks that one in view may become one with, in order */
    size_t view_count, view_capacity, partner_count, partner_capacity;
    ast_sighting *seen;
    size_t seen_capacity;
    int32_t *host; /* (slots) the cluster that has the points of this slot: itself, unless this one is a piece */
    size_t host_capacity;
} ast_joins;

/* Names, forbidden rows and pairs that never merge, as the caller set them (identities.c). */
typedef struct ast_stream_name_of {
    int32_t id;
    char text[AST_NAME_BYTES]; /* ends with NUL */
} ast_stream_name_of;

typedef struct ast_identities {
    ast_stream_name_of *names; /* (name_count) in order of id */
    size_t name_count, name_capacity;
    int32_t *barred;    /* (barred_count) id that the row is not, in order of id */
    float *barred_rows; /* (barred_count, D) */
    size_t barred_count, barred_capacity, barred_row_capacity;
    ast_near_pair *apart; /* (apart_count) pairs that never merge, in order of the ids */
    size_t apart_count, apart_capacity;
    ast_identity_change *log;
    size_t log_count, log_capacity;
    ast_sighting *redirected; /* (redirected_count) of the frame: the id that a row is barred from, and the slot that
                                 the row got */
    size_t redirected_count, redirected_capacity;
    ast_identity *list; /* working memory of ast_stream_list */
    size_t list_capacity;
} ast_identities;

/* What has changed since the stream was saved, besides the ids with AST_TOUCHED. */
typedef struct ast_changes {
    bool whole;     /* anything may have changed, or the stream was never saved */
    bool known;     /* names, forbidden rows or pairs that never merge have changed */
    uint64_t frame; /* number of the next frame at that time */
    int32_t *gone;  /* (count) ids that ended, but not by age */
    size_t count, capacity;
} ast_changes;

/* Working memory of stream_late.c. */
typedef struct ast_stream_late {
    int32_t *names;         /* (records) the id; -1: late rows do not join this cluster */
    _Atomic size_t *counts; /* (records) late rows of the cluster */
    size_t capacity;
} ast_stream_late;

/* The records of the last frame, for the caller. */
typedef struct ast_record_list {
    ast_tracked *list; /* (capacity) */
    float *means;      /* (mean_capacity, D) of those that are not among the means of the stream */
    uint8_t *hidden;   /* (capacity) the cluster was not seen often enough to have an id */
    size_t count, capacity, mean_count, mean_capacity;
    bool stale; /* to be listed when the caller asks: there is memory for it */
} ast_record_list;

/* Means between frames, as in ast_stream. */
typedef struct ast_track_list {
    ast_track *track;
    float *m, *data_direction;
    size_t count, capacity;
} ast_track_list;

/* Working memory of stream_near.c. */
typedef struct ast_near_set {
    float *rows; /* (count, D) of a frame, or means in view */
    size_t count, row_capacity;
    ast_mean_table table; /* the same, if they are more than a few */
    float *best;          /* (tracks) the largest score of a mean with the table */
    size_t best_capacity;
    uint8_t *in; /* (tracks) takes part */
    size_t in_capacity;
    ast_track_list others; /* while `selected`: all tracks of the stream; otherwise memory for those that take part */
    bool selected;
    ast_tracked *records; /* of those that take part, */
    uint8_t *hidden;      /* and whether they are hidden */
    size_t record_capacity, hidden_capacity;
} ast_near_set;

/* A frame as the stream takes it: late rows, and rows without the common direction (stream_input.c). */
typedef struct ast_stream_input {
    float *center; /* (D) of the options, or NULL */
    uint8_t *late;
    size_t late_capacity;
    float *rows;
    size_t row_capacity; /* numbers */
    double total;        /* of the weights of the points that are not late; 0: no weights */
    int32_t *partner;    /* exclusive frames: the slot of each late row, or -1 */
    size_t partner_capacity;
} ast_stream_input;

#define AST_ROTATION_ROWS 8192 /* of a frame that the rotation is found from, at most */
#define AST_ROTATION_PITCH (AST_ROTATION_ROWS + AST_STAGGER)

/* Working memory of stream_rotation.c. */
typedef struct ast_stream_sample {
    ast_frame_directions directions;
    float *columns; /* of the rows and of their parts */
    size_t capacity;
} ast_stream_sample;

struct ast_stream {
    ast_context *context;
    ast_fault *fault;
    const ast_kernels *kernels;
    ast_pool *pool;
    ast_stream_options options;
    uint64_t frame;
    int32_t next_id;
    ast_spread spread;       /* of all clusters together */
    ast_spread pair_cosine;  /* num / den: the mean cosine of two points of one cluster */
    double rotation_step[3]; /* rigid: the rotation of the scene per frame, as a rotation vector */

    size_t count, capacity; /* tracked clusters, in order of id */
    ast_track *track;
    float *m;              /* (count, D) means */
    float *data_direction; /* (count, D) direction of the sum of the last points */

    ast_tracks tracks; /* the same, as the rule sees it */
    ast_labelling *labelling;
    ast_labelling_view v; /* of the last frame, after its passes */
    ast_joins joins;      /* pairs of clusters that may be one */
    ast_identities known; /* names, cannot-links, the log */
    ast_near_set near;
    ast_history history; /* of the passes of a frame */
    int32_t *id_of;      /* (slots) */
    size_t id_capacity;
    ast_stream_late late;
    ast_stream_input input;
    size_t unborn; /* points of the last frame without id */
    ast_record_list records;
    ast_landmark_map landmarks; /* of the rotation of the camera */
    ast_stream_sample sample;
    float *rotated; /* rows of a frame that came with a rotation */
    size_t rotated_capacity;
    ast_changes changes;
    unsigned char *state; /* the last saved */
    size_t state_capacity;
};

/* Notes that everything is saved: no id has changed since. */
void ast_stream_mark_saved(ast_stream *stream);

/* ast_stream_end_of_id returns the first track after those with the id of track `first`; ast_stream_find_id the first
 * track of an id, or the number of tracks if there is none. */
size_t ast_stream_end_of_id(const ast_stream *stream, size_t first);
size_t ast_stream_find_id(const ast_stream *stream, int32_t id);

/* identities.c. Whether a row (D) is barred from the id of tracked cluster k: the caller said that it is another one.
 * Whether two ids are to stay apart: the stream never merges them by itself. */
bool ast_stream_is_barred(const ast_stream *stream, size_t k, const float *row);
bool ast_stream_are_apart(const ast_stream *stream, size_t a, size_t b);

/* ast_stream_move_barred: after the passes of a frame that is not exclusive, gives rows another cluster if they are
 * barred from their id. ast_stream_note_barred: notes that a row got slot `slot` because it is barred from the id of
 * track k; false: no memory. ast_stream_keep_barred_apart: at the close, keeps the two ids of each note apart. Memory
 * for these pairs was reserved with ast_stream_reserve_apart. */
ast_status ast_stream_move_barred(ast_stream *stream);
bool ast_stream_note_barred(ast_stream *stream, size_t k, int32_t slot);
bool ast_stream_reserve_apart(ast_stream *stream, size_t more);
void ast_stream_keep_barred_apart(ast_stream *stream);
void ast_stream_keep_apart(ast_stream *stream, int32_t one, int32_t other);

/* ast_identities_rename moves what is known about id `from` to id `into`. ast_identities_prune forgets what is known
 * about ids that are not tracked. */
void ast_identities_rename(ast_stream *stream, int32_t from, int32_t into);
void ast_identities_prune(ast_stream *stream);
void ast_identities_clear(ast_identities *known); /* keeps the log */
void ast_identities_free(ast_identities *known);

/* Joins track `younger` into track `older` and removes it (stream_joins.c). */
void ast_stream_join_tracks(ast_stream *stream, size_t older, size_t younger);

/* Joins id `from` into id `into`: means that agree become one, the others become further means of `into`. */
void ast_stream_join_ids(ast_stream *stream, int32_t from, int32_t into);

/* Lists the records of all tracked ids (stream_close.c). Memory was reserved. */
void ast_stream_list_records(ast_stream *stream);

/* stream_near.c. ast_stream_select_near reduces the stream to the ids that a row of the frame may join, if that saves
 * work. ast_stream_cancel_selection undoes this. At the close, ast_stream_reserve_unselected reserves memory for all
 * ids and `born` new ones (false: no memory), and ast_stream_add_unselected adds the other ids to the stream again. */
ast_status ast_stream_select_near(ast_stream *stream, const ast_points *points);
void ast_stream_cancel_selection(ast_stream *stream);
bool ast_stream_reserve_unselected(ast_stream *stream, size_t born);
void ast_stream_add_unselected(ast_stream *stream);
void ast_near_set_free(ast_near_set *near);

/* ast_stream_score_means computes the largest float score of each mean of the stream with near.rows, in near.best; its
 * error is at most the slack; of the wanted means (count) alone unless `wanted` is NULL. false: no memory.
 * ast_stream_reserve_mean_scores: memory for `count` means in near.best and near.in. */
bool ast_stream_reserve_mean_scores(ast_stream *stream, size_t count);
bool ast_stream_score_means(ast_stream *stream, const uint8_t *wanted);
double ast_stream_score_slack(const ast_stream *stream);

/* Adds the record of an id without points, tracks first..end-1; lives: false if the id has died. The means of living
 * records are set at the end of the close. */
void ast_stream_record_unseen(ast_stream *stream, size_t first, size_t end, bool lives);
bool ast_stream_reserve_record_list(ast_stream *stream, size_t count);

/* ast_stream_copy_record_mean gives a record a copy of its mean, before its id is removed; ast_stream_set_record_mean
 * gives it another mean. */
void ast_stream_copy_record_mean(ast_stream *stream, ast_tracked *record);
void ast_stream_set_record_mean(ast_stream *stream, ast_tracked *record, const float *mean);

#define AST_MAX_EXCLUSIVE 10000 /* points of a frame */

/* The passes of one frame. Labels are slots afterwards; slots 0..count-1 are the tracked clusters. */
ast_status ast_stream_frame(ast_stream *stream, const ast_points *points, ast_frame *report);

/* Exclusive frames (stream_exclusive.c): assigns the points of the loaded frame to clusters, at most one point to each.
 */
ast_status ast_stream_assign_exclusive(ast_stream *stream);

/* Who met whom (stream_met.c). ast_stream_note_met notes that the ids in view, given by their tracks (count) in order,
 * met each other. ast_stream_may_have_met: whether two ids, given by their first tracks, met; sometimes true although
 * they did not. ast_stream_merge_met adds the ids that met `from` to those that met `into`. */
void ast_stream_note_met(ast_stream *stream, const uint32_t *view, size_t count);
bool ast_stream_may_have_met(const ast_stream *stream, size_t a, size_t b);
void ast_stream_merge_met(ast_stream *stream, int32_t from, int32_t into);

/* Exclusive frames (stream_shared.c): at the close, divides the mean of an id that was found to be shared by two people.
 */
void ast_stream_divide_shared(ast_stream *stream);

/* Exclusive frames (stream_agreeing.c): memory to find pairs of ids whose means agree; false: no memory, and nothing
 * changed. At the end of the close, ast_stream_join_agreeing joins these pairs. */
bool ast_stream_reserve_agreeing(ast_stream *stream);
void ast_stream_join_agreeing(ast_stream *stream);
/* Before the caller joins id `from` into `into`, or forgets it (into: -1): drops the near pairs of `from`, and notes
 * that `into` met the ids that `from` met. */
void ast_stream_retire_id(ast_stream *stream, int32_t from, int32_t into);
void ast_stream_join_pair(ast_stream *stream, const ast_near_pair *pair);

/* Updates ids, weights, ages and records after a frame. false: no memory, and nothing changed. */
bool ast_stream_close_frame(ast_stream *stream);

/* Memory for so many tracked clusters, and records. */
bool ast_stream_reserve(ast_stream *stream, size_t count);
bool ast_stream_reserve_records(ast_stream *stream, size_t count);

/* After the labels of a frame are known: removes the records of clusters that have no id yet. */
void ast_stream_drop_hidden_records(ast_stream *stream);

/* Exclusive frames: late rows join clusters without points, at most one row each, so that the sum of cosines is as
 * large as possible. ast_stream_match_exclusive_late finds these clusters before the close. After the labels of a frame
 * are known, ast_stream_label_exclusive_late labels the rows with their ids and counts them. */
ast_status ast_stream_match_exclusive_late(ast_stream *stream, const ast_points *points);
void ast_stream_label_exclusive_late(ast_stream *stream, const ast_points *points, int32_t *labels, ast_frame *report);

/* Late rows (stream_late.c): memory for so many records; after the frame has closed, the labelling of its late rows;
 * after that, their counts in the report and the records. */
bool ast_stream_reserve_late(ast_stream *stream, size_t records);
void ast_stream_begin_late(ast_stream *stream, const ast_points *points, int32_t *labels, ast_late *late);
void ast_stream_end_late(ast_stream *stream, const ast_late *late, ast_frame *report);

/* Removes the mean at `index` of the list. Records stay. */
void ast_stream_remove(ast_stream *stream, size_t index);

/* Puts a mean with its direction of the last points (D) at `index` of the list. There is memory for it. */
void ast_stream_insert(ast_stream *stream, size_t index, const ast_track *track, const float *m, const float *u);

/* Whether two tracks, whose means have this cosine, may be of one identity (stream_agreeing.c). */
bool ast_stream_means_agree(const ast_stream *stream, size_t a, size_t b, double cosine);

/* Whether a cluster of the frame that is being closed is born with too few points (min_size): it is not tracked. */
bool ast_stream_too_small(const ast_stream *stream, int32_t slot);

/* Whether the id of a track is shown: it was seen often enough (born_after), or is known. */
bool ast_stream_is_shown(const ast_stream *stream, const ast_track *track);

/* Adds a record: `count` points of the frame, of `present` that take part. There is memory for it. */
void ast_stream_add_record(ast_stream *stream, ast_event event, const ast_track *track, const float *mean, double count,
                           double present);

/* The record of an id in the frame that is being closed. */
ast_tracked *ast_stream_record(const ast_stream *stream, int32_t id);

/* The squared spread of a cluster in radians: its own, shrunk to that of all clusters (stream_spread.c). */
double ast_stream_squared_spread(const ast_stream *stream, const ast_spread *own);

/* beta of the transition of a cluster with that spread: the option, or (spread / drift)^2. */
double ast_stream_beta(const ast_stream *stream, const ast_spread *own);

/* Reliability of means (reliability.c). The first two: whether scores are AST_SCORE_NEAREST. ast_stream_reliability:
 * r_n, the factor by which the cosine of a point and a mean of n = `rows` points is smaller than that with the true
 * direction. ast_stream_fit_limit: the score from which on a point fits a tracked cluster whose mean is that of `rows`
 * points. ast_stream_rows_after_frame: this number for track k after a frame with `count` points. The pair cosine is
 * the mean cosine of two points of one cluster: a first guess, and its update at the close. */
bool ast_options_score_nearest(const ast_stream_options *options);
bool ast_stream_scores_nearest(const ast_stream *stream);
double ast_stream_reliability(const ast_stream *stream, double rows);
double ast_stream_fit_limit(const ast_stream *stream, double rows);
double ast_stream_rows_after_frame(const ast_stream *stream, size_t k, double count);
ast_spread ast_first_pair_cosine(double angle);
void ast_stream_learn_pair_cosine(ast_stream *stream);

/* ast_stream_spread_of: the spread of one cluster in this frame. ast_stream_learn_spreads updates the spreads of all
 * clusters at the close. */
ast_spread ast_stream_spread_of(const ast_stream *stream, int32_t slot);
void ast_stream_learn_spreads(ast_stream *stream);

/* Rigid scenes (stream_rigid.c). ast_stream_rotate_means writes the means of all clusters, rotated by one step, to m
 * (count, D). At the close, ast_stream_learn_rotation_step keeps the rotated means, and updates the step from the
 * clusters with points in two successive frames. */
void ast_stream_rotate_means(const ast_stream *stream, float *m);
void ast_stream_learn_rotation_step(ast_stream *stream);

/* The rotation of the camera (stream_rotation.c): whether the stream finds it; memory for it; its update by a closed
 * frame. */
bool ast_stream_finds_rotation(const ast_stream *stream);
bool ast_stream_reserve_rotation(ast_stream *stream);
void ast_stream_find_rotation(ast_stream *stream, const ast_points *points);
void ast_stream_free_rotation(ast_stream *stream);

/* Whether the sum of the points of a slot has a direction; whether near clusters are merged (stream_joins.c); whether
 * agreeing ids are joined (stream_agreeing.c); the cosine of two means, axial its magnitude. */
bool ast_stream_has_direction(const ast_stream *stream, int32_t slot);
bool ast_stream_merges(const ast_stream *stream);
bool ast_stream_joins_agreeing(const ast_stream *stream);
double ast_stream_closeness(const ast_stream *stream, const float *a, const float *b);

/* Before a frame is closed: moves the points of clusters that are pieces of others to these (stream_pieces.c). false:
 * no memory, and nothing changed. */
bool ast_stream_absorb_pieces(ast_stream *stream);

/* Merging (stream_joins.c). Before the frame is closed: finds the pairs of clusters that are near each other. false: no
 * memory, and nothing changed. At the end of the close: joins the pairs that were near for several frames. */
bool ast_stream_find_near(ast_stream *stream);
void ast_stream_join_near(ast_stream *stream);

/* The weight w_k of a tracked cluster after a frame in which the sum of its points has that length. */
double ast_stream_next_weight(const ast_stream *stream, size_t k, double length);

/* AST_POSTERIOR or AST_PAPER: the option, or the default of the tracker. */
ast_weight_update ast_stream_weight_update(const ast_stream *stream);
