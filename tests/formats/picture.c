/* SPDX-License-Identifier: MIT
 *
 * PNG to RGB with the simplified interface of libpng. */
#include "picture.h"

#include "helpers.h"

#include <stdlib.h>

#if ASTERISM_HAVE_PNG
#include <png.h>

void decode_picture(ast_picture *picture, const void *bytes, size_t size) {
    ast_format_error error;
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, bytes, size))
        fail_msg("%s", image.message);
    image.format = PNG_FORMAT_RGB;
    assert_true(ast_pixels_resize(picture, image.width, image.height, 3, "picture", &error));
    if (!png_image_finish_read(&image, NULL, picture->rgb, 0, NULL))
        fail_msg("%s", image.message);
}

#else

void decode_picture(ast_picture *picture, const void *bytes, size_t size) {
    (void)picture, (void)bytes, (void)size;
    skip();
}

#endif

void load_picture(ast_picture *picture, const char *path) {
    size_t size;
    char *bytes = read_bytes(path, &size);
    decode_picture(picture, bytes, size);
    free(bytes);
}
