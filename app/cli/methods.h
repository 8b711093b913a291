/* SPDX-License-Identifier: MIT
 *
 * The names of the methods, once: as the command takes and prints them, and as bits for the rows of options. */
#pragma once

#include <asterism.h>

/* Bits for the rows of options: those of ast_method, then methods of streams. DP is both. */
enum {
    AST_CLI_DP = 1 << AST_DP,
    AST_CLI_SPKM = 1 << AST_SPKM,
    AST_CLI_MOVMF = 1 << AST_MOVMF,
    AST_CLI_FSD = 1 << AST_FSD,
    AST_CLI_CRP = 1 << AST_CRP,
    AST_CLI_OSPKM = 1 << AST_OSPKM,
    AST_CLI_DPMEANS = 1 << AST_DPMEANS,
    AST_CLI_MBSPKM = 1 << AST_MBSPKM,
    AST_CLI_DDP = 1 << 16,
    AST_CLI_SDP = 1 << 17,
    AST_CLI_ALL = (1 << 18) - 1,
    AST_CLI_BY_ANGLE = AST_CLI_DP | AST_CLI_DPMEANS,
    AST_CLI_BY_ORDER = AST_CLI_DP | AST_CLI_DPMEANS, /* the result depends on the order of the points */
    AST_CLI_SAMPLERS = AST_CLI_FSD | AST_CLI_CRP,
    AST_CLI_MIXTURES = AST_CLI_MOVMF | AST_CLI_SAMPLERS,
    AST_CLI_BY_COUNT = AST_CLI_SPKM | AST_CLI_MBSPKM | AST_CLI_MIXTURES | AST_CLI_OSPKM,
    AST_CLI_BY_RULE = AST_CLI_DP | AST_CLI_SPKM | AST_CLI_MBSPKM | AST_CLI_DDP | AST_CLI_SDP,
    AST_CLI_AXIAL = AST_CLI_BY_RULE | AST_CLI_MOVMF,
    AST_CLI_BY_PASSES = AST_CLI_BY_RULE | AST_CLI_OSPKM /* they label all points by the schedules of a pass */
};

static inline int ast_cli_is_by_angle(ast_method method) {
    return (AST_CLI_BY_ANGLE >> method & 1) != 0;
}

/* The methods of a subcommand, one of which runs. */
typedef struct ast_cli_methods {
    const char *word;         /* how one is named: "--method", or the subcommand */
    const char *const *names; /* NULL-terminated */
    const unsigned *bits;     /* of each */
    const unsigned *not_in;   /* modes that each is not for; NULL: none */
    const unsigned *inputs;   /* kinds of input that each is for, 0: all; NULL: all */
} ast_cli_methods;

extern const char *const ast_cli_batch_names[];  /* in the order of ast_method */
extern const char *const ast_cli_stream_names[]; /* in the order of ast_stream_method */
extern const ast_cli_methods ast_cli_batch_methods, ast_cli_stream_methods;
