/* SPDX-License-Identifier: MIT */
#include "model_file.h"

#include <platform.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "terminal.h"

/* All bytes of a regular file, to free(). */
static int read_bytes(FILE *file, const char *path, unsigned char **bytes, size_t *size) {
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        return ast_cli_fail("%s: is no regular file, and a model is one", path);
    *size = (size_t)status.st_size;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return ast_cli_fail("%s: there is no memory for its %zu bytes", path, *size);
    if (fread(*bytes, 1, *size, file) != *size)
        return ast_cli_fail("%s: cannot be read: %s", path, ferror(file) ? strerror(errno) : "it has become shorter");
    return -1;
}

int ast_cli_read_model(const char *path, ast_context *context, size_t dimension, ast_model **model) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    ast_model_info info = {.size = sizeof info};
    FILE *file = fopen(path, "rb");
    if (!file)
        return ast_cli_fail("%s: cannot be opened: %s", path, strerror(errno));
    int code = read_bytes(file, path, &bytes, &size);
    fclose(file);
    if (code < 0 && ast_model_load(model, context, bytes, size) != AST_OK)
        code = ast_cli_fail("%s: %s", path, ast_message(context));
    free(bytes);
    if (code < 0 && ast_model_view(*model, &info) == AST_OK && info.dimension != dimension)
        code =
            ast_cli_fail("%s is a model of %zu dimensions, but the points have %zu", path, info.dimension, dimension);
    return code;
}

int ast_cli_write_model(ast_context *context, const ast_model_info *info, ast_output *output) {
    ast_format_error error;
    ast_model *model;
    size_t size = 0;
    if (ast_model_open(&model, context, info) != AST_OK)
        return ast_cli_fail("--model: %s", ast_message(context));
    const void *bytes = ast_model_save(model, &size);
    bool good = ast_output_write(output, bytes, size, &error);
    ast_model_close(model);
    return ast_cli_outcome(good, &error);
}
