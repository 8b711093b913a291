/* SPDX-License-Identifier: MIT
 *
 * The state that stream saved, as a page: one frame, the last one, with the clusters that the state remembers. */
#include "view.h"

#include <formats.h>
#include <recording.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "files.h"
#include "stream_state.h"
#include "terminal.h"

/* Opens the stream that was saved. */
static int load(const char *path, const ast_cli_saved_stream *saved, ast_context *context, ast_stream **stream,
                ast_stream_options *options) {
    ast_stream_options_init(options);
    if (ast_stream_saved(context, saved->state, saved->state_size, options) != AST_OK ||
        ast_stream_open(stream, context, options) != AST_OK ||
        ast_stream_load(*stream, saved->state, saved->state_size) != AST_OK)
        return ast_cli_fail("%s: %s", path, ast_message(context));
    return -1;
}

static void describe(const ast_cli_saved_stream *saved, const ast_stream_options *options, ast_page_head *head) {
    head->axial = options->axial != 0;
    ast_page_parameter(head, "angle", NULL, options->angle);
    ast_page_parameter(head, "lifetime", NULL, options->lifetime);
    ast_page_parameter(head, isnan(options->beta) ? "drift" : "beta", NULL,
                       isnan(options->beta) ? options->drift : options->beta);
    ast_note(&head->notes,
             "The state of a stream after %" PRIu64 " frames. It holds the clusters that are remembered and how long "
             "each was out of sight, but no earlier frames, points or pictures: the lines of the stream (.jsonl) have "
             "the timeline.",
             saved->frames);
}

/* The last frame as far as the state knows it. */
static int record(const ast_cli_saved_stream *saved, const ast_tracked *clusters, size_t count, size_t dimension,
                  ast_recording *recording) {
    ast_format_error error;
    ast_frame frame = {
        .size = sizeof frame, .frame = saved->frames ? saved->frames - 1 : 0, .objective = NAN, .seconds = NAN};
    ast_recorded last = {.frame = &frame, .source = saved->path, .clusters = clusters, .count = count};
    for (size_t k = 0; k < count; k++)
        frame.points += clusters[k].count;
    ast_points means = ast_points_f4(count ? clusters->mean : NULL, count, dimension);
    bool good = (count == 0 || ast_recording_project(recording, &means, &error)) &&
                ast_recording_add(recording, &last, dimension, NULL, &error);
    return ast_cli_outcome(good, &error);
}

static int show(const char *path, const ast_cli_saved_stream *saved, ast_context *context, ast_page_head *head,
                ast_text *json) {
    ast_stream_options options;
    ast_stream *stream = NULL;
    size_t count;
    int code = load(path, saved, context, &stream, &options);
    if (code < 0) {
        describe(saved, &options, head);
        const ast_tracked *clusters = ast_stream_clusters(stream, &count);
        ast_recording *recording = ast_recording_open(head);
        code = recording ? record(saved, clusters, count, options.dimension, recording) : -1;
        if (code < 0 && (!recording || !ast_recording_json(recording, false, json, NULL)))
            code = ast_cli_no_memory("the page");
        ast_recording_close(recording);
    }
    ast_stream_close(stream);
    return code;
}

int ast_cli_view_state(const char *path, ast_page_head *head, ast_text *json) {
    unsigned char *bytes = NULL;
    ast_cli_saved_stream saved;
    ast_context *context = NULL;
    ast_cli_common common = {.threads = 1};
    int code = ast_cli_state_read(path, &bytes, &saved);
    if (code < 0 && !bytes)
        code = ast_cli_fail("%s: cannot be opened: it is gone", path);
    if (code < 0)
        code = ast_cli_open_context(&common, &context);
    if (code < 0)
        code = show(path, &saved, context, head, json);
    ast_close(context);
    free(bytes);
    return code;
}
