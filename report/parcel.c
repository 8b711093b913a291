/* SPDX-License-Identifier: MIT
 *
 * Texts that the threads of a live view share. The count of their holders is all that changes. */
#include "recording.h"

#include <stdatomic.h>
#include <stdlib.h>

struct ast_parcel {
    atomic_size_t holders;
    ast_text text;
};

ast_parcel *ast_parcel_make(ast_text *text) {
    ast_parcel *message = text->failed ? NULL : malloc(sizeof *message);
    if (!message) {
        ast_text_free(text);
        return NULL;
    }
    atomic_init(&message->holders, 1);
    message->text = *text;
    *text = (ast_text){0};
    return message;
}

ast_parcel *ast_parcel_share(ast_parcel *message) {
    atomic_fetch_add(&message->holders, 1);
    return message;
}

void ast_parcel_drop(ast_parcel *message) {
    if (!message || atomic_fetch_sub(&message->holders, 1) > 1)
        return;
    ast_text_free(&message->text);
    free(message);
}

const char *ast_parcel_text(const ast_parcel *message, size_t *size) {
    *size = message->text.size;
    return message->text.bytes;
}
