/* SPDX-License-Identifier: MIT
 *
 * None of these changes a label of a run that converges, except that fewer passes may stop it before. */
#include "passes.h"

static const char *const parallels[] = {"ordered", "oir", "serial", NULL}; /* in the order of ast_parallel */

#define AT(field) offsetof(ast_cli_passes, field)
static const ast_cli_option options[] = {
    {"max-iterations", AST_CLI_INT, "N", "maximum number of passes of a run or a frame", AT(max_iterations), 1,
     2147483647, .standard = "100",
     .manual = "Stops a run that has not converged after *N* passes (default 100). That is no failure; the result "
               "says so. For `fsd` and `crp` the number of sweeps, for `ospkm` of rounds over the points, for "
               "`mbspkm` of batches."},
    {"parallel", AST_CLI_CHOICE, "HOW", "ordered, oir or serial: the labels are the same, only the time differs",
     AT(parallel), .choices = parallels, .standard = "ordered", .methods = AST_CLI_BY_PASSES,
     .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS,
     .manual = "`ordered` (the default), `oir` (optimistic iterated restarts) or `serial`. The labels are the same; "
               "only the time differs."},
    {"no-bounds", AST_CLI_OFF, NULL,
     "compare every point with every mean in every pass: the same labels, slower; for measurements", AT(bounds),
     .methods = AST_CLI_BY_PASSES,
     .manual = "Compares every point with every mean in every pass. The labels are the same; for measurement."},
    {0}};

const ast_cli_group ast_cli_passes_group = {.options = options};
