/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means without initial means over very many points, next to the bare pass over the same points: a pass that
 * takes 1.5 bare passes with a million points should not take more with a hundred million, which fit no cache. */
#include "scaling.h"

#include "asterism.h"
#include "bare.h"

#include <math.h>
#include <stdio.h>

#define ANGLE 25 /* degrees: the means are at least 30 apart */
#define MOST 1.5 /* bare passes that a pass may take */

static int note(const ast_progress *state, void *data) {
    bench_large *large = data;
    int number = state->iteration - 1;
    if (number < 0 || number >= BENCH_LARGE_PASSES)
        return 0;
    bench_large_pass *pass = &large->pass[number];
    pass->seconds = number < large->passes ? fmin(pass->seconds, state->seconds) : state->seconds;
    pass->scored = (double)state->scored;
    large->passes = number < large->passes ? large->passes : number + 1;
    return 0;
}

static void repeat(ast_context *context, bench_large *large, const float *points, int32_t *labels) {
    ast_points given = ast_points_f4(points, large->points, 3);
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.angle = ANGLE;
    options.progress = note;
    options.progress_data = large;
    double begin = bench_now();
    if (ast_cluster(context, &given, &options, labels, &report) != AST_OK)
        bench_die("%s", ast_message(context));
    double seconds = bench_now() - begin;
    large->call = large->call > 0 ? fmin(large->call, seconds) : seconds;
    large->clusters = report.clusters;
}

void bench_scaling_large(bench_scaling *s, const float *points, size_t count, const float *means, size_t clusters,
                         int32_t *labels) {
    bench_large *large = &s->large;
    bench_bare *bare = bench_bare_open(bench_bare_methods(3)[0], points, count, 3, means, clusters);
    ast_context *context;
    ast_open(&context, s->threads); /* one context for all runs: they reuse the memory of the first */
    if (!context)
        bench_die("no context could be opened");
    fprintf(stderr, "scaling: from nothing, beside the bare pass\n");
    *large = (bench_large){.points = count, .bare = INFINITY};
    for (int r = 0; r < s->repetitions; r++) {
        bench_team *team = bench_team_open(s->threads); /* its threads spin: not while the library runs */
        for (int i = 0; i < 2; i++)
            large->bare = fmin(large->bare, bench_bare_run(bare, team));
        bench_team_close(team);
        repeat(context, large, points, labels);
    }
    if (!s->full)
        bench_bare_check(bare);
    ast_close(context);
    bench_bare_close(bare);
}

void bench_large_goals(const bench_large *large, bench_goals *goals) {
    for (int i = 0; i < large->passes && i < 3; i++)
        bench_goals_add(goals, MOST, large->pass[i].seconds / large->bare, 0,
                        "%zu x 3, 30 clusters: pass %d, in bare passes", large->points, i + 1);
}

void bench_large_print(const bench_large *large) {
    printf("%zu points, D = 3, from nothing to %zu clusters: the bare pass %.1f ms, the whole call %.1f ms\n",
           large->points, large->clusters, 1e3 * large->bare, 1e3 * large->call);
    for (int i = 0; i < large->passes; i++)
        printf("    pass %d %12.1f ms, %5.2f bare passes, compared %.3f of the points\n", i + 1,
               1e3 * large->pass[i].seconds, large->pass[i].seconds / large->bare,
               large->pass[i].scored / (double)large->points);
}

void bench_large_write(const bench_large *large, ast_text *json) {
    ast_json_open(json, "from_nothing", '{');
    ast_json_number(json, "points", (double)large->points, 9);
    ast_json_number(json, "clusters", (double)large->clusters, 9);
    ast_json_number(json, "bare_pass_seconds", large->bare, 9);
    ast_json_number(json, "call_seconds", large->call, 9);
    ast_json_open(json, "pass_seconds", '[');
    for (int i = 0; i < large->passes; i++)
        ast_json_number(json, NULL, large->pass[i].seconds, 9);
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}
