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

static void write_curve(ast_text *json, const bench_curve *curve) {
    double slope = bench_curve_slope(curve);
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "name", curve->name);
    if (!isnan(slope)) {
        ast_json_number(json, "slope_from", curve->from, 9);
        ast_json_number(json, "slope", slope, 9);
    }
    ast_json_open(json, "x", '[');
    for (int i = 0; i < curve->count; i++)
        ast_json_number(json, NULL, curve->x[i], 9);
    ast_json_close(json, ']');
    ast_json_open(json, "seconds", '[');
    for (int i = 0; i < curve->count; i++)
        ast_json_number(json, NULL, curve->seconds[i], 9);
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}

void bench_scaling_write(const bench_scaling *s, ast_text *json) {
    if (s->threads == 0)
        return;
    ast_json_open(json, "scaling", '{');
    ast_json_number(json, "threads", s->threads, 9);
    ast_json_number(json, "repetitions", s->repetitions, 9);
    if (s->large.points)
        bench_large_write(&s->large, json);
    ast_json_open(json, "panels", '[');
    for (int p = 0; p < BENCH_PANELS; p++) {
        if (!s->panel[p].x_label)
            continue;
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "title", s->panel[p].title);
        ast_json_string(json, "x", s->panel[p].x_label);
        ast_json_open(json, "curves", '[');
        for (int c = 0; c < s->panel[p].curves; c++)
            write_curve(json, &s->panel[p].curve[c]);
        ast_json_close(json, ']');
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}
