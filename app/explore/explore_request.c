/* SPDX-License-Identifier: MIT
 *
 * What a page asks for: JSON in, options of the library out. */
#include "explore_parts.h"

#include <jansson.h>
#include <math.h>

static const char *const methods[] = {"dp", "spkm", NULL}; /* in the order of ast_method */
static const char *const merges[] = {"none", "evidence", "angle", "count", NULL};
static const char *const orders[] = {"given", "content", "random", NULL};
static const char *const metrics[] = {"plain", "local", "auto", NULL}; /* in the order of ast_metric_kind */
static const char *const tasks[] = {"cluster", "members", "save", "report", NULL};

enum { FIRST_CLUSTERS = 8 };

/* The index of the word in a list, or -1. */
static int find_word(const json_t *object, const char *key, const char *const *words) {
    const char *word = json_string_value(json_object_get(object, key));
    return word ? ast_find_word(words, word) : -1;
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
    if (!request->axial && explored->undirected)
        return "undirected normals are axial";
    if (sparse && (request->axial || request->center))
        return "sparse rows can be neither axial nor centred";
    if (request->metric == AST_METRIC_LOCAL && (sparse || request->axial))
        return "the metric is for dense rows that are not axial";
    if (request->metric == AST_METRIC_LOCAL && request->center)
        return "the metric centres the rows itself";
    return NULL;
}

static const char *read_request(const ast_explored *explored, const json_t *object, ast_explore_request *request) {
    int method = find_word(object, "method", methods), merge = find_word(object, "merge", merges),
        order = find_word(object, "order", orders),
        metric = json_object_get(object, "metric") ? find_word(object, "metric", metrics) : AST_METRIC_PLAIN;
    double id = number_of(object, "id");
    if (method < 0 || merge < 0 || order < 0 || metric < 0 || !is_whole(id, 0, 9e15))
        return "a request has an id, a method, a merge, an order and a metric";
    *request = (ast_explore_request){.id = (uint64_t)id,
                                     .method = (ast_method)method,
                                     .merge = (ast_merge)merge,
                                     .order = (ast_order)order,
                                     .metric = (ast_metric_kind)metric,
                                     .center = json_is_true(json_object_get(object, "center")),
                                     .axial = json_is_true(json_object_get(object, "axial"))};
    const char *problem = check_amounts(explored, object, request);
    return problem ? problem : check_rows(explored, request);
}

const char *ast_explore_read(const ast_explored *explored, const char *text, size_t size, ast_explore_task *task,
                             ast_explore_request *request, size_t *cluster) {
    json_t *object = json_loadb(text, size, 0, NULL);
    int word = find_word(object, "type", tasks);
    double number = number_of(object, "cluster");
    const char *problem = !object    ? "a request is a JSON object"
                          : word < 0 ? "the type of a request is cluster, members, save or report"
                                     : read_request(explored, object, request);
    if (!problem && word == AST_TASK_MEMBERS && !is_whole(number, 0, 2147483647))
        problem = "cluster must be the id of a cluster";
    if (!problem) {
        *task = (ast_explore_task)word;
        *cluster = word == AST_TASK_MEMBERS ? (size_t)number : 0;
    }
    json_decref(object);
    return problem;
}

const char *ast_explore_order_name(ast_order order) {
    return orders[order];
}

const char *ast_explore_metric_name(ast_metric_kind metric) {
    return metrics[metric];
}

#define GIVEN_DIMENSIONS 8 /* up to so many, cluster visits the rows in the given order by default */
ast_explore_request ast_explore_first(const ast_explored *explored) {
    return (ast_explore_request){.angle = explored->angle,
                                 .clusters = explored->points.count < FIRST_CLUSTERS ? 1 : FIRST_CLUSTERS,
                                 .axial = explored->axial,
                                 .center = explored->center,
                                 .metric = explored->metric,
                                 .order = explored->points.dimension > GIVEN_DIMENSIONS ? AST_ORDER_CONTENT
                                                                                        : AST_ORDER_GIVEN};
}

bool ast_explore_is_local(const ast_explore_request *request) {
    return request->metric == AST_METRIC_LOCAL;
}

/* Numbers that a method does not use do not count. */
bool ast_explore_same(const ast_explore_request *a, const ast_explore_request *b) {
    bool amounts = a->method == AST_DP ? a->angle == b->angle : a->clusters == b->clusters;
    bool merged = a->merge == b->merge && (a->merge != AST_MERGE_ANGLE || a->merge_angle == b->merge_angle) &&
                  (a->merge != AST_MERGE_COUNT || a->merge_count == b->merge_count);
    return a->method == b->method && amounts && merged && a->min_size == b->min_size && a->center == b->center &&
           a->axial == b->axial && ast_explore_is_local(a) == ast_explore_is_local(b) &&
           (a->method == AST_SPKM || a->order == b->order);
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
    options.seed = explored->seed;
    options.axial = request->axial;
    options.center = request->center;
    options.metric = ast_explore_is_local(request) ? AST_METRIC_LOCAL : AST_METRIC_PLAIN;
    options.merge.by = request->merge;
    options.merge.angle = request->merge == AST_MERGE_ANGLE ? request->merge_angle : NAN;
    options.merge.count = request->merge_count;
    options.merge.min_size = request->min_size;
    return options;
}
