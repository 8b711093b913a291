/* SPDX-License-Identifier: MIT
 *
 * Functions of the labelling, watched. The linker calls __wrap_f for f, and f for __real_f. */
#include "watch.h"

#include "bench.h"

#include <labelling.h>

static bench_watch watched;

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
    double begin = bench_now();
    ast_status status = __real_ast_labelling_load(labelling, input, fault);
    watched.load += bench_now() - begin;
    return status;
}

ast_status __wrap_ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result,
                                     ast_fault *fault) {
    double begin = bench_now();
    ast_status status = __real_ast_labelling_pass(labelling, how, result, fault);
    watched.passes += bench_now() - begin;
    watched.scored += status == AST_OK ? result->scored : 0;
    return status;
}

ast_status __wrap_ast_labelling_update(ast_labelling *labelling, ast_fault *fault) {
    double begin = bench_now();
    ast_status status = __real_ast_labelling_update(labelling, fault);
    watched.passes += bench_now() - begin;
    return status;
}
