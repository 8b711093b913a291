/* SPDX-License-Identifier: MIT
 *
 * Clouds of points and meshes as directions: the normals that the file has, those of planes through neighbours, or
 * those of faces, weighted by their area. */
#pragma once

#include <asterism_depth.h>
#include <solids.h>

#include "files.h"

typedef struct ast_cli_cloud {
    size_t neighbours;   /* 0: not given */
    double viewpoint[3]; /* NaN: not given */
    int undirected;
} ast_cli_cloud;

extern const ast_cli_group ast_cli_cloud_group;

/* Where normals come from. */
typedef enum ast_cli_origin { AST_CLI_FROM_FILE, AST_CLI_FROM_NEIGHBOURS, AST_CLI_FROM_FACES } ast_cli_origin;

/* A 3-D file with its normals; zeroed at first. */
typedef struct ast_cli_surface {
    ast_solid solid;
    ast_cli_origin origin;
    ast_cloud_options options; /* of neighbours */
    float *normals;            /* (count, 3): one for each point, or for each face */
    float *curvature;          /* (count) of neighbours, if it was asked for */
    double *areas;             /* (count) of faces, otherwise NULL */
    size_t count;
    size_t missing; /* points and faces without a direction */
    double seconds; /* that the normals took */
} ast_cli_surface;

/* Reads the file and makes the normals; with `curvature` that of neighbours too, whatever normals the file has. */
int ast_cli_surface_read(ast_cli_surface *surface, const ast_cli_cloud *cloud, const ast_cli_input *file,
                         ast_context *context, int curvature);

/* The normals as points; those of faces have weights. */
ast_points ast_cli_surface_points(const ast_cli_surface *surface);

/* A line for people: what the file holds and where the normals come from. A word for JSON with the same meaning. */
enum { AST_CLI_SURFACE_TEXT = 256 };
const char *ast_cli_surface_text(const ast_cli_surface *surface, char text[AST_CLI_SURFACE_TEXT]);
const char *ast_cli_surface_word(const ast_cli_surface *surface);

/* The file's points or faces as PLY, each with the colour of its label and the label. */
bool ast_cli_surface_colour(const ast_cli_surface *surface, const int32_t *labels, ast_output *output,
                            ast_format_error *error);

void ast_cli_surface_free(ast_cli_surface *surface);
