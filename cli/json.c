/* SPDX-License-Identifier: MIT
 *
 * The clustering as one JSON object. The list of clusters is written one by one: thousands of means of a thousand
 * components each would otherwise stand in memory as objects of their own. */
#include "json.h"
#include "result.h"

#include <math.h>
#include <stdio.h>

/* Enough digits to give a double, or a float, back as it was. */
enum { DOUBLE_DIGITS = 17, FLOAT_DIGITS = 9 };

static json_t *head_object(const ast_cli_result *result);
static json_t *cluster_object(const ast_cluster_info *cluster, size_t id, size_t dimension);

int ast_cli_print_json(const ast_cli_result *result) {
    json_t *head = head_object(result);
    if (!head)
        return 0;
    printf("{");
    json_dumpf(head, stdout, JSON_EMBED | JSON_REAL_PRECISION(DOUBLE_DIGITS));
    json_decref(head);
    printf(", \"cluster\": [");
    for (size_t id = 0; id < result->report->clusters; id++) {
        json_t *cluster = cluster_object(&result->clusters[id], id, result->report->dimension);
        if (!cluster)
            return 0;
        printf("%s\n  ", id ? "," : "");
        json_dumpf(cluster, stdout, JSON_REAL_PRECISION(FLOAT_DIGITS));
        json_decref(cluster);
    }
    printf("]}\n");
    return 1;
}

int ast_cli_print_object(json_t *object) {
    if (!object)
        return 0;
    json_dumpf(object, stdout, JSON_REAL_PRECISION(DOUBLE_DIGITS));
    json_decref(object);
    putchar('\n');
    return 1;
}

static json_t *head_object(const ast_cli_result *result) {
    const ast_report *report = result->report;
    json_t *head = json_pack("{sI sI sI ss sI sf si sb}", "points", (json_int_t)report->points, "missing",
                             (json_int_t)report->missing, "dimension", (json_int_t)report->dimension, "method",
                             result->method, "clusters", (json_int_t)report->clusters, "objective", report->objective,
                             "iterations", report->iterations, "converged", report->converged);
    if (!head)
        return NULL;
    int failed = 0;
    if (result->oir)
        failed |= json_object_set_new(head, "oir_restarts", json_integer((json_int_t)report->oir_restarts));
    if (result->reason)
        failed |= json_object_update_new(head, json_pack("{sf ss}", "angle", result->angle, "reason", result->reason));
    if (isfinite(report->log_likelihood))
        failed |= json_object_set_new(head, "log_likelihood", json_real(report->log_likelihood));
    if (isfinite(report->bic))
        failed |= json_object_set_new(head, "bic", json_real(report->bic));
    failed |= json_object_set_new(head, "seconds", json_real(report->seconds));
    if (!failed)
        return head;
    json_decref(head);
    return NULL;
}

static json_t *cluster_object(const ast_cluster_info *cluster, size_t id, size_t dimension) {
    json_t *mean = json_array();
    int failed = !mean;
    for (size_t d = 0; d < dimension && !failed; d++)
        failed = json_array_append_new(mean, json_real((double)cluster->mean[d]));
    if (failed) {
        json_decref(mean);
        return NULL;
    }
    /* json_pack takes the array over, also when it fails. */
    json_t *object = json_pack("{sI sI so so}", "id", (json_int_t)id, "size", (json_int_t)cluster->size, "mean", mean,
                               "kappa", isfinite(cluster->kappa) ? json_real(cluster->kappa) : json_null());
    if (object && isfinite(cluster->share) && json_object_set_new(object, "share", json_real(cluster->share)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}
