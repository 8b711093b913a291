/* SPDX-License-Identifier: MIT */
#include "explore_message.h"

#include <bytes.h>
#include <page.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 1000, DIGITS = 17 };

/* ---- The form ---------------------------------------------------------------------------------------------------- */

static void pad(ast_text *bytes) {
    while (bytes->size % 4)
        ast_text_add(bytes, "", 1);
}

/* Numbers of `size` bytes, least significant byte first on every machine. */
static void add_numbers(ast_text *bytes, const unsigned char *numbers, size_t count, size_t size) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    ast_text_add(bytes, numbers, count * size);
#else
    for (size_t i = 0; i < count * size; i++)
        ast_text_add(bytes, numbers + (i / size + 1) * size - 1 - i % size, 1);
#endif
}

void ast_explore_begin(ast_explore_text *text, const char *type) {
    *text = (ast_explore_text){.json = {0}};
    ast_json_open(&text->json, NULL, '{');
    ast_json_string(&text->json, "type", type);
}

void ast_explore_array(ast_explore_text *text, const char *name, const char *type, const void *numbers, size_t count) {
    size_t size = strcmp(type, "u8") == 0 ? 1 : strchr(type, '1') ? 2 : 4;
    ast_json_open(&text->sections, NULL, '{');
    ast_json_string(&text->sections, "name", name);
    ast_json_string(&text->sections, "type", type);
    ast_json_integer(&text->sections, "count", (int64_t)count);
    ast_json_close(&text->sections, '}');
    add_numbers(&text->arrays, numbers, count, size);
    pad(&text->arrays);
}

ast_shared_text *ast_explore_end(ast_explore_text *text) {
    ast_text all = {0};
    ast_json_open(&text->json, "sections", '[');
    if (text->sections.size)
        ast_text_add(&text->json, text->sections.bytes, text->sections.size);
    ast_json_close(&text->json, ']');
    ast_json_close(&text->json, '}');
    unsigned char length[4];
    ast_put_little(length, text->json.size, sizeof length);
    bool failed = text->json.failed || text->sections.failed || text->arrays.failed;
    ast_text_add(&all, length, sizeof length);
    if (!failed)
        ast_text_add(&all, text->json.bytes, text->json.size);
    pad(&all);
    if (!failed && text->arrays.size)
        ast_text_add(&all, text->arrays.bytes, text->arrays.size);
    all.failed |= failed;
    ast_text_free(&text->json);
    ast_text_free(&text->sections);
    ast_text_free(&text->arrays);
    return ast_shared_bytes_make(&all);
}

/* ---- The first message ------------------------------------------------------------------------------------------- */

static void put_palette(ast_text *json) {
    ast_json_open(json, "palette", '[');
    for (int32_t id = 0; id < AST_PALETTE_SIZE; id++)
        ast_json_colour(json, NULL, id);
    ast_json_close(json, ']');
}

static void put_first(const ast_explore_request *first, ast_text *json) {
    ast_json_open(json, "first", '{');
    ast_json_real(json, "angle", first->angle, DIGITS);
    ast_json_integer(json, "clusters", (int64_t)first->clusters);
    ast_json_boolean(json, "axial", first->axial);
    ast_json_boolean(json, "center", first->center);
    ast_json_string(json, "order", ast_explore_order_name(first->order));
    ast_json_string(json, "metric", ast_explore_metric_name(first->metric));
    ast_json_close(json, '}');
}

static ast_field_page field_of(const ast_explored *explored, bool axial) {
    return (ast_field_page){explored->notation, axial, explored->solid != NULL};
}

ast_shared_text *ast_explore_hello(const ast_explored *explored, const ast_drawn *drawn,
                                   const ast_explore_request *first) {
    ast_explore_text text;
    ast_explore_begin(&text, "hello");
    ast_json_string(&text.json, "input", explored->input);
    ast_json_string(&text.json, "version", ast_version());
    ast_json_integer(&text.json, "points", (int64_t)explored->points.count);
    ast_json_integer(&text.json, "dimension", (int64_t)explored->points.dimension);
    ast_json_boolean(&text.json, "sparse", explored->points.starts != NULL);
    ast_json_boolean(&text.json, "undirected", explored->undirected);
    ast_json_boolean(&text.json, "weighted", explored->points.weights != NULL);
    ast_json_boolean(&text.json, "named", explored->names != NULL);
    ast_json_boolean(&text.json, "topics", explored->corpus != NULL);
    ast_json_boolean(&text.json, "mapped", ast_map_suits(&explored->points, explored->axial || explored->undirected));
    ast_json_boolean(&text.json, "given", explored->given);
    ast_json_boolean(&text.json, "depth", drawn->grey != NULL);
    ast_json_field(&text.json, field_of(explored, first->axial));
    ast_json_string(&text.json, "labels", explored->labels);
    ast_json_integer(&text.json, "width", (int64_t)drawn->width);
    ast_json_integer(&text.json, "height", (int64_t)drawn->height);
    put_first(first, &text.json);
    put_palette(&text.json);
    ast_explore_array(&text, "rows", "u32", drawn->rows, drawn->count);
    if (drawn->grey)
        ast_explore_array(&text, "grey", "u8", drawn->grey, drawn->count);
    if (drawn->places)
        ast_explore_array(&text, "places", "i16", drawn->places, 3 * drawn->count);
    return ast_explore_end(&text);
}

