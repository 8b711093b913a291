/* SPDX-License-Identifier: MIT
 *
 * Bytes under the name of a file, for readers that open one themselves: a file that is only in memory. */
#ifndef ASTERISM_TESTS_FUZZ_MEMORY_FILE_H
#define ASTERISM_TESTS_FUZZ_MEMORY_FILE_H

#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct memory_file {
    int descriptor;
    char path[32];
} memory_file;

/* The same file for every input, opened once. */
static inline const char *as_file(memory_file *file, const uint8_t *bytes, size_t size) {
    if (!*file->path) {
        file->descriptor = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->descriptor);
    }
    require(file->descriptor >= 0 && ftruncate(file->descriptor, 0) == 0);
    require(pwrite(file->descriptor, bytes, size, 0) == (ssize_t)size);
    return file->path;
}

#endif
