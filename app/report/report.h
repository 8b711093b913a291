/* SPDX-License-Identifier: MIT
 *
 * Output for people: clusters as colours over an image, a contact sheet of such images, and a chart of the size of each
 * cluster in each frame. The room draws what it is given; it sees the formats and the public headers, contains no
 * algorithm, and never prints.
 *
 * The main idea: an id has one colour, everywhere and always, so that a direction can be followed from frame to frame
 * and from picture to chart.
 *
 * Functions that can fail return false (or NULL) and fill the error with one sentence, as in formats.h. */
#ifndef ASTERISM_REPORT_H
#define ASTERISM_REPORT_H

#include "json.h"

#include <asterism_field.h>
#include <images.h>

#define AST_DEGREES_PER_RADIAN (180 / 3.14159265358979323846)

/* "born" and so on, in the order of ast_event. */
enum { AST_EVENTS = AST_MERGED + 1 };
extern const char *const ast_event_names[AST_EVENTS];

/* ---- Angles ---------------------------------------------------------------------------------------------------- */

/* The two angles of a mean; of an azimuth the first alone, below 180 if it is axial. A line that is axial is taken at
 * its lower end; otherwise a plunge may be negative. */
void ast_field_angles(ast_notation notation, int axial, const float *mean, double *azimuth, double *inclination);

/* ---- Colours --------------------------------------------------------------------------------------------------- */

typedef struct ast_colour {
    unsigned char red, green, blue;
} ast_colour;

/* The number of different colours before they repeat. */
enum { AST_PALETTE_HUES = 7, AST_PALETTE_STEPS = 5, AST_PALETTE_SIZE = AST_PALETTE_HUES * AST_PALETTE_STEPS };

/* The colour of a cluster: the seven hues of Okabe and Ito, which colour-blind people can tell apart, for ids 0 to 6;
 * then the same seven lighter, darker, much lighter and much darker; then again from the start. Negative ids (missing)
 * are black, which is none of them. */
ast_colour ast_palette(int32_t id);

/* Whether black text on this colour is easier to read than white text. */
bool ast_colour_light(ast_colour colour);

/* ---- Overlays -------------------------------------------------------------------------------------------------- */

/* Colours the depth image by its labels (height x width) over its grey values: near is light, the same in every frame.
 * `picture` becomes the result. */
bool ast_overlay_depth(ast_picture *picture, const ast_depth_image *depth, double units_per_metre,
                       const int32_t *labels, ast_format_error *error);

/* ---- Contact sheets -------------------------------------------------------------------------------------------- */

/* A contact sheet of numbered thumbnails. It keeps between AST_SHEET_MOST / 2 and AST_SHEET_MOST of the pictures,
 * evenly spaced, for any number of pictures. */
typedef struct ast_sheet ast_sheet;
enum { AST_SHEET_MOST = 120 };

ast_sheet *ast_sheet_open(void); /* NULL if memory runs out */
bool ast_sheet_add(ast_sheet *sheet, const ast_picture *picture, uint64_t number, ast_format_error *error);

/* As a PNG. The sheet must have at least one picture. */
bool ast_sheet_write(const ast_sheet *sheet, ast_output *output, ast_format_error *error);
void ast_sheet_close(ast_sheet *sheet); /* NULL is allowed */

/* ---- Shares over frames ---------------------------------------------------------------------------------------- */

/* The size of each cluster in each frame: the paper's Figure 5. */
typedef struct ast_shares ast_shares;

ast_shares *ast_shares_open(void); /* NULL if memory runs out */

/* Adds a frame; clusters are in order of id. Clusters without points are ignored. */
bool ast_shares_add(ast_shares *shares, uint64_t frame, const char *source, const ast_tracked *clusters, size_t count,
                    ast_format_error *error);

/* A cluster over all frames. */
typedef struct ast_shares_band {
    int32_t id;
    size_t frames;        /* frames with points of the cluster */
    uint64_t first, last; /* the numbers of the first and the last of them */
    size_t returns;       /* how often it returned after a frame without it */
    double share;         /* mean over all frames, including those without it */
} ast_shares_band;

/* All clusters, largest share first, equal shares by id; release with free(). NULL if memory runs out. */
ast_shares_band *ast_shares_bands(const ast_shares *shares, size_t *count);

/* A table: frame, source, id, count, share; one row per cluster with points in a frame. */
bool ast_shares_write_csv(const ast_shares *shares, ast_output *output, ast_format_error *error);

/* Several streams as one figure, a chart above the other, each with its title. */
typedef struct ast_shares_panel {
    const char *title; /* short, without <, > and & */
    const ast_shares *shares;
} ast_shares_panel;

void ast_shares_draw(const ast_shares_panel *panels, size_t count, ast_text *svg);

/* A chart: frames from left to right, one band per id, in its colour. */
bool ast_shares_write_svg(const ast_shares *shares, ast_output *output, ast_format_error *error);
void ast_shares_close(ast_shares *shares); /* NULL is allowed */

#endif
