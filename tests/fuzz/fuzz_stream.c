/* SPDX-License-Identifier: MIT
 *
 * Edits of the saved state of a stream, with identities: what is refused has one sentence and changes nothing, what is
 * taken goes on, is listed, changed by id, and saved again. The first byte says which stream: of directions with
 * landmarks, axial, exclusive, or centred with qualities. */
#include "fuzz_edits.h"

#include <asterism.h>

enum { ROWS = 24, KINDS = 4 };

static ast_context *context;
static float rows[ROWS][4];

static ast_stream_options options_of(unsigned kind) {
    static const float center[4] = {0.1f, 0.2f, 0, 0};
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = kind == 0 ? 3 : 4;
    options.angle = 40;
    options.merge_tracked = kind == 0;
    options.axial = kind == 1;
    options.exclusive = kind == 2;
    options.center = kind == 3 ? center : NULL;
    options.born_after = kind == 3 ? 2 : 1;
    return options;
}

static ast_points frame_of(size_t dimension, size_t turn) {
    ast_points points = ast_points_f4(rows[turn % 3], ROWS - 3, dimension);
    points.row_stride = sizeof rows[0];
    return points;
}

/* A stream that has seen frames, and whose people have names. */
static ast_stream *make(unsigned kind) {
    ast_stream_options options = options_of(kind);
    ast_stream *stream;
    int32_t labels[ROWS], born;
    require(ast_stream_open(&stream, context, &options) == AST_OK);
    for (size_t t = 0; t < 5; t++) {
        ast_points points = frame_of(options.dimension, t);
        ast_frame frame = {.size = sizeof frame};
        require(ast_stream_step(stream, &points, labels, &frame) == AST_OK);
    }
    ast_points one = frame_of(options.dimension, 0);
    one.count = 2;
    born = -1;
    (void)ast_stream_enroll(stream, &one, "Ada", &born);
    (void)ast_stream_name(stream, 0, "Bea");
    (void)ast_stream_forbid(stream, 0, &one);
    (void)ast_stream_lock(stream, 0);
    return stream;
}

static void use(ast_stream *stream, size_t dimension) {
    ast_points points = frame_of(dimension, 1);
    ast_frame frame = {.size = sizeof frame};
    int32_t labels[ROWS], id = -1;
    size_t count, size;
    double sum = 0;
    const ast_tracked *tracked = ast_stream_clusters(stream, &count);
    for (size_t i = 0; i < count; i++)
        sum += tracked[i].mean[dimension - 1];
    const ast_identity *list = ast_stream_list(stream, sizeof *list, &count);
    for (size_t i = 0; i < count; i++)
        sum += list[i].mean[list[i].means * dimension - 1] + (list[i].name ? (double)strlen(list[i].name) : 0);
    if (count > 1) {
        id = list[count - 1].id;
        (void)ast_stream_join(stream, id, list[0].id);
    }
    (void)ast_stream_changes(stream, sizeof(ast_identity_change), &count);
    (void)ast_stream_forget(stream, id);
    for (int t = 0; t < 2; t++)
        require(ast_stream_step(stream, &points, labels, &frame) == AST_OK || *ast_message(context));
    require(ast_stream_save(stream, &size) || *ast_message(context));
    volatile double keep = sum;
    (void)keep;
}

static void load(unsigned kind, const edited *state) {
    ast_stream_options options = options_of(kind), saved;
    ast_stream *stream;
    ast_stream_options_init(&saved);
    if (ast_stream_saved(context, state->bytes, state->size, &saved) == AST_OK &&
        ast_stream_open(&stream, context, &saved) == AST_OK) {
        if (saved.dimension <= 4 && saved.dimension >= 2 &&
            ast_stream_load(stream, state->bytes, state->size) == AST_OK)
            use(stream, saved.dimension);
        ast_stream_close(stream);
    }
    require(ast_stream_open(&stream, context, &options) == AST_OK);
    ast_status status = ast_stream_load(stream, state->bytes, state->size);
    require(status == AST_OK || (*ast_message(context) && !strchr(ast_message(context), '\n')));
    use(stream, options.dimension);
    ast_stream_close(stream);
}

static void start(void) {
    require(ast_open(&context, 1) == AST_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t d = 0; d < 4; d++)
            rows[i][d] = (float)(d == i % 3) + 0.05f * (float)((i * 7 + d * 5) % 11);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static edited saved[KINDS];
    unsigned kind = size ? bytes[0] % KINDS : 0;
    if (!context)
        start();
    if (!saved[kind].bytes) {
        ast_stream *stream = make(kind);
        const void *state = ast_stream_save(stream, &saved[kind].size);
        require(state && (saved[kind].bytes = malloc(saved[kind].size)));
        memcpy(saved[kind].bytes, state, saved[kind].size);
        ast_stream_close(stream);
    }
    edited state = edit_all(saved[kind].bytes, saved[kind].size, bytes + (size > 0), size - (size > 0));
    load(kind, &state);
    seal(&state);
    load(kind, &state);
    free(state.bytes);
    return 0;
}
