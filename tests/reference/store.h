/* SPDX-License-Identifier: MIT
 *
 * A checkpoint in memory, written and read by any number of threads. */
#ifndef REF_STORE_H
#define REF_STORE_H

#include "asterism.h"

#include <pthread.h>

typedef struct ref_store {
    unsigned char *bytes;
    size_t size, capacity;
    size_t most; /* bytes that there is room for; 0: any number. Beyond it writes fail, as on a full disk */
    pthread_mutex_t lock;
} ref_store;

void ref_store_open(ref_store *store);
void ref_store_close(ref_store *store);
ast_storage ref_store_view(ref_store *store); /* of what it holds now */

#endif
