/* SPDX-License-Identifier: MIT
 *
 * None of these changes a label of a run that converges, except that fewer passes may stop it before. */
#include "passes.h"

static const char *const parallels[] = {"ordered", "oir", "serial", NULL}; /* in the order of ast_parallel */

#define AT(field) offsetof(ast_cli_passes, field)
const ast_cli_option ast_cli_passes_options[] = {{"max-iterations", AST_CLI_COUNT, "N",
                                                  "passes before a run, or a frame, stops unconverged (default\n"
                                                  "100)",
                                                  AT(max_iterations), 1, 2147483647, NULL},
                                                 {"parallel", AST_CLI_CHOICE, "HOW",
                                                  "ordered (the default), oir or serial: the labels are the\n"
                                                  "same, only the time differs",
                                                  AT(parallel), 0, 0, parallels},
                                                 {"no-bounds", AST_CLI_FLAG, NULL,
                                                  "compare every point with every mean in every pass: the\n"
                                                  "same labels, slower; for measurement",
                                                  AT(no_bounds), 0, 0, NULL},
                                                 {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};
