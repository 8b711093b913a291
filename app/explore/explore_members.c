/* SPDX-License-Identifier: MIT
 *
 * The members of a cluster that are nearest to its mean, and those that are farthest from it. Scores are those of the
 * rows as they are clustered: centred, and axial ones without their sign. */
#include "explore_parts.h"

#include <math.h>
#include <report.h>
#include <page.h>
#include <stdlib.h>

enum { SHOWN = 8, NEIGHBOURS = 5 };

typedef struct member {
    size_t row;
    double cosine;
} member;

/* The best of a list, best first: `sign` 1 for large cosines, -1 for small ones. Equal ones by row. */
typedef struct best {
    member list[SHOWN];
    size_t count;
    double sign;
} best;

static void offer(best *to, size_t row, double cosine) {
    size_t at = to->count;
    while (at > 0 && to->sign * cosine > to->sign * to->list[at - 1].cosine)
        at--;
    if (at == SHOWN)
        return;
    if (to->count < SHOWN)
        to->count++;
    for (size_t i = to->count - 1; i > at; i--)
        to->list[i] = to->list[i - 1];
    to->list[at] = (member){row, cosine};
}

/* The cosine of a row and a mean. */
static double cosine_of(const ast_explore_run *run, const float *mean, size_t index, double *row) {
    const float *center = run->report.center;
    double dot = 0, square = 0;
    if (!ast_unit_row(&run->points, index, row))
        return NAN;
    for (size_t d = 0; d < run->points.dimension; d++) {
        double part = row[d] - (center ? (double)center[d] : 0);
        dot += part * (double)mean[d];
        square += part * part;
    }
    return (run->request.axial ? fabs(dot) : dot) / sqrt(square);
}

static double degrees_of(double cosine) {
    return acos(fmin(1, fmax(-1, cosine))) * AST_DEGREES_PER_RADIAN;
}

static void put_list(const ast_explored *explored, const best *of, const char *key, ast_text *json) {
    ast_json_open(json, key, '[');
    for (size_t i = 0; i < of->count; i++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "row", (int64_t)of->list[i].row);
        if (explored->names)
            ast_json_name(json, "name", explored->names, of->list[i].row);
        ast_json_number(json, "angle", degrees_of(of->list[i].cosine), 5);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

/* The clusters with the nearest means. */
static void put_neighbours(const ast_explore_run *run, size_t cluster, size_t dimension, ast_text *json) {
    best nearest = {.sign = 1};
    const float *mean = run->clusters[cluster].mean;
    for (size_t k = 0; k < run->report.clusters; k++) {
        double dot = 0;
        for (size_t d = 0; d < dimension; d++)
            dot += (double)mean[d] * (double)run->clusters[k].mean[d];
        if (k != cluster)
            offer(&nearest, k, run->request.axial ? fabs(dot) : dot);
    }
    ast_json_open(json, "neighbours", '[');
    for (size_t i = 0; i < nearest.count && i < NEIGHBOURS; i++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "id", (int64_t)nearest.list[i].row);
        ast_json_number(json, "angle", degrees_of(nearest.list[i].cosine), 5);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

bool ast_explore_put_members(const ast_explored *explored, const ast_explore_run *run, size_t cluster, ast_text *json) {
    size_t dimension = explored->points.dimension;
    best near = {.sign = 1}, far = {.sign = -1};
    double *row = malloc(dimension * sizeof *row);
    if (!row)
        return false;
    for (size_t i = 0; i < run->rows; i++) {
        if (run->labels[i] != (int32_t)cluster)
            continue;
        double cosine = cosine_of(run, run->clusters[cluster].mean, i, row);
        offer(&near, i, cosine);
        offer(&far, i, cosine);
    }
    free(row);
    ast_json_integer(json, "cluster", (int64_t)cluster);
    put_list(explored, &near, "nearest", json);
    put_list(explored, &far, "farthest", json);
    put_neighbours(run, cluster, dimension, json);
    return true;
}
