/* SPDX-License-Identifier: MIT
 *
 * A frame as one line of JSON. It is printed piece by piece and not built first: a frame may track thousands of means
 * of a thousand components, and the next frame is waiting. */
#include "stream_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <json_text.h>

#include "cli.h"
#include "terminal.h"

static const char *const events[] = {"born", "revived", "seen", "unseen", "died"}; /* in the order of ast_event */

/* A file's name may hold anything; what is no UTF-8 becomes the replacement character. */
static void print_text(const char *text) {
    const char *c = text;
    putchar('"');
    while (*c) {
        size_t size = ast_utf8_size(c);
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if ((unsigned char)*c < ' ')
            printf("\\u%04x", (unsigned)*c);
        else if (size == 0)
            printf("\\ufffd");
        else
            fwrite(c, 1, size, stdout);
        c += size ? size : 1;
    }
    putchar('"');
}

/* As many digits as bring the double back; JSON knows no infinity and no NaN. */
static void print_number(const char *key, double value) {
    if (isfinite(value))
        printf("\"%s\": %.17g", key, value);
    else
        printf("\"%s\": null", key);
}

static void print_cluster(const ast_tracked *cluster, size_t dimension) {
    printf("{\"id\": %" PRId32 ", \"count\": %zu, ", cluster->id, cluster->count);
    print_number("share", cluster->share);
    printf(", \"mean\": [");
    for (size_t d = 0; d < dimension; d++)
        printf("%s%.9g", d ? ", " : "", (double)cluster->mean[d]);
    printf("], ");
    print_number("weight", cluster->weight);
    printf(", \"age\": %" PRIu32 ", \"event\": \"%s\"}", cluster->age, events[cluster->event]);
}

int ast_cli_print_frame(const char *source, const ast_frame *frame, const ast_tracked *clusters, size_t count,
                        size_t dimension) {
    printf("{\"frame\": %" PRIu64 ", \"source\": ", frame->frame);
    print_text(source);
    printf(", \"points\": %zu, \"missing\": %zu, \"iterations\": %d, \"converged\": %s, ", frame->points,
           frame->missing, frame->iterations, frame->converged ? "true" : "false");
    print_number("milliseconds", frame->seconds * 1e3);
    printf(", ");
    print_number("objective", frame->objective);
    printf(", \"clusters\": [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            printf(", ");
        print_cluster(&clusters[i], dimension);
    }
    printf("]}\n");
    int code = ast_cli_flush();
    return code == AST_CLI_DONE ? -1 : code;
}
