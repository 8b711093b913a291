/* SPDX-License-Identifier: MIT
 *
 * The clustering as one JSON object. */
#include "cluster.h"

#include <math.h>

/* Enough digits to give a double, or a float, back as it was. */
enum { DOUBLE_DIGITS = 17, FLOAT_DIGITS = 9 };

/* A million angles are some megabytes; more are left to whoever has the means. */
enum { MOST_ANGLES = 1000 };

static void put_memory(const ast_cli_cluster_job *work, ast_text *json) {
    ast_json_open(json, "memory", '{');
    ast_json_integer(json, "allowed", (int64_t)work->directions.allowed);
    ast_json_integer(json, "peak", (int64_t)work->parts.plan.memory);
    ast_json_integer(json, "pass_bytes", (int64_t)work->parts.plan.pass_bytes);
    ast_json_integer(json, "label_bytes", (int64_t)work->parts.plan.label_bytes);
    ast_json_close(json, '}');
}

/* What the method does not know is left out. */
static void put_known(ast_text *json, const char *key, double value) {
    if (isfinite(value))
        ast_json_real(json, key, value, DOUBLE_DIGITS);
}

/* A sampler's chain, which never converges; numbers of clusters that did not occur are left out. */
static void put_chain(const ast_report *report, ast_text *json) {
    if (ast_cli_has_chain(report)) {
        ast_json_real(json, "converged", NAN, DOUBLE_DIGITS);
        ast_json_boolean(json, "settled", report->settled);
        ast_json_real(json, "effective_samples", report->effective_samples, FLOAT_DIGITS);
    } else {
        ast_json_boolean(json, "converged", report->converged);
    }
    if (!report->cluster_posterior)
        return;
    ast_json_open(json, "posterior_clusters", '[');
    for (size_t k = 0; k < report->cluster_posterior_count; k++) {
        if (report->cluster_posterior[k] == 0)
            continue;
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "clusters", (int64_t)k);
        ast_json_real(json, "share", report->cluster_posterior[k], FLOAT_DIGITS);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void put_head(const ast_cli_cluster_job *work, ast_text *json) {
    const ast_report *report = &work->report;
    const ast_cli_directions *d = &work->directions;
    ast_json_integer(json, "points", (int64_t)report->points);
    ast_json_integer(json, "missing", (int64_t)report->missing);
    ast_json_integer(json, "dimension", (int64_t)report->dimension);
    ast_json_string(json, "method", ast_cli_batch_names[work->options.method]);
    ast_json_integer(json, "clusters", (int64_t)report->clusters);
    ast_json_integer(json, "merged", (int64_t)report->merged);
    ast_json_integer(json, "outliers", (int64_t)report->outliers);
    ast_json_real(json, "objective", report->objective, DOUBLE_DIGITS);
    ast_json_integer(json, "iterations", report->iterations);
    put_chain(report, json);
    ast_json_real(json, "stability", report->stability, DOUBLE_DIGITS);
    put_known(json, "silhouette", report->silhouette);
    ast_json_string(json, "metric", report->metric ? "local" : "plain");
    ast_json_boolean(json, "centered", report->center || report->metric);
    put_known(json, "background", report->background);
    if (d->kind == AST_CLI_IMAGES && d->depth.frame.number != AST_WHOLE)
        ast_json_integer(json, "frame", (int64_t)d->depth.frame.number);
    if (d->kind == AST_CLI_SURFACE)
        ast_json_string(json, "normals", ast_cli_surface_word(&d->surface));
    if (work->options.parallel == AST_OIR)
        ast_json_integer(json, "oir_restarts", (int64_t)report->oir_restarts);
    if (work->tuned.reason) {
        ast_json_real(json, "angle", ast_cli_angle(work), DOUBLE_DIGITS);
        ast_json_real(json, "evidence", work->tuned.evidence, DOUBLE_DIGITS);
        ast_json_boolean(json, "weak", work->tuned.weak);
        ast_json_string(json, "reason", work->tuned.reason);
    }
    put_known(json, "improvement", report->improvement);
    if (work->options.kmeans.levels > 1)
        ast_json_integer(json, "levels", work->options.kmeans.levels);
    put_known(json, "level_misplaced", report->level_misplaced);
    put_known(json, "level_loss", report->level_loss);
    put_known(json, "log_likelihood", report->log_likelihood);
    put_known(json, "bic", report->bic);
    ast_json_open(json, "rayleigh", '{');
    ast_json_string(json, "test", work->options.axial ? "bingham" : "rayleigh");
    ast_json_real(json, "statistic", report->rayleigh, DOUBLE_DIGITS);
    ast_json_real(json, "p", report->rayleigh_p, DOUBLE_DIGITS);
    ast_json_close(json, '}');
    ast_cli_put_orientation(&work->orientation, work->options.axial, json);
    if (report->center)
        ast_json_real(json, "center_length", ast_cli_center_length(report), DOUBLE_DIGITS);
    if (work->directions.in_parts)
        put_memory(work, json);
    ast_json_real(json, "seconds", report->seconds, DOUBLE_DIGITS);
}

/* A Kent component: its long and its short axis, and the 95% confidence ellipse of its mean along them. */
static void put_ellipse(const ast_cluster_info *cluster, ast_text *json) {
    ast_json_real(json, "beta", cluster->beta, FLOAT_DIGITS);
    ast_json_open(json, "axes", '[');
    for (int axis = 0; axis < 2; axis++) {
        ast_json_open(json, NULL, '[');
        for (int d = 0; d < 3; d++)
            ast_json_real(json, NULL, (double)cluster->axes[3 * axis + d], FLOAT_DIGITS);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
    ast_json_open(json, "ellipse95", '[');
    ast_json_real(json, NULL, cluster->ellipse95[0], FLOAT_DIGITS);
    ast_json_real(json, NULL, cluster->ellipse95[1], FLOAT_DIGITS);
    ast_json_close(json, ']');
}

/* How well the mean is known, as docs/errors.md says. */
static void put_errors(const ast_cli_cluster_job *work, const ast_cluster_info *cluster, ast_text *json) {
    const double *limits = cluster->kappa_interval;
    if (isfinite(limits[0])) {
        ast_json_open(json, "kappa_interval", '[');
        ast_json_real(json, NULL, limits[0], FLOAT_DIGITS);
        ast_json_real(json, NULL, limits[1], FLOAT_DIGITS);
        ast_json_close(json, ']');
    } else {
        ast_json_real(json, "kappa_interval", NAN, FLOAT_DIGITS);
    }
    ast_json_real(json, "precision", cluster->precision, FLOAT_DIGITS);
    if (cluster->effective != (double)cluster->count)
        ast_json_real(json, "effective", cluster->effective, FLOAT_DIGITS);
    ast_json_real(json, "resultant", cluster->length, FLOAT_DIGITS);
    ast_json_real(json, "standard_error", cluster->standard_error, FLOAT_DIGITS);
    ast_json_real(json, "alpha95", cluster->alpha95, FLOAT_DIGITS);
    if (cluster->axes)
        put_ellipse(cluster, json);
    if (work->report.dimension == 3)
        ast_json_real(json, "csd", 81 / sqrt(cluster->precision), FLOAT_DIGITS);
}

/* As measured in the field; of planes the dip direction, and the strike too where it was given. */
static void put_angles_of(const ast_cli_cluster_job *work, const ast_cluster_info *cluster, ast_text *json) {
    static const char *const names[][2] = {[AST_DIP_DIRECTION] = {"dip_direction", "dip"},
                                           [AST_STRIKE_DIP] = {"strike", "dip"},
                                           [AST_TREND_PLUNGE] = {"trend", "plunge"},
                                           [AST_AZIMUTH] = {"azimuth", NULL}};
    double azimuth, inclination;
    ast_notation notation = ast_cli_cluster_notation(work);
    ast_field_angles(notation, work->options.axial, cluster->mean, &azimuth, &inclination);
    ast_json_real(json, names[notation][0], azimuth, FLOAT_DIGITS);
    if (notation == AST_STRIKE_DIP)
        ast_json_real(json, "dip_direction", fmod(azimuth + 90, 360), FLOAT_DIGITS);
    if (names[notation][1])
        ast_json_real(json, names[notation][1], inclination, FLOAT_DIGITS);
}

/* Names as they are: JSON can write any text. */
static void put_representatives(const ast_cli_cluster_job *work, const ast_cluster_info *cluster, ast_text *json) {
    const ast_names *names = ast_cli_cluster_names(work);
    ast_json_open(json, "representatives", '[');
    for (size_t i = 0; i < cluster->representative_count; i++)
        ast_json_integer(json, NULL, (int64_t)cluster->representatives[i]);
    ast_json_close(json, ']');
    if (!names)
        return;
    ast_json_open(json, "names", '[');
    for (size_t i = 0; i < cluster->representative_count; i++)
        ast_json_string(json, NULL, names->list[cluster->representatives[i]]);
    ast_json_close(json, ']');
}

/* Terms and texts as they are. */
static void put_topic(const ast_cli_cluster_job *work, size_t id, ast_text *json) {
    const ast_cluster_info *cluster = &work->clusters[id];
    const ast_names *texts = ast_cli_cluster_texts(work);
    ast_json_keywords(json, "keywords", &work->keywords[id]);
    if (!texts)
        return;
    ast_json_open(json, "texts", '[');
    for (size_t i = 0; i < cluster->representative_count; i++)
        ast_json_string(json, NULL, texts->list[cluster->representatives[i]]);
    ast_json_close(json, ']');
}

/* A mixture knows the share of its component; what belongs to the others is counted. */
static void put_cluster(const ast_cli_cluster_job *work, size_t id, ast_text *json) {
    const ast_cluster_info *cluster = &work->clusters[id];
    double share = isfinite(cluster->share) ? cluster->share : ast_cli_share(work, cluster);
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "id", ast_cli_cluster_id(work, id));
    ast_json_integer(json, "size", (int64_t)cluster->count);
    ast_json_open(json, "mean", '[');
    for (size_t d = 0; d < work->report.dimension; d++)
        ast_json_real(json, NULL, (double)cluster->mean[d], FLOAT_DIGITS);
    ast_json_close(json, ']');
    ast_json_real(json, "kappa", cluster->kappa, FLOAT_DIGITS);
    put_errors(work, cluster, json);
    ast_json_real(json, "share", share, FLOAT_DIGITS);
    ast_json_real(json, "spread", ast_cli_spread(cluster), FLOAT_DIGITS);
    if (cluster->set)
        ast_json_integer(json, "set", (int64_t)cluster->set);
    if (isfinite(work->report.stability))
        ast_json_real(json, "stability", cluster->stability, FLOAT_DIGITS);
    if (ast_cli_cluster_notation(work))
        put_angles_of(work, cluster, json);
    if (cluster->representatives)
        put_representatives(work, cluster, json);
    if (work->keywords)
        put_topic(work, id, json);
    ast_json_close(json, '}');
}

static void put_angles(const ast_cli_cluster_job *work, ast_text *json) {
    size_t count = work->report.clusters;
    ast_text_put(json, ",\n ");
    ast_json_open(json, "angles", '[');
    for (size_t a = 0; a < count; a++) {
        ast_text_put(json, a ? ",\n  " : "");
        ast_json_open(json, NULL, '[');
        for (size_t b = 0; b < count; b++)
            ast_json_number(json, NULL, a == b ? 0 : ast_cli_between(work, a, b), FLOAT_DIGITS);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
}

static void put_axes(const ast_cli_cluster_job *work, ast_text *json) {
    const ast_axes *axes = &work->axes;
    ast_text_put(json, ",\n ");
    ast_json_open(json, "frame_axes", '{');
    ast_json_open(json, "rotation", '[');
    for (int i = 0; i < 3; i++) {
        ast_json_open(json, NULL, '[');
        for (int j = 0; j < 3; j++)
            ast_json_real(json, NULL, axes->rotation[i][j], DOUBLE_DIGITS);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
    ast_json_real(json, "rms", axes->rms, DOUBLE_DIGITS);
    ast_json_integer(json, "used", (int64_t)axes->used);
    ast_json_open(json, "nearest", '[');
    for (size_t k = 0; k < work->report.clusters; k++)
        ast_json_string(json, NULL, ast_cli_axis_name(work->nearest[k]));
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}

void ast_cli_put_result(const ast_cli_cluster_job *work, ast_text *json) {
    put_head(work, json);
    ast_json_open(json, "cluster", '[');
    for (size_t id = 0; id < work->report.clusters; id++) {
        ast_text_put(json, id ? ",\n  " : "\n  ");
        put_cluster(work, id, json);
        ast_text_print(json, stdout);
    }
    ast_json_close(json, ']');
    if (work->report.dimension == 3 && work->report.clusters <= MOST_ANGLES)
        put_angles(work, json);
    if (work->given->frame_axes)
        put_axes(work, json);
    ast_cli_cluster_put_lineage(work, json);
}
