/* SPDX-License-Identifier: MIT
 *
 * The late rows of a frame. They are labelled after the frame has closed, so that they do not change the clusters. */
#include "memory.h"
#include "scorer.h"
#include "stream.h"

#include <math.h>

static void add_counts(ast_stream *s, size_t labelled) {
    size_t present = s->v.present + labelled;
    for (size_t r = 0; r < s->records.count; r++) {
        ast_tracked *record = &s->records.list[r];
        record->count += s->late.counts[r];
        record->share = present ? (double)record->count / (double)present : 0;
    }
}

bool ast_stream_reserve_late(ast_stream *s, size_t records) {
    size_t most = 2 * records + 1;
    return records < s->late.capacity || ast_ensure_arrays(&s->late.capacity, most, AST_REQUEST(s->late.names, most),
                                                           AST_REQUEST(s->late.counts, most));
}

#define RECORDS 64 /* of a task */

/* Whether late rows join cluster b rather than a: b was seen later, and is within the angle of a. */
static bool supersedes(const ast_stream *s, size_t b, size_t a) {
    const ast_record_list *records = &s->records;
    const ast_tracked *one = &records->list[b], *other = &records->list[a];
    size_t dimension = s->options.dimension;
    bool seen =
        !records->hidden[b] &&
        (one->count > 0 || (one->event == AST_UNSEEN && (one->age < other->age || (one->age == other->age && b < a))));
    if (!seen)
        return false;
    double score = ast_exact_score(records->means + a * dimension, records->means + b * dimension, dimension);
    return (s->options.axial ? fabs(score) : score) >= s->v.limit;
}

/* Late rows may join the clusters with points in this frame, and unseen clusters that no other supersedes: old
 * directions of one surface do not compete for its rows. */
static bool is_open(const ast_stream *s, size_t r) {
    const ast_record_list *records = &s->records;
    bool open = records->list[r].count > 0 || records->list[r].event == AST_UNSEEN;
    for (size_t k = 0; k < records->count && open && records->list[r].count == 0; k++)
        open = k == r || !supersedes(s, k, r);
    return open;
}

static void open_record(void *data, size_t r) {
    ast_stream *s = data;
    s->late.names[r] = !s->records.hidden[r] && is_open(s, r) ? s->records.list[r].id : -1;
    atomic_init(&s->late.counts[r], 0);
}

void ast_stream_begin_late(ast_stream *s, const ast_points *points, int32_t *labels, ast_late *late) {
    size_t records = s->records.count;
    ast_pool_each(s->pool, records, RECORDS, open_record, s);
    *late = (ast_late){.kernels = s->kernels,
                       .points = points,
                       .means = s->records.means,
                       .names = s->late.names,
                       .count = records,
                       .axial = s->options.axial != 0,
                       .limit = ast_least_score(s->options.angle),
                       .labels = labels,
                       .counts = s->late.counts};
    ast_late_begin(late);
}

void ast_stream_end_late(ast_stream *s, const ast_late *late, ast_frame *report) {
    for (size_t r = 0; r < late->count; r++)
        report->late += s->late.counts[r];
    report->unassigned = late->unassigned;
    report->missing += late->unassigned;
    add_counts(s, report->late);
}

/* ---- Exclusive frames -------------------------------------------------------------------------------------------- */

/* Of the id that a slot has now. -1: it died, or is not shown yet. */
static int32_t late_id(ast_stream *s, int32_t slot) {
    if (slot < 0 || s->id_of[slot] < 0)
        return -1;
    const ast_tracked *record = ast_stream_record(s, s->id_of[slot]);
    return record->event == AST_DIED ? -1 : record->event == AST_MERGED ? record->into : record->id;
}

void ast_stream_label_exclusive_late(ast_stream *s, const ast_points *points, int32_t *labels, ast_frame *report) {
    float x[AST_MAX_DIMENSION];
    for (size_t r = 0; r < s->records.count; r++)
        atomic_init(&s->late.counts[r], 0);
    for (size_t i = 0; i < points->count; i++) {
        if (!points->late[i] || ast_read_row(points, i, x) == AST_ROW_MISSING)
            continue;
        labels[i] = late_id(s, s->input.partner[i]);
        report->late += labels[i] >= 0;
        report->unassigned += labels[i] < 0;
        if (labels[i] >= 0)
            s->late.counts[ast_stream_record(s, labels[i]) - s->records.list]++;
    }
    report->missing += report->unassigned;
    add_counts(s, report->late);
}
