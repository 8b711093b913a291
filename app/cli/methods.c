/* SPDX-License-Identifier: MIT */
#include "options.h"

/* Points in parts and ranks are for the methods with exact sums and the rule of a pass; sparse rows for those that need
 * nothing but dot products. */
#define WHOLE (AST_CLI_ON_RANKS | AST_CLI_IN_PARTS)
#define DENSE (AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE)

const char *const ast_cli_batch_names[] = {"dp", "spkm", "movmf", "fsd", "crp", "ospkm", "dpmeans", "mbspkm", NULL};
const char *const ast_cli_stream_names[] = {"ddp", "sdp", "dp", NULL};

const ast_cli_methods ast_cli_batch_methods = {
    .word = "--method",
    .names = ast_cli_batch_names,
    .bits = (const unsigned[]){AST_CLI_DP, AST_CLI_SPKM, AST_CLI_MOVMF, AST_CLI_FSD, AST_CLI_CRP, AST_CLI_OSPKM,
                               AST_CLI_DPMEANS, AST_CLI_MBSPKM},
    .not_in = (const unsigned[]){0, 0, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE},
    .inputs = (const unsigned[]){0, 0, 0, DENSE, DENSE, DENSE, DENSE, 0}};

const ast_cli_methods ast_cli_stream_methods = {.word = "--method",
                                                .names = ast_cli_stream_names,
                                                .bits = (const unsigned[]){AST_CLI_DDP, AST_CLI_SDP, AST_CLI_DP}};
