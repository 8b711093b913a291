/* SPDX-License-Identifier: MIT
 *
 * Bare passes over the points of a frame. */
#include "axes.h"

#include "scene.h"

#define SECONDS 0.02 /* least duration of a repetition */
#define PASSES 24    /* and least number of passes: some of them should hit a quiet moment of a busy machine */

void bench_axes_repeat(bench_axes *axes, const float *points, size_t count, const float *means) {
    const bench_method *method = bench_bare_methods(3)[0];
    bench_bare *pass = bench_bare_open(method, points, count, 3, means, BENCH_AXES);
    bench_team *team = bench_team_open(axes->threads);
    double best = bench_bare_run(pass, team), spent = best;
    for (int passes = 1; passes < PASSES || spent < SECONDS; passes++) {
        double seconds = bench_bare_run(pass, team);
        best = seconds < best ? seconds : best;
        spent += seconds;
    }
    bench_team_close(team);
    if (axes->time.count == 0)
        bench_bare_check(pass);
    bench_bare_close(pass);
    axes->name = method->name;
    bench_samples_add(&axes->time, best);
}
