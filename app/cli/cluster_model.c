/* SPDX-License-Identifier: MIT
 *
 * With --model: the result of asterism cluster as a file that labels new rows. */
#include "cluster.h"

#include <stdlib.h>

#include "cli.h"
#include "model_file.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

/* The name of a cluster is that of the row nearest to its mean, where rows have names and nearest rows are known. */
static const char **find_names(const job *work, size_t clusters) {
    const ast_names *names = ast_cli_cluster_names(work);
    size_t count;
    const ast_cluster_info *list = ast_clusters(work->context, &count);
    const char **found = malloc((clusters + 1) * sizeof *found);
    for (size_t k = 0; found && k < clusters; k++)
        found[k] = names && list[k].representative_count ? names->list[list[k].representatives[0]] : "";
    return found;
}

int ast_cli_cluster_model(void *data) {
    job *work = data;
    ast_output *output = ast_cli_output_of(&work->given->common, "model");
    ast_model_info info = {.size = sizeof info};
    if (!output)
        return -1;
    if (ast_model_of_result(work->context, &info) != AST_OK)
        return ast_cli_fail("--model: %s", ast_message(work->context));
    const char **names = find_names(work, info.clusters);
    if (!names)
        return ast_cli_fail("there is no memory for the names of %zu clusters", info.clusters);
    if (ast_cli_cluster_names(work) && work->options.representatives)
        info.names = names;
    int code = ast_cli_write_model(work->context, &info, output);
    free(names);
    return code;
}

/* Means alone do not label new rows where the run did more than compare. */
int ast_cli_cluster_warn_means(void *data) {
    const job *work = data;
    const ast_cli_common *common = &work->given->common;
    ast_method method = work->options.method;
    const char *what = work->report.metric                                                 ? "the rows were mapped"
                       : work->options.center && !ast_cli_target_of(common, "center-file") ? "the rows were centred"
                       : method == AST_MOVMF || method == AST_FSD || method == AST_CRP
                           ? "components have concentrations and shares"
                       : method == AST_DPMEANS ? "the means have lengths"
                                               : NULL;
    if (what && ast_cli_target_of(common, "means") && !ast_cli_target_of(common, "model") && !common->quiet)
        ast_cli_warn("assign --means would label rows differently, since %s; --model FILE keeps all that it takes",
                     what);
    return -1;
}
