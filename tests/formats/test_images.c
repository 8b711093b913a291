/* SPDX-License-Identifier: MIT
 *
 * PGM as depth, PGM and PPM and JPEG as pictures, and files that are none of these. PNG: test_png.c. */
#include "helpers.h"
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if ASTERISM_HAVE_JPEG
#include <jpeglib.h>
#endif

/* ---- Depth ------------------------------------------------------------------------------------------------------- */

static void expect_depth(const char *file, size_t size, size_t width, size_t height, const uint16_t *expected) {
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    if (!ast_depth_read_memory(&pixels, "frame.pgm", file, size, &error))
        fail_msg("%s", error.text);
    assert_int_equal(pixels.width, width);
    assert_int_equal(pixels.height, height);
    assert_memory_equal(pixels.values, expected, width * height * sizeof *expected);
    ast_pixels_free(&pixels);
}

static void expect_bad(const char *file, size_t size, const char *part) {
    ast_depth_pixels pixels = {0};
    ast_format_error error = {""};
    char *copy = malloc(size ? size : 1); /* of just this size, so that a sanitizer sees the end of it */
    memcpy(copy, file, size);
    if (ast_depth_read_memory(&pixels, "frame.pgm", copy, size, &error))
        fail_msg("read, but a problem was expected: %s", part);
    if (strncmp(error.text, "frame.pgm: ", 11) != 0 || !strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
    assert_true(pixels.width == 0 && pixels.height == 0);
    ast_pixels_free(&pixels);
    free(copy);
}

/* The bytes of a string constant, which may hold NULs. */
#define BYTES(text) (text), sizeof(text) - 1

static void binary_depth(void **state) {
    (void)state;
    expect_depth(BYTES("P5\n2 2\n65535\n\x01\x02\xFF\xFF\0\0\0\x07"), 2, 2, (uint16_t[]){0x102, 65535, 0, 7});
    expect_depth(BYTES("P5 1\t2\r\n256 \x01\0\0\x0A"), 1, 2, (uint16_t[]){256, 10});
    expect_depth(BYTES("P5 # a camera\n# 99 99\n 3 # wide\n1 4095\n\x0F\xFF\0 \n\n"), 3, 1,
                 (uint16_t[]){4095, 32, 2570});
    expect_depth(BYTES("P5\n1 1\n65535\n\x20\x20 \n"), 1, 1, (uint16_t[]){0x2020}); /* a line end at the end */
}

static void text_depth(void **state) {
    (void)state;
    expect_depth(BYTES("P2\n3 2\n1000\n1 2 3\n1000 0\n7"), 3, 2, (uint16_t[]){1, 2, 3, 1000, 0, 7});
    expect_depth(BYTES("P2 1 1 65535 65535\n"), 1, 1, (uint16_t[]){65535});
    expect_depth(BYTES("P2 2 1 300 00012#x\n\t9 "), 2, 1, (uint16_t[]){12, 9});
}

static void bad_depth(void **state) {
    (void)state;
    expect_bad(BYTES(""), "is empty; a depth image");
    expect_bad(BYTES("P"), "is no image of a known kind");
    expect_bad(BYTES("time x y\n1 2 3\n"), "is no image of a known kind; a depth image, a 16-bit greyscale PNG or PGM");
    expect_bad(BYTES("\xFF\xD8\xFF\xE0 JFIF"), "is a JPEG picture");
    expect_bad(BYTES("P6 1 1 65535 abcdef"), "is a PPM in colour");
    expect_bad(BYTES("P3 1 1 65535 1 2 3"), "is a PPM in colour");
    expect_bad(BYTES("P4 8 1 a"), "is a PBM bitmap");
    expect_bad(BYTES("P5 2 1 255 ab"), "is an 8-bit PGM (its largest value is 255)");
    expect_bad(BYTES("P5"), "width, height and largest value do not follow");
    expect_bad(BYTES("P5 2 x"), "width, height and largest value do not follow");
    expect_bad(BYTES("P5 2 2 65535"), "width, height and largest value do not follow");
    expect_bad(BYTES("P5 2 2 65535#"), "width, height and largest value do not follow");
    expect_bad(BYTES("P5 -2 2 65535 "), "width, height and largest value do not follow");
    expect_bad(BYTES("P5 0 2 65535 "), "is an image of 0 x 2 pixels");
    expect_bad(BYTES("P5 2 2 65536 "), "has a largest value of 65536");
    expect_bad(BYTES("P5 2 2 0 "), "has a largest value of 0");
    expect_bad(BYTES("P5 2 2 99999999999999999999999999 "), "it must be 1 to 65535");
    expect_bad(BYTES("P5 100000 100000 65535 ab"), "at most 2^27");
    expect_bad(BYTES("P5 999999999999999999999 999999999999999999999 65535 ab"), "at most 2^27");
    expect_bad(BYTES("P5 10000 10000 65535 ab"), "cannot hold the 10000 x 10000 pixels that it promises");
    expect_bad(BYTES("P2 10000 10000 65535 1 2"), "cannot hold the 10000 x 10000 pixels that it promises");
    expect_bad(BYTES("P5 2 1 65535 abc"), "is cut short");
    expect_bad(BYTES("P5 1 1 65535 abP5"), "2 bytes follow the image; there must be one image a file");
    expect_bad(BYTES("P5 2 2 300 \0\1\0\2\0\3\1\x2D"), "row 2, column 2: 301 is larger than");
    expect_bad(BYTES("P2 2 2 300 1 2 301 4"),
               "row 2, column 1: 301 is larger than the largest value that its header names, 300");
    expect_bad(BYTES("P2 2 1 300 100    "), "is cut short");
    expect_bad(BYTES("P2 2 1 300 1 x 3"), "row 1, column 2: is no whole number");
    expect_bad(BYTES("P2 1 1 300 1 2"), "bytes follow the image");
}

static void no_file(void **state) {
    (void)state;
    ast_depth_pixels pixels = {0};
    ast_picture picture = {0};
    ast_format_error error;
    assert_false(ast_depth_read(&pixels, "absent.png", &error));
    assert_string_equal(error.text, "absent.png: cannot be opened: No such file or directory");
    assert_false(ast_depth_read(&pixels, ".", &error));
    assert_string_equal(error.text, ".: is a folder; a file is needed");
    assert_false(ast_picture_read(&picture, "absent.png", &error));
    write_text("note.txt", "no image");
    assert_false(ast_picture_read(&picture, "note.txt", &error));
    assert_string_equal(error.text, "note.txt: is no image of a known kind; a picture, a PNG, JPEG or PPM, is needed");
    assert_false(ast_depth_read(&pixels, "note.txt", &error));
}

/* Of an endless file that is no image only the beginning is read; one that is larger than the buffer is read whole. */
static void long_files(void **state) {
    (void)state;
    enum { WIDTH = 2000, HEIGHT = 700 };
    char *file = malloc(2 * WIDTH * HEIGHT + 64);
    int header = sprintf(file, "P5 %d %d 65535 ", WIDTH, HEIGHT);
    for (int i = 0; i < 2 * WIDTH * HEIGHT; i++)
        file[header + i] = (char)(i * 7 + i / 1000);
    write_bytes("large.pgm", file, (size_t)header + 2 * WIDTH * HEIGHT);
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    assert_true(ast_depth_read(&pixels, "large.pgm", &error));
    const unsigned char *last = (unsigned char *)file + header + 2 * WIDTH * HEIGHT - 2;
    assert_int_equal(pixels.values[WIDTH * HEIGHT - 1], last[0] << 8 | last[1]);
    assert_false(ast_depth_read(&pixels, "/dev/zero", &error));
    assert_non_null(strstr(error.text, "/dev/zero: is no image of a known kind"));
    ast_pixels_free(&pixels);
    free(file);
}

static bool is_depth(const char *path) {
    return ast_format_of(path, NULL).holds == AST_HOLDS_DEPTH;
}

static void extensions(void **state) {
    (void)state;
    assert_true(is_depth("a/b.png") && is_depth("x.PGM"));
    assert_false(is_depth("a.jpg") || is_depth(".png") || is_depth("png"));
    assert_true(ast_picture_extension("a.jpg") && ast_picture_extension("a.JPEG") && ast_picture_extension("b.ppm"));
    assert_false(ast_picture_extension("a.npy") || ast_picture_extension("-"));
}

/* ---- Pictures ---------------------------------------------------------------------------------------------------- */

static void expect_picture(const char *file, size_t size, size_t width, size_t height, const char *rgb) {
    ast_picture picture = {0};
    ast_format_error error;
    if (!ast_picture_read_memory(&picture, "picture.ppm", file, size, &error))
        fail_msg("%s", error.text);
    assert_true(picture.width == width && picture.height == height);
    assert_memory_equal(picture.rgb, rgb, 3 * width * height);
    ast_pixels_free(&picture);
}

static void netpbm_pictures(void **state) {
    (void)state;
    expect_picture(BYTES("P6 2 1 255 abcdef"), 2, 1, "abcdef");
    expect_picture(BYTES("P6 1 1 65535 \0\0\x80\x80\xFF\xFF"), 1, 1, "\0\x80\xFF");
    expect_picture(BYTES("P6 1 1 15 \0\x07\x0F"), 1, 1, "\0\x77\xFF");
    expect_picture(BYTES("P3 1 2 255 1 2 3 4 5 255"), 1, 2, "\1\2\3\4\5\xFF");
    expect_picture(BYTES("P5 2 1 255 ab"), 2, 1, "aaabbb");
    expect_picture(BYTES("P2 2 1 3 0 1"), 2, 1, "\0\0\0\x55\x55\x55");
    ast_picture picture = {0};
    ast_format_error error;
    assert_false(ast_picture_read_memory(&picture, "p", BYTES("P6 2 1 255 abcde"), &error));
    assert_non_null(strstr(error.text, "is cut short"));
    assert_false(ast_picture_read_memory(&picture, "p", BYTES("P6 1 1 15 ab\xFF"), &error));
    assert_non_null(strstr(error.text, "larger than the largest value"));
    ast_pixels_free(&picture);
}

#if ASTERISM_HAVE_JPEG

static unsigned char *make_jpeg(int width, int height, bool grey, bool progressive, unsigned long *size) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr manager;
    unsigned char *file = NULL, row[3 * 256];
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_compress(&jpeg);
    *size = 0;
    jpeg_mem_dest(&jpeg, &file, size);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = grey ? 1 : 3;
    jpeg.in_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width * jpeg.input_components; x++)
            row[x] = grey ? (unsigned char)(x + y) : (unsigned char)(x % 3 == 0 ? x / 3 : x % 3 == 1 ? y : 100);
        JSAMPROW rows = row;
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return file;
}

