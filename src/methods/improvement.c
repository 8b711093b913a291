/* SPDX-License-Identifier: MIT
 *
 * What a result that looked at some points only leaves undone: how much one further iteration over all of them would
 * add to the objective. It is measured, not estimated, and the result stays as it is. */
#include "methods.h"

#include <stdlib.h>

ast_status ast_run_measure_improvement(ast_labelling *l, ast_run *run, double penalty, ast_fault *fault) {
    ast_snapshot *before = ast_labelling_snapshot(l);
    ast_status status = before ? ast_run_final_pass(l, run, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        run->improvement = ast_objective(l, penalty) - run->objective;
    if (before)
        ast_labelling_restore(l, before);
    free(before);
    return status;
}
