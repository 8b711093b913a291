/* SPDX-License-Identifier: MIT
 *
 * Reads scenes of the NYU v2 file through libhdf5: datasets depths and rawDepths (scene, column,
 * row). */
#include "nyu.h"

#include <string.h>

#ifdef AST_HAVE_HDF5

#include "platform.h"
#include "hdf5_errors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A scene has 0.3 million pixels. A file that promises more than this per scene is not the data set. */
#define PIXELS_MOST ((hsize_t)1 << 24)
#define SCENES_MOST ((hsize_t)1 << 16) /* there are 1,449; HDF5 can promise any number without a byte behind it */

static bool open_file(ast_nyu *nyu, ast_format_error *error);
static bool open_datasets(ast_nyu *nyu, ast_format_error *error);
static bool read_plane(ast_nyu *nyu, size_t index, ast_format_error *error);

ast_nyu *ast_nyu_open(const char *path, ast_format_error *error) {
    ast_nyu *nyu = calloc(1, sizeof *nyu);
    if (!nyu) {
        ast_format_no_memory(error, path);
        return NULL;
    }
    nyu->file = nyu->dataset = H5I_INVALID_HID;
    nyu->path = strdup(path);
    bool good = nyu->path ? open_file(nyu, error) && open_datasets(nyu, error) : ast_format_no_memory(error, path);
    if (good) {
        nyu->plane = malloc(nyu->width * nyu->height * sizeof(float));
        good = nyu->plane || ast_format_no_memory(error, path);
    }
    if (good)
        return nyu;
    ast_nyu_close(nyu);
    return NULL;
}

bool ast_nyu_depth(ast_nyu *nyu, size_t index, float *metres, ast_format_error *error) {
    if (!read_plane(nyu, index, error))
        return false;
    const float *plane = nyu->plane;
    for (size_t y = 0; y < nyu->height; y++)
        for (size_t x = 0; x < nyu->width; x++) {
            float depth = plane[x * nyu->height + y];
            *metres++ = depth > 0 && isfinite(depth) ? depth : NAN;
        }
    return true;
}

void ast_nyu_close(ast_nyu *nyu) {
    if (!nyu)
        return;
    if (nyu->dataset >= 0)
        H5Dclose(nyu->dataset);
    if (nyu->file >= 0)
        H5Fclose(nyu->file);
    free(nyu->plane);
    free(nyu->path);
    free(nyu);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool open_file(ast_nyu *nyu, ast_format_error *error) {
    if (access(nyu->path, R_OK) != 0)
        return ast_format_fail(error, "%s: %s", nyu->path, strerror(errno));
    ast_hdf5_voice before = ast_hdf5_silence();
    nyu->file = H5Fopen(nyu->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    ast_hdf5_restore(before);
    return nyu->file >= 0 ||
           ast_format_fail(error, "%s: cannot be opened as an HDF5 file, which nyu_depth_v2_labeled.mat is", nyu->path);
}

/* The dataset, if it is there, of numbers, and has three dimensions; their sizes. */
static long long open_dataset(const ast_nyu *nyu, const char *name, hsize_t sizes[3]) {
    hid_t dataset;
    bool fits = false;
    ast_hdf5_voice before = ast_hdf5_silence();
    dataset = H5Dopen2(nyu->file, name, H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    H5T_class_t class = H5Tget_class(type);
    fits = (class == H5T_FLOAT || class == H5T_INTEGER) && H5Sget_simple_extent_ndims(space) == 3 &&
           H5Sget_simple_extent_dims(space, sizes, NULL) == 3;
    H5Tclose(type);
    H5Sclose(space);
    if (!fits)
        H5Dclose(dataset);
    ast_hdf5_restore(before);
    return fits ? dataset : H5I_INVALID_HID;
}

/* Raw depths count only where they have the shape of the depths. */
static bool open_datasets(ast_nyu *nyu, ast_format_error *error) {
    hsize_t sizes[3] = {0}, other[3] = {0};
    nyu->dataset = open_dataset(nyu, "depths", sizes);
    if (nyu->dataset < 0)
        return ast_format_fail(error, "%s: has no dataset depths of three dimensions: scenes, columns, rows",
                               nyu->path);
    if (sizes[0] == 0 || sizes[0] > SCENES_MOST || sizes[1] == 0 || sizes[2] == 0 || sizes[1] > PIXELS_MOST ||
        sizes[2] > PIXELS_MOST || sizes[1] * sizes[2] > PIXELS_MOST)
        return ast_format_fail(
            error,
            "%s: its depths are %llu scenes of %llu x %llu pixels; 1 to 65536 scenes of 1 to 2^24 pixels can be read",
            nyu->path, (unsigned long long)sizes[0], (unsigned long long)sizes[1], (unsigned long long)sizes[2]);
    nyu->count = (size_t)sizes[0];
    nyu->width = (size_t)sizes[1];
    nyu->height = (size_t)sizes[2];
    long long raw = open_dataset(nyu, "rawDepths", other);
    nyu->has_raw = raw >= 0 && memcmp(other, sizes, sizeof sizes) == 0;
    if (raw >= 0)
        H5Dclose(nyu->has_raw ? nyu->dataset : raw);
    nyu->dataset = nyu->has_raw ? raw : nyu->dataset;
    return true;
}

/* ---- One scene --------------------------------------------------------------------------------------------------- */

/* Reads (width, height) depths of a scene into nyu->plane. */
static bool read_plane(ast_nyu *nyu, size_t index, ast_format_error *error) {
    hsize_t first[3] = {index}, size[3] = {1, nyu->width, nyu->height};
    hid_t dataset = nyu->dataset;
    if (index >= nyu->count)
        return ast_format_fail(error, "%s: has %zu scenes; there is no scene %zu, from 0", nyu->path, nyu->count,
                               index);
    herr_t result = -1;
    ast_hdf5_voice before = ast_hdf5_silence();
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, size + 1, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, size, NULL) >= 0)
        result = H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, nyu->plane);
    H5Sclose(memory);
    H5Sclose(space);
    ast_hdf5_restore(before);
    return result >= 0 ||
           ast_format_fail(error, "%s: the %s of scene %zu cannot be read: the file is damaged or cut short", nyu->path,
                           nyu->has_raw ? "rawDepths" : "depths", index);
}

#else

/* Nothing can be opened, so that nothing below is ever called with a file. */
ast_nyu *ast_nyu_open(const char *path, ast_format_error *error) {
    ast_format_fail(error, "%s: this build cannot read HDF5 files: libhdf5 was not there when it was made", path);
    return NULL;
}

bool ast_nyu_depth(ast_nyu *nyu, size_t index, float *metres, ast_format_error *error) {
    (void)nyu, (void)index, (void)metres, (void)error;
    return false;
}

void ast_nyu_close(ast_nyu *nyu) {
    (void)nyu;
}

#endif
