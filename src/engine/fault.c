/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ast_status ast_fail(ast_fault *fault, ast_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    fault->row = 0;
    return fault->status = status;
}

ast_status ast_fail_memory(ast_fault *fault) {
    return ast_fail(fault, AST_NO_MEMORY, "there is not enough memory for this many points and clusters");
}

ast_status ast_fail_row(ast_fault *fault, ast_status status, size_t row, const char *format, ...) {
    va_list arguments;
    ast_fail(fault, status, "row %zu (counting from 1) ", row);
    size_t length = strlen(fault->message);
    va_start(arguments, format);
    vsnprintf(fault->message + length, sizeof fault->message - length, format, arguments);
    va_end(arguments);
    fault->row = row;
    return status;
}

ast_status ast_fail_infinite(ast_fault *fault, size_t row) {
    return ast_fail_row(fault, AST_BAD_DATA, row,
                        "holds an infinity; numbers must be finite, or NaN for a missing row");
}

ast_status ast_fail_cancelled(ast_fault *fault) {
    return ast_fail(fault, AST_CANCELLED, "cancelled by the caller");
}
