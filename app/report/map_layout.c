/* SPDX-License-Identifier: MIT
 *
 * t-SNE (van der Maaten and Hinton 2008) with the affinities of the graph itself: 1 for a neighbour, 2 for one that is
 * so in both directions (Boehm, Berens and Kobak 2022 find that this is as good as affinities by perplexity). Only
 * sums, products, quotients and roots, in a fixed order.
 *
 * The start is spectral: random numbers that are averaged over the graph again and again, which leaves what varies
 * slowly over it. */
#include "map_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map_repulsion.h"
#include "sampling.h"

/* Rounds of averaging; steps in which neighbours attract each other EXAGGERATION times as much, so that clusters find
 * together; all steps. */
enum { ROUNDS = 200, EARLY = 150, STEPS = 500, EXAGGERATION = 12, RATE = 4 };

/* The graph in both directions. */
typedef struct graph {
    size_t count;
    size_t *starts; /* (count + 1) */
    uint32_t *ends; /* a neighbour in both directions stands twice */
} graph;

typedef struct layout {
    graph edges;
    ast_repulsion *repulsion;
    float *xy, *force, *speed, *gain; /* (count, 2) */
} layout;

static bool make_graph(graph *g, const int32_t *neighbours, size_t count, size_t k) {
    *g = (graph){.count = count};
    g->starts = calloc(count + 1, sizeof *g->starts);
    g->ends = malloc((2 * count * k + 1) * sizeof *g->ends);
    if (!g->starts || !g->ends)
        return false;
    for (size_t e = 0; e < count * k; e++)
        if (neighbours[e] >= 0) {
            g->starts[e / k]++;
            g->starts[neighbours[e]]++;
        }
    for (size_t i = 1; i <= count; i++)
        g->starts[i] += g->starts[i - 1];
    for (size_t e = count * k; e-- > 0;) /* the ends of the lists become their beginnings */
        if (neighbours[e] >= 0) {
            g->ends[--g->starts[e / k]] = (uint32_t)neighbours[e];
            g->ends[--g->starts[neighbours[e]]] = (uint32_t)(e / k);
        }
    return true;
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

/* Makes coordinate `axis` of all points have mean 0, no part along the axis before, and length sqrt(count). */
static void normalise(const graph *g, float *xy, int axis) {
    double mean = 0, dot = 0, square = 0, before = 0;
    for (size_t i = 0; i < g->count; i++)
        mean += (double)xy[2 * i + (size_t)axis] / (double)g->count;
    for (size_t i = 0; i < g->count; i++)
        xy[2 * i + (size_t)axis] -= (float)mean;
    for (size_t i = 0; i < g->count && axis == 1; i++) {
        dot += (double)xy[2 * i] * (double)xy[2 * i + 1];
        before += (double)xy[2 * i] * (double)xy[2 * i];
    }
    for (size_t i = 0; i < g->count; i++) {
        float *value = &xy[2 * i + (size_t)axis];
        *value -= before > 0 ? (float)(dot / before) * xy[2 * i] : 0;
        square += (double)*value * (double)*value;
    }
    for (size_t i = 0; i < g->count && square > 0; i++)
        xy[2 * i + (size_t)axis] *= (float)sqrt((double)g->count / square);
}

/* A point becomes the mean of itself and the mean of its neighbours. */
static void average(const graph *g, const float *from, float *to) {
    for (size_t i = 0; i < g->count; i++) {
        double sum[2] = {0, 0};
        size_t degree = g->starts[i + 1] - g->starts[i];
        for (size_t e = g->starts[i]; e < g->starts[i + 1]; e++) {
            sum[0] += (double)from[2 * g->ends[e]];
            sum[1] += (double)from[2 * g->ends[e] + 1];
        }
        for (size_t c = 0; c < 2; c++) {
            double own = (double)from[2 * i + c];
            to[2 * i + c] = (float)(0.5 * own + 0.5 * (degree ? sum[c] / (double)degree : own));
        }
    }
}

static void begin(layout *l) {
    const graph *g = &l->edges;
    ast_sampling sampling = {1};
    for (size_t i = 0; i < 2 * g->count; i++)
        l->xy[i] = (float)ast_sampling_below(&sampling, 20001) - 10000;
    for (int round = 0; round < ROUNDS; round++) {
        average(g, l->xy, l->force);
        memcpy(l->xy, l->force, 2 * g->count * sizeof *l->xy);
        normalise(g, l->xy, 0);
        normalise(g, l->xy, 1);
    }
    for (size_t i = 0; i < 2 * g->count; i++) {
        l->xy[i] *= 1e-2f; /* small, so that points can pass each other */
        l->gain[i] = 1;
        l->speed[i] = 0;
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Turns the repulsion of a point into the gradient of its place. */
static void attract(const layout *l, size_t i, double exaggeration, double all, float gradient[2]) {
    const graph *g = &l->edges;
    const float *own = l->xy + 2 * i;
    double pull = exaggeration / (double)g->starts[g->count], sum[2] = {0, 0};
    for (size_t e = g->starts[i]; e < g->starts[i + 1]; e++) {
        const float *other = l->xy + 2 * (size_t)g->ends[e];
        float dx = own[0] - other[0], dy = own[1] - other[1], q = 1 / (1 + dx * dx + dy * dy);
        sum[0] += (double)(q * dx);
        sum[1] += (double)(q * dy);
    }
    for (size_t c = 0; c < 2; c++)
        gradient[c] = (float)(pull * sum[c] - (double)l->force[2 * i + c] / all);
}

/* Gradient descent with momentum; a coordinate that keeps its direction becomes faster (Jacobs 1988). */
static void step(layout *l, int number) {
    const graph *g = &l->edges;
    bool early = number < EARLY;
    double all = ast_repulsion_find(l->repulsion, l->xy, l->force), mean[2] = {0, 0};
    float rate = (float)g->count / (early ? EXAGGERATION : RATE), momentum = early ? 0.5f : 0.8f;
    for (size_t i = 0; i < g->count; i++) /* all gradients before any point moves */
        attract(l, i, early ? EXAGGERATION : 1, all > 0 ? all : 1, l->force + 2 * i);
    for (size_t i = 0; i < 2 * g->count; i++) {
        bool same = (l->force[i] > 0) == (l->speed[i] > 0);
        l->gain[i] = fmaxf(0.01f, same ? l->gain[i] * 0.8f : l->gain[i] + 0.2f);
        l->speed[i] = momentum * l->speed[i] - rate * l->gain[i] * l->force[i];
        l->xy[i] += l->speed[i];
        mean[i % 2] += (double)l->xy[i] / (double)g->count;
    }
    for (size_t i = 0; i < 2 * g->count; i++)
        l->xy[i] -= (float)mean[i % 2];
}

bool ast_map_layout(const int32_t *neighbours, size_t count, size_t k, float *xy, int (*stop)(void *data), void *data) {
    float *room = malloc((6 * count + 1) * sizeof *room);
    layout l = {.repulsion = ast_repulsion_open(count), .xy = xy};
    bool good = make_graph(&l.edges, neighbours, count, k) && room && l.repulsion;
    if (good) {
        l.force = room;
        l.speed = room + 2 * count;
        l.gain = room + 4 * count;
        begin(&l);
    }
    for (int i = 0; i < STEPS && good; i++) {
        good = !stop || !stop(data);
        step(&l, i);
    }
    free(l.edges.starts);
    free(l.edges.ends);
    ast_repulsion_close(l.repulsion);
    free(room);
    return good;
}
