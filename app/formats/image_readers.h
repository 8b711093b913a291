/* SPDX-License-Identifier: MIT
 *
 * What images.c needs of a kind of image: a decoder from bytes in memory. */
#ifndef ASTERISM_FORMATS_IMAGE_READERS_H
#define ASTERISM_FORMATS_IMAGE_READERS_H

#include "bytes.h"
#include "images.h"

/* A whole file. */
typedef struct ast_image_file {
    const char *name; /* for sentences */
    const unsigned char *bytes;
    size_t size;
} ast_image_file;

/* Each fills in the pixels or fails with a sentence; memory stays with the pixels either way. */
typedef bool ast_image_decoder(ast_pixels *pixels, const ast_image_file *file, ast_format_error *error);
ast_image_decoder ast_png_depth, ast_pnm_depth, ast_npy_depth, ast_pfm_depth, ast_tiff_depth, ast_pcd_depth;

/* Fills pixels of any size from as many floats, which are metres, or float_scale units of them. */
void ast_depth_from_floats(ast_depth_pixels *pixels, const void *floats);

/* Whether an image may be this large, and is not empty. */
bool ast_image_check_size(const char *name, size_t width, size_t height, ast_format_error *error);

/* Reads a file to its end, and decodes it. Of a file that is no image only the beginning is read. */
bool ast_depth_read_bytes(ast_depth_pixels *pixels, ast_buffer *buffer, ast_bytes *bytes, ast_format_error *error);

#endif
