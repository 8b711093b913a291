/* SPDX-License-Identifier: MIT
 *
 * From words to ast_stream_options. */
#include "tracker.h"

#include <math.h>
#include <stdint.h>

#include "cli.h"
#include "terminal.h"

static const char *const methods[] = {"ddp", "sdp", "dp", NULL}; /* in the order of ast_stream_method */
static const char *const updates[] = {"posterior", "paper", NULL};
static const char *const revivals[] = {"any", "near", NULL};

#define AT(field) offsetof(ast_cli_tracker, field)
const ast_cli_option ast_cli_tracker_options[] = {
    {"angle", AST_CLI_REAL, "DEG",
     "how far a point may be from its mean, 0 to 180 degrees;\n"
     "the larger, the fewer clusters",
     AT(angle), 0, 180, NULL},
    {"method", AST_CLI_CHOICE, "NAME",
     "ddp: clusters move, vanish and come back (the default)\n"
     "sdp: each frame starts from the means of the one before\n"
     "dp: each frame by itself, every cluster with a new id",
     AT(method), 0, 0, methods},
    {"drift", AST_CLI_REAL, "DEG", "ddp: how far a direction moves in a frame (default 1)", AT(drift), 0, 180, NULL},
    {"beta", AST_CLI_REAL, "B", "ddp: the paper's tracker with this beta, instead of --drift", AT(beta), 0,
     (double)INFINITY, NULL},
    {"weight-update", AST_CLI_CHOICE, "HOW",
     "ddp: posterior (the default with --drift) or paper (the\n"
     "default with --beta)",
     AT(update), 0, 0, updates},
    {"lifetime", AST_CLI_COUNT, "FRAMES",
     "ddp: a cluster dies after so many frames in a row without\n"
     "points (default 400); 0 makes every frame a clustering of\n"
     "its own",
     AT(lifetime), 0, 4294967295.0, NULL},
    {"revive", AST_CLI_CHOICE, "WHICH",
     "ddp: what a point may bring back: any cluster that explains\n"
     "it (the default), or only one that was near, within the\n"
     "angle (the default for depth images with --drift)",
     AT(revive), 0, 0, revivals},
    {"max-clusters", AST_CLI_COUNT, "N",
     "clusters kept after a frame at most; the longest unseen go\n"
     "first (default: no limit)",
     AT(max_clusters), 1, 2147483647, NULL},
    {"axial", AST_CLI_FLAG, NULL, "x and -x are the same", AT(axial), 0, 0, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

ast_cli_tracker ast_cli_tracker_default(void) {
    return (ast_cli_tracker){.update = -1, .revive = -1, .angle = NAN, .drift = NAN, .beta = NAN, .lifetime = SIZE_MAX};
}

ast_stream_options ast_cli_tracker_set(const ast_cli_tracker *tracker, const ast_cli_passes *passes) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.method = (ast_stream_method)tracker->method;
    options.angle = tracker->angle;
    if (!isnan(tracker->drift))
        options.drift = tracker->drift;
    options.beta = tracker->beta;
    if (tracker->update >= 0)
        options.weight_update = tracker->update == 0 ? AST_POSTERIOR : AST_PAPER;
    if (tracker->lifetime != SIZE_MAX)
        options.lifetime = (uint32_t)tracker->lifetime;
    options.max_clusters = tracker->max_clusters;
    options.axial = tracker->axial;
    options.revive_near = tracker->revive == 1;
    options.max_iterations = (int)passes->max_iterations;
    options.parallel = (ast_parallel)passes->parallel;
    options.bounds = !passes->no_bounds;
    return options;
}

int ast_cli_tracker_check(const ast_cli_tracker *tracker, const ast_cli_passes *passes, const char *command) {
    if (isnan(tracker->angle))
        return ast_cli_fail(AST_CLI_USAGE,
                            "%s needs --angle DEG, how far a point may be from its mean, such as --angle 70", command);
    if (!isnan(tracker->drift) && !isnan(tracker->beta))
        return ast_cli_fail(AST_CLI_USAGE, "--drift and --beta are two different trackers; give one of them");
    ast_stream_options options = ast_cli_tracker_set(tracker, passes);
    options.dimension = 3; /* any: the true one is not known yet */
    const char *problem = ast_stream_options_problem(&options);
    return problem ? ast_cli_fail(AST_CLI_USAGE, "%s", problem) : -1;
}
