/* SPDX-License-Identifier: MIT */
#include "run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int keep_sample(ast_cli_record *r, const ast_progress *state) {
    size_t size = r->points * sizeof *r->samples;
    if (!ast_array_grow(&r->samples, &r->sample_room, r->sample_count + 1, size))
        return 0;
    memcpy(r->samples + r->sample_count++ * r->points, state->labels, size);
    return 1;
}

static int keep_pass(ast_cli_record *r, const ast_progress *state) {
    if (!ast_array_grow(&r->passes, &r->pass_room, r->pass_count + 1, sizeof *r->passes))
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
