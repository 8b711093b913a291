/* SPDX-License-Identifier: MIT
 *
 * Texts that the threads of a live view share. The count of their holders is all that changes. */
#include "recording.h"

#include <stdatomic.h>
#include <stdlib.h>

struct ast_parcel {
    atomic_size_t holders;
    ast_text text;
    uint64_t place;
};

ast_parcel *ast_parcel_make(ast_text *text, uint64_t place) {
    ast_parcel *parcel = text->failed ? NULL : malloc(sizeof *parcel);
    if (!parcel) {
        ast_text_free(text);
        return NULL;
    }
    atomic_init(&parcel->holders, 1);
    parcel->place = place;
    parcel->text = *text;
    *text = (ast_text){0};
    return parcel;
}

ast_parcel *ast_parcel_share(ast_parcel *parcel) {
    atomic_fetch_add(&parcel->holders, 1);
    return parcel;
}

void ast_parcel_drop(ast_parcel *parcel) {
    if (!parcel || atomic_fetch_sub(&parcel->holders, 1) > 1)
        return;
    ast_text_free(&parcel->text);
    free(parcel);
}

const char *ast_parcel_text(const ast_parcel *parcel, size_t *size) {
    *size = parcel->text.size;
    return parcel->text.bytes;
}

uint64_t ast_parcel_place(const ast_parcel *parcel) {
    return parcel->place;
}
