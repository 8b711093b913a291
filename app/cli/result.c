/* SPDX-License-Identifier: MIT
 *
 * What the table and JSON say of clusters, in one place. */
#include "cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double ast_cli_angle(const ast_cli_cluster_job *work) {
    return ast_cli_is_by_angle(work->options.method) ? work->options.angle : (double)NAN;
}

double ast_cli_share(const ast_cli_cluster_job *work, const ast_cluster_info *cluster) {
    double part = work->points.weights ? cluster->weight : (double)cluster->count;
    return work->total > 0 ? part / work->total : 0;
}

double ast_cli_spread(const ast_cluster_info *cluster) {
    return acos(fmin(1, fmax(0, cluster->resultant))) * AST_DEGREES_PER_RADIAN;
}

/* By the arc tangent: a cosine near 1 knows little of its angle. */
double ast_cli_between(const ast_cli_cluster_job *work, size_t a, size_t b) {
    const float *x = work->clusters[a].mean, *y = work->clusters[b].mean;
    double dot = 0, square = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double cross = (double)x[j] * (double)y[k] - (double)x[k] * (double)y[j];
        dot += (double)x[i] * (double)y[i];
        square += cross * cross;
    }
    return atan2(sqrt(square), work->options.axial ? fabs(dot) : dot) * AST_DEGREES_PER_RADIAN;
}

double ast_cli_center_length(const ast_report *report) {
    double squared = 0;
    for (size_t d = 0; d < report->dimension; d++)
        squared += (double)report->center[d] * (double)report->center[d];
    return sqrt(squared);
}

const char *ast_cli_row_name(const ast_names *names, size_t row, char text[AST_EXCERPT]) {
    const char *name = names->list[row];
    ast_excerpt(text, name, strlen(name));
    if (!*name)
        snprintf(text, AST_EXCERPT, "row %zu", row);
    return text;
}

const char *ast_cli_axis_name(int32_t axis) {
    static const char *const names[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    return axis >= 0 && axis < 6 ? names[axis] : "-";
}
