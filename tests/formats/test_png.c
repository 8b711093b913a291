/* SPDX-License-Identifier: MIT
 *
 * PNG: depth images against files put together by hand; bad files, each with its sentence;
 * and what the writers write, read back. */
#include "helpers.h"
#include "images.h"
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if ASTERISM_HAVE_PNG

#include "png_maker.h"

static uint64_t seed = 1;

static unsigned any(unsigned below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed >> 33) % below);
}

/* Smooth here and there, so that packing and filters have something to do. */
static uint16_t *any_samples(const png_kind *kind) {
    size_t count = (size_t)kind->width * kind->height * png_channels(kind->colour);
    uint16_t *samples = malloc(count * sizeof *samples), last = 0;
    for (size_t i = 0; i < count; i++)
        samples[i] = last = (uint16_t)((any(3) ? last : any(65536)) & ((1u << kind->bits) - 1));
    return samples;
}

static void depth_of_any_size(void **state) {
    (void)state;
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    for (int n = 0; n < 400; n++) {
        png_kind kind = {1 + any(n < 100 ? 9 : 50), 1 + any(n < 100 ? 9 : 50), 16, PNG_GREY, n & 1, NULL};
        uint16_t *samples = any_samples(&kind);
        size_t size, count = (size_t)kind.width * kind.height;
        unsigned char *file = make_png(&kind, samples, &size);
        if (!ast_depth_read_memory(&pixels, "frame.png", file, size, &error))
            fail_msg("%s", error.text);
        assert_int_equal(pixels.width, kind.width);
        assert_int_equal(pixels.height, kind.height);
        assert_memory_equal(pixels.values, samples, count * sizeof *samples);
        free(file);
        free(samples);
    }
    ast_depth_image view = ast_depth_view(&pixels);
    assert_ptr_equal(view.values, pixels.values);
    assert_int_equal(view.row_stride, 2 * pixels.width);
    ast_pixels_free(&pixels);
    ast_pixels_free(&pixels);
}

/* ---- Bad files --------------------------------------------------------------------------------------------------- */

static void expect_bad(const unsigned char *file, size_t size, const char *part) {
    ast_depth_pixels pixels = {0};
    ast_format_error error = {""};
    /* A copy of just this size, so that a sanitizer sees the end of it. */
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, file, size);
    if (ast_depth_read_memory(&pixels, "frame.png", copy, size, &error))
        fail_msg("read, but a problem was expected: %s", part);
    if (strncmp(error.text, "frame.png: ", 11) != 0 || !strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
    assert_true(pixels.width == 0 && pixels.height == 0);
    ast_pixels_free(&pixels);
    free(copy);
}

static void wrong_kinds(void **state) {
    (void)state;
    static const struct {
        int colour, bits;
        const char *part;
    } kinds[] = {{PNG_GREY, 8, "8-bit greyscale; a depth image has 16-bit greyscale"},
                 {PNG_GREY, 1, "1-bit greyscale;"},
                 {PNG_RGB, 8, "8-bit RGB;"},
                 {PNG_RGB, 16, "16-bit RGB;"},
                 {PNG_PALETTE, 8, "8-bit palette colours;"},
                 {PNG_GREY_ALPHA, 16, "16-bit greyscale with transparency;"},
                 {PNG_RGB_ALPHA, 8, "8-bit RGB with transparency;"}};
    static const unsigned char palette[768];
    for (size_t k = 0; k < ITEMS(kinds); k++) {
        png_kind kind = {4, 4, kinds[k].bits, kinds[k].colour, false, palette};
        uint16_t *samples = any_samples(&kind);
        size_t size;
        unsigned char *file = make_png(&kind, samples, &size);
        expect_bad(file, size, kinds[k].part);
        free(file);
        free(samples);
    }
}

static unsigned char *good_file(size_t *size) {
    png_kind kind = {20, 10, 16, PNG_GREY, false, NULL};
    uint16_t *samples = any_samples(&kind);
    unsigned char *file = make_png(&kind, samples, size);
    free(samples);
    return file;
}

