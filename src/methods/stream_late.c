/* SPDX-License-Identifier: MIT
 *
 * The late rows of a frame. They are labelled after the frame has closed, so that they change nothing that is
 * remembered. */
#include "memory.h"
#include "scorer.h"
#include "stream.h"

#include <math.h>

static void add_counts(ast_stream *s, size_t labelled) {
    size_t present = s->labelling.present + labelled;
    for (size_t r = 0; r < s->records.count; r++) {
        ast_tracked *record = &s->records.list[r];
        record->count += s->late.counts[r];
        record->share = present ? (double)record->count / (double)present : 0;
    }
}

bool ast_stream_reserve_late(ast_stream *s, size_t records) {
    size_t names = s->late.capacity, counts = s->late.capacity;
    if (!ast_reserve(&s->late.names, &names, 0, records + 1, sizeof *s->late.names) ||
        !ast_reserve(&s->late.counts, &counts, 0, records + 1, sizeof *s->late.counts))
        return false;
    s->late.capacity = names < counts ? names : counts;
    return true;
}

/* Whether rows of the frame belong to a cluster within the angle. */
static bool is_near_seen(const ast_stream *s, const float *mean) {
    size_t dimension = s->options.dimension;
    for (size_t r = 0; r < s->records.count; r++) {
        if (s->records.list[r].count == 0)
            continue;
        double score = ast_exact_score(mean, s->records.means + r * dimension, dimension);
        if ((s->options.axial ? fabs(score) : score) >= ast_least_score(s->options.angle))
            return true;
    }
    return false;
}

/* Late rows can get the clusters that rows of the frame belong to, and those that are out of sight and far from them: a
 * stale direction never competes with a seen one. */
static bool takes_late_rows(const ast_stream *s, size_t r) {
    const ast_tracked *record = &s->records.list[r];
    return record->count > 0 ||
           (record->event == AST_UNSEEN && !is_near_seen(s, s->records.means + r * s->options.dimension));
}

void ast_stream_begin_late(ast_stream *s, const ast_points *points, int32_t *labels, ast_late *late) {
    size_t records = s->records.count;
    for (size_t r = 0; r < records; r++) {
        s->late.names[r] = takes_late_rows(s, r) ? s->records.list[r].id : -1;
        atomic_init(&s->late.counts[r], 0);
    }
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
    report->unlike = late->unlike;
    report->missing += late->unlike;
    add_counts(s, report->late);
}
