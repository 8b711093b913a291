/* SPDX-License-Identifier: MIT
 *
 * The lines that stream printed, as a page. They have the clusters of every frame, but neither points nor pictures. */
#include "view.h"

#include <recording.h>

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

/* Numbers of means that decide the three directions that are seen, at most. */
#define MOST_NUMBERS ((size_t)1 << 22)

/* A line, read. */
typedef struct line {
    json_t *object;
    ast_frame frame;
    ast_tracked *clusters;
    float *means; /* (count, dimension) */
    size_t count, dimension;
} line;

static void free_line(line *of) {
    json_decref(of->object);
    free(of->clusters);
    free(of->means);
    *of = (line){0};
}

static double number_at(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static size_t count_at(const json_t *object, const char *key) {
    double value = number_at(object, key);
    return value >= 0 && value < 1e15 ? (size_t)value : 0;
}

static int read_cluster(const json_t *object, size_t dimension, ast_tracked *cluster, float *mean) {
    const json_t *list = json_object_get(object, "mean"), *id = json_object_get(object, "id");
    const char *event = json_string_value(json_object_get(object, "event"));
    const json_t *into = json_object_get(object, "into");
    int what = 0;
    while (event && what < AST_EVENTS && strcmp(event, ast_event_names[what]) != 0)
        what++;
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX ||
        json_array_size(list) != dimension || !event || what == AST_EVENTS)
        return 0;
    *cluster = (ast_tracked){.id = (int32_t)json_integer_value(id),
                             .event = (ast_event)what,
                             .age = (uint32_t)count_at(object, "age"),
                             .count = count_at(object, "count"),
                             .share = number_at(object, "share"),
                             .spread = number_at(object, "spread"),
                             .into = json_is_integer(into) ? (int32_t)json_integer_value(into) : -1,
                             .mean = mean};
    for (size_t d = 0; d < dimension; d++) {
        const json_t *value = json_array_get(list, d);
        if (!json_is_number(value))
            return 0;
        mean[d] = (float)json_number_value(value);
    }
    return 1;
}