static void cut_anywhere(void **state) {
    (void)state;
    size_t size;
    unsigned char *file = good_file(&size);
    expect_bad(file, 0, "is empty");
    for (size_t cut = 1; cut < size; cut++)
        expect_bad(file, cut, cut < 4 ? "is no image of a known kind" : "cut short");
    free(file);
}

/* A flipped bit never goes unnoticed: every byte is under a check sum, or is one, or stands for the structure. */
static void damaged_anywhere(void **state) {
    (void)state;
    size_t size;
    unsigned char *file = good_file(&size);
    for (size_t i = 0; i < size; i++) {
        file[i] ^= 0x10;
        expect_bad(file, size, i >= 1 && i < 4 ? "is no image" : "");
        file[i] ^= 0x10;
    }
    size_t data = find_chunk(file, size, "IDAT");
    file[data + 12] ^= 1;
    expect_bad(file, size, "damaged (IDAT: CRC error)");
    free(file);
}

static void set_size(unsigned char *file, unsigned width, unsigned height) {
    for (int i = 0; i < 4; i++) {
        file[16 + i] = (unsigned char)(width >> (24 - 8 * i));
        file[20 + i] = (unsigned char)(height >> (24 - 8 * i));
    }
    mend_chunk(file, 8);
}

static void promises(void **state) {
    (void)state;
    size_t size;
    unsigned char *file = good_file(&size);
    set_size(file, 0x7FFFFFFF, 0x7FFFFFFF);
    expect_bad(file, size, "2147483647 x 2147483647 pixels; at most 2^27");
    set_size(file, 1 << 14, (1 << 13) + 1);
    expect_bad(file, size, "at most 2^27");
    set_size(file, 1 << 14, 1 << 13);
    expect_bad(file, size, "cannot hold the 16384 x 8192 pixels that it promises");
    set_size(file, 20, 11);
    expect_bad(file, size, "damaged (Not enough image data)");
    set_size(file, 0, 10);
    expect_bad(file, size, "damaged");
    set_size(file, 20, 10);
    size_t end = find_chunk(file, size, "IEND");
    expect_bad(file, end, "cut short");
    free(file);
}

/* Chunks that no pixel depends on are neither needed nor dangerous. */
static void passed_over(void **state) {
    (void)state;
    size_t size, grown = 8 + 25;
    unsigned char *file = good_file(&size), *longer = malloc(size + 4096), zeros[1000] = {0};
    ast_depth_pixels plain = {0}, pixels = {0};
    ast_format_error error;
    memcpy(longer, file, grown);
    put_chunk(longer, &grown, "gAMA", "\0\0\xB1\x8F", 4);
    put_chunk(longer, &grown, "tEXt", "Comment\0depth", 13);
    put_chunk(longer, &grown, "iCCP", zeros, sizeof zeros);
    put_chunk(longer, &grown, "prVt", zeros, sizeof zeros);
    memcpy(longer + grown, file + 8 + 25, size - 8 - 25);
    assert_true(ast_depth_read_memory(&plain, "frame.png", file, size, &error));
    assert_true(ast_depth_read_memory(&pixels, "frame.png", longer, grown + size - 8 - 25, &error));
    assert_memory_equal(plain.values, pixels.values, plain.width * plain.height * 2);
    ast_pixels_free(&plain);
    ast_pixels_free(&pixels);
    free(longer);
    free(file);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_depth(const char *path, const uint16_t *values, size_t width, size_t height) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    if (!output || !ast_write_depth(output, values, width, height, &error) || !ast_output_commit(output, &error))
        fail_msg("%s", error.text);
}

static void depth_comes_back(void **state) {
    (void)state;
    png_kind kind = {97, 61, 16, PNG_GREY, false, NULL};
    uint16_t *samples = any_samples(&kind);
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    write_depth("depth.png", samples, 97, 61);
    if (!ast_depth_read(&pixels, "depth.png", &error))
        fail_msg("%s", error.text);
    assert_true(pixels.width == 97 && pixels.height == 61);
    assert_memory_equal(pixels.values, samples, 97 * 61 * 2);
    assert_int_equal(count_entries(), 1);
    remove("depth.png");
    ast_pixels_free(&pixels);
    free(samples);
}

