/* SPDX-License-Identifier: MIT
 *
 * What a page asks for: JSON in, options of the library and the command line out. */
#include "explore.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "pages.h"
#include "recommend.h"

static const char *const methods[] = {"dp", "spkm", NULL}; /* in the order of ast_method */
static const char *const merges[] = {"none", "evidence", "angle", "count", NULL};
static const char *const orders[] = {"given", "content", "random", NULL};
static const char *const wishes[] = {"cluster", "members", "save", "report", NULL};

enum { FIRST_ANGLE = 30, FIRST_CLUSTERS = 8, REPRESENTATIVES = 5 };

/* The index of the word in a list, or -1. */
static int find_word(const json_t *object, const char *key, const char *const *words) {
    const char *word = json_string_value(json_object_get(object, key));
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return -1;
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_whole(double number, double least, double most) {
    return number >= least && number <= most && floor(number) == number;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const char *check_amounts(const ast_explored *explored, const json_t *object, ast_explore_request *request) {
    double most = (double)explored->points.count, clusters = number_of(object, "clusters"),
           count = number_of(object, "merge_to");
    request->angle = number_of(object, "angle");
    request->merge_angle = number_of(object, "merge_angle");
    request->min_size = number_of(object, "min_size");
    if (request->method == AST_DP && !(request->angle >= 0 && request->angle <= 180))
        return "angle must be a number from 0 to 180";
    if (request->method == AST_SPKM && !is_whole(clusters, 1, most))
        return "clusters must be a whole number from 1 to the number of points";
    if (request->merge == AST_MERGE_ANGLE && !(request->merge_angle >= 0 && request->merge_angle <= 180))
        return "merge_angle must be a number from 0 to 180";
    if (request->merge == AST_MERGE_COUNT && !is_whole(count, 1, most))
        return "merge_to must be a whole number from 1 to the number of points";
    if (!(request->min_size >= 0 && request->min_size <= 1e18))
        return "min_size must be a number of points";
    request->clusters = request->method == AST_SPKM ? (size_t)clusters : 0;
    request->merge_count = request->merge == AST_MERGE_COUNT ? (size_t)count : 0;
    return NULL;
}

static const char *check_rows(const ast_explored *explored, const ast_explore_request *request) {
    bool sparse = explored->points.starts != NULL;
    if (request->axial && request->center)
        return "axial rows cannot be centred";
    if (!request->axial && explored->given->reading.cloud.undirected)
        return "undirected normals are axial";
    if (sparse && (request->axial || request->center))
        return "sparse rows can be neither axial nor centred";
    return NULL;
}

static const char *read_request(const ast_explored *explored, const json_t *object, ast_explore_request *request) {
    int method = find_word(object, "method", methods), merge = find_word(object, "merge", merges),
        order = find_word(object, "order", orders);
    double id = number_of(object, "id");
    if (method < 0 || merge < 0 || order < 0 || !is_whole(id, 0, 9e15))
        return "a request has an id, a method, a merge and an order";
    *request = (ast_explore_request){.id = (uint64_t)id,
                                     .method = (ast_method)method,
                                     .merge = (ast_merge)merge,
                                     .order = (ast_order)order,
                                     .center = json_is_true(json_object_get(object, "center")),
                                     .axial = json_is_true(json_object_get(object, "axial"))};
    const char *problem = check_amounts(explored, object, request);
    return problem ? problem : check_rows(explored, request);
}

const char *ast_explore_read(const ast_explored *explored, const char *text, size_t size, ast_explore_wish *wish,
                             ast_explore_request *request, size_t *cluster) {
    json_t *object = json_loadb(text, size, 0, NULL);
    int word = find_word(object, "type", wishes);
    double number = number_of(object, "cluster");
    const char *problem = !object    ? "a request is a JSON object"
                          : word < 0 ? "the type of a request is cluster, members, save or report"
                                     : read_request(explored, object, request);
    if (!problem && word == AST_WISH_MEMBERS && !is_whole(number, 0, 2147483647))
        problem = "cluster must be the id of a cluster";
    if (!problem) {
        *wish = (ast_explore_wish)word;
        *cluster = word == AST_WISH_MEMBERS ? (size_t)number : 0;
    }
    json_decref(object);
    return problem;
}

ast_explore_request ast_explore_first(const ast_explored *explored, double angle) {
    const ast_cli_explore_settings *given = explored->given;
    return (ast_explore_request){.angle = isnan(angle) ? FIRST_ANGLE : angle,
                                 .clusters = explored->points.count < FIRST_CLUSTERS ? 1 : FIRST_CLUSTERS,
                                 .axial = given->axial,
                                 .center = given->center};
}

/* Numbers that a method does not use do not count. */
bool ast_explore_same(const ast_explore_request *a, const ast_explore_request *b) {
    bool amounts = a->method == AST_DP ? a->angle == b->angle : a->clusters == b->clusters;
    bool merged = a->merge == b->merge && (a->merge != AST_MERGE_ANGLE || a->merge_angle == b->merge_angle) &&
                  (a->merge != AST_MERGE_COUNT || a->merge_count == b->merge_count);
    return a->method == b->method && amounts && merged && a->min_size == b->min_size && a->center == b->center &&
           a->axial == b->axial && (a->method == AST_SPKM || a->order == b->order);
}

/* ---- Options ----------------------------------------------------------------------------------------------------- */

ast_options ast_explore_options(const ast_explored *explored, const ast_explore_request *request) {
    ast_options options;
    ast_options_init(&options);
    options.method = request->method;
    if (request->method == AST_DP) {
        options.angle = request->angle;
        options.dp.order = request->order;
    } else {
        options.clusters = request->clusters;
    }
    options.seed = explored->given->common.seed;
    options.axial = request->axial;
    options.center = request->center;
    options.merge.by = request->merge;
    options.merge.angle = request->merge == AST_MERGE_ANGLE ? request->merge_angle : NAN;
    options.merge.count = request->merge_count;
    options.merge.min_size = request->min_size;
    return options;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Words of a command line, each a copy. */
typedef struct words {
    char *list[2 * AST_CLI_MOST_TYPED + 32];
    int count;
    bool failed;
} words;

static void add(words *to, const char *word) {
    char *copy = strdup(word);
    to->failed |= !copy;
    if (copy)
        to->list[to->count++] = copy;
}

static void add_option(words *to, const char *name, const char *value) {
    char option[64];
    snprintf(option, sizeof option, "--%s", name);
    add(to, option);
    if (value)
        add(to, value);
}

static void add_number(words *to, const char *name, double value) {
    char text[AST_CLI_SHORTEST];
    add_option(to, name, ast_cli_shortest(value, text));
}

static void add_count(words *to, const char *name, size_t value) {
    char text[32];
    snprintf(text, sizeof text, "%zu", value);
    add_option(to, name, text);
}

/* Whether the command has an option of explore as it was typed: those of reading. The others follow from the page. */
static bool carries(const ast_cli_option *option) {
    static const char *const own[] = {"json", "quiet", "progress", "threads", "angle",       "cosine", "labels",
                                      "port", "bind",  "once",     "names",   "name-column", "axial",  "center"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(option->name, own[i]) == 0)
            return false;
    return ast_cli_find(&ast_cli_cluster, option->name, NULL) != NULL;
}

static void add_typed(words *to, const ast_cli_explore_settings *given) {
    for (size_t i = 0; i < given->common.typed_count; i++)
        if (carries(given->common.typed[i]))
            add_option(to, given->common.typed[i]->name, given->common.values[i]);
}

static void add_merge(words *to, const ast_explore_request *request) {
    if (request->merge == AST_MERGE_EVIDENCE)
        add_option(to, "merge", "evidence");
    if (request->merge == AST_MERGE_ANGLE)
        add_number(to, "merge", request->merge_angle);
    if (request->merge == AST_MERGE_COUNT)
        add_count(to, "merge-to", request->merge_count);
    if (request->min_size > 0)
        add_number(to, "min-size", request->min_size);
}

static void add_request(words *to, const ast_explore_request *request) {
    if (request->method == AST_SPKM) {
        add_option(to, "method", "spkm");
        add_count(to, "clusters", request->clusters);
    } else {
        add_number(to, "angle", request->angle);
        if (request->order != AST_ORDER_GIVEN)
            add_option(to, "order", orders[request->order]);
    }
    add_merge(to, request);
}

/* --undirected, which is carried as it was typed, makes rows axial by itself. */
static void add_rows(words *to, const ast_explored *explored, const ast_explore_request *request) {
    if (request->axial && !explored->given->reading.cloud.undirected)
        add_option(to, "axial", NULL);
    if (request->center)
        add_option(to, "center", NULL);
}

/* The labels file, and the names, which need representatives. */
static void add_files(words *to, const ast_explored *explored) {
    const ast_cli_explore_settings *given = explored->given;
    if (explored->names) {
        add_count(to, "representatives", REPRESENTATIVES);
        add_option(to, given->names ? "names" : "name-column",
                   given->names ? given->names : given->reading.source.names);
    }
    if (given->labels)
        add_option(to, "labels", given->labels);
}

char *ast_explore_command(const ast_explored *explored, const ast_explore_request *request) {
    words line = {.count = 0};
    add(&line, explored->given->reading.inputs[0].path);
    add_typed(&line, explored->given);
    add_rows(&line, explored, request);
    add_request(&line, request);
    add_files(&line, explored);
    char *command = line.failed ? NULL : ast_cli_command_line(&ast_cli_cluster, line.count, line.list);
    for (int i = 0; i < line.count; i++)
        free(line.list[i]);
    return command;
}
