/* SPDX-License-Identifier: MIT
 *
 * The labelled part of the NYU Depth data set, version 2: nyu_depth_v2_labeled.mat, 1,449 scenes of an indoor camera in
 * one MATLAB 7.3 file, which is HDF5. One scene is read at a time, so that the size of the file does not matter.
 *
 *     ast_nyu *nyu = ast_nyu_open("nyu_depth_v2_labeled.mat", &error);
 *     float *metres = malloc(nyu->width * nyu->height * sizeof *metres);
 *     for (size_t i = 0; i < nyu->count; i++)
 *         ast_nyu_depth(nyu, i, metres, &error);
 *     ast_nyu_close(nyu);
 *
 * The one idea: MATLAB stores columns first, so that HDF5 sees (scene, column, row). The images are transposed on the
 * way in; reshaping them would twist them. A build without libhdf5 says so when it opens a file. libhdf5 is no library
 * for several threads at once, so neither is this. The rules of formats.h hold here too. */
#ifndef ASTERISM_FORMATS_NYU_H
#define ASTERISM_FORMATS_NYU_H

#include "images.h"

typedef struct ast_nyu {
    size_t count;         /* scenes */
    size_t width, height; /* of every one: 640 x 480 in the real file */
    bool has_raw;         /* depths with their holes */
    char *path;           /* private */
    long long file;       /* private: libhdf5's */
    long long dataset;    /* private: of the depths that are read */
    float *plane;         /* private: (width, height), as the file has it */
} ast_nyu;

/* The depths as whole numbers, for whatever takes depth images: this many units are a metre. The data set ends at 10 m,
 * and at 13.1 m these numbers do; what is farther is a hole. */
#define AST_NYU_UNITS 5000

/* Opens the file and looks at the shapes of what is in it. NULL on failure. */
ast_nyu *ast_nyu_open(const char *path, ast_format_error *error);

/* The depth of scene `index`, which is below the count: (height, width), metres; NaN where it is not more than 0. As
 * the camera saw it (rawDepths), with its holes, where the file has that; otherwise with the holes that the authors of
 * the data set have filled in (depths): what they put there is no measurement, and neither are its normals. */
bool ast_nyu_depth(ast_nyu *nyu, size_t index, float *metres, ast_format_error *error);

/* NULL is fine. */
void ast_nyu_close(ast_nyu *nyu);

#endif
