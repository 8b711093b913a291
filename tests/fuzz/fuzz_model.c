/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a model, with the checksum and the size that they would need: what is refused has one sentence, and what
 * is taken can be read, labels points, and is the same when it is saved. */
#include "fuzz.h"

#include <asterism.h>
#include <checksum.h>

static void touch_model(const ast_model_info *m) {
    double sum = 0;
    for (size_t k = 0; k < m->clusters; k++) {
        sum += m->ids ? m->ids[k] : 0;
        sum += m->counts ? (double)m->counts[k] : 0;
        sum += m->kappas ? m->kappas[k] : 0;
        sum += m->thresholds ? (double)m->thresholds[k] : 0;
        sum += m->names ? (double)strlen(m->names[k]) : 0;
    }
    volatile double keep = sum;
    (void)keep;
}

static void use_model(ast_context *context, ast_model *model, const uint8_t *bytes, size_t size) {
    ast_model_info info = {.size = sizeof info};
    size_t saved;
    int32_t labels[2];
    require(ast_model_view(model, &info) == AST_OK);
    touch_model(&info);
    const void *again = ast_model_save(model, &saved);
    require(saved == size && memcmp(again, bytes, size) == 0);
    float *rows = calloc(2 * info.dimension, sizeof *rows);
    require(rows != NULL);
    rows[0] = rows[2 * info.dimension - 1] = 1;
    ast_points points = ast_points_f4(rows, 2, info.dimension);
    require(ast_model_assign(model, &points, (double)NAN, labels, NULL) == AST_OK || *ast_message(context));
    free(rows);
}

static void as_model(ast_context *context, const uint8_t *bytes, size_t size) {
    ast_model *model;
    ast_status status = ast_model_load(&model, context, bytes, size);
    require(status == AST_OK || (status == AST_BAD_DATA && !model && *ast_message(context)));
    require(strchr(ast_message(context), '\n') == NULL);
    if (model)
        use_model(context, model, bytes, size);
    ast_model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ast_context *context;
    if (!context)
        require(ast_open(&context, 1) == AST_OK);
    as_model(context, bytes, size);
    uint8_t *copy = malloc(size + 1);
    require(copy != NULL);
    memcpy(copy, bytes, size);
    if (size >= 32) { /* a whole model but for its contents */
        uint64_t length = size, end = size - sizeof(uint64_t);
        memcpy(copy + 16, &length, sizeof length);
        uint64_t sum = ast_checksum(copy, end);
        memcpy(copy + end, &sum, sizeof sum);
        as_model(context, copy, size);
    }
    free(copy);
    return 0;
}
