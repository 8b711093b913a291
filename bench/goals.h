/* SPDX-License-Identifier: MIT
 *
 * Goals and results. They are printed, never turned into an exit code: no test depends on timing. */
#ifndef BENCH_GOALS_H
#define BENCH_GOALS_H

#include "measure.h"

#define BENCH_MAX_GOALS 128

typedef struct bench_goal {
    char what[96];
    double goal, reached;
    int at_least; /* reached >= goal is good; otherwise reached <= goal */
} bench_goal;

typedef struct bench_goals {
    int count;
    bench_goal goal[BENCH_MAX_GOALS];
} bench_goals;

void bench_goals_add(bench_goals *goals, double goal, double reached, int at_least, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds the goals for which there are results. */
void bench_goals_fill(bench_goals *goals, const bench_result *results, int count);
int bench_goal_met(const bench_goal *goal);

#endif
