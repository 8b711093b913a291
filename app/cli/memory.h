/* SPDX-License-Identifier: MIT
 *
 * How much memory the command may use. */
#pragma once

#include "options.h"

/* The row of --memory in a table of options. */
#define AST_CLI_MEMORY_OPTION(at)                                                                                      \
    {                                                                                                                  \
        "memory", AST_CLI_AMOUNT, "SIZE",                                                                              \
            "memory budget, such as 512M or 8G (default: all available memory); a binary table that does not fit is "  \
            "read in parts",                                                                                           \
            at, .inputs = AST_CLI_ANY_INPUT, .not_in = AST_CLI_ON_RANKS,                                               \
                .more = "The memory available is what is free within the limits of the process and of its group. See " \
                        "`LARGER THAN MEMORY`."                                                                        \
    }

/* Bytes that this process may still take: the least of what is free, of its limits and of those of its group. */
size_t ast_cli_memory_free(void);

/* 536870912 as "512 MiB". `text` holds AST_CLI_BYTES characters and is returned. */
enum { AST_CLI_BYTES = 32 };
const char *ast_cli_bytes(double bytes, char *text);
