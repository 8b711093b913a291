/* SPDX-License-Identifier: MIT
 *
 * Edits of a checkpoint of a second restart: what is refused has one sentence and writes no label, what is taken ends
 * with labels of clusters. The checksum of the head is put right. */
#include "fuzz_edits.h"

#include <asterism.h>

enum { ROWS = 12, DIMENSION = 3 };

static ast_context *context;
static float rows[ROWS * DIMENSION];
static edited saved;
static const edited *source; /* what `get` reads */

static int put(uint64_t offset, const void *bytes, size_t size, void *data) {
    (void)data;
    if (offset + size > saved.size) {
        saved.bytes = realloc(saved.bytes, offset + size);
        require(saved.bytes != NULL);
        saved.size = offset + size;
    }
    memcpy(saved.bytes + offset, bytes, size);
    return 0;
}

static int get(uint64_t offset, void *bytes, size_t size, void *data) {
    (void)data;
    if (offset > source->size || size > source->size - offset)
        return 1;
    memcpy(bytes, source->bytes + offset, size);
    return 0;
}

static int stop(const ast_progress *state, void *data) {
    const ast_storage storage = {.size = sizeof storage, .read = get, .write = put};
    (void)data;
    return state->restart == 1 && state->iteration == 1 && ast_checkpoint(context, &storage) == AST_OK;
}

static ast_options options_of_run(void) {
    ast_options options;
    ast_options_init(&options);
    options.angle = 30;
    options.restarts = 3;
    return options;
}

static void start(void) {
    ast_points points = ast_points_f4(rows, ROWS, DIMENSION);
    ast_options options = options_of_run();
    ast_report report = {.size = sizeof report};
    int32_t labels[ROWS];
    options.progress = stop;
    for (size_t i = 0; i < ROWS * DIMENSION; i++)
        rows[i] = (float)(i % 3 == i / 3 % 3) + 0.1f * (float)(i % 5);
    require(ast_open(&context, 1) == AST_OK);
    (void)ast_cluster(context, &points, &options, labels, &report);
    require(saved.size > 0);
}

static void resume(const edited *state) {
    ast_points points = ast_points_f4(rows, ROWS, DIMENSION);
    ast_options options = options_of_run();
    ast_report report = {.size = sizeof report};
    ast_storage storage = {.size = sizeof storage, .bytes = state->size, .read = get, .write = put};
    int32_t labels[ROWS];
    memset(labels, 0x5a, sizeof labels);
    source = state;
    options.resume = &storage;
    ast_status status = ast_cluster(context, &points, &options, labels, &report);
    require(status == AST_OK || (*ast_message(context) && !strchr(ast_message(context), '\n')));
    for (size_t i = 0; i < ROWS; i++)
        require(status == AST_OK ? labels[i] >= -1 && labels[i] < (int32_t)report.clusters : labels[i] == 0x5a5a5a5a);
}

/* The head ends with its own checksum; its size is the fourth number. */
static void seal_head(edited *state) {
    uint64_t head = 0, size = state->size;
    if (size >= 32)
        memcpy(&head, state->bytes + 24, sizeof head);
    if (head < 40 || head > size)
        return;
    memcpy(state->bytes + 16, &size, sizeof size);
    uint64_t sum = ast_checksum(state->bytes, head - sizeof sum);
    memcpy(state->bytes + head - sizeof sum, &sum, sizeof sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!context)
        start();
    edited state = edit_all(saved.bytes, saved.size, bytes, size);
    resume(&state);
    seal_head(&state);
    resume(&state);
    free(state.bytes);
    return 0;
}
