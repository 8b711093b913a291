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

/* A million angles are some megabytes; more are left to whoever has the means. */
enum { MOST_ANGLES = 1000 };

/* The run over all points, and what is lost against it. */
static int set_comparison(json_t *head, const ast_cli_result *result) {
    const ast_report *full = result->full;
    double loss = ast_cli_loss(result);
    int failed = json_object_set_new(head, "full",
                                     json_pack("{sI sf si sb sf}", "clusters", (json_int_t)full->clusters, "objective",
                                               full->objective, "iterations", full->iterations, "converged",
                                               full->converged, "seconds", full->seconds));
    return failed | json_object_set_new(head, "loss", isfinite(loss) ? json_real(loss) : json_null());
}

static json_t *head_object(const ast_cli_result *result);
static json_t *cluster_object(const ast_cli_result *result, size_t id);
static void print_angles(const ast_cli_result *result);
static int print_axes(const ast_cli_result *result);

int ast_cli_print_json(const ast_cli_result *result) {
    json_t *head = head_object(result);
    if (!head)
        return 0;
    printf("{");
    json_dumpf(head, stdout, JSON_EMBED | JSON_REAL_PRECISION(DOUBLE_DIGITS));
    json_decref(head);
    printf(", \"cluster\": [");
    for (size_t id = 0; id < result->report->clusters; id++) {
        json_t *cluster = cluster_object(result, id);
        if (!cluster)
            return 0;
        printf("%s\n  ", id ? "," : "");
        json_dumpf(cluster, stdout, JSON_REAL_PRECISION(FLOAT_DIGITS));
        json_decref(cluster);
    }
    printf("]");
    if (result->report->dimension == 3 && result->report->clusters <= MOST_ANGLES)
        print_angles(result);
    if (result->axes && !print_axes(result))
        return 0;
    printf("}\n");
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
    if (result->frame >= 0)
        failed |= json_object_set_new(head, "frame", json_integer(result->frame));
    if (result->normals)
        failed |= json_object_set_new(head, "normals", json_string(result->normals));
    if (result->oir)
        failed |= json_object_set_new(head, "oir_restarts", json_integer((json_int_t)report->oir_restarts));
    if (result->reason)
        failed |= json_object_update_new(head, json_pack("{sf ss}", "angle", result->angle, "reason", result->reason));
    if (isfinite(report->improvement))
        failed |= json_object_set_new(head, "improvement", json_real(report->improvement));
    if (result->full)
        failed |= set_comparison(head, result);
    if (isfinite(report->log_likelihood))
        failed |= json_object_set_new(head, "log_likelihood", json_real(report->log_likelihood));
    if (isfinite(report->bic))
        failed |= json_object_set_new(head, "bic", json_real(report->bic));
    if (result->plan)
        failed |= json_object_set_new(head, "memory",
                                      json_pack("{sI sI sI sI}", "allowed", (json_int_t)result->memory, "peak",
                                                (json_int_t)result->plan->memory, "pass_bytes",
                                                (json_int_t)result->plan->pass_bytes, "label_bytes",
                                                (json_int_t)result->plan->label_bytes));
    failed |= json_object_set_new(head, "seconds", json_real(report->seconds));
    if (!failed)
        return head;
    json_decref(head);
    return NULL;
}

static json_t *mean_array(const float *mean, size_t dimension) {
    json_t *array = json_array();
    int failed = !array;
    for (size_t d = 0; d < dimension && !failed; d++)
        failed = json_array_append_new(array, json_real((double)mean[d]));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

/* A mixture knows the share of its component; what belongs to the others is counted. */
static json_t *cluster_object(const ast_cli_result *result, size_t id) {
    const ast_cluster_info *cluster = &result->clusters[id];
    json_t *mean = mean_array(cluster->mean, result->report->dimension);
    if (!mean)
        return NULL;
    /* json_pack takes the array over, also when it fails. */
    json_t *object = json_pack("{sI sI so so sf sf}", "id", (json_int_t)id, "size", (json_int_t)cluster->size, "mean",
                               mean, "kappa", isfinite(cluster->kappa) ? json_real(cluster->kappa) : json_null(),
                               "share", isfinite(cluster->share) ? cluster->share : ast_cli_share(result, cluster),
                               "spread", ast_cli_spread(cluster));
    if (!object || result->report->dimension != 3)
        return object;
    double dip_direction, dip;
    ast_cli_cluster_dip(cluster, &dip_direction, &dip);
    if (json_object_update_new(object, json_pack("{sf sf}", "dip_direction", dip_direction, "dip", dip)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static void print_angles(const ast_cli_result *result) {
    size_t count = result->report->clusters;
    printf(",\n \"angles\": [");
    for (size_t a = 0; a < count; a++) {
        printf("%s[", a ? ",\n  " : "");
        for (size_t b = 0; b < count; b++)
            printf("%s%.9g", b ? ", " : "", a == b ? 0 : ast_cli_between(result, a, b));
        printf("]");
    }
    printf("]");
}

static int print_axes(const ast_cli_result *result) {
    const ast_axes *axes = result->axes;
    const double(*r)[3] = axes->rotation;
    json_t *nearest = json_array();
    int failed = !nearest;
    for (size_t k = 0; k < result->report->clusters && !failed; k++)
        failed = json_array_append_new(nearest, json_string(ast_cli_axis_name(result->nearest[k])));
    if (failed) {
        json_decref(nearest);
        return 0;
    }
    json_t *object =
        json_pack("{s[[fff][fff][fff]] sf sI so}", "rotation", r[0][0], r[0][1], r[0][2], r[1][0], r[1][1], r[1][2],
                  r[2][0], r[2][1], r[2][2], "rms", axes->rms, "used", (json_int_t)axes->used, "nearest", nearest);
    if (!object)
        return 0;
    printf(",\n \"frame_axes\": ");
    json_dumpf(object, stdout, JSON_REAL_PRECISION(DOUBLE_DIGITS));
    json_decref(object);
    return 1;
}
