/* SPDX-License-Identifier: MIT
 *
 * Records of threads. */
#include "trace.h"

#include "system.h"

ast_trace_mark ast_trace_now(const ast_trace *trace) {
    return trace ? (ast_trace_mark){ast_seconds(), ast_system_page_faults()} : (ast_trace_mark){0};
}

ast_trace_mark ast_trace_note(const ast_trace *trace, int thread, ast_trace_kind kind, size_t number,
                              ast_trace_mark since) {
    ast_trace_mark now = ast_trace_now(trace);
    if (!trace)
        return now;
    ast_trace_thread *list = &trace->threads[thread];
    if (list->count == list->capacity)
        list->lost++;
    else
        list->spans[list->count++] = (ast_trace_span){since.time, now.time, kind, now.faults - since.faults, number};
    return now;
}
