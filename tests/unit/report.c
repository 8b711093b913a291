/* SPDX-License-Identifier: MIT
 *
 * app/report/: colours that colour-blind people tell apart, pictures pixel by pixel, sheets that stay small, and a
 * chart and a table that say the same. */
#include "formats/helpers.h"
#include "formats/picture.h"
#include "reference/no_memory.h"

#include <report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- No memory --------------------------------------------------------------------------------------------------- */

/* Writes `write` of the shares; what fails is abandoned. */
static bool try_file(const ast_shares *shares, bool (*write)(const ast_shares *, ast_output *, ast_format_error *),
                     ast_format_error *error) {
    ast_output *output = ast_output_open("try", false, error);
    if (output && write(shares, output, error))
        return ast_output_commit(output, error);
    ast_output_abandon(output);
    return false;
}

/* Everything the room allocates for, once. */
static bool try_all(ast_format_error *error) {
    unsigned char rgb[12] = {0};
    ast_picture picture = {.rgb = rgb, .width = 2, .height = 2};
    ast_tracked cluster = {.id = 3, .count = 1, .share = 1};
    ast_shares *shares = ast_shares_open();
    ast_sheet *sheet = ast_sheet_open();
    size_t count;
    snprintf(error->text, sizeof error->text, "no memory");
    bool good = shares && sheet;
    for (uint64_t i = 0; i < 3 && good; i++)
        good = ast_shares_add(shares, i, "x", &cluster, 1, error) && ast_sheet_add(sheet, &picture, i, error);
    good = good && try_file(shares, ast_shares_write_csv, error) && try_file(shares, ast_shares_write_svg, error);
    ast_shares_band *bands = good ? ast_shares_bands(shares, &count) : NULL;
    good = bands != NULL;
    free(bands);
    ast_shares_close(shares);
    ast_sheet_close(sheet);
    return good;
}

/* The n-th allocation fails, for every n: a sentence, nothing leaked (the address sanitizer looks), no file left. */
static void no_memory(void **state) {
    (void)state;
    ast_format_error error;
    bool good = false;
    for (long n = 1; !good; n++) {
        assert_true(n < 200);
        atomic_store(&ast_test_countdown, n);
        good = try_all(&error);
        bool reached = atomic_exchange(&ast_test_countdown, 0) <= 0;
        if (good == reached || !strcasestr(error.text, "memory"))
            fail_msg("allocation %ld: good %d, reached %d, %s", n, good, reached, error.text);
        remove("try");
        assert_int_equal(count_entries(), 0);
    }
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* What people with no red, green or blue cones see of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1),
 * after what everybody else sees. */
