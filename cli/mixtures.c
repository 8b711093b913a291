/* SPDX-License-Identifier: MIT */
#include "mixtures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "terminal.h"

#define MOST 1e9
#define MOST_COUNT 2147483647

#define AT(field) offsetof(ast_cli_mixtures, field)
static const ast_cli_option options[] = {
    {"hard", AST_CLI_FLAG, NULL, "every point belongs to one component alone", AT(hard), .methods = AST_CLI_MOVMF,
     .manual = "Every point belongs to its most probable component alone."},
    {"kappa", AST_CLI_REAL, "X",
     "the concentration of every cluster, if it is known; otherwise each cluster has its own", AT(kappa), 0, MOST,
     .methods = AST_CLI_MIXTURES,
     .manual = "The concentration of every cluster, if it is known. Otherwise each cluster has one of its own, "
               "estimated or sampled."},
    {"tolerance", AST_CLI_REAL, "T", "stop when a pass raises the log-likelihood by less, in nats per point",
     AT(tolerance), 0, MOST, .standard = "1e-6", .methods = AST_CLI_MOVMF,
     .manual = "Done when a pass raises the log-likelihood by less than *T* nats a point (default 1e-6)."},
    {"memberships", AST_CLI_TEXT, "FILE",
     "write how much each point belongs to each cluster, one row per point: float32 .npy, or text", AT(memberships),
     .methods = AST_CLI_MIXTURES,
     .manual = "Writes how much each point belongs to each cluster, one row a point, float32 *.npy* or text; "
               "missing rows are NaN."},
    {"concentration", AST_CLI_REAL, "A", "alpha of the Dirichlet prior; a larger value gives more clusters",
     AT(concentration), 1e-9, MOST, .standard = "1", .methods = AST_CLI_SAMPLERS,
     .manual = "Alpha of the Dirichlet prior (default 1). The larger, the more clusters."},
    {"kappa-median", AST_CLI_REAL, "S", "median of the prior of kappa (default 10 times the dimension)",
     AT(kappa_median), 1e-9, MOST, .methods = AST_CLI_SAMPLERS,
     .manual = "The median of the prior of kappa, which has the density S/(kappa+S)^2 (default 10 times the "
               "dimension)."},
    {"prior-kappa", AST_CLI_REAL, "X", "concentration of the means about --prior-mean; 0: anywhere", AT(prior_kappa), 0,
     MOST, .standard = "0", .methods = AST_CLI_SAMPLERS, .needs = "prior-mean",
     .manual = "The means are believed to lie about the one direction in *FILE*, with concentration *X* (default 0: "
               "anywhere)."},
    {"prior-mean", AST_CLI_TEXT, "FILE", "a file with that one direction", AT(prior_mean), .methods = AST_CLI_SAMPLERS,
     .needs = "prior-kappa"},
    {"samples", AST_CLI_TEXT, "FILE", "write the labels of the samples, one row each: int32 .npy, or text", AT(samples),
     .methods = AST_CLI_SAMPLERS, .excludes = "restarts",
     .manual = "Writes the labels of every *N*-th sweep (default 1) after those of the burn-in (default 0), one row "
               "a sample, int32 *.npy* or text."},
    {"sample-every", AST_CLI_COUNT, "N", "every N-th sweep is a sample", AT(sample_every), 1, MOST_COUNT,
     .standard = "1", .methods = AST_CLI_SAMPLERS, .needs = "samples"},
    {"burn-in", AST_CLI_COUNT, "N", "sweeps before the first sample", AT(burn_in), 0, MOST_COUNT, .standard = "0",
     .methods = AST_CLI_SAMPLERS, .needs = "samples"},
    {"learning-rate", AST_CLI_REAL, "ETA", "length of the first steps", AT(learning_rate), 1e-9, MOST, .standard = "1",
     .methods = AST_CLI_OSPKM,
     .manual = "The length of a step at the start (default 1) and at the end (default 0.01); it falls exponentially."},
    {"learning-rate-end", AST_CLI_REAL, "ETA", "length of the last steps", AT(learning_rate_end), 1e-9, MOST,
     .standard = "0.01", .methods = AST_CLI_OSPKM},
    {"trace", AST_CLI_TEXT, "FILE.csv", "write a line per pass: clusters, changes, objective", AT(trace),
     .excludes = "compare",
     .manual = "Writes a line for each pass or sweep: run, pass, clusters, points that changed, objective, seconds. "
               "The objective is the log-likelihood for `movmf` and the log of the joint density for `fsd` and "
               "`crp`."},
    {0}};

const ast_cli_group ast_cli_mixtures_group = {.title = "Options for mixtures and samplers", .options = options};

void ast_cli_mixtures_apply(const ast_cli_mixtures *g, ast_options *o) {
    o->hard = g->hard;
    o->kappa = g->kappa;
    o->tolerance = g->tolerance;
    o->concentration = g->concentration;
    o->kappa_median = isnan(g->kappa_median) ? 0 : g->kappa_median; /* 0: 10 times the dimension */
    o->prior_kappa = g->prior_kappa;
    o->burn_in = (int)g->burn_in;
    o->sample_every = g->samples ? (int)g->sample_every : 0;
    o->learning_rate = g->learning_rate;
    o->learning_rate_end = g->learning_rate_end;
}

/* ---- The record -------------------------------------------------------------------------------------------------- */

/* Room for one more element of this size; 0 if there is no memory. */
static int make_room(void *array, size_t count, size_t *room, size_t size) {
    void **pointer = array;
    size_t wanted = *room ? 2 * *room : 16;
    if (count < *room)
        return 1;
    void *memory = wanted <= SIZE_MAX / size ? realloc(*pointer, wanted * size) : NULL;
    if (!memory)
        return 0;
    *pointer = memory;
    *room = wanted;
    return 1;
}

static int keep_sample(ast_cli_record *r, const ast_progress *state) {
    size_t size = r->points * sizeof *r->samples;
    if (!make_room(&r->samples, r->sample_count, &r->sample_room, size))
        return 0;
    memcpy(r->samples + r->sample_count++ * r->points, state->labels, size);
    return 1;
}

static int keep_pass(ast_cli_record *r, const ast_progress *state) {
    if (!make_room(&r->passes, r->pass_count, &r->pass_room, sizeof *r->passes))
        return 0;
    r->passes[r->pass_count++] = *state;
    return 1;
}

int ast_cli_record_step(const ast_progress *state, void *data) {
    ast_cli_record *r = data;
    if (state->iteration > 0 && state->left == 0 && r->passes_wanted && !keep_pass(r, state))
        r->failed = 1;
    if (state->labels && r->samples_wanted && !keep_sample(r, state))
        r->failed = 1;
    return ast_cli_progress_step(state, r->progress) || r->failed;
}

void ast_cli_record_free(ast_cli_record *r) {
    free(r->passes);
    free(r->samples);
}

bool ast_cli_write_trace(const ast_cli_record *r, ast_output *output, ast_format_error *error) {
    static const char head[] = "run,pass,clusters,changed,objective,seconds\n";
    bool good = ast_output_write(output, head, sizeof head - 1, error);
    for (size_t i = 0; i < r->pass_count && good; i++) {
        const ast_progress *p = &r->passes[i];
        char line[160];
        int length = snprintf(line, sizeof line, "%d,%d,%zu,%zu,%.17g,%.9f\n", p->restart + 1, p->iteration,
                              p->clusters, p->changed, p->objective, p->seconds);
        good = ast_output_write(output, line, (size_t)length, error);
    }
    return good;
}
