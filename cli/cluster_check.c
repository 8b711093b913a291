/* SPDX-License-Identifier: MIT
 *
 * What the command line of asterism cluster alone shows: which options go with which method and which input. */
#include "cluster.h"

#include <math.h>
#include <string.h>

#include "cli.h"
#include "pages.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;

int ast_cli_names_start(const char *init) {
    return init && (strcmp(init, "random") == 0 || strcmp(init, "k-means++") == 0);
}

/* dp and dpmeans, which find the number of clusters from the angle. */
static int check_angle(const settings *given) {
    const char *method = ast_cli_methods[given->method];
    if (given->clusters)
        return ast_cli_fail(
            AST_CLI_USAGE,
            "--clusters is for --method spkm, mbspkm, movmf, fsd, crp and ospkm; %s finds their number from --angle",
            method);
    if (isnan(given->angle))
        return ast_cli_fail(AST_CLI_USAGE, "cluster needs --angle DEG, how far a point may be from its mean, such "
                                           "as --angle 25 (or --method spkm --clusters K)");
    if (isinf(given->angle) && given->method != AST_DP)
        return ast_cli_fail(AST_CLI_USAGE, "--angle auto is for --method dp; %s needs degrees, such as --angle 25",
                            method);
    if (isinf(given->angle) && (given->init || given->shuffle || given->restarts > 1))
        return ast_cli_fail(AST_CLI_USAGE, "--angle auto starts by itself; --%s needs an angle in degrees",
                            given->init      ? "init"
                            : given->shuffle ? "shuffle"
                                             : "restarts");
    if (ast_cli_names_start(given->init))
        return ast_cli_fail(AST_CLI_USAGE, "--init %s is for --method spkm; %s starts from a file or from nothing",
                            given->init, method);
    return -1;
}

/* What looks at some points only. */
static int check_partial(const settings *given, const char *method) {
    if (given->batch && given->method != AST_MBSPKM)
        return ast_cli_fail(AST_CLI_USAGE, "--batch is for --method mbspkm; %s looks at all points", method);
    if (given->sample && given->method != AST_DP)
        return ast_cli_fail(AST_CLI_USAGE, "--sample is for --method dp; %s does not know it", method);
    if (given->sample && isinf(given->angle))
        return ast_cli_fail(AST_CLI_USAGE, "--angle auto looks at all points; --sample needs an angle in degrees");
    if (given->compare && given->method != AST_MBSPKM && !given->sample)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--compare is for --method mbspkm and for dp with --sample N; this run looks at "
                            "all points");
    if (given->compare && given->mixtures.trace)
        return ast_cli_fail(AST_CLI_USAGE, "--trace is of one run; --compare makes two");
    return -1;
}

static int check_method(const settings *given) {
    int from_file = given->init && !ast_cli_names_start(given->init);
    const char *method = ast_cli_methods[given->method];
    int code = ast_cli_mixtures_check(&given->mixtures, (ast_method)given->method, method);
    if (code >= 0)
        return code;
    code = check_partial(given, method);
    if (code >= 0)
        return code;
    if (given->axial && given->method != AST_DP && given->method != AST_SPKM && given->method != AST_MBSPKM)
        return ast_cli_fail(AST_CLI_USAGE, "--%s is for --method dp, spkm and mbspkm; %s takes directions",
                            given->reading.cloud.undirected ? "undirected" : "axial", method);
    if (given->method == AST_DP || given->method == AST_DPMEANS)
        return check_angle(given);
    if (!isnan(given->angle))
        return ast_cli_fail(AST_CLI_USAGE, "--angle is for --method dp and dpmeans; %s takes --clusters K", method);
    if (given->shuffle)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--shuffle is for --method dp and dpmeans, which depend on the order; %s "
                            "does not",
                            method);
    if (given->weights && (given->method == AST_FSD || given->method == AST_CRP))
        return ast_cli_fail(AST_CLI_USAGE, "--weights does not go with --method %s, which counts every point once",
                            method);
    if (given->restarts > 1 && given->mixtures.samples)
        return ast_cli_fail(AST_CLI_USAGE, "--samples are of one run; --restarts makes %zu", given->restarts);
    if (!given->clusters && !from_file && given->method != AST_CRP)
        return ast_cli_fail(AST_CLI_USAGE, "--method %s needs --clusters K, such as --clusters 10", method);
    return -1;
}

static int check_colored(const settings *given, ast_cli_kind_of_input kind) {
    size_t length = given->colored ? strlen(given->colored) : 0;
    if (given->colored && kind != AST_CLI_SOLID)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--colored is for clouds and meshes (.pcd, .ply, .obj, .stl), and %s is none",
                            ast_cli_name(given->input));
    if (given->colored && (length < 5 || strcasecmp(given->colored + length - 4, ".ply") != 0))
        return ast_cli_fail(AST_CLI_USAGE, "--colored writes PLY: its name must end in .ply, not be '%s'",
                            given->colored);
    return -1;
}

static int check_state(const settings *given) {
    if (given->durable && !given->state)
        return ast_cli_fail(AST_CLI_USAGE, "--durable is for --state FILE, which is not given");
    if (!given->state)
        return -1;
    if (given->method != AST_DP && given->method != AST_SPKM)
        return ast_cli_fail(AST_CLI_USAGE, "--state is for --method dp and spkm; %s cannot go on from a file",
                            ast_cli_methods[given->method]);
    if (given->sample)
        return ast_cli_fail(AST_CLI_USAGE, "--state is for runs over all points; --sample is soon over");
    if (strcmp(given->state, "-") == 0)
        return ast_cli_fail(AST_CLI_USAGE, "--state needs a name: it is a file that is read and replaced");
    if (given->mixtures.trace)
        return ast_cli_fail(AST_CLI_USAGE, "--trace tells of every pass, and a run that goes on from --state has only "
                                           "those that are left");
    if (ast_cli_camera_every(&given->reading.camera))
        return ast_cli_fail(AST_CLI_USAGE, "--state is for one scene, and --frame all is for many");
    return -1;
}

int ast_cli_cluster_check(const settings *given) {
    ast_cli_kind_of_input kind;
    int code = check_method(given);
    if (code < 0)
        code = check_state(given);
    if (code < 0)
        code = ast_cli_directions_check(&given->reading, given->input, &kind);
    if (code < 0)
        code = check_colored(given, kind);
    if (code < 0)
        code = ast_cli_check_read("weights", given->weights);
    if (code < 0 && !ast_cli_names_start(given->init))
        code = ast_cli_check_read("init", given->init);
    if (code < 0)
        code = ast_cli_check_read("prior-mean", given->mixtures.prior_mean);
    if (code < 0)
        code = ast_cli_report_check("report", given->report);
    return code;
}
