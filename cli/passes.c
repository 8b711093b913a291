/* SPDX-License-Identifier: MIT
 *
 * None of these changes a label of a run that converges, except that fewer passes may stop it before. */
#include "passes.h"

static const char *const parallels[] = {"ordered", "oir", "serial", NULL}; /* in the order of ast_parallel */

#define AT(field) offsetof(ast_cli_passes, field)
static const ast_cli_option options[] = {
    {"max-iterations", AST_CLI_INT, "N", "maximum number of passes of a run or a frame", AT(max_iterations), 1,
     2147483647, .standard = "100",
     .more = "A run that it stops is no failure; the result says so. For `fsd` and `crp` it counts sweeps, for "
             "`ospkm` rounds over the points, for `mbspkm` batches."},
    {"parallel", AST_CLI_CHOICE, "HOW",
     "how a pass runs: ordered, oir or serial; the labels are the same, only the time differs", AT(parallel),
     .choices = parallels, .standard = "ordered", .methods = AST_CLI_BY_PASSES,
     .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS, .more = "`oir` is optimistic iterated restarts."},
    {"no-bounds", AST_CLI_OFF, NULL,
     "compare every point with every mean in every pass: the same labels, slower; for measurements", AT(bounds),
     .methods = AST_CLI_BY_PASSES},
    {0}};

const ast_cli_group ast_cli_passes_group = {.options = options};
