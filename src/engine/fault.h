/* SPDX-License-Identifier: MIT
 *
 * How an error is reported to the caller: a status and one sentence, stored in the context. */
#pragma once

#include "asterism.h"

typedef struct ast_fault {
    ast_status status;
    size_t row; /* the row that the error is about, counting from 1; 0: none */
    char message[512];
} ast_fault;

/* Records the error and returns its status: `return ast_fail(...)`. */
ast_status ast_fail(ast_fault *fault, ast_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
ast_status ast_fail_memory(ast_fault *fault); /* the sentence for every failed allocation */
ast_status ast_fail_cancelled(ast_fault *fault);

ast_status ast_fail_infinite(ast_fault *fault, size_t row); /* the sentence for a row with an infinity */

/* The same for an error of one row, counting from 1; the sentence begins with "row R (counting from 1) ". */
ast_status ast_fail_row(ast_fault *fault, ast_status status, size_t row, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