ast_shared_text *ast_explore_places(const ast_drawn *drawn, const ast_explore_view *view, const int16_t *xyz,
                                    const ast_explore_request *request) {
    ast_explore_text text;
    ast_explore_begin(&text, "points");
    ast_json_integer(&text.json, "id", (int64_t)request->id);
    ast_json_boolean(&text.json, "projected", view->projection.basis != NULL);
    if (view->projection.basis) {
        ast_json_xyz(&text.json, "explained", view->projection.explained);
        ast_json_number(&text.json, "shown", view->shown, 5);
    }
    ast_explore_array(&text, "xyz", "i16", xyz, 3 * drawn->count);
    return ast_explore_end(&text);
}

/* The number of a row among the drawn ones, which are in order. */
static uint32_t index_of(const ast_drawn *drawn, uint32_t row) {
    size_t low = 0, high = drawn->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (drawn->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

ast_shared_text *ast_explore_mapped(const ast_explored *explored, const ast_drawn *drawn, const ast_map *map) {
    ast_explore_text text;
    int16_t *places = ast_map_places(map);
    uint32_t *at = malloc((map->count + 1) * sizeof *at);
    ast_shared_text *message = NULL;
    if (places && at) {
        for (size_t i = 0; i < map->count; i++)
            at[i] = index_of(drawn, map->rows[i]);
        ast_explore_begin(&text, "map");
        ast_json_map_names(&text.json, explored->names, map);
        ast_explore_array(&text, "at", "u32", at, map->count);
        ast_explore_array(&text, "xy", "i16", places, 2 * map->count);
        message = ast_explore_end(&text);
    }
    free(places);
    free(at);
    return message;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static void put_cluster(const ast_explored *explored, const ast_explore_view *view, const ast_explore_run *run,
                        size_t id, double total, ast_text *json) {
    const ast_cluster_info *cluster = &run->clusters[id];
    double xyz[3];
    ast_explore_view_mean(view, cluster->mean, xyz);
    ast_json_open(json, NULL, '{');
    ast_json_cluster(json, id, cluster, total);
    ast_json_xyz(json, "xyz", xyz);
    ast_json_field_mean(json, field_of(explored, run->request.axial), explored->points.dimension, cluster);
    ast_json_close(json, '}');
}

static void put_clusters(const ast_explored *explored, const ast_explore_view *view, const ast_explore_run *run,
                         ast_text *json) {
    size_t count;
    ast_ranked *listed = ast_clusters_listed(run->clusters, run->report.clusters, &count);
    double total = 0;
    json->failed |= !listed;
    if (listed)
        ast_sort_ranked(listed, count);
    for (size_t k = 0; k < run->report.clusters; k++)
        total += run->clusters[k].weight;
    ast_json_open(json, "cluster", '[');
    for (size_t i = 0; listed && i < count && i < MOST_LISTED; i++)
        put_cluster(explored, view, run, listed[i].index, total, json);
    ast_json_close(json, ']');
    free(listed);
}

/* The labels of the drawn rows in as few bytes as they need: all bits set is -1. */
static bool put_labels(const ast_drawn *drawn, const ast_explore_run *run, ast_explore_text *text) {
    size_t clusters = run->report.clusters, bytes = clusters < 255 ? 1 : clusters < 65535 ? 2 : 4;
    int32_t *labels = malloc((drawn->count + 1) * sizeof *labels);
    uint16_t *halves = (uint16_t *)labels;
    unsigned char *quarters = (unsigned char *)labels;
    if (!labels)
        return false;
    for (size_t i = 0; i < drawn->count; i++) {
        size_t row = drawn->rows[i];
        int32_t label = row < run->rows ? run->labels[row] : -1;
        if (bytes == 1)
            quarters[i] = (unsigned char)label;
        else if (bytes == 2)
            halves[i] = (uint16_t)label;
        else
            labels[i] = label;
    }
    ast_explore_array(text, "labels", bytes == 1 ? "u8" : bytes == 2 ? "u16" : "i32", labels, drawn->count);
    free(labels);
    return true;
}

static void put_numbers(const ast_explored *explored, const ast_explore_run *run, ast_text *json) {
    const ast_report *report = &run->report;
    char *command = explored->command->line(explored->data, &run->request);
    ast_json_integer(json, "id", (int64_t)run->request.id);
    ast_json_string(json, "command", command);
    ast_json_integer(json, "clusters", (int64_t)report->clusters);
    ast_json_integer(json, "merged", (int64_t)report->merged);
    ast_json_integer(json, "missing", (int64_t)report->missing);
    ast_json_integer(json, "outliers", (int64_t)report->outliers);
    ast_json_real(json, "objective", report->objective, DIGITS);
    ast_json_integer(json, "iterations", report->iterations);
    ast_json_boolean(json, "converged", report->converged);
    ast_json_boolean(json, "unfinished", run->unfinished);
    ast_json_integer(json, "rows", (int64_t)run->rows);
    ast_json_real(json, "seconds", report->seconds, 6);
    ast_json_real(json, "elapsed", run->seconds, 6);
    json->failed |= !command;
    free(command);
}

ast_shared_text *ast_explore_result(const ast_explored *explored, const ast_drawn *drawn, const ast_explore_view *view,
                                    const ast_explore_run *run) {
    ast_explore_text text;
    ast_explore_begin(&text, "result");
    put_numbers(explored, run, &text.json);
    put_clusters(explored, view, run, &text.json);
    text.json.failed |= !put_labels(drawn, run, &text);
    return ast_explore_end(&text);
}

ast_shared_text *ast_explore_words(const char *type, uint64_t id, const char *words) {
    ast_explore_text text;
    ast_explore_begin(&text, type);
    ast_json_integer(&text.json, "id", (int64_t)id);
    if (words)
        ast_json_string(&text.json, "text", words);
    return ast_explore_end(&text);
}
