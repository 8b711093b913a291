/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a depth image. */
#ifndef ASTERISM_TESTS_FUZZ_IMAGES_H
#define ASTERISM_TESTS_FUZZ_IMAGES_H

#include "fuzz.h"
#include "images.h"

/* Every byte of the pixels can be read, and was written (the memory sanitizer would see). */
static inline void touch_bytes(const void *bytes, size_t size) {
    unsigned char seen = 0;
    for (size_t i = 0; i < size; i++)
        seen ^= ((const unsigned char *)bytes)[i];
    volatile unsigned char keep = seen;
    (void)keep;
}

static inline void check_sentence(const ast_format_error *error) {
    require(strncmp(error->text, "fuzz: ", 6) == 0 && strchr(error->text, '\n') == NULL);
}

static inline void as_depth(const uint8_t *bytes, size_t size) {
    ast_depth_pixels pixels = {0};
    ast_format_error error = {""};
    bool good = ast_depth_read_memory(&pixels, "fuzz", bytes, size, &error);
    require(good == (pixels.width > 0) && good == (pixels.height > 0));
    if (good)
        touch_bytes(pixels.values, pixels.width * pixels.height * sizeof *pixels.values);
    else
        check_sentence(&error);
    ast_pixels_free(&pixels);
}

#endif
