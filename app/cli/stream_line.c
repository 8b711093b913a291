/* SPDX-License-Identifier: MIT
 *
 * A frame as one line of JSON. It is printed cluster by cluster: a frame may track thousands of means of a thousand
 * components. */
#include "tracking.h"

#include <report.h>

#include "terminal.h"

enum { DOUBLE_DIGITS = 17, FLOAT_DIGITS = 9 }; /* enough to give the number back as it was */

static void put_cluster(ast_text *json, const ast_tracked *cluster, size_t dimension) {
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "id", cluster->id);
    ast_json_integer(json, "count", (int64_t)cluster->count);
    ast_json_number(json, "share", cluster->share, DOUBLE_DIGITS);
    ast_json_open(json, "mean", '[');
    for (size_t d = 0; d < dimension; d++)
        ast_json_number(json, NULL, (double)cluster->mean[d], FLOAT_DIGITS);
    ast_json_close(json, ']');
    ast_json_number(json, "weight", cluster->weight, DOUBLE_DIGITS);
    ast_json_number(json, "spread", cluster->spread, DOUBLE_DIGITS);
    ast_json_integer(json, "age", cluster->age);
    ast_json_string(json, "event", ast_event_names[cluster->event]);
    if (cluster->event == AST_MERGED)
        ast_json_integer(json, "into", cluster->into);
    ast_json_close(json, '}');
}

static void put_rows(ast_text *json, const ast_cli_tracking *tracking) {
    size_t count = tracking->frame.points;
    const float *own = tracking->compared, *other = own + count;
    ast_json_open(json, "rows", '[');
    for (size_t i = 0; i < count; i++)
        ast_json_integer(json, NULL, tracking->labels[i]);
    ast_json_close(json, ']');
    ast_json_open(json, "similarity", '[');
    for (size_t i = 0; i < count; i++)
        ast_json_number(json, NULL, (double)own[i], FLOAT_DIGITS);
    ast_json_close(json, ']');
    ast_json_open(json, "margin", '[');
    for (size_t i = 0; i < count; i++)
        ast_json_number(json, NULL, (double)own[i] - (double)other[i], FLOAT_DIGITS);
    ast_json_close(json, ']');
    ast_json_open(json, "runner_up", '[');
    for (size_t i = 0; i < count; i++)
        ast_json_integer(json, NULL, tracking->runners_up[i]);
    ast_json_close(json, ']');
}

/* Whether the run is worth going on with if nobody reads its lines. */
static int has_files(const ast_cli_tracking *tracking) {
    const ast_cli_tracking_settings *given = &tracking->given;
    return tracking->lasting || given->labels || given->planes.planes || given->planes.labels || given->similarity ||
           tracking->view.recording || given->rotations;
}

int ast_cli_tracking_print(ast_cli_tracking *tracking) {
    const ast_frame *frame = &tracking->frame;
    ast_text json = {0};
    if (tracking->unread)
        return -1;
    ast_json_open(&json, NULL, '{');
    ast_json_integer(&json, "frame", (int64_t)frame->frame);
    ast_json_string(&json, "source", tracking->inputs.frame.source);
    ast_json_integer(&json, "points", (int64_t)frame->points);
    ast_json_integer(&json, "missing", (int64_t)frame->missing);
    if (tracking->points.late || tracking->given.weights) {
        ast_json_integer(&json, "late", (int64_t)frame->late);
        ast_json_integer(&json, "unassigned", (int64_t)frame->unassigned);
    }
    if (tracking->options.born_after > 1 || tracking->options.min_size > 1)
        ast_json_integer(&json, "unborn", (int64_t)frame->unborn);
    ast_json_integer(&json, "iterations", frame->iterations);
    ast_json_boolean(&json, "converged", frame->converged);
    if (tracking->options.parallel == AST_OIR)
        ast_json_integer(&json, "oir_restarts", (int64_t)frame->oir_restarts);
    ast_json_number(&json, "milliseconds", frame->seconds * 1e3, DOUBLE_DIGITS);
    ast_json_number(&json, "objective", frame->objective, DOUBLE_DIGITS);
    ast_cli_rotation_put(&json, &tracking->rotation);
    if (tracking->given.frame_axes)
        ast_cli_axes_put(&json, &tracking->axes);
    if (tracking->given.rows)
        put_rows(&json, tracking);
    ast_json_open(&json, "clusters", '[');
    for (size_t i = 0; i < tracking->count; i++) {
        if (tracking->clusters[i].event == AST_UNSEEN && tracking->clusters[i].count == 0 && !tracking->given.all)
            continue;
        put_cluster(&json, &tracking->clusters[i], tracking->options.dimension);
        ast_text_print(&json, stdout);
    }
    ast_json_close(&json, ']');
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool good = ast_text_print(&json, stdout);
    ast_text_free(&json);
    int code = good ? ast_cli_flush() : ast_cli_fail("there is no memory to print the frame");
    tracking->unread = code == AST_CLI_DONE && ast_cli_closed();
    return code == AST_CLI_DONE && (!tracking->unread || has_files(tracking)) ? -1 : code;
}
