/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a state of a stream with changes behind it, as they are and with the sizes and checksums that they would
 * need: what is refused has one sentence, and what is taken can be stepped on, changed and saved. */
#include "fuzz.h"

#include <asterism.h>
#include <checksum.h>

enum { MOST = 64 }; /* dimensions */

static void use_stream(ast_context *context, ast_stream *stream, size_t dimension) {
    static float rows[3 * MOST];
    int32_t labels[3];
    size_t count;
    for (int i = 0; i < 3; i++)
        rows[(size_t)i * dimension + (size_t)i % dimension] = 1;
    ast_points points = ast_points_f4(rows, 3, dimension), one = ast_points_f4(rows, 1, dimension);
    for (int t = 0; t < 3; t++) {
        ast_frame frame = {.size = sizeof frame};
        require(ast_stream_step(stream, &points, labels, &frame) == AST_OK || *ast_message(context));
    }
    const ast_identity *list = ast_stream_list(stream, sizeof *list, &count);
    int32_t id = count ? list[count - 1].id : 0;
    require(ast_stream_forbid(stream, id, &one) == AST_OK || *ast_message(context));
    require(ast_stream_forget(stream, id) == AST_OK || *ast_message(context));
    const void *changes = ast_stream_save_changes(stream, &count);
    require(changes != NULL || count == 0);
    require(ast_stream_save(stream, &count) != NULL);
}

static void as_state(ast_context *context, const uint8_t *bytes, size_t size) {
    ast_stream_options options;
    ast_stream *stream;
    ast_stream_options_init(&options);
    ast_status status = ast_stream_saved(context, bytes, size, &options);
    require(status == AST_OK || (status == AST_BAD_DATA && strchr(ast_message(context), '\n') == NULL));
    if (status != AST_OK || options.dimension > MOST || ast_stream_open(&stream, context, &options) != AST_OK)
        return;
    status = ast_stream_load(stream, bytes, size);
    require(status == AST_OK || (status == AST_BAD_DATA && *ast_message(context)));
    if (status == AST_OK)
        use_stream(context, stream, options.dimension);
    ast_stream_close(stream);
}

/* Every object gets the checksum that it would need; the last one also the size. */
static void mend(uint8_t *bytes, size_t size) {
    for (size_t at = 0, next; at + 32 <= size; at = next) {
        uint64_t own, sum;
        memcpy(&own, bytes + at + 16, sizeof own);
        if (own < 32 || own > size - at) {
            own = size - at;
            memcpy(bytes + at + 16, &own, sizeof own);
        }
        next = at + (size_t)own;
        sum = ast_checksum(bytes + at, (size_t)own - sizeof sum);
        memcpy(bytes + next - sizeof sum, &sum, sizeof sum);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ast_context *context;
    if (!context)
        require(ast_open(&context, 1) == AST_OK);
    uint64_t *copy = calloc(size / sizeof *copy + 1, sizeof *copy); /* aligned, as states must be */
    require(copy != NULL);
    if (size)
        memcpy(copy, bytes, size);
    as_state(context, (uint8_t *)copy, size);
    mend((uint8_t *)copy, size);
    as_state(context, (uint8_t *)copy, size);
    free(copy);
    return 0;
}
