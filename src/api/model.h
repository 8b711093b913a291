/* SPDX-License-Identifier: MIT
 *
 * A model is its bytes, and pointers into them: model_bytes.c writes and reads them, model.c says which ones are
 * possible and has the entry points, model_assign.c labels points. */
#pragma once

#include "context.h"

#define AST_MODEL_METHODS (AST_MBSPKM + 1) /* the last of ast_method */

struct ast_model {
    ast_context *context;
    ast_model_info info; /* points into the bytes */
    unsigned char *bytes;
    size_t size;
    const char **names;        /* (K), or NULL */
    ast_components components; /* count is 0 where the nearest mean decides */
};

/* The names of methods in the header, in the order of ast_method. */
extern const char *const ast_model_methods[AST_MODEL_METHODS];

/* The problem of what the model holds, or NULL. */
const char *ast_model_problem(const ast_model_info *m);

/* ast_model_write writes the bytes of a model without problem; it fails only with AST_NO_MEMORY. ast_model_read reads
 * the info and the names from model->bytes. */
ast_status ast_model_write(const ast_model_info *m, unsigned char **bytes, size_t *size, ast_fault *fault);
ast_status ast_model_read(ast_model *model, ast_fault *fault);

/* Transforms rows as those of the model's run were: centred, mapped or lifted. The caller frees *changed. */
struct ast_transformed_rows;
ast_status ast_model_transform_rows(const ast_model *model, const ast_points *points,
                                    struct ast_transformed_rows *changed);

/* Makes model->components, if the model is a mixture: they decide the labels then. false: no memory. */
bool ast_model_make_components(ast_model *model);
