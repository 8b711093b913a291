/* SPDX-License-Identifier: MIT
 *
 * Functions of the labelling, watched. The linker calls __wrap_f for f, and f for __real_f. */
#include "watch.h"

#include "bench.h"

#include <labelling.h>

static bench_watch watched;
static const ast_trace *record;
static int first_kind;

void bench_watch_trace(const ast_trace *trace, int first) {
    record = trace;
    first_kind = first;
}

static void note(int kind, ast_trace_mark since) {
    ast_trace_note(record, 0, (ast_trace_kind)(first_kind + kind), 0, since);
}

void bench_watch_reset(void) {
    watched = (bench_watch){0};
}

bench_watch bench_watch_read(void) {
    return watched;
}

ast_status __real_ast_labelling_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault);
ast_status __wrap_ast_labelling_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault);
ast_status __real_ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result,
                                     ast_fault *fault);
ast_status __wrap_ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result,
                                     ast_fault *fault);
ast_status __real_ast_labelling_update(ast_labelling *labelling, ast_fault *fault);
ast_status __wrap_ast_labelling_update(ast_labelling *labelling, ast_fault *fault);

ast_status __wrap_ast_labelling_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault) {
    ast_trace_mark mark = ast_trace_now(record);
    double begin = bench_now();
    ast_status status = __real_ast_labelling_load(labelling, input, fault);
    watched.load += bench_now() - begin;
    note(0, mark);
    return status;
}

ast_status __wrap_ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result,
                                     ast_fault *fault) {
    ast_trace_mark mark = ast_trace_now(record);
    double begin = bench_now();
    ast_status status = __real_ast_labelling_pass(labelling, how, result, fault);
    watched.passes += bench_now() - begin;
    watched.scored += status == AST_OK ? result->scored : 0;
    note(1, mark);
    return status;
}

ast_status __wrap_ast_labelling_update(ast_labelling *labelling, ast_fault *fault) {
    ast_trace_mark mark = ast_trace_now(record);
    double begin = bench_now();
    ast_status status = __real_ast_labelling_update(labelling, fault);
    watched.passes += bench_now() - begin;
    note(2, mark);
    return status;
}
