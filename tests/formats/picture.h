/* SPDX-License-Identifier: MIT
 *
 * Pictures that were written, read back by libpng alone: the project reads none. */
#ifndef ASTERISM_TESTS_FORMATS_PICTURE_H
#define ASTERISM_TESTS_FORMATS_PICTURE_H

#include "images.h"

/* Fills in the picture, which is to be freed with ast_pixels_free; fails the test if the bytes are no PNG. */
void decode_picture(ast_picture *picture, const void *bytes, size_t size);

/* The same of a file. */
void load_picture(ast_picture *picture, const char *path);

#endif
