/* SPDX-License-Identifier: MIT
 *
 * What people look at: clusters as colours over an image, a sheet of many such images, and a chart of how large each
 * cluster was in each frame. The room draws what it is given; it sees the formats and the public headers, knows no
 * algorithm, and never prints.
 *
 * The one idea: an id has one colour, everywhere and always, so that a direction can be followed from frame to frame
 * and from picture to chart.
 *
 * Functions that can fail return false (or NULL) and fill the error with one sentence, as in formats.h. */
#ifndef ASTERISM_REPORT_H
#define ASTERISM_REPORT_H

#include <asterism.h>
#include <formats.h>
#include <images.h>

#define AST_DEGREES_PER_RADIAN (180 / 3.14159265358979323846)

/* "born" and so on, in the order of ast_event. */
extern const char *const ast_event_names[5];

/* ---- Colours --------------------------------------------------------------------------------------------------- */

typedef struct ast_colour {
    unsigned char red, green, blue;
} ast_colour;

/* How many different colours there are before they come again. */
enum { AST_PALETTE_HUES = 7, AST_PALETTE_STEPS = 5, AST_PALETTE_SIZE = AST_PALETTE_HUES * AST_PALETTE_STEPS };

/* The colour of a cluster: the seven hues of Okabe and Ito, chosen to differ for colour-blind people, for ids 0 to 6;
 * then the same seven lighter, darker, much lighter and much darker; then again from the start. Black, which is none of
 * them, for ids below 0: missing. */
ast_colour ast_palette(int32_t id);

/* Whether text on this colour is better black than white. */
bool ast_colour_light(ast_colour colour);

/* ---- Overlays -------------------------------------------------------------------------------------------------- */

/* Colours the depth image by its labels (height x width) over its grey values: the nearer the lighter, the same in
 * every frame. `picture` becomes the result. */
bool ast_overlay_depth(ast_picture *picture, const ast_depth_image *depth, double units_per_metre,
                       const int32_t *labels, ast_format_error *error);

/* Colours `picture` itself, which has a label for every pixel. */
void ast_overlay_colour(ast_picture *picture, const int32_t *labels);

/* ---- Contact sheets -------------------------------------------------------------------------------------------- */

/* A sheet of small copies of pictures, each with its number. It keeps between half of AST_SHEET_MOST and all of them,
 * evenly spaced, however many there are. */
typedef struct ast_sheet ast_sheet;
enum { AST_SHEET_MOST = 120 };

ast_sheet *ast_sheet_open(void); /* NULL without memory */
bool ast_sheet_add(ast_sheet *sheet, const ast_picture *picture, uint64_t number, ast_format_error *error);

/* A PNG. There must be a picture on the sheet. */
bool ast_sheet_write(const ast_sheet *sheet, ast_output *output, ast_format_error *error);
void ast_sheet_close(ast_sheet *sheet); /* NULL is fine */

/* ---- Shares over frames ---------------------------------------------------------------------------------------- */

/* How large each cluster was in each frame: the paper's Figure 5. */
typedef struct ast_shares ast_shares;

ast_shares *ast_shares_open(void); /* NULL without memory */

/* Adds a frame; clusters in order of id. Those without points are left out. */
bool ast_shares_add(ast_shares *shares, uint64_t frame, const char *source, const ast_tracked *clusters, size_t count,
                    ast_format_error *error);

/* A cluster over all frames. */
typedef struct ast_shares_band {
    int32_t id;
    size_t frames;        /* that show it */
    uint64_t first, last; /* the numbers of the first and the last of them */
    size_t returns;       /* how often it came back after a frame without it */
    double share;         /* mean over all frames, those without it included */
} ast_shares_band;

/* All of them, largest share first, equal ones by id; to free(). NULL without memory. */
ast_shares_band *ast_shares_bands(const ast_shares *shares, size_t *count);

/* A table: frame, source, id, count, share; one row for each cluster that a frame shows. */
bool ast_shares_write_csv(const ast_shares *shares, ast_output *output, ast_format_error *error);

/* The same as a chart: frames from left to right, one band for each id, in its colour. */
bool ast_shares_write_svg(const ast_shares *shares, ast_output *output, ast_format_error *error);
void ast_shares_close(ast_shares *shares); /* NULL is fine */

#endif
