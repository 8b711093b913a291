/* SPDX-License-Identifier: MIT
 *
 * PGM as depth, and files that are none. PNG: test_png.c. */
#include "helpers.h"
#include "images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    expect_bad(BYTES("\xFF\xD8\xFF\xE0 JFIF"), "is no image of a known kind");
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
    ast_format_error error;
    assert_false(ast_depth_read(&pixels, "absent.png", &error));
    assert_string_equal(error.text, "absent.png: cannot be opened: No such file or directory");
    assert_false(ast_depth_read(&pixels, ".", &error));
    assert_string_equal(error.text, ".: is a folder; a file is needed");
    write_text("note.txt", "no image");
    assert_false(ast_depth_read(&pixels, "note.txt", &error));
    assert_string_equal(error.text,
                        "note.txt: is no image of a known kind; a depth image, a 16-bit greyscale PNG or PGM, "
                        "is needed");
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
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(binary_depth), cmocka_unit_test(text_depth),
                                       cmocka_unit_test(bad_depth),    cmocka_unit_test(no_file),
                                       cmocka_unit_test(long_files),   cmocka_unit_test(extensions)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