static void picture_comes_back(void **state) {
    (void)state;
    enum { WIDTH = 300, HEIGHT = 200 };
    unsigned char *rgb = malloc(3 * WIDTH * HEIGHT);
    for (size_t i = 0; i < 3 * WIDTH * HEIGHT; i++)
        rgb[i] = (unsigned char)(i < 50000 ? i / 1000 : any(256)); /* larger than any buffer on the way */
    ast_format_error error;
    ast_output *output = ast_output_open("picture.png", false, &error);
    assert_true(ast_write_picture(output, rgb, WIDTH, HEIGHT, &error));
    assert_int_equal(count_entries(), 0);
    assert_true(ast_output_commit(output, &error));
    ast_picture picture = {0};
    load_picture(&picture, "picture.png");
    assert_true(picture.width == WIDTH && picture.height == HEIGHT);
    assert_memory_equal(picture.rgb, rgb, 3 * WIDTH * HEIGHT);
    remove("picture.png");
    ast_pixels_free(&picture);
    free(rgb);
}

/* A picture of few colours has those. */
static void indexed_comes_back(void **state) {
    (void)state;
    enum { WIDE = 37, HIGH = 11, COLOURS = 200 };
    unsigned char pixels[WIDE * HIGH], colours[COLOURS][3], *bytes;
    ast_format_error error;
    ast_picture picture = {0};
    size_t size;
    for (size_t i = 0; i < WIDE * HIGH; i++)
        pixels[i] = (unsigned char)(i * 7 % COLOURS);
    for (size_t i = 0; i < COLOURS * 3; i++)
        colours[i / 3][i % 3] = (unsigned char)(i * 5);
    ast_output *output = ast_output_open_memory("memory", &error);
    assert_true(ast_write_indexed(output, pixels, WIDE, HIGH, colours[0], COLOURS, &error));
    assert_true(ast_output_take(output, &bytes, &size, &error));
    decode_picture(&picture, bytes, size);
    assert_true(picture.width == WIDE && picture.height == HIGH);
    for (size_t i = 0; i < WIDE * HIGH; i++)
        assert_memory_equal(picture.rgb + 3 * i, colours[pixels[i]], 3);
    ast_pixels_free(&picture);
    free(bytes);
}

static void write_failures(void **state) {
    (void)state;
    static unsigned char rgb[3 * 400 * 400];
    ast_format_error error = {""};
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (unsigned char)any(256);
    ast_output *output = ast_output_open("none.png", false, &error);
    assert_false(ast_write_picture(output, rgb, 0, 10, &error));
    assert_string_equal(error.text, "none.png: an image of 0 x 10 pixels cannot be written");
    ast_output_abandon(output);
    assert_int_equal(count_entries(), 0);
    const char *full = full_device();
    output = ast_output_open(full, false, &error);
    assert_non_null(output);
    assert_false(ast_write_picture(output, rgb, 400, 400, &error));
    assert_non_null(strstr(error.text, "full: cannot be written: No space left"));
    ast_output_abandon(output);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(depth_of_any_size),  cmocka_unit_test(wrong_kinds),
                                       cmocka_unit_test(cut_anywhere),       cmocka_unit_test(damaged_anywhere),
                                       cmocka_unit_test(promises),           cmocka_unit_test(passed_over),
                                       cmocka_unit_test(depth_comes_back),   cmocka_unit_test(picture_comes_back),
                                       cmocka_unit_test(indexed_comes_back), cmocka_unit_test(write_failures)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

#else

static void says_so(void **state) {
    (void)state;
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    const char *file = "\x89PNG\r\n\x1A\n";
    assert_false(ast_depth_read_memory(&pixels, "frame.png", file, 8, &error));
    assert_string_equal(error.text, "frame.png: this build has no libpng and reads no PNG; PGM can be read");
    ast_output *output = ast_output_open("out.png", false, &error);
    assert_false(ast_write_depth(output, (const uint16_t[]){1}, 1, 1, &error));
    assert_string_equal(error.text, "out.png: this build has no libpng and writes no PNG");
    assert_false(ast_write_picture(output, (const unsigned char[]){1, 2, 3}, 1, 1, &error));
    ast_output_abandon(output);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_so)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

#endif
