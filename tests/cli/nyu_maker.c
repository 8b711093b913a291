/* SPDX-License-Identifier: MIT
 *
 * Writes a small file in the layout of nyu_depth_v2_labeled.mat: scenes of the ray-cast hallway, as the walk's camera
 * saw them in rawDepths, exact and without holes in depths, the true directions plus 1 in labels, grey pictures.
 *     nyu_maker FILE SCENES WIDTH HEIGHT [raw|filled|empty]
 * filled: without rawDepths; empty: scene 1 has no depth at all. Focal lengths are 0.82 of the width. */
#include <private/asterism_hallway.h>
#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scenes {
    size_t count, width, height;
    float *filled, *raw; /* (count, width, height): as MATLAB's columns look to HDF5 */
    uint16_t *labels;
    unsigned char *images; /* (count, 3, width, height) */
} scenes;

static int fail(const char *what) {
    fprintf(stderr, "nyu_maker: %s\n", what);
    return 1;
}

static ast_hallway hallway_of(const scenes *made, int noise) {
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    hallway.frames = made->count > 1 ? made->count : 2;
    hallway.width = made->width;
    hallway.height = made->height;
    hallway.camera = (ast_camera){0.82 * (double)made->width, 0.82 * (double)made->width, ((double)made->width - 1) / 2,
                                  ((double)made->height - 1) / 2};
    hallway.noise = noise;
    return hallway;
}

/* Row-major millimetres to metres in columns. */
static void turn(const uint16_t *depth, size_t width, size_t height, float *metres) {
    for (size_t x = 0; x < width; x++)
        for (size_t y = 0; y < height; y++)
            *metres++ = (float)depth[y * width + x] / 1000;
}

static int render(scenes *made) {
    size_t pixels = made->width * made->height;
    ast_hallway noisy = hallway_of(made, 1), exact = hallway_of(made, 0);
    ast_context *context;
    ast_open(&context, 1);
    uint16_t *depth = malloc(pixels * sizeof *depth);
    int32_t *truth = malloc(pixels * sizeof *truth);
    int good = context && depth && truth;
    for (size_t s = 0; s < made->count && good; s++) {
        good = ast_hallway_render(context, &noisy, s, depth, NULL, NULL) == AST_OK;
        turn(depth, made->width, made->height, made->raw + s * pixels);
        good = good && ast_hallway_render(context, &exact, s, depth, truth, NULL) == AST_OK;
        turn(depth, made->width, made->height, made->filled + s * pixels);
        for (size_t i = 0; i < pixels; i++) {
            size_t row_major = i % made->height * made->width + i / made->height;
            made->labels[s * pixels + i] = (uint16_t)(truth[row_major] + 1);
            for (size_t c = 0; c < 3; c++)
                made->images[(3 * s + c) * pixels + i] = (unsigned char)(depth[row_major] / 40);
        }
    }
    free(depth);
    free(truth);
    ast_close(context);
    return good;
}

static int put(hid_t file, const char *name, int rank, const hsize_t *sizes, hid_t type, const void *data) {
    hid_t space = H5Screate_simple(rank, sizes, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    H5Dclose(dataset);
    H5Sclose(space);
    return good;
}

static int write_file(const scenes *made, const char *path, const char *kind) {
    const hsize_t flat[] = {made->count, made->width, made->height};
    const hsize_t colour[] = {made->count, 3, made->width, made->height};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    int good = file >= 0 && put(file, "depths", 3, flat, H5T_NATIVE_FLOAT, made->filled) &&
               put(file, "images", 4, colour, H5T_NATIVE_UCHAR, made->images) &&
               put(file, "labels", 3, flat, H5T_NATIVE_USHORT, made->labels) &&
               (strcmp(kind, "filled") == 0 || put(file, "rawDepths", 3, flat, H5T_NATIVE_FLOAT, made->raw));
    return H5Fclose(file) >= 0 && good;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return fail("FILE SCENES WIDTH HEIGHT [raw|filled|empty]");
    const char *kind = argc > 5 ? argv[5] : "raw";
    scenes made = {.count = (size_t)atol(argv[2]), .width = (size_t)atol(argv[3]), .height = (size_t)atol(argv[4])};
    size_t pixels = made.width * made.height, all = made.count * pixels;
    made.filled = malloc(all * sizeof *made.filled);
    made.raw = malloc(all * sizeof *made.raw);
    made.labels = malloc(all * sizeof *made.labels);
    made.images = malloc(3 * all);
    int good = made.filled && made.raw && made.labels && made.images && render(&made);
    if (good && strcmp(kind, "empty") == 0 && made.count > 1)
        memset(made.raw + pixels, 0, pixels * sizeof *made.raw);
    good = good && write_file(&made, argv[1], kind);
    free(made.filled);
    free(made.raw);
    free(made.labels);
    free(made.images);
    return good ? 0 : fail("the file could not be made");
}
