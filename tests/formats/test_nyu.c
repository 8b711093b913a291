/* SPDX-License-Identifier: MIT
 *
 * A small file in the layout of NYU v2, made with libhdf5, reads back scene by scene and untwisted; files that are
 * something else say so. */
#include "helpers.h"
#include "nyu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ASTERISM_HAVE_HDF5

#include <hdf5.h>

/* Width and height differ, so that a reshape in place of a transpose shows. */
enum { SCENES = 3, WIDTH = 7, HEIGHT = 5, RAW_HOLE = 4 }; /* a column, in the first row */

static float depth_at(int scene, int x, int y) {
    return x == 2 && y == 1 ? 0 : (float)(scene + 1) + (float)x / 10 + (float)y / 100;
}

static void put_dataset(hid_t file, const char *name, int rank, const hsize_t *sizes, hid_t type, hid_t memory,
                        const void *data) {
    hid_t space = H5Screate_simple(rank, sizes, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0 && H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

/* As MATLAB writes arrays of (row, column, scene): the last index there is the first here. */
static void make_file(const char *path) {
    static float depths[SCENES][WIDTH][HEIGHT];
    static unsigned char images[SCENES][3][WIDTH][HEIGHT];
    static uint16_t labels[SCENES][WIDTH][HEIGHT];
    for (int s = 0; s < SCENES; s++)
        for (int x = 0; x < WIDTH; x++)
            for (int y = 0; y < HEIGHT; y++) {
                depths[s][x][y] = depth_at(s, x, y);
                labels[s][x][y] = (uint16_t)(100 * s + 10 * x + y);
                for (int c = 0; c < 3; c++)
                    images[s][c][x][y] = (unsigned char)(80 * c + 10 * x + y);
            }
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    put_dataset(file, "depths", 3, (const hsize_t[]){SCENES, WIDTH, HEIGHT}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, depths);
    for (int s = 0; s < SCENES; s++)
        depths[s][RAW_HOLE][0] = 0;
    put_dataset(file, "rawDepths", 3, (const hsize_t[]){SCENES, WIDTH, HEIGHT}, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
                depths);
    put_dataset(file, "images", 4, (const hsize_t[]){SCENES, 3, WIDTH, HEIGHT}, H5T_STD_U8LE, H5T_NATIVE_UCHAR, images);
    put_dataset(file, "labels", 3, (const hsize_t[]){SCENES, WIDTH, HEIGHT}, H5T_STD_U16LE, H5T_NATIVE_USHORT, labels);
    H5Fclose(file);
}

static void scenes(void **state) {
    (void)state;
    ast_format_error error;
    make_file("nyu.mat");
    ast_nyu *nyu = ast_nyu_open("nyu.mat", &error);
    if (!nyu)
        fail_msg("%s", error.text);
    assert_true(nyu->count == SCENES && nyu->width == WIDTH && nyu->height == HEIGHT);
    assert_true(nyu->has_raw);
    float metres[HEIGHT][WIDTH];
    for (int s = SCENES - 1; s >= 0; s--) {
        assert_true(ast_nyu_depth(nyu, (size_t)s, &metres[0][0], &error));
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                float expected = depth_at(s, x, y);
                bool hole = expected == 0 || (x == RAW_HOLE && y == 0);
                assert_true(hole ? isnan(metres[y][x]) : metres[y][x] == expected);
            }
    }
    assert_false(ast_nyu_depth(nyu, SCENES, &metres[0][0], &error));
    assert_string_equal(error.text, "nyu.mat: has 3 scenes; there is no scene 3, from 0");
    ast_nyu_close(nyu);
    ast_nyu_close(NULL);
}

static void expect_no_file(const char *path, const char *part) {
    ast_format_error error = {""};
    if (ast_nyu_open(path, &error))
        fail_msg("%s was opened", path);
    if (strncmp(error.text, path, strlen(path)) != 0 || !strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
}

static void one_dataset(const char *path, const char *name, int rank, const hsize_t *sizes) {
    static float zeros[64];
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_dataset(file, name, rank, sizes, H5T_IEEE_F64LE, H5T_NATIVE_FLOAT, zeros);
    H5Fclose(file);
}

static void wrong_files(void **state) {
    (void)state;
    expect_no_file("absent.mat", "No such file or directory");
    write_text("old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64");
    expect_no_file("old.mat", "cannot be opened as an HDF5 file");
    one_dataset("other.mat", "points", 2, (const hsize_t[]){2, 3});
    expect_no_file("other.mat", "has no dataset depths of three dimensions");
    one_dataset("flat.mat", "depths", 2, (const hsize_t[]){2, 3});
    expect_no_file("flat.mat", "has no dataset depths of three dimensions");
    one_dataset("empty.mat", "depths", 3, (const hsize_t[]){0, 3, 3});
    expect_no_file("empty.mat", "its depths are 0 scenes of 3 x 3 pixels");
    one_dataset("plain.mat", "depths", 3, (const hsize_t[]){1, 2, 2});
    ast_format_error error;
    ast_nyu *nyu = ast_nyu_open("plain.mat", &error);
    float metres[4];
    assert_non_null(nyu);
    assert_false(nyu->has_raw);
    assert_true(ast_nyu_depth(nyu, 0, metres, &error) && isnan(metres[0]));
    ast_nyu_close(nyu);
}

/* Cut anywhere, it is not opened. */
static void cut_files(void **state) {
    (void)state;
    size_t size;
    make_file("whole.mat");
    char *bytes = read_bytes("whole.mat", &size);
    for (size_t cut = 0; cut < size; cut += size / 40 + 1) {
        write_bytes("cut.mat", bytes, cut);
        expect_no_file("cut.mat", "cannot be opened as an HDF5 file");
    }
    free(bytes);
}

#else

static void no_library(void **state) {
    (void)state;
    ast_format_error error;
    assert_null(ast_nyu_open("nyu.mat", &error));
    assert_non_null(strstr(error.text, "nyu.mat: this build cannot read HDF5 files"));
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#if ASTERISM_HAVE_HDF5
        cmocka_unit_test(scenes),
        cmocka_unit_test(wrong_files),
        cmocka_unit_test(cut_files)
#else
        cmocka_unit_test(no_library)
#endif
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