static int by_id(const void *a, const void *b) {
    const ast_tracked *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static int read_clusters(line *of, const json_t *list) {
    size_t count = json_array_size(list);
    of->dimension = json_array_size(json_object_get(json_array_get(list, 0), "mean"));
    if (count > 0 && (of->dimension < 2 || of->dimension > 4096))
        return 0;
    of->clusters = malloc((count + 1) * sizeof *of->clusters);
    of->means = malloc((count * of->dimension + 1) * sizeof *of->means);
    if (!of->clusters || !of->means)
        return 0;
    for (; of->count < count; of->count++) {
        if (!read_cluster(json_array_get(list, of->count), of->dimension, &of->clusters[of->count],
                          of->means + of->count * of->dimension))
            return 0;
    }
    qsort(of->clusters, count, sizeof *of->clusters, by_id);
    return 1;
}

/* 0 if it is no line of a stream. */
static int read_line(line *of, const char *text, size_t size) {
    *of = (line){.object = json_loadb(text, size, 0, NULL)};
    const json_t *clusters = json_object_get(of->object, "clusters");
    if (!json_is_integer(json_object_get(of->object, "frame")) || !json_is_array(clusters))
        return 0;
    of->frame = (ast_frame){.size = sizeof(ast_frame),
                            .frame = count_at(of->object, "frame"),
                            .points = count_at(of->object, "points"),
                            .missing = count_at(of->object, "missing"),
                            .objective = number_at(of->object, "objective"),
                            .seconds = number_at(of->object, "milliseconds") / 1e3};
    return read_clusters(of, clusters);
}

/* ---- All lines --------------------------------------------------------------------------------------------------- */

/* Calls `take` for every line that is not empty. */
static int each_line(const char *path, const char *text, size_t size, int (*take)(void *data, const line *of),
                     void *data) {
    size_t number = 1;
    int code = -1;
    for (const char *at = text, *end = text + size; at < end && code < 0; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        line of = {0};
        if (length > 0 && !read_line(&of, at, length))
            code = ast_cli_fail("%s: line %zu is no line of asterism stream", path, number);
        else if (length > 0)
            code = take(data, &of);
        free_line(&of);
        at += length + 1;
    }
    return code;
}

/* The means of the first lines, by which wide ones are projected. */
typedef struct gathered {
    const char *path;
    float *rows;
    size_t count, dimension;
} gathered;

static int gather(void *data, const line *of) {
    gathered *all = data;
    if (of->count == 0)
        return -1;
    if (all->dimension && of->dimension != all->dimension)
        return ast_cli_fail("%s: frame %zu has means of %zu dimensions, those before it have %zu", all->path,
                            (size_t)of->frame.frame, of->dimension, all->dimension);
    all->dimension = of->dimension;
    size_t numbers = (all->count + of->count) * all->dimension;
    if (numbers > MOST_NUMBERS)
        return -1;
    float *larger = realloc(all->rows, numbers * sizeof *larger);
    if (!larger)
        return ast_cli_fail("%s: there is no memory to show it", all->path);
    memcpy(larger + all->count * all->dimension, of->means, of->count * all->dimension * sizeof *larger);
    all->rows = larger;
    all->count += of->count;
    return -1;
}

typedef struct filled {
    ast_recording *recording;
    size_t dimension;
} filled;

/* False if the line has none. */
static bool read_rotation(const json_t *object, ast_recorded_rotation *rotation) {
    const json_t *q = json_object_get(object, "rotation"), *deviation = json_object_get(object, "rotation_deviation");
    if (json_array_size(q) != 4 || json_array_size(deviation) != 3)
        return false;
    for (size_t i = 0; i < 4; i++)
        rotation->quaternion[i] = json_number_value(json_array_get(q, i));
    for (size_t i = 0; i < 3; i++)
        rotation->deviation[i] = json_number_value(json_array_get(deviation, i));
    rotation->rank = (int)json_integer_value(json_object_get(object, "rotation_rank"));
    return true;
}

static int record(void *data, const line *of) {
    ast_format_error error;
    const filled *into = data;
    ast_recorded_rotation rotation;
    ast_recorded frame = {.frame = &of->frame,
                          .source = json_string_value(json_object_get(of->object, "source")),
                          .clusters = of->clusters,
                          .count = of->count,
                          .rotation = read_rotation(of->object, &rotation) ? &rotation : NULL};
    return ast_cli_outcome(ast_recording_add(into->recording, &frame, into->dimension, NULL, &error), &error);
}

static int fill(const char *path, const char *text, size_t size, ast_recording *recording) {
    ast_format_error error;
    gathered all = {.path = path};
    int code = each_line(path, text, size, gather, &all);
    filled into = {recording, all.dimension ? all.dimension : 3};
    ast_points points = ast_points_f4(all.rows, all.count, all.dimension);
    if (code < 0 && all.count && !ast_recording_project(recording, &points, &error))
        code = ast_cli_fail("%s", error.text);
    if (code < 0)
        code = each_line(path, text, size, record, &into);
    free(all.rows);
    return code;
}

int ast_cli_view_lines(const char *path, ast_page_head *head, ast_text *json) {
    ast_format_error error;
    unsigned char *bytes;
    size_t size;
    if (!ast_read_file(path, &bytes, &size, &error))
        return ast_cli_fail("%s", error.text);
    ast_note(&head->notes, "Made from the lines of a stream, which hold neither points nor pictures.");
    ast_recording *recording = ast_recording_open(head);
    int code = recording ? fill(path, (const char *)bytes, size, recording) : -1;
    if (code < 0 && (!recording || !ast_recording_json(recording, false, json, NULL)))
        code = ast_cli_fail("%s: there is no memory to show it", path);
    ast_recording_close(recording);
    free(bytes);
    return code;
}
