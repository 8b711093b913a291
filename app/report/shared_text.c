/* SPDX-License-Identifier: MIT
 *
 * Texts shared by the threads of a live view. Only the number of owners changes. */
#include "recording.h"

#include <stdlib.h>

ast_shared_text *ast_shared_text_make(ast_text *text, uint64_t index) {
    ast_shared_text *shared = text->failed ? NULL : malloc(sizeof *shared);
    if (!shared) {
        ast_text_free(text);
        return NULL;
    }
    atomic_init(&shared->holders, 1);
    shared->index = index;
    shared->binary = false;
    shared->text = *text;
    *text = (ast_text){0};
    return shared;
}

ast_shared_text *ast_shared_bytes_make(ast_text *bytes) {
    ast_shared_text *shared = ast_shared_text_make(bytes, 0);
    if (shared)
        shared->binary = true;
    return shared;
}

ast_shared_text *ast_shared_text_share(ast_shared_text *shared) {
    atomic_fetch_add(&shared->holders, 1);
    return shared;
}

void ast_shared_text_release(ast_shared_text *shared) {
    if (!shared || atomic_fetch_sub(&shared->holders, 1) > 1)
        return;
    ast_text_free(&shared->text);
    free(shared);
}
