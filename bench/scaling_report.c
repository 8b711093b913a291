/* SPDX-License-Identifier: MIT
 *
 * The curves as a table, with the slope of each, and as JSON. */
#include "scaling.h"

#include <math.h>
#include <stdio.h>

static void print_curve(const bench_panel *panel, const bench_curve *curve) {
    printf("  %s\n", curve->name);
    for (int i = 0; i < curve->count; i++)
        printf("    %10.0f %-26s %12.3f ms\n", curve->x[i], i ? "" : panel->x_label, 1e3 * curve->seconds[i]);
    double slope = bench_curve_slope(curve);
    if (isnan(slope))
        printf("    log-log slope: too few points\n");
    else
        printf("    log-log slope from %.0f on: %.2f\n", curve->from, slope);
}

void bench_scaling_goals(const bench_scaling *s, bench_goals *goals) {
    if (s->threads && s->large.points)
        bench_large_goals(&s->large, goals);
}

void bench_scaling_print(const bench_scaling *s) {
    if (s->threads == 0)
        return;
    printf("\nScaling, %d threads: the least of %d repetitions\n", s->threads, s->repetitions);
    for (int p = 0; p < BENCH_PANELS; p++) {
        if (!s->panel[p].x_label)
            continue;
        printf("%s\n", s->panel[p].title);
        for (int c = 0; c < s->panel[p].curves; c++)
            print_curve(&s->panel[p], &s->panel[p].curve[c]);
        if (p == BENCH_BY_WORKERS && s->without[0])
            printf("  %s\n", s->without);
    }
    if (s->large.points)
        bench_large_print(&s->large);
}

static void write_curve(bench_json *json, const bench_curve *curve) {
    double slope = bench_curve_slope(curve);
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "name", curve->name);
    if (!isnan(slope)) {
        bench_json_number(json, "slope_from", curve->from);
        bench_json_number(json, "slope", slope);
    }
    bench_json_open(json, "x", '[');
    for (int i = 0; i < curve->count; i++)
        bench_json_number(json, NULL, curve->x[i]);
    bench_json_close(json, ']');
    bench_json_open(json, "seconds", '[');
    for (int i = 0; i < curve->count; i++)
        bench_json_number(json, NULL, curve->seconds[i]);
    bench_json_close(json, ']');
    bench_json_close(json, '}');
}

void bench_scaling_write(const bench_scaling *s, bench_json *json) {
    if (s->threads == 0)
        return;
    bench_json_open(json, "scaling", '{');
    bench_json_number(json, "threads", s->threads);
    bench_json_number(json, "repetitions", s->repetitions);
    if (s->large.points)
        bench_large_write(&s->large, json);
    bench_json_open(json, "panels", '[');
    for (int p = 0; p < BENCH_PANELS; p++) {
        if (!s->panel[p].x_label)
            continue;
        bench_json_open(json, NULL, '{');
        bench_json_text(json, "title", s->panel[p].title);
        bench_json_text(json, "x", s->panel[p].x_label);
        bench_json_open(json, "curves", '[');
        for (int c = 0; c < s->panel[p].curves; c++)
            write_curve(json, &s->panel[p].curve[c]);
        bench_json_close(json, ']');
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
    bench_json_close(json, '}');
}
