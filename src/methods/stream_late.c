/* SPDX-License-Identifier: MIT
 *
 * The late rows of a frame. They are labelled after the frame has closed, by the clusters that other rows of the frame
 * belong to, so that they change nothing that is remembered. */
#include "memory.h"
#include "scorer.h"
#include "stream.h"

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

void ast_stream_begin_late(ast_stream *s, const ast_points *points, int32_t *labels, ast_late *late) {
    size_t records = s->records.count;
    for (size_t r = 0; r < records; r++) {
        s->late.names[r] = s->records.list[r].count > 0 ? s->records.list[r].id : -1;
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
