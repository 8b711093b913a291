/* SPDX-License-Identifier: MIT
 *
 * The tables for people. Times are minima over the repetitions; medians are in brackets. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_PASSES 12 /* per run; the others are summed up */

void bench_report_machine(bench_report *report) {
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    strcpy(report->machine, "unknown processor");
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = 0;
            snprintf(report->machine, sizeof report->machine, "%.100s", strchr(line, ':') + 2);
            break;
        }
    if (info)
        fclose(info);
    report->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (getloadavg(&report->load, 1) != 1)
        report->load = 0;
}

/* ---- The machine ------------------------------------------------------------------------------------------------ */

void bench_print_limits(const bench_report *report) {
    printf("%s, %d processors, load average %.2f at the start, %d repetitions\n", report->machine, report->processors,
           report->load, report->repetitions);
    if (report->share < 1)
        printf("Quick run: %.0f%% of the points. The ratios differ from those of the full workloads.\n",
               100 * report->share);
    printf("\n%-8s %12s %12s %18s\n", "threads", "read GB/s", "triad GB/s", "multiply-add GFLOPS");
    for (int i = 0; i < report->limit_count; i++) {
        const bench_limits *l = &report->limits[i];
        printf("%-8d %12.1f %12.1f %18.1f\n", l->threads, l->read / 1e9, l->triad / 1e9, l->multiply_add / 1e9);
    }
    const bench_limits *last = &report->limits[report->limit_count - 1];
    if (last->threads > 1 && last->multiply_add < 0.8 * last->threads * report->limits[0].multiply_add)
        printf("%d threads did not get %d processors: other programs were running. These numbers are unreliable.\n",
               last->threads, last->threads);
    printf("\n");
}

/* ---- A workload ------------------------------------------------------------------------------------------------- */

static double peak_of(const bench_report *report, int threads) {
    for (int i = 0; i < report->limit_count; i++)
        if (report->limits[i].threads == threads)
            return report->limits[i].multiply_add;
    return 0;
}

static void print_bare(const bench_report *report, const bench_result *r) {
    const bench_workload *w = r->workload;
    double work = 2.0 * (double)w->count * (double)w->dimension * (double)w->clusters;
    for (int m = 0; m < r->methods; m++) {
        double seconds = bench_samples_min(&r->bare[m]), peak = peak_of(report, r->threads);
        printf("  bare pass, %-12s %9.3f ms (%.3f)", r->method[m]->name, 1e3 * seconds,
               1e3 * bench_samples_median(&r->bare[m]));
        if (peak > 0)
            printf("  %.0f%% of the multiply-add peak", 100 * work / seconds / peak);
        printf(r->methods > 1 && m == bench_bare_best(r) ? "  <- the limit below\n" : "\n");
    }
}

static void print_run(const bench_result *r, int kind) {
    const bench_run *run = &r->run[kind];
    double seconds = bench_samples_min(&run->total);
    if (run->total.count == 0)
        return;
    printf("  %-16s %10.3f ms (%.3f)  %7.2f bare passes, %d passes, %zu clusters, objective %.6g%s\n",
           bench_run_name(kind), 1e3 * seconds, 1e3 * bench_samples_median(&run->total),
           seconds / bench_bare_seconds(r), run->passes, run->clusters, run->objective,
           run->converged ? "" : ", not converged");
}

static void print_pass(const bench_result *r, const bench_pass *pass, int number) {
    double seconds = bench_samples_min(&pass->time);
    printf("    %6d %10.3f %10.3f %8.2f %12zu %12llu %9zu\n", number, 1e3 * seconds,
           1e3 * bench_samples_median(&pass->time), seconds / bench_bare_seconds(r), pass->changed,
           (unsigned long long)pass->scored, pass->clusters);
}

static void print_passes(const bench_result *r, int kind) {
    const bench_run *run = &r->run[kind];
    double sum = 0, rest = 0;
    for (int i = 0; i < run->passes; i++)
        sum += bench_samples_min(&run->pass[i].time);
    if (run->passes == 0)
        return;
    printf("    %6s %10s %10s %8s %12s %12s %9s   (%s)\n", "pass", "ms", "median", "/ bare", "changed", "scored",
           "clusters", bench_run_name(kind));
    for (int i = 0; i < run->passes; i++)
        if (i < SHOWN_PASSES || i == run->passes - 1)
            print_pass(r, &run->pass[i], i + 1);
        else
            rest += bench_samples_min(&run->pass[i].time);
    if (run->passes > SHOWN_PASSES + 1)
        printf("    the %d passes between: %.3f ms, %.2f bare passes\n", run->passes - SHOWN_PASSES - 1, 1e3 * rest,
               rest / bench_bare_seconds(r));
    printf("    outside of passes: %.3f ms\n", 1e3 * (bench_samples_min(&run->total) - sum));
}

void bench_print_result(const bench_report *report, const bench_result *r) {
    const bench_workload *w = r->workload;
    printf("%s, %d thread%s: %zu x %zu, %s; %g degrees; %s\n", w->name, r->threads, r->threads == 1 ? "" : "s",
           w->count, w->dimension, w->about, w->angle, r->instruction_set);
    print_bare(report, r);
    for (int kind = 0; kind < BENCH_RUNS; kind++)
        print_run(r, kind);
    print_passes(r, BENCH_COLD);
    print_passes(r, BENCH_WARM);
    if (r->peak_memory)
        printf("  peak memory %.1f MiB, budget %.1f MiB\n", (double)r->peak_memory / (1 << 20),
               (double)r->memory_budget / (1 << 20));
    printf("\n");
}

/* ---- Goals ------------------------------------------------------------------------------------------------------ */

/* Runs that must give the same labels: with and without bounds, on every number of threads. */
static int labels_agree(const bench_report *report, int kind, int other) {
    for (int i = 0; i < report->result_count; i++)
        for (int j = 0; j < report->result_count; j++) {
            const bench_run *a = &report->results[i].run[kind], *b = &report->results[j].run[other];
            if (report->results[i].workload == report->results[j].workload && a->passes && b->passes &&
                a->labels_hash != b->labels_hash)
                return 0;
        }
    return 1;
}

void bench_print_goals(const bench_report *report) {
    printf("%-60s %10s %10s %7s  ok?\n", "goal", "goal", "reached", "ratio");
    for (int i = 0; i < report->goals.count; i++) {
        const bench_goal *g = &report->goals.goal[i];
        printf("%-60s %s%9.3g %10.3g ", g->what, g->at_least ? ">" : "<", g->goal, g->reached);
        if (g->goal > 0)
            printf("%7.2f", g->reached / g->goal);
        printf("%*s  %s\n", g->goal > 0 ? 0 : 7, "", bench_goal_met(g) ? "yes" : "no");
    }
    int agree = 1;
    for (int kind = BENCH_COLD; kind < BENCH_RUNS;
         kind += 2) /* each kind is followed by the same kind without bounds */
        agree &= labels_agree(report, kind, kind) && labels_agree(report, kind, kind + 1);
    agree &= bench_streams_agree(&report->streams) && bench_depths_agree(&report->depths) &&
             bench_embeddings_agree(&report->embeddings);
    printf("%-60s %10s %10s %7s  %s\n", "labels equal over threads and bounds", "", "", "", agree ? "yes" : "no");
}
