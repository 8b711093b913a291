/* SPDX-License-Identifier: MIT
 *
 * Edits of a saved tally: what is refused has one sentence and changes nothing, what is taken can be updated. */
#include "fuzz_edits.h"

#include <asterism_tally.h>

enum { ROWS = 9, DIMENSION = 3, CLUSTERS = 3 };

static const float means[CLUSTERS * DIMENSION] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static ast_context *context;

static ast_tally *make(void) {
    float rows[ROWS * DIMENSION];
    int32_t labels[ROWS];
    ast_tally *tally;
    require(ast_tally_open(&tally, context, means, CLUSTERS, DIMENSION, NULL) == AST_OK);
    for (size_t i = 0; i < ROWS * DIMENSION; i++)
        rows[i] = (float)(i % 3 == i / 3 % 2) + 0.01f * (float)i; /* the third cluster is empty */
    ast_points points = ast_points_f4(rows, ROWS, DIMENSION);
    require(ast_tally_add(tally, &points, 0, labels) == AST_OK);
    return tally;
}

static void merge(const edited *bytes) {
    ast_tally *tally = make();
    ast_tally_totals totals = {.size = sizeof totals};
    ast_tally_step step = {.size = sizeof step};
    size_t size;
    ast_status status = ast_tally_merge(tally, bytes->bytes, bytes->size);
    require(status == AST_OK || (*ast_message(context) && !strchr(ast_message(context), '\n')));
    require(ast_tally_look(tally, &totals) == AST_OK && (status == AST_OK || totals.points == ROWS));
    require(ast_tally_save(tally, &size) || *ast_message(context));
    require(ast_tally_update(tally, &step) == AST_OK || *ast_message(context));
    ast_tally_close(tally);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static edited saved;
    if (!context) {
        require(ast_open(&context, 1) == AST_OK);
        ast_tally *tally = make();
        const void *state = ast_tally_save(tally, &saved.size);
        require(state && (saved.bytes = malloc(saved.size)));
        memcpy(saved.bytes, state, saved.size);
        ast_tally_close(tally);
    }
    edited state = edit_all(saved.bytes, saved.size, bytes, size);
    merge(&state);
    seal(&state);
    merge(&state);
    free(state.bytes);
    return 0;
}
