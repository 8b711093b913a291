/* SPDX-License-Identifier: MIT
 *
 * A stream as a robot would run it: sixty frames of five directions that turn slowly, three of which are out of sight
 * for ten frames. Prints what changes, moves the state to a second stream half way, and counts the ids. */
#include <asterism.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 60, DIRECTIONS = 5, EACH = 40, GONE = 20, BACK = 30, MOVED = 25 };

static double uniform(void) {
    return (double)rand() / RAND_MAX - 0.5;
}

/* The frame's points: axis directions with noise, turned by half a degree a frame about a slanted axis. Returns how
 * many there are. */
static size_t look(int frame, float *points) {
    static const float axes[DIRECTIONS][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}};
    double angle = 0.5 * frame * 3.14159265358979 / 180, c = cos(angle), s = sin(angle), k = (1 - c) / 3;
    double h = s / sqrt(3.0), turn[3][3] = {{c + k, k - h, k + h}, {k + h, c + k, k - h}, {k - h, k + h, c + k}};
    int visible = frame >= GONE && frame < BACK ? 2 : DIRECTIONS;
    size_t count = 0;
    for (int i = 0; i < visible * EACH; i++, count++)
        for (int d = 0; d < 3; d++) {
            double value = 0.25 * uniform();
            for (int e = 0; e < 3; e++)
                value += turn[d][e] * (double)axes[i % visible][e];
            points[3 * count + (size_t)d] = (float)value;
        }
    return count;
}

static void tell(const ast_stream *stream, const ast_frame *frame) {
    static const char *const events[] = {"born", "revived", "seen", "unseen", "died", "merged"};
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    int news = 0;
    for (size_t i = 0; i < count; i++) {
        const ast_tracked *k = &clusters[i];
        if (k->event == AST_SEEN || (k->event == AST_UNSEEN && k->age > 1))
            continue;
        if (!news++)
            printf("frame %llu:", (unsigned long long)frame->frame);
        printf(" %d %s at (%.2f, %.2f, %.2f)", (int)k->id, events[k->event], (double)k->mean[0], (double)k->mean[1],
               (double)k->mean[2]);
    }
    if (news)
        printf("\n");
}

/* Another stream with the same options goes on where the first one stands, as after a restart. */
static ast_stream *move(ast_context *context, ast_stream *stream, const ast_stream_options *options) {
    size_t size;
    const void *state = ast_stream_save(stream, &size);
    ast_stream *other = NULL;
    if (state)
        ast_stream_open(&other, context, options);
    if (other && ast_stream_load(other, state, size) != AST_OK) {
        ast_stream_close(other);
        other = NULL;
    }
    ast_stream_close(stream);
    return other;
}

int main(void) {
    static float points[DIRECTIONS * EACH * 3];
    static int32_t labels[DIRECTIONS * EACH];
    int32_t ids = 0;
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = 45;
    options.drift = 0.5;
    options.lifetime = 20; /* longer than the ten frames out of sight */
    ast_context *context;
    ast_open(&context, 0);
    ast_stream *stream = NULL;
    if (context)
        ast_stream_open(&stream, context, &options);
    for (int frame = 0; frame < FRAMES && stream; frame++) {
        if (frame == MOVED)
            stream = move(context, stream, &options);
        ast_points view = ast_points_f4(points, look(frame, points), 3);
        ast_frame report = {.size = sizeof report};
        if (!stream || ast_stream_step(stream, &view, labels, &report) != AST_OK)
            break;
        tell(stream, &report);
        for (size_t i = 0; i < view.count; i++)
            ids = labels[i] >= ids ? labels[i] + 1 : ids;
        if (frame == FRAMES - 1)
            printf("%d directions, %d ids\n", DIRECTIONS, (int)ids);
    }
    int failed = !context || ast_message(context)[0];
    if (failed)
        fprintf(stderr, "%s\n", context ? ast_message(context) : "no memory");
    ast_stream_close(stream);
    ast_close(context);
    return failed;
}
