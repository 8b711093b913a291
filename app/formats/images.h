/* SPDX-License-Identifier: MIT
 *
 * Single images: depth images (16-bit greyscale PNG, PGM) in and out, pictures in colour (PNG) out. What a file is, is
 * seen from its first bytes, not from its name. Sequences of depth images: frames.h.
 *
 *     ast_depth_pixels depth = {0};
 *     if (!ast_depth_read(&depth, "frame.png", &error))
 *         fprintf(stderr, "asterism: %s\n", error.text);
 *     ... depth.values is (depth.height, depth.width) ...
 *     ast_pixels_free(&depth);
 *
 * No header is believed: what it promises is checked against the number of bytes that are there before memory is asked
 * for. A build without libpng says so when it meets such a file. The rules of formats.h hold here too. */
#ifndef ASTERISM_FORMATS_IMAGES_H
#define ASTERISM_FORMATS_IMAGES_H

#include "asterism_depth.h"
#include "formats.h"

/* The largest image, in pixels: what asterism_depth.h takes. */
#ifndef AST_PIXELS_MOST
#define AST_PIXELS_MOST ((size_t)1 << 27)
#endif

/* ---- Depth ----------------------------------------------------------------------------------------------------- */

/* An image that is ours. It starts zeroed; reading into it again uses its memory again. */
typedef struct ast_pixels {
    union {
        uint16_t *values;   /* of a depth image: (height, width), in the machine's byte order, as the file has them */
        unsigned char *rgb; /* of a picture: (height, width, 3) */
        void *memory;
    };
    size_t width, height;
    size_t capacity;    /* bytes that there is room for */
    double float_scale; /* set before reading: units per metre of files of floats; 0: they hold metres */
    double units;       /* units per metre of the values, if the file holds floats; 0: they are as the file has them */
} ast_pixels;
typedef ast_pixels ast_depth_pixels, ast_picture;

/* Makes room for width x height pixels of `item` bytes, whose values are any afterwards; `name` is for the sentence. */
bool ast_pixels_resize(ast_pixels *pixels, size_t width, size_t height, size_t item, const char *name,
                       ast_format_error *error);

/* Fine on zeroed and freed pixels. */
void ast_pixels_free(ast_pixels *pixels);

/* Reads a 16-bit greyscale PNG, plain or interlaced, a PGM with a largest value of 256 to 65535 (P5, or P2 in text), a
 * .npy of (height, width) floats or 16-bit numbers, a PFM, or a TIFF of either without compression (depth_float.c), or
 * an organised PCD (pcd_depth.c).
 * Every other image is refused with a sentence that says what it is. `path` "-" is standard input. A failure leaves
 * the pixels to be freed or read into, with a size of 0 x 0. */
bool ast_depth_read(ast_depth_pixels *pixels, const char *path, ast_format_error *error);

/* The same from bytes in memory; `name` stands for the file in sentences. */
bool ast_depth_read_memory(ast_depth_pixels *pixels, const char *name, const void *bytes, size_t size,
                           ast_format_error *error);

/* Whether a file is a PCD with rows of pixels, by the beginning of its header; false if it cannot be read. */
bool ast_pcd_is_image(const char *path);

/* The camera that an organised PCD comes from, as its points show it. */
bool ast_pcd_camera(const char *path, ast_camera *camera, ast_format_error *error);

/* A view for ast_depth_normals. */
ast_depth_image ast_depth_view(const ast_depth_pixels *pixels);

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* An 8-bit RGB PNG; rgb: (height, width, 3). Compressed for speed: 640 x 480 labels take about 2 ms, blended with the
 * grey of a depth image 5, with a photograph 15. */
bool ast_write_picture(ast_output *output, const unsigned char *rgb, size_t width, size_t height,
                       ast_format_error *error);

/* A PNG of at most 256 colours; pixels: (height, width) of their numbers; colours: (count, 3). Small pictures of labels
 * take a tenth of the bytes that they would take in RGB. */
bool ast_write_indexed(ast_output *output, const unsigned char *pixels, size_t width, size_t height,
                       const unsigned char *colours, size_t count, ast_format_error *error);

/* A 16-bit greyscale PNG; values: (height, width). */
bool ast_write_depth(ast_output *output, const uint16_t *values, size_t width, size_t height, ast_format_error *error);

#endif
