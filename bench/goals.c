/* SPDX-License-Identifier: MIT
 *
 * The speed goals of the project, computed from the minima over the repetitions. */
#include "goals.h"

#include <stdarg.h>
#include <stdio.h>

#define FULL_PASS 1.5  /* bare passes, for each of the first three passes */
#define QUIET_PASS 0.2 /* for each pass in which fewer than 1% of the points change */
#define QUIET_SHARE 0.01
#define BIRTHS 1.3   /* a cold run, relative to as many passes of a warm run */
#define BOUNDED 0.25 /* a run with bounds, relative to a run without */
#define SPEED_UP 1.7 /* two threads */

void bench_goals_add(bench_goals *goals, double goal, double reached, int at_least, const char *format, ...) {
    va_list arguments;
    if (goals->count == BENCH_MAX_GOALS)
        return;
    bench_goal *g = &goals->goal[goals->count++];
    *g = (bench_goal){.goal = goal, .reached = reached, .at_least = at_least};
    va_start(arguments, format);
    vsnprintf(g->what, sizeof g->what, format, arguments);
    va_end(arguments);
}

int bench_goal_met(const bench_goal *goal) {
    return goal->at_least ? goal->reached >= goal->goal : goal->reached <= goal->goal;
}

static double total(const bench_result *r, int kind) {
    return bench_samples_min(&r->run[kind].total);
}

/* "1 thread", "2 threads"; valid until the next call. */
static const char *on(const bench_result *r) {
    static char text[32];
    snprintf(text, sizeof text, "%d thread%s", r->threads, r->threads == 1 ? "" : "s");
    return text;
}

static int is_quiet(const bench_result *r, const bench_pass *pass) {
    return (double)pass->changed < QUIET_SHARE * (double)r->workload->count;
}

/* ---- The bare pass ---------------------------------------------------------------------------------------------- */

/* Milliseconds measured on a machine of this kind when the goals were set. */
static double reference_bare(const bench_result *r) {
    static const double one[] = {0.49, 3.66, 155}, two[] = {0.24, 1.81, 81};
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        if (r->workload->name == bench_workload_name(w))
            return r->threads == 1 ? one[w] : r->threads == 2 ? two[w] : 0;
    return 0;
}

static void add_bare(bench_goals *goals, const bench_result *r) {
    double reference = reference_bare(r);
    if (reference > 0 && r->workload->share >= 1)
        bench_goals_add(goals, reference, 1e3 * bench_bare_seconds(r), 0, "%s, %s: bare pass, ms", r->workload->name,
                        on(r));
}

/* ---- Three dimensions ------------------------------------------------------------------------------------------- */

static double pass_ratio(const bench_result *r, int kind, int pass) {
    return bench_samples_min(&r->run[kind].pass[pass].time) / bench_bare_seconds(r);
}

/* The slowest quiet pass (or any pass) from `from` on. -1 if there is none. */
static double slowest(const bench_result *r, int from, int to, int quiet_only) {
    double most = -1;
    for (int i = from; i < to && i < r->run[BENCH_COLD].passes; i++)
        if ((!quiet_only || is_quiet(r, &r->run[BENCH_COLD].pass[i])) && pass_ratio(r, BENCH_COLD, i) > most)
            most = pass_ratio(r, BENCH_COLD, i);
    return most;
}

/* The allowed time of the whole run, from the goals for its passes. */
static double allowed(const bench_result *r) {
    const bench_run *run = &r->run[BENCH_COLD];
    double sum = 0;
    for (int i = 0; i < run->passes; i++)
        sum += i < 3 || !is_quiet(r, &run->pass[i]) ? FULL_PASS : QUIET_PASS;
    return sum;
}

static void add_passes(bench_goals *goals, const bench_result *r) {
    const char *name = r->workload->name;
    int passes = r->run[BENCH_COLD].passes;
    double late = slowest(r, 3, passes, 1), any = slowest(r, 0, passes, 1);
    bench_goals_add(goals, FULL_PASS, slowest(r, 0, 3, 0), 0, "%s, %s: slowest of passes 1-3, in bare passes", name,
                    on(r));
    if (late >= 0)
        bench_goals_add(goals, QUIET_PASS, late, 0, "%s, %s: slowest quiet pass after them, in bare passes", name,
                        on(r));
    if (any >= 0)
        bench_goals_add(goals, QUIET_PASS, any, 0, "%s, %s: slowest quiet pass of all, in bare passes", name, on(r));
    bench_goals_add(goals, allowed(r), total(r, BENCH_COLD) / bench_bare_seconds(r), 0,
                    "%s, %s: whole run, in bare passes", name, on(r));
}

static double births(const bench_result *r, int cold, int warm) {
    double warm_pass = total(r, warm) / r->run[warm].passes;
    return total(r, cold) / (r->run[cold].passes * warm_pass);
}

static void add_births(bench_goals *goals, const bench_result *r) {
    const char *name = r->workload->name;
    bench_goals_add(goals, BIRTHS, births(r, BENCH_COLD, BENCH_WARM), 0, "%s, %s: cold run, in as many warm passes",
                    name, on(r));
    bench_goals_add(goals, BIRTHS, births(r, BENCH_COLD_UNBOUNDED, BENCH_WARM_UNBOUNDED), 0,
                    "%s, %s: the same, both without bounds", name, on(r));
    bench_goals_add(goals, BIRTHS, pass_ratio(r, BENCH_COLD, 0) / pass_ratio(r, BENCH_WARM, 0), 0,
                    "%s, %s: first pass, cold / warm", name, on(r));
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void add_bounds(bench_goals *goals, const bench_result *r) {
    bench_goals_add(goals, BOUNDED, total(r, BENCH_COLD) / total(r, BENCH_COLD_UNBOUNDED), 0,
                    "%s, %s: run with bounds / without", r->workload->name, on(r));
}

static void add_memory(bench_goals *goals, const bench_result *r) {
    if (r->peak_memory)
        bench_goals_add(goals, (double)r->memory_budget / (1 << 20), (double)r->peak_memory / (1 << 20), 0,
                        "%s, %s: peak memory, MiB", r->workload->name, on(r));
}

static void add_speed_up(bench_goals *goals, const bench_result *one, const bench_result *two) {
    const char *name = one->workload->name;
    bench_goals_add(goals, SPEED_UP, total(one, BENCH_COLD) / total(two, BENCH_COLD), 1, "%s: speed-up of two threads",
                    name);
    if (one->run[BENCH_SPKM].passes)
        bench_goals_add(goals, SPEED_UP, total(one, BENCH_SPKM) / total(two, BENCH_SPKM), 1,
                        "%s, spkm: speed-up of two threads", name);
}

static const bench_result *with_threads(const bench_result *results, int count, const bench_result *like, int threads) {
    for (int i = 0; i < count; i++)
        if (results[i].workload == like->workload && results[i].threads == threads)
            return &results[i];
    return NULL;
}

void bench_goals_fill(bench_goals *goals, const bench_result *results, int count) {
    for (int i = 0; i < count; i++) {
        const bench_result *r = &results[i], *one = with_threads(results, count, r, 1);
        int births_count = r->workload->name == bench_workload_name(BENCH_W2);
        add_bare(goals, r);
        if (r->run[BENCH_COLD].passes == 0)
            continue;
        if (r->workload->dimension == 3)
            add_passes(goals, r);
        if (births_count)
            add_births(goals, r);
        if (r->workload->dimension > 3)
            add_bounds(goals, r);
        if (r->threads == 2 && one && r->workload->name != bench_workload_name(BENCH_W1))
            add_speed_up(goals, one, r);
        add_memory(goals, r);
    }
}
