/* SPDX-License-Identifier: MIT
 *
 * What libpng calls, whether it reads or writes. */
#ifndef ASTERISM_FORMATS_PNG_CALLS_H
#define ASTERISM_FORMATS_PNG_CALLS_H

#include <png.h>
#include <stdbool.h>
#include <stdlib.h>

/* For warnings. */
static inline void ast_png_ignore(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

/* libpng's pointer for memory is the address of a bool, which becomes true if memory runs out. */
static inline void *ast_png_allocate(png_structp png, png_alloc_size_t size) {
    void *memory = malloc(size);
    *(bool *)png_get_mem_ptr(png) |= !memory;
    return memory;
}

static inline void ast_png_release(png_structp png, void *memory) {
    (void)png;
    free(memory);
}

#endif
