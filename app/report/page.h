/* SPDX-License-Identifier: MIT
 *
 * The page that people open: the data of a result, as described in viewer/DATA.md, put into the page that viewer/
 * built. There is one writer per kind of result: a clustering, a stream (recording.h), charts. The caller provides the
 * title and the parameters of the result. */
#ifndef ASTERISM_REPORT_PAGE_H
#define ASTERISM_REPORT_PAGE_H

#include "keywords.h"
#include "layers.h"
#include "map.h"
#include "projection.h"
#include "report.h"

#include <asterism_depth.h>

/* ---- What every page has --------------------------------------------------------------------------------------- */

/* A parameter or a measure: a text, or a number if `text` is NULL; NaN becomes null. */
typedef struct ast_page_value {
    const char *name, *text;
    double number;
} ast_page_value;

/* Sentences for the reader. */
enum { AST_NOTES = 12, AST_NOTE = 256 };
typedef struct ast_page_notes {
    char lines[AST_NOTES][AST_NOTE];
    size_t count;
} ast_page_notes;

/* Adds a sentence. Surplus sentences are dropped, and long ones are cut. */
void ast_note(ast_page_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 1234567 as 1,234,567, for sentences; returns `text`. */
enum { AST_GROUPED = 28 };
const char *ast_grouped(uint64_t number, char text[AST_GROUPED]);

enum { AST_PAGE_VALUES = 24, AST_RUN = 40 };
typedef struct ast_page_head {
    const char *title, *command; /* the exact command line, quoted for a shell */
    char run[AST_RUN];           /* different for every run of the command */
    ast_page_value parameters[AST_PAGE_VALUES], measures[AST_PAGE_VALUES];
    size_t parameter_count, measure_count;
    ast_page_notes notes;
    bool axial;
} ast_page_head;

void ast_page_parameter(ast_page_head *head, const char *name, const char *text, double number);
void ast_page_measure(ast_page_head *head, const char *name, double number);

/* Writes the object of the page up to the part that depends on its kind, and leaves it open. If `projection` is NULL,
 * nothing is projected and the dimension is 0. */
void ast_page_begin(ast_text *json, const ast_page_head *head, const char *kind, bool live,
                    const ast_projection *projection);

/* Three coordinates; the colour of an id. */
void ast_json_xyz(ast_text *json, const char *key, const double xyz[3]);
void ast_json_colour(ast_text *json, const char *key, int32_t id);
void ast_json_colours(ast_text *json, const int32_t *ids, size_t count); /* the member "colors", of sorted ids */

/* The PNG that was written into a memory output, which is closed; nothing if that was not `good`. */
bool ast_json_png(ast_text *json, const char *key, ast_output *output, bool good, ast_format_error *error);

/* Clusters by size. */
typedef struct ast_ranked {
    size_t index, size;
} ast_ranked;

/* Largest first, equal ones by index. */
void ast_sort_ranked(ast_ranked *entries, size_t count);

/* Keeps the `most` largest, in order of index; returns how many there are then. */
size_t ast_keep_largest(ast_ranked *entries, size_t count, size_t most);

/* ---- Planes ---------------------------------------------------------------------------------------------------- */

enum { AST_PAGE_PLANES = 500 };

/* Planes to show: outlines are in space, or in a picture if there is a width. */
typedef struct ast_page_planes {
    const ast_plane_info *list;
    size_t count;
    bool dip;             /* with dip direction and dip */
    size_t width, height; /* of the picture; 0: none */
    ast_camera camera;
    const double *pose; /* (3, 4) from the camera to the world, in which the planes are; NULL: they are in the camera */
} ast_page_planes;

/* Writes the member "planes". */
void ast_json_planes(ast_text *json, const ast_page_planes *planes);

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

/* The clusters that have a mean, by id, from malloc(); *listed is how many. */
ast_ranked *ast_clusters_listed(const ast_cluster_info *clusters, size_t count, size_t *listed);

/* How means are written besides their components; surface: the points are its normals, not measurements of the field.
 */
typedef struct ast_field_page {
    ast_notation notation;
    bool axial, surface;
} ast_field_page;

/* Members of the object of a cluster: its id, size, share of the weight `total`, kappa and spread; the angles of its
 * mean as a notebook has them, and Fisher's k with the confidence cone; its keywords; what people call a row (names may
 * be NULL), cut to a line, and the rows nearest to it. */
void ast_json_cluster(ast_text *json, size_t id, const ast_cluster_info *cluster, double total);
void ast_json_field_mean(ast_text *json, ast_field_page field, size_t dimension, const ast_cluster_info *cluster);

/* The member "field": what was measured; none without a notation. */
void ast_json_field(ast_text *json, ast_field_page field);

/* Places of a map in 16 bits, least significant byte first; from malloc(), NULL without memory. */
int16_t *ast_map_places(const ast_map *map);

void ast_json_map_names(ast_text *json, const ast_names *names, const ast_map *map); /* "names"; none for NULL */
void ast_json_keywords(ast_text *json, const char *key, const ast_keywords *keywords);
void ast_json_name(ast_text *json, const char *key, const ast_names *names, size_t row);
void ast_json_representatives(ast_text *json, const char *key, const ast_cluster_info *cluster, const ast_names *names);

/* ---- Results --------------------------------------------------------------------------------------------------- */

enum { AST_PAGE_POINTS = 200000, AST_PAGE_CLUSTERS = 20000, AST_PAGE_ANGLES = 200, AST_PAGE_MEAN = 16 };

/* A clustering. */
typedef struct ast_batch_page {
    ast_page_head *head;
    const ast_points *points;
    const int32_t *labels; /* (label_count), which must equal the number of points */
    size_t label_count;
    const ast_cluster_info *clusters; /* (count), in order of label; a cluster without a mean is not listed */
    size_t count;
    const char *labels_name;       /* for sentences */
    uint64_t seed;                 /* of the drawn sample */
    const ast_picture *image;      /* or NULL */
    ast_notation notation;         /* of the means */
    bool surface;                  /* the points are normals of a surface: no measurements of the field */
    const ast_names *names;        /* names or texts of the rows, for representatives; NULL: they have none */
    const ast_keywords *keywords;  /* (count), or NULL */
    const ast_map *map;            /* of the points; NULL: it is made if they need one, on */
    int threads;                   /* so many (0: all) */
    const ast_page_planes *planes; /* of a cloud or a mesh; NULL: they were not asked for */
    const ast_layers *layers;      /* of the points; NULL or none: they were not asked for */
} ast_batch_page;

/* Writes the object of the page and adds notes to the head. False if memory runs out or the labels do not match the
 * points. */
bool ast_batch_page_json(const ast_batch_page *page, ast_text *json, ast_format_error *error);

/* Charts and tables, added one by one; start with zeros, and free it. */
typedef struct ast_chart_page {
    ast_text charts, tables; /* lists without their brackets */
} ast_chart_page;

/* Adds a chart: a complete SVG document, whose <title> is used as the title. */
void ast_chart_page_svg(ast_chart_page *page, const char *svg);

/* Adds a figure (.svg) or a table (.csv): what `write` would write into a file of that name. */
typedef void ast_page_writer(const void *data, ast_text *text);
bool ast_chart_page_add(ast_chart_page *page, const char *name, ast_page_writer *write, const void *data,
                        ast_format_error *error);

/* Adds a table: lines of comma-separated fields; the first line has the names of the columns. */
void ast_chart_page_csv(ast_chart_page *page, const char *title, const char *csv);

/* Writes the object of the page; `recommended` is a sentence, or NULL. */
bool ast_chart_page_json(const ast_chart_page *page, const ast_page_head *head, const char *recommended, ast_text *json,
                         ast_format_error *error);
void ast_chart_page_free(ast_chart_page *page);

/* ---- The page -------------------------------------------------------------------------------------------------- */

/* Whether this build has the page. */
bool ast_page_there(void);

/* Writes the page with the object inside. */
bool ast_page_write(const ast_text *json, ast_output *output, ast_format_error *error);

/* The same for another page, which contains the marker once; the result is a text. */
bool ast_page_fill(const char *page, size_t length, const ast_text *json, ast_text *html);

#endif
