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
const ast_cli_option ast_cli_mixtures_options[] = {
    {"hard", AST_CLI_FLAG, NULL, "movmf: every point belongs to one component alone", AT(hard), 0, 0, NULL},
    {"kappa", AST_CLI_REAL, "X",
     "movmf, fsd, crp: the concentration of every cluster, if it is\n"
     "known; otherwise each has its own",
     AT(kappa), 0, MOST, NULL},
    {"tolerance", AST_CLI_REAL, "T",
     "movmf: done when a pass raises the log-likelihood by less, in\n"
     "nats a point (default 1e-6)",
     AT(tolerance), 0, MOST, NULL},
    {"memberships", AST_CLI_TEXT, "FILE",
     "movmf, fsd, crp: write how much each point belongs to each\n"
     "cluster, one row a point: float32 .npy, or text",
     AT(memberships), 0, 0, NULL},
    {"concentration", AST_CLI_REAL, "A",
     "fsd, crp: alpha of the Dirichlet prior; the larger, the more\n"
     "clusters (default 1)",
     AT(concentration), 1e-9, MOST, NULL},
    {"kappa-median", AST_CLI_REAL, "S",
     "fsd, crp: median of the prior of kappa (default 10 times the\n"
     "dimension)",
     AT(kappa_median), 1e-9, MOST, NULL},
    {"prior-kappa", AST_CLI_REAL, "X",
     "fsd, crp: how close to --prior-mean the means are believed to\n"
     "be (default 0: anywhere)",
     AT(prior_kappa), 0, MOST, NULL},
    {"prior-mean", AST_CLI_TEXT, "FILE", "fsd, crp: a file with that one direction", AT(prior_mean), 0, 0, NULL},
    {"samples", AST_CLI_TEXT, "FILE",
     "fsd, crp: write the labels of the samples, one row each:\n"
     "int32 .npy, or text",
     AT(samples), 0, 0, NULL},
    {"sample-every", AST_CLI_COUNT, "N", "fsd, crp: every N-th sweep is a sample (default 1)", AT(sample_every), 1,
     MOST_COUNT, NULL},
    {"burn-in", AST_CLI_COUNT, "N", "fsd, crp: sweeps before the first sample (default 0)", AT(burn_in), 0, MOST_COUNT,
     NULL},
    {"learning-rate", AST_CLI_REAL, "ETA", "ospkm: the length of the first steps (default 1)", AT(learning_rate), 1e-9,
     MOST, NULL},
    {"learning-rate-end", AST_CLI_REAL, "ETA", "ospkm: and of the last ones (default 0.01)", AT(learning_rate_end),
     1e-9, MOST, NULL},
    {"trace", AST_CLI_TEXT, "FILE.csv", "write a line for each pass: clusters, changes, objective", AT(trace), 0, 0,
     NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

ast_cli_mixtures ast_cli_mixtures_default(void) {
    ast_options o;
    ast_options_init(&o);
    return (ast_cli_mixtures){.kappa = NAN,
                              .tolerance = o.tolerance,
                              .concentration = o.concentration,
                              .learning_rate = o.learning_rate,
                              .learning_rate_end = o.learning_rate_end};
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

#define BIT(method) (1u << (method))
#define SAMPLERS (BIT(AST_FSD) | BIT(AST_CRP))
#define MIXTURES (BIT(AST_MOVMF) | SAMPLERS)

int ast_cli_mixtures_check(const ast_cli_mixtures *g, ast_method method, const char *name) {
    const ast_cli_mixtures usual = ast_cli_mixtures_default();
    const struct {
        int given;
        const char *option, *whose;
        unsigned methods;
    } rules[] = {{g->hard, "hard", "movmf", BIT(AST_MOVMF)},
                 {!isnan(g->kappa), "kappa", "movmf, fsd and crp", MIXTURES},
                 {g->tolerance != usual.tolerance, "tolerance", "movmf", BIT(AST_MOVMF)},
                 {g->memberships != NULL, "memberships", "movmf, fsd and crp", MIXTURES},
                 {g->concentration != usual.concentration, "concentration", "fsd and crp", SAMPLERS},
                 {g->kappa_median > 0, "kappa-median", "fsd and crp", SAMPLERS},
                 {g->prior_kappa > 0, "prior-kappa", "fsd and crp", SAMPLERS},
                 {g->prior_mean != NULL, "prior-mean", "fsd and crp", SAMPLERS},
                 {g->samples != NULL, "samples", "fsd and crp", SAMPLERS},
                 {g->sample_every > 0, "sample-every", "fsd and crp", SAMPLERS},
                 {g->burn_in > 0, "burn-in", "fsd and crp", SAMPLERS},
                 {g->learning_rate != usual.learning_rate, "learning-rate", "ospkm", BIT(AST_OSPKM)},
                 {g->learning_rate_end != usual.learning_rate_end, "learning-rate-end", "ospkm", BIT(AST_OSPKM)}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given && !(rules[i].methods & BIT(method)))
            return ast_cli_fail(AST_CLI_USAGE, "--%s is for %s; --method %s does not know it", rules[i].option,
                                rules[i].whose, name);
    if ((g->prior_kappa > 0) != (g->prior_mean != NULL))
        return ast_cli_fail(AST_CLI_USAGE, "--prior-kappa and --prior-mean go together: --%s is missing",
                            g->prior_mean ? "prior-kappa" : "prior-mean");
    if ((g->sample_every || g->burn_in) && !g->samples)
        return ast_cli_fail(AST_CLI_USAGE, "--%s is about samples, which --samples FILE would write",
                            g->sample_every ? "sample-every" : "burn-in");
    return -1;
}

void ast_cli_mixtures_apply(const ast_cli_mixtures *g, ast_options *o) {
    o->hard = g->hard;
    o->kappa = g->kappa;
    o->tolerance = g->tolerance;
    o->concentration = g->concentration;
    o->kappa_median = g->kappa_median;
    o->prior_kappa = g->prior_kappa;
    o->burn_in = (int)g->burn_in;
    o->sample_every = g->samples ? (int)(g->sample_every ? g->sample_every : 1) : 0;
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
