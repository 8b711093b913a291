/* SPDX-License-Identifier: MIT */
#include "no_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

atomic_long ast_test_countdown;
atomic_long ast_test_allocations;
atomic_long ast_test_blocks;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __wrap_free(void *block);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data);

static int fails_now(void) {
    atomic_fetch_add(&ast_test_allocations, 1);
    if (atomic_load(&ast_test_countdown) <= 0 || atomic_fetch_sub(&ast_test_countdown, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *block) {
    if (block)
        atomic_fetch_add(&ast_test_blocks, 1);
    return block;
}

void *__wrap_malloc(size_t size) {
    return fails_now() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails_now() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size) {
    if (fails_now())
        return NULL;
    void *moved = __real_realloc(block, size);
    if (!block)
        counted(moved);
    return moved;
}

char *__wrap_strdup(const char *text) {
    return fails_now() ? NULL : counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t size) {
    return fails_now() ? NULL : counted(__real_strndup(text, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails_now() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    if (fails_now())
        return ENOMEM; /* the block is left as it was */
    int error = __real_posix_memalign(block, alignment, size);
    if (error == 0)
        atomic_fetch_add(&ast_test_blocks, 1);
    return error;
}

void __wrap_free(void *block) {
    if (block)
        atomic_fetch_sub(&ast_test_blocks, 1);
    __real_free(block);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data) {
    return fails_now() ? EAGAIN : __real_pthread_create(thread, attributes, start, data);
}
