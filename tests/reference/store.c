/* SPDX-License-Identifier: MIT */
#include "reference/store.h"

#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

static int read_bytes(uint64_t offset, void *bytes, size_t size, void *data) {
    ref_store *store = data;
    if (offset > store->size || size > store->size - offset)
        return 1;
    memcpy(bytes, store->bytes + offset, size);
    return 0;
}

static int write_bytes(uint64_t offset, const void *bytes, size_t size, void *data) {
    ref_store *store = data;
    pthread_mutex_lock(&store->lock);
    size_t end = (size_t)offset + size;
    int full = store->most && end > store->most;
    if (!full && end > store->capacity) {
        unsigned char *grown = ref_take(2 * end, 1);
        if (store->size)
            memcpy(grown, store->bytes, store->size);
        free(store->bytes);
        store->bytes = grown;
        store->capacity = 2 * end;
    }
    if (!full) {
        memcpy(store->bytes + offset, bytes, size);
        store->size = end > store->size ? end : store->size;
    }
    pthread_mutex_unlock(&store->lock);
    return full;
}

void ref_store_open(ref_store *store) {
    *store = (ref_store){0};
    pthread_mutex_init(&store->lock, NULL);
}

void ref_store_close(ref_store *store) {
    pthread_mutex_destroy(&store->lock);
    free(store->bytes);
}

ast_storage ref_store_view(ref_store *store) {
    return (ast_storage){
        .size = sizeof(ast_storage), .bytes = store->size, .read = read_bytes, .write = write_bytes, .data = store};
}
