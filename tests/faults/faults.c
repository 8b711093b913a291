/* SPDX-License-Identifier: MIT
 *
 * A library to load before all others (LD_PRELOAD): one call of the operating system or of the allocator fails, once.
 * It works with the address sanitizer's library behind it. tools/faults says which call, by the environment:
 *
 *     AST_FAULT=KIND:N:ERRNO  call number N of that kind, from 1, fails with that number of an error
 *     AST_FAULT_COUNTS=FILE   how many calls of each kind there were, one a line, are written at the end
 *
 * Calls are counted from the beginning of main on. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ALLOCATION, THREAD, READ, WRITE, OPEN, RENAME, MAP, SYNC, KINDS };
static const char *const names[KINDS] = {"allocation", "thread", "read", "write", "open", "rename", "map", "sync"};

static atomic_int counting;
static atomic_long counts[KINDS], left[KINDS];
static int reason;
static __thread int ours
    __attribute__((tls_model("initial-exec"))); /* 0: the sanitizer and the C library are still starting this thread */

/* Whether this call is the one. */
static int fails(int kind) {
    if (!atomic_load(&counting) || !ours)
        return 0;
    atomic_fetch_add(&counts[kind], 1);
    if (atomic_load(&left[kind]) <= 0 || atomic_fetch_sub(&left[kind], 1) != 1)
        return 0;
    errno = reason;
    return 1;
}

/* The next definition of a function: the sanitizer's, or that of the C library. */
static void *next(const char *name) {
    int counted = atomic_exchange(&counting, 0);
    void *found = dlsym(RTLD_NEXT, name);
    atomic_store(&counting, counted);
    return found;
}

#define NEXT(name) ((__typeof__(&name))next(#name))

/* ---- Allocations: dlsym allocates itself, so that they are found by their other names
 * -------------------------------- */

extern void *__interceptor_malloc(size_t) __attribute__((weak));
extern void *__interceptor_calloc(size_t, size_t) __attribute__((weak));
extern void *__interceptor_realloc(void *, size_t) __attribute__((weak));
extern int __interceptor_posix_memalign(void **, size_t, size_t) __attribute__((weak));
extern void *__interceptor_aligned_alloc(size_t, size_t) __attribute__((weak));
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    return fails(ALLOCATION) ? NULL : __interceptor_malloc ? __interceptor_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(ALLOCATION)      ? NULL
           : __interceptor_calloc ? __interceptor_calloc(count, size)
                                  : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    return fails(ALLOCATION)       ? NULL
           : __interceptor_realloc ? __interceptor_realloc(block, size)
                                   : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (fails(ALLOCATION))
        return ENOMEM;
    if (__interceptor_posix_memalign)
        return __interceptor_posix_memalign(block, alignment, size);
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(ALLOCATION)             ? NULL
           : __interceptor_aligned_alloc ? __interceptor_aligned_alloc(alignment, size)
                                         : __libc_memalign(alignment, size);
}

/* ---- Calls of the operating system ---------------------------------------------------------------------------------
 */

typedef struct thread_start {
    void *(*start)(void *);
    void *data;
} thread_start;

static void *begin(void *of) {
    thread_start how = *(thread_start *)of;
    free(of);
    ours = 1;
    return how.start(how.data);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *data) {
    if (fails(THREAD))
        return reason;
    ours = 0;
    thread_start *how = malloc(sizeof *how);
    *how = (thread_start){start, data};
    int code = NEXT(pthread_create)(thread, attributes, begin, how);
    ours = 1;
    return code;
}

ssize_t read(int file, void *bytes, size_t size) {
    return fails(READ) ? -1 : NEXT(read)(file, bytes, size);
}

ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
    return fails(READ) ? -1 : NEXT(pread)(file, bytes, size, offset);
}

ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
    return fails(READ) ? -1 : NEXT(pread64)(file, bytes, size, offset);
}

ssize_t preadv(int file, const struct iovec *parts, int count, off_t offset) {
    return fails(READ) ? -1 : NEXT(preadv)(file, parts, count, offset);
}

ssize_t write(int file, const void *bytes, size_t size) {
    return fails(WRITE) ? -1 : NEXT(write)(file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    return fails(WRITE) ? -1 : NEXT(pwrite)(file, bytes, size, offset);
}

int ftruncate(int file, off_t size) {
    return fails(WRITE) ? -1 : NEXT(ftruncate)(file, size);
}

/* The C library writes below this level: the stream gets the mark of an error, as it would. */
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
    if (stream == stderr || !fails(WRITE))
        return NEXT(fwrite)(bytes, size, count, stream);
    stream->_flags |= _IO_ERR_SEEN;
    return 0;
}

int fflush(FILE *stream) {
    if (stream == stderr || !fails(WRITE))
        return NEXT(fflush)(stream);
    if (stream)
        stream->_flags |= _IO_ERR_SEEN;
    return EOF;
}

int open(const char *path, int how, ...) {
    va_list more;
    va_start(more, how);
    mode_t mode = how & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return fails(OPEN) ? -1 : NEXT(open)(path, how, mode);
}

FILE *fopen(const char *path, const char *how) {
    return fails(OPEN) ? NULL : NEXT(fopen)(path, how);
}

int rename(const char *from, const char *to) {
    return fails(RENAME) ? -1 : NEXT(rename)(from, to);
}

int linkat(int from, const char *path, int to, const char *name, int flags) {
    return fails(RENAME) ? -1 : NEXT(linkat)(from, path, to, name, flags);
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    return fails(MAP) ? MAP_FAILED : NEXT(mmap)(address, size, protection, flags, file, offset);
}

int fsync(int file) {
    return fails(SYNC) ? -1 : NEXT(fsync)(file);
}

/* ---- The run
 * --------------------------------------------------------------------------------------------------------- */

static int (*program)(int, char **, char **);

static void tell(void) {
    atomic_store(&counting, 0);
    const char *path = getenv("AST_FAULT_COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int kind = 0; file && kind < KINDS; kind++)
        fprintf(file, "%s %ld\n", names[kind], atomic_load(&counts[kind]));
    if (file)
        fclose(file);
}

static int counted(int count, char **words, char **environment) {
    char kind[16] = "";
    long number = 0;
    const char *fault = getenv("AST_FAULT");
    if (fault)
        sscanf(fault, "%15[^:]:%ld:%d", kind, &number, &reason);
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind, names[i]) == 0)
            atomic_store(&left[i], number);
    unsetenv("LD_PRELOAD"); /* what the sanitizer starts to name a place is not to fail */
    ours = 1;
    atomic_store(&counting, 1);
    int code = program(count, words, environment);
    tell();
    return code;
}

int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*begin)(void),
                      void (*end)(void), void (*last)(void), void *stack);
int __libc_start_main(int (*main)(int, char **, char **), int count, char **words, void (*begin)(void),
                      void (*end)(void), void (*last)(void), void *stack) {
    program = main;
    return NEXT(__libc_start_main)(counted, count, words, begin, end, last, stack);
}
