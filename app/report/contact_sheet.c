/* SPDX-License-Identifier: MIT
 *
 * The contact sheet. The number of pictures is not known in advance, because they may come from a camera. So every
 * picture is kept at first; whenever the sheet is full, every second picture is removed, and from then on only every
 * second one is added. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THUMB_WIDTH = 160, GAP = 4, DIGIT_SCALE = 2, DIGIT_WIDTH = 3, DIGIT_HEIGHT = 5 };

typedef struct thumb {
    unsigned char *rgb; /* (height, THUMB_WIDTH, 3) */
    uint64_t number;
} thumb;

struct ast_sheet {
    thumb thumbs[AST_SHEET_MOST];
    size_t count;
    size_t height;  /* of every thumb; set by the first picture */
    uint64_t taken; /* pictures offered so far */
    uint64_t every; /* one in so many of them is kept */
};

ast_sheet *ast_sheet_open(void) {
    ast_sheet *sheet = calloc(1, sizeof *sheet);
    if (sheet)
        sheet->every = 1;
    return sheet;
}

void ast_sheet_close(ast_sheet *sheet) {
    for (size_t i = 0; sheet && i < sheet->count; i++)
        free(sheet->thumbs[i].rgb);
    free(sheet);
}

/* ---- Small copies ------------------------------------------------------------------------------------------------ */

/* The mean colour of the pixels [left, right) x [top, bottom), at least one of them. */
static void mean_colour(const ast_picture *picture, size_t left, size_t right, size_t top, size_t bottom,
                        unsigned char out[3]) {
    uint64_t sums[3] = {0, 0, 0};
    right = right > left ? right : left + 1;
    bottom = bottom > top ? bottom : top + 1;
    for (size_t v = top; v < bottom; v++) {
        const unsigned char *pixel = picture->rgb + 3 * (v * picture->width + left);
        for (size_t u = left; u < right; u++, pixel += 3) {
            sums[0] += pixel[0];
            sums[1] += pixel[1];
            sums[2] += pixel[2];
        }
    }
    uint64_t count = (uint64_t)(right - left) * (bottom - top);
    for (int c = 0; c < 3; c++)
        out[c] = (unsigned char)((sums[c] + count / 2) / count);
}

static void shrink(const ast_picture *picture, unsigned char *rgb, size_t height) {
    for (size_t v = 0; v < height; v++) {
        size_t top = v * picture->height / height, bottom = (v + 1) * picture->height / height;
        for (size_t u = 0; u < THUMB_WIDTH; u++) {
            size_t left = u * picture->width / THUMB_WIDTH, right = (u + 1) * picture->width / THUMB_WIDTH;
            mean_colour(picture, left, right, top, bottom, rgb + 3 * (v * THUMB_WIDTH + u));
        }
    }
}

static void thin_out(ast_sheet *sheet) {
    for (size_t i = 0; i < sheet->count; i++) {
        if (i % 2 == 0)
            sheet->thumbs[i / 2] = sheet->thumbs[i];
        else
            free(sheet->thumbs[i].rgb);
    }
    sheet->count = (sheet->count + 1) / 2;
    sheet->every *= 2;
}

static size_t height_for(const ast_picture *picture) {
    size_t height = (THUMB_WIDTH * picture->height + picture->width / 2) / picture->width;
    return height < 1 ? 1 : height < 4 * THUMB_WIDTH ? height : 4 * THUMB_WIDTH;
}

bool ast_sheet_add(ast_sheet *sheet, const ast_picture *picture, uint64_t number, ast_format_error *error) {
    if (sheet->taken++ % sheet->every != 0)
        return true;
    if (sheet->count == AST_SHEET_MOST)
        thin_out(sheet); /* this picture is still kept, because AST_SHEET_MOST is even */
    if (sheet->height == 0)
        sheet->height = height_for(picture);
    unsigned char *rgb = malloc(3 * THUMB_WIDTH * sheet->height);
    if (!rgb)
        return ast_format_fail(error, "there is not enough memory for the contact sheet");
    shrink(picture, rgb, sheet->height);
    sheet->thumbs[sheet->count++] = (thumb){.rgb = rgb, .number = number};
    return true;
}

/* ---- The sheet --------------------------------------------------------------------------------------------------- */

/* The number of columns that makes the sheet about as wide as it is high, or wider. */
static size_t columns_for(const ast_sheet *sheet) {
    size_t columns = 1;
    while (columns < sheet->count &&
           columns * (THUMB_WIDTH + GAP) < (sheet->count + columns - 1) / columns * (sheet->height + GAP))
        columns++;
    return columns;
}

/* Digits of three by five dots; each row is three bits, from the top. */
static const unsigned char digits[10][DIGIT_HEIGHT] = {
    {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
    {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 2, 2, 2}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};

static void fill(ast_picture *picture, size_t left, size_t top, size_t width, size_t height, unsigned char grey) {
    for (size_t v = top; v < top + height && v < picture->height; v++) {
        size_t end = left + width < picture->width ? left + width : picture->width;
        if (left < end)
            memset(picture->rgb + 3 * (v * picture->width + left), grey, 3 * (end - left));
    }
}

/* Draws the number in white on black in the corner of a thumb. */
static void draw_number(ast_picture *picture, size_t left, size_t top, uint64_t number) {
    char text[24];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    size_t advance = (DIGIT_WIDTH + 1) * DIGIT_SCALE;
    fill(picture, left, top, (size_t)length * advance + DIGIT_SCALE, (DIGIT_HEIGHT + 2) * DIGIT_SCALE, 0);
    for (int i = 0; i < length; i++) {
        const unsigned char *rows = digits[text[i] - '0'];
        for (size_t dot = 0; dot < DIGIT_WIDTH * DIGIT_HEIGHT; dot++) {
            size_t column = dot % DIGIT_WIDTH, row = dot / DIGIT_WIDTH;
            if (rows[row] >> (DIGIT_WIDTH - 1 - column) & 1)
                fill(picture, left + (size_t)i * advance + (1 + column) * DIGIT_SCALE, top + (1 + row) * DIGIT_SCALE,
                     DIGIT_SCALE, DIGIT_SCALE, 255);
        }
    }
}

static void draw_thumb(ast_picture *picture, const ast_sheet *sheet, size_t index, size_t columns) {
    const thumb *shown = &sheet->thumbs[index];
    size_t left = GAP + index % columns * (THUMB_WIDTH + GAP), top = GAP + index / columns * (sheet->height + GAP);
    for (size_t v = 0; v < sheet->height; v++)
        memcpy(picture->rgb + 3 * ((top + v) * picture->width + left), shown->rgb + 3 * v * THUMB_WIDTH,
               3 * (size_t)THUMB_WIDTH);
    draw_number(picture, left, top, shown->number);
}

bool ast_sheet_write(const ast_sheet *sheet, ast_output *output, ast_format_error *error) {
    size_t columns = columns_for(sheet), rows = (sheet->count + columns - 1) / columns;
    ast_picture picture = {0};
    if (!ast_pixels_resize(&picture, GAP + columns * (THUMB_WIDTH + GAP), GAP + rows * (sheet->height + GAP), 3,
                           "the contact sheet", error))
        return false;
    fill(&picture, 0, 0, picture.width, picture.height, 255);
    for (size_t i = 0; i < sheet->count; i++)
        draw_thumb(&picture, sheet, i, columns);
    bool good = ast_write_picture(output, picture.rgb, picture.width, picture.height, error);
    ast_pixels_free(&picture);
    return good;
}
