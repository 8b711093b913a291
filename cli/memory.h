/* SPDX-License-Identifier: MIT
 *
 * How much memory the command may use, and whether an input fits it. Functions that return an int return -1 to go on,
 * or the exit code after printing the sentence. */
#ifndef AST_CLI_MEMORY_H
#define AST_CLI_MEMORY_H

#include <formats.h>

#include "files.h"

/* The row of --memory in a table of options. */
#define AST_CLI_MEMORY_OPTION(at)                                                                                      \
    {                                                                                                                  \
        "memory", AST_CLI_TEXT, "SIZE",                                                                                \
            "memory budget, such as 512M or 8G (default: all available memory); an .npy that does not fit is read in " \
            "parts",                                                                                                   \
            at,                                                                                                        \
            .inputs = AST_CLI_ANY_INPUT, .not_in = AST_CLI_ON_RANKS,                                                   \
            .manual = "The memory budget, such as `512M` or `8G`. By default that is the memory that is free within "  \
                      "the limits of the process and of its group. An input that does not fit is read in parts; see "  \
                      "`LARGER THAN MEMORY`."                                                                          \
    }

/* 512M as bytes; K, M, G and T are powers of 1024. 0 where `text` is NULL, which is not given. */
int ast_cli_memory_check(const char *text, size_t *bytes);

/* Bytes that this process may still take: the least of what is free, of its limits and of those of its group. */
size_t ast_cli_memory_free(void);

/* 536870912 as "512 MiB". `text` holds AST_CLI_BYTES characters and is returned. */
enum { AST_CLI_BYTES = 32 };
const char *ast_cli_bytes(double bytes, char *text);

/* An input that does not fit. */
typedef struct ast_cli_larger {
    int needed;     /* whether it is read in parts */
    size_t allowed; /* bytes */
    ast_rows rows;  /* zeroed where it is not */
} ast_cli_larger;

/* Looks whether the table INPUT fits `memory` bytes (0: what there is) with `point` bytes for each of its points
 * besides and `component` for each of their components; and if not, opens it to be read in parts. */
int ast_cli_larger_look(ast_cli_larger *larger, const char *input, const ast_cli_source *source, size_t memory,
                        double point, double component);

/* The sentence where a call with such rows ended with AST_NO_INPUT. */
int ast_cli_larger_status(const ast_cli_larger *larger, ast_status status, const ast_context *context,
                          const char *input);

#endif
