/* SPDX-License-Identifier: MIT
 *
 * From words to ast_stream_options. */
#include "tracker.h"

#include <math.h>
#include <stdint.h>

#include "cli.h"
#include "terminal.h"

static const char *const updates[] = {"posterior", "paper", NULL};
static const char *const revivals[] = {"any", "near", NULL};

#define AT(field) offsetof(ast_cli_tracker, field)
static const ast_cli_option options_table[] = {
    {"angle", AST_CLI_REAL, "DEG",
     "how far a point may be from its mean, 0 to 180 degrees; a larger angle gives fewer clusters", AT(angle), 0, 180,
     .required = "how far a point may be from its mean, such as --angle 70"},
    {"method", AST_CLI_CHOICE, "NAME",
     "ddp: clusters move, vanish and come back\n"
     "sdp: each frame starts from the means of the one before\n"
     "dp: each frame by itself, every cluster with a new id",
     AT(method), .choices = ast_cli_stream_names, .standard = "ddp",
     .manual = "`ddp` (the default) is DDP-vMF-means. `sdp` starts each frame from the means of the one before, and "
               "clusters without points are forgotten. `dp` clusters each frame by itself, every cluster with a new "
               "id."},
    {"drift", AST_CLI_REAL, "DEG", "how far a direction moves per frame (default 1)", AT(drift), 0, 180,
     .methods = AST_CLI_DDP, .excludes = "beta"},
    {"beta", AST_CLI_REAL, "B", "the paper's tracker with this beta, instead of --drift", AT(beta), 0, (double)INFINITY,
     .methods = AST_CLI_DDP,
     .more = "It suits frames with a hundred thousand points a direction; with few points its means lag behind. "
             "With `inf` directions do not move, and a mean is that of all points its cluster ever had."},
    {"weight-update", AST_CLI_CHOICE, "HOW",
     "how weights change: posterior (the default with --drift) or paper (the default with --beta)", AT(update),
     .choices = updates, .methods = AST_CLI_DDP},
    {"lifetime", AST_CLI_COUNT, "FRAMES",
     "a cluster dies after this many frames in a row without points; 0 makes every frame a clustering of "
     "its own",
     AT(lifetime), 0, 4294967295.0, .standard = "400", .methods = AST_CLI_DDP},
    {"revive", AST_CLI_CHOICE, "WHICH",
     "what a point may bring back: any cluster that explains it (the default), or only one that was near, "
     "within the angle (the default for depth images with --drift)",
     AT(revive), .choices = revivals, .methods = AST_CLI_DDP,
     .more = "A cluster that explains a point well enough is, the longer unseen, the less sure of its place; "
             "where there is hardly any noise that is soon anywhere."},
    {"max-clusters", AST_CLI_COUNT, "N",
     "maximum number of clusters kept after a frame; the longest unseen go first (default: no limit)", AT(max_clusters),
     1, 2147483647, .more = "Among those the lightest, among those the youngest."},
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same", AT(axial),
     .more = "A mean keeps the side that it had."},
    {0}};

const ast_cli_group ast_cli_tracker_group = {.title = "Options", .options = options_table};

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
    options.lifetime = (uint32_t)tracker->lifetime;
    options.max_clusters = tracker->max_clusters;
    options.axial = tracker->axial;
    options.revive_near = tracker->revive == 1;
    options.max_iterations = passes->max_iterations;
    options.parallel = (ast_parallel)passes->parallel;
    options.bounds = passes->bounds;
    return options;
}

int ast_cli_tracker_check(const ast_cli_tracker *tracker, const ast_cli_passes *passes) {
    ast_stream_options options = ast_cli_tracker_set(tracker, passes);
    options.dimension = 3; /* any: the true one is not known yet */
    const char *problem = ast_stream_options_problem(&options);
    return problem ? ast_cli_fail(AST_CLI_USAGE, "%s", problem) : -1;
}