static const double sights[4][9] = {
    {1, 0, 0, 0, 1, 0, 0, 0, 1},
    {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
    {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
    {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}};

static double linear(unsigned char value) {
    double x = value / 255.0;
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double lab_curve(double t) {
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE L*a*b* of a colour (D65) as somebody sees it. */
static void seen(ast_colour colour, const double sight[9], double lab[3]) {
    double rgb[3] = {linear(colour.red), linear(colour.green), linear(colour.blue)}, s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = sight[3 * i] * rgb[0] + sight[3 * i + 1] * rgb[1] + sight[3 * i + 2] * rgb[2];
        s[i] = fmin(1, fmax(0, s[i]));
    }
    double x = lab_curve((0.4124564 * s[0] + 0.3575761 * s[1] + 0.1804375 * s[2]) / 0.95047);
    double y = lab_curve(0.2126729 * s[0] + 0.7151522 * s[1] + 0.0721750 * s[2]);
    double z = lab_curve((0.0193339 * s[0] + 0.1191920 * s[1] + 0.9503041 * s[2]) / 1.08883);
    lab[0] = 116 * y - 16;
    lab[1] = 500 * (x - y);
    lab[2] = 200 * (y - z);
}

static double difference(int32_t a, int32_t b, int sight) {
    double one[3], other[3];
    seen(ast_palette(a), sights[sight], one);
    seen(ast_palette(b), sights[sight], other);
    return hypot(hypot(one[0] - other[0], one[1] - other[1]), one[2] - other[2]);
}

/* A difference of 2 or 3 is just seen side by side; 10 at a glance. */
static void colours_differ(void **state) {
    (void)state;
    for (int sight = 0; sight < 4; sight++)
        for (int32_t a = -1; a < AST_PALETTE_HUES; a++)
            for (int32_t b = a + 1; b < AST_PALETTE_HUES; b++)
                if (difference(a, b, sight) < 10)
                    fail_msg("ids %d and %d look alike, kind %d: %.1f", a, b, sight, difference(a, b, sight));
    for (int32_t a = -1; a < AST_PALETTE_SIZE; a++)
        for (int32_t b = a + 1; b < AST_PALETTE_SIZE; b++)
            if (difference(a, b, 0) < 6)
                fail_msg("ids %d and %d look alike: %.1f", a, b, difference(a, b, 0));
    ast_colour again = ast_palette(3 + AST_PALETTE_SIZE), once = ast_palette(3), last = ast_palette(INT32_MAX);
    assert_memory_equal(&again, &once, sizeof once);
    assert_true(last.red | last.green | last.blue);
    assert_true(ast_colour_light(ast_palette(2)) && !ast_colour_light(ast_palette(1)));
}

/* ---- Overlays ---------------------------------------------------------------------------------------------------- */

static void overlays(void **state) {
    (void)state;
    ast_format_error error;
    ast_picture picture = {0};
    static const uint16_t values[] = {500, 1000, 65535, 4000, 0, 9}; /* two rows of two, and one too many in each */
    static const int32_t labels[] = {0, -1, 1, 5};
    ast_depth_image depth = {sizeof depth, values, 2, 2, 3 * sizeof *values};
    assert_true(ast_overlay_depth(&picture, &depth, 1000, labels, &error));
    assert_true(picture.width == 2 && picture.height == 2);
    const unsigned char *pixel = picture.rgb;
    assert_true(pixel[0] > pixel[1] && pixel[1] > pixel[2]); /* orange, still */
    assert_true(pixel[3] == 0 && pixel[4] == 0 && pixel[5] == 0);
    assert_true(pixel[6] < pixel[7] && pixel[7] < pixel[8]); /* blue */
    ast_colour sky = ast_palette(5);                         /* at a depth of 0 units all light */
    assert_int_equal(pixel[9], (sky.red * 166 + 255 * 90 + 128) / 256);
    ast_pixels_free(&picture);
}

/* ---- Contact sheets ---------------------------------------------------------------------------------------------- */

static void fill(ast_picture *picture, size_t width, size_t height, unsigned char grey) {
    ast_format_error error;
    assert_true(ast_pixels_resize(picture, width, height, 3, "test", &error));
    memset(picture->rgb, grey, 3 * width * height);
}

/* Adds `count` pictures of the grey number i % 200 and reads the sheet back. */
static void make_sheet(size_t count, size_t width, size_t height, ast_picture *sheet_picture) {
    ast_format_error error;
    ast_picture picture = {0};
    ast_sheet *sheet = ast_sheet_open();
    assert_non_null(sheet);
    for (size_t i = 0; i < count; i++) {
        fill(&picture, width, height, (unsigned char)(i % 200));
        assert_true(ast_sheet_add(sheet, &picture, i, &error));
    }
    ast_output *output = ast_output_open("sheet.png", false, &error);
    if (!ast_sheet_write(sheet, output, &error)) {
        ast_output_abandon(output);
        ast_sheet_close(sheet);
        ast_pixels_free(&picture);
        if (strstr(error.text, "libpng"))
            skip();
        fail_msg("%s", error.text);
    }
    assert_true(ast_output_commit(output, &error));
    ast_sheet_close(sheet);
    ast_pixels_free(&picture);
    load_picture(sheet_picture, "sheet.png");
}

static unsigned char at(const ast_picture *picture, size_t column, size_t row) {
    return picture->rgb[3 * ((4 + row * 124 + 100) * picture->width + 4 + column * 164 + 150)];
}

static void sheets(void **state) {
    (void)state;
    ast_picture sheet = {0};
    make_sheet(3, 640, 480, &sheet); /* one row of three would be three times as wide as high */
    assert_true(sheet.width == 4 + 2 * 164 && sheet.height == 4 + 2 * 124);
    assert_true(at(&sheet, 0, 0) == 0 && at(&sheet, 1, 0) == 1 && at(&sheet, 0, 1) == 2);
    assert_int_equal(at(&sheet, 1, 1), 255);
    make_sheet(AST_SHEET_MOST + 1, 640, 480, &sheet); /* every second, from the first on */
    assert_true(sheet.width == 4 + 7 * 164 && sheet.height == 4 + 9 * 124);
    assert_true(at(&sheet, 0, 0) == 0 && at(&sheet, 1, 0) == 2 && at(&sheet, 4, 8) == 120);
    make_sheet(1000, 32, 24, &sheet); /* every 16th: 63 of them */
    assert_true(at(&sheet, 1, 0) == 16 && at(&sheet, 0, 1) == 112);
    make_sheet(1, 3, 200, &sheet); /* higher than anybody wants */
    assert_true(sheet.width == 168 && sheet.height == 648);
    ast_pixels_free(&sheet);
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

static void add_frame(ast_shares *shares, uint64_t frame, const char *source, size_t count, const int32_t *ids,
                      const double *parts) {
    ast_format_error error;
    ast_tracked clusters[8] = {{0}};
    for (size_t i = 0; i < count; i++)
        clusters[i] = (ast_tracked){.id = ids[i], .count = (size_t)(1000 * parts[i]), .share = parts[i]};
    assert_true(ast_shares_add(shares, frame, source, clusters, count, &error));
}

static ast_shares *some_shares(void) {
    ast_shares *shares = ast_shares_open();
    assert_non_null(shares);
    add_frame(shares, 10, "a.png", 2, (const int32_t[]){0, 4}, (const double[]){0.75, 0.25});
    add_frame(shares, 11, "b,\"c\".png", 3, (const int32_t[]){0, 4, 5}, (const double[]){0.5, 0, 0.5});
    add_frame(shares, 12, "d.png", 0, NULL, NULL);
    add_frame(shares, 13, "e.png", 2, (const int32_t[]){0, 4}, (const double[]){0.25, 0.75});
    return shares;
}

static char *written(const ast_shares *shares, const char *name,
                     bool (*write)(const ast_shares *, ast_output *, ast_format_error *)) {
    ast_format_error error;
    size_t size;
    ast_output *output = ast_output_open(name, false, &error);
    assert_true(output && write(shares, output, &error) && ast_output_commit(output, &error));
    return read_bytes(name, &size);
}

static void tables(void **state) {
    (void)state;
    ast_shares *shares = some_shares();
    char *text = written(shares, "shares.csv", ast_shares_write_csv);
    assert_string_equal(text, "frame,source,id,count,share\n"
                              "10,a.png,0,750,0.75\n10,a.png,4,250,0.25\n"
                              "11,\"b,\"\"c\"\".png\",0,500,0.5\n11,\"b,\"\"c\"\".png\",5,500,0.5\n"
                              "13,e.png,0,250,0.25\n13,e.png,4,750,0.75\n");
    free(text);
    size_t count;
    ast_shares_band *bands = ast_shares_bands(shares, &count);
    assert_int_equal(count, 3);
    assert_true(bands[0].id == 0 && bands[0].frames == 3 && bands[0].returns == 1 && bands[0].share == 0.375);
    assert_true(bands[1].id == 4 && bands[1].first == 10 && bands[1].last == 13 && bands[1].returns == 1);
    assert_true(bands[2].id == 5 && bands[2].frames == 1 && bands[2].share == 0.125);
    free(bands);
    ast_shares_close(shares);
}

static size_t occurrences(const char *text, const char *part) {
    size_t count = 0;
    for (const char *found = text; (found = strstr(found, part)); found++)
        count++;
    return count;
}

static void charts(void **state) {
    (void)state;
    ast_shares *shares = some_shares();
    char *text = written(shares, "shares.svg", ast_shares_write_svg);
    assert_int_equal(occurrences(text, "<path "), 3);
    /* Id 0: frames 10 and 11 in one outline, 13 in another; a column is 197 wide, the whole 360 high. */
    assert_non_null(strstr(text, "d=\"M62.00 400.00V130.00H259.00V220.00H456.00V400.00H259.00V400.00H62.00Z"
                                 "M653.00 400.00V310.00H850.00V400.00H653.00Z\"><title>cluster 0</title>"));
    assert_non_null(strstr(text, ">0: 37.5%<"));
    assert_non_null(strstr(text, "</svg>\n"));
    free(text);
    ast_shares_close(shares);
    shares = ast_shares_open(); /* nothing at all is a chart without bands */
    text = written(shares, "shares.svg", ast_shares_write_svg);
    assert_int_equal(occurrences(text, "<path "), 0);
    free(text);
    ast_shares_close(shares);
}

/* However long the stream, the file stays small, and the means of many frames are right. */
static void long_charts(void **state) {
    (void)state;
    ast_shares *shares = ast_shares_open();
    for (uint64_t i = 0; i < 10000; i++)
        add_frame(shares, i, "x", 2, (const int32_t[]){0, (int32_t)(1 + i % 100)},
                  (const double[]){i % 2 ? 0.25 : 0.75, i % 2 ? 0.75 : 0.25});
    size_t count;
    ast_shares_band *bands = ast_shares_bands(shares, &count);
    assert_true(count == 101 && bands[0].id == 0 && fabs(bands[0].share - 0.5) < 1e-9 && bands[0].returns == 0);
    free(bands);
    char *text = written(shares, "long.svg", ast_shares_write_svg);
    assert_true(strlen(text) < 1500000);
    assert_non_null(strstr(text, "and 86 more"));
    free(text);
    ast_shares_close(shares);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory),  cmocka_unit_test(colours_differ),
                                       cmocka_unit_test(overlays),   cmocka_unit_test(sheets),
                                       cmocka_unit_test(tables),     cmocka_unit_test(charts),
                                       cmocka_unit_test(long_charts)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
