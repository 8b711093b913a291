/* SPDX-License-Identifier: MIT
 *
 * What a run that looked at some points only has lost: the run over all points all the time, from the same start. */
#include "cluster.h"

#include "cli.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

/* Where mbspkm starts by itself, as asterism.h says: k-means++ among as many points as a batch has, or 10 a cluster. */
static size_t start_points(const ast_options *o) {
    size_t each = 10 * o->clusters, batch = o->batch ? o->batch : each > 1024 ? each : 1024;
    return batch > each ? batch : each;
}

/* Mini-batches become full iterations with the usual limit, a sample all points. */
static ast_options full_options(const job *work) {
    ast_options full = work->options, usual;
    ast_options_init(&usual);
    full.sample = full.batch = 0;
    if (full.method == AST_MBSPKM) {
        full.method = AST_SPKM;
        full.max_iterations = usual.max_iterations;
        full.start_points = full.start == AST_PLUSPLUS ? start_points(&work->options) : 0;
    }
    return full;
}

int ast_cli_cluster_compare(job *work) {
    ast_options full = full_options(work);
    full.progress = ast_cli_progress_step;
    full.progress_data = &work->progress;
    work->full.size = sizeof work->full;
    ast_status status = ast_cluster(work->context, &work->points, &full, work->labels, &work->full);
    if (status != AST_OK)
        ast_cli_progress_end(&work->progress);
    return ast_cli_status(status, work->context, work->given->input);
}