static void jpeg_pictures(void **state) {
    (void)state;
    for (int n = 0; n < 4; n++) {
        unsigned long size;
        bool grey = n & 1;
        unsigned char *file = make_jpeg(70, 50, grey, n & 2, &size);
        ast_picture picture = {0};
        ast_format_error error;
        if (!ast_picture_read_memory(&picture, "picture.jpg", file, size, &error))
            fail_msg("%s", error.text);
        assert_true(picture.width == 70 && picture.height == 50);
        for (int i = 0; i < 70 * 50; i++) {
            int x = i % 70, y = i / 70, expected[] = {grey ? x + y : x, grey ? x + y : y, grey ? x + y : 100};
            for (int c = 0; c < 3; c++)
                assert_in_range(picture.rgb[3 * i + c] + 20 - expected[c], 10, 30);
        }
        ast_pixels_free(&picture);
        free(file);
    }
}

static void bad_jpegs(void **state) {
    (void)state;
    unsigned long size;
    unsigned char *file = make_jpeg(200, 120, false, false, &size);
    ast_picture picture = {0};
    ast_format_error error;
    /* What misses but the mark of the end still shows all pixels. */
    for (size_t cut = 3; cut + 2 < size; cut += 1 + cut / 50) {
        unsigned char *copy = malloc(cut);
        memcpy(copy, file, cut);
        assert_false(ast_picture_read_memory(&picture, "picture.jpg", copy, cut, &error));
        assert_non_null(strstr(error.text, "picture.jpg: the JPEG "));
        assert_null(strchr(error.text, '\n'));
        assert_true(picture.width == 0 && picture.height == 0);
        free(copy);
    }
    unsigned char huge[] = "\xFF\xD8\xFF\xC0\0\x0B\x08\xFF\xFF\xFF\xFF\1\1\x11\0";
    assert_false(ast_picture_read_memory(&picture, "picture.jpg", huge, sizeof huge - 1, &error));
    for (size_t i = 0; i + 20 < size; i++) /* the size of the frame, after the mark SOF0 */
        if (file[i] == 0xFF && file[i + 1] == 0xC0) {
            memset(file + i + 5, 0x2F, 4);
            break;
        }
    assert_false(ast_picture_read_memory(&picture, "picture.jpg", file, size, &error));
    assert_non_null(strstr(error.text, "pixels"));
    ast_pixels_free(&picture);
    free(file);
}

#else

static void jpeg_pictures(void **state) {
    (void)state;
    ast_picture picture = {0};
    ast_format_error error;
    assert_false(ast_picture_read_memory(&picture, "a.jpg", BYTES("\xFF\xD8\xFF\xE0"), &error));
    assert_string_equal(error.text, "a.jpg: this build has no libjpeg and reads no JPEG; convert it to PNG");
}

static void bad_jpegs(void **state) {
    (void)state;
    print_message("skipped: this build has no libjpeg\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_depth),  cmocka_unit_test(text_depth),      cmocka_unit_test(bad_depth),
        cmocka_unit_test(no_file),       cmocka_unit_test(long_files),      cmocka_unit_test(extensions),
        cmocka_unit_test(jpeg_pictures), cmocka_unit_test(netpbm_pictures), cmocka_unit_test(bad_jpegs)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
