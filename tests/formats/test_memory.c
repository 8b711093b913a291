/* SPDX-License-Identifier: MIT
 *
 * The n-th allocation (or thread) fails, for every n: each call then fails with a sentence, leaks nothing (the address
 * sanitizer looks) and leaves no file behind; and with enough memory it works. */
#include "helpers.h"
#include "reference/no_memory.h"
#include "solids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool open_points(const char *path, const char *columns, ast_format_error *error) {
    ast_input input;
    bool good = ast_input_open(&input, path, &(ast_input_options){.columns = columns}, error);
    ast_input_close(&input);
    return good;
}

static bool read_csv(ast_format_error *error) {
    return open_points("points.csv", "1,3", error);
}

static bool read_npy(ast_format_error *error) {
    return open_points("points.npy", "1,2,4", error);
}

static bool read_swapped(ast_format_error *error) {
    return open_points("swapped.npy", NULL, error);
}

static bool read_labels(ast_format_error *error) {
    int32_t *labels;
    size_t count;
    bool good = ast_read_labels("labels.txt", NULL, &labels, &count, error);
    free(labels);
    return good;
}

static bool read_numbers(ast_format_error *error) {
    double *numbers;
    size_t count;
    bool good = ast_read_numbers("weights.npy", NULL, &numbers, &count, error);
    free(numbers);
    return good;
}

static bool read_matrix(ast_format_error *error) {
    float *values;
    size_t rows, columns;
    bool good = ast_read_matrix("points.csv", NULL, &values, &rows, &columns, error);
    free(values);
    return good;
}

static bool list_folder(ast_format_error *error) {
    ast_folder folder;
    bool good = ast_folder_list(&folder, ".", error);
    ast_folder_free(&folder);
    return good;
}

static bool write_file(ast_format_error *error) {
    ast_output *output = ast_output_open("link.txt", false, error);
    return output && ast_output_write(output, "text", 4, error) && ast_output_commit(output, error);
}

static bool read_depth(ast_format_error *error) {
    ast_depth_pixels pixels = {0};
    bool good = ast_depth_read(&pixels, "frame.pgm", error);
    ast_pixels_free(&pixels);
    return good;
}

static bool read_all(const char *input, const ast_frames_options *options, ast_format_error *error) {
    ast_input_frame frame;
    ast_frames *frames = open_frames((const char *const[]){input, NULL}, AST_AS_DEPTH, options, error);
    int found = frames ? 1 : -1;
    while (found > 0)
        found = ast_frames_next(frames, &frame, error);
    close_frames(frames);
    return found == 0;
}

static bool read_frames(ast_format_error *error) {
    return read_all("walk", NULL, error);
}

static bool read_scene(ast_format_error *error) {
    return read_all("scene", NULL, error);
}

static bool read_listed(ast_format_error *error) {
    return read_all("tum", NULL, error);
}

static bool read_raw(ast_format_error *error) {
    return read_all("frame.pgm", &(ast_frames_options){.raw_width = 1, .raw_height = 1}, error);
}

#if ASTERISM_HAVE_PNG

static bool read_depth_png(ast_format_error *error) {
    ast_depth_pixels pixels = {0};
    bool good = ast_depth_read(&pixels, "frame.png", error);
    ast_pixels_free(&pixels);
    return good;
}

static bool write_png(ast_format_error *error) {
    static const uint16_t depth[4] = {1, 2, 3, 4};
    static const unsigned char rgb[12];
    ast_output *outputs[] = {ast_output_open("frame.png", false, error), NULL};
    bool good = outputs[0] && ast_write_depth(outputs[0], depth, 2, 2, error);
    outputs[1] = good ? ast_output_open("frame.png", false, error) : NULL;
    good = good && outputs[1] && ast_write_picture(outputs[1], rgb, 2, 2, error);
    ast_output_abandon(outputs[0]);
    ast_output_abandon(outputs[1]);
    return good;
}

#endif

static bool read_solid(const char *path, ast_format_error *error) {
    ast_solid solid;
    bool good = ast_solid_read(&solid, path, ast_format_of(path, NULL), error);
    ast_solid_free(&solid);
    return good;
}

static bool read_pcd(ast_format_error *error) {
    return read_solid("cloud.pcd", error) && read_solid("packed.pcd", error);
}

static bool read_ply(ast_format_error *error) {
    return read_solid("mesh.ply", error);
}

static bool read_obj(ast_format_error *error) {
    return read_solid("mesh.obj", error);
}

static bool read_stl(ast_format_error *error) {
    return read_solid("mesh.stl", error);
}

/* An entry out of order and one in two parts: rows are sorted. */
static bool read_mtx(ast_format_error *error) {
    return open_points("docs.mtx", NULL, error);
}

static bool read_npz(ast_format_error *error) {
    return open_points(ASTERISM_CORPUS "/npz/stored.npz", NULL, error) &&
           (!ASTERISM_HAVE_ZLIB || open_points(ASTERISM_CORPUS "/npz/csr.npz", NULL, error));
}

/* A tensor that is not aligned is copied; several of them are listed; and so are the columns picked of .fvecs. */
static bool read_tables(ast_format_error *error) {
    ast_input input;
    ast_input_options options = {.tensor = "i", .columns = "2,1"};
    bool good = open_points(ASTERISM_CORPUS "/safetensors/unaligned.safetensors", NULL, error) &&
                open_points(ASTERISM_CORPUS "/tables/two.fvecs", "3,1,2", error) &&
                ast_input_open(&input, ASTERISM_CORPUS "/safetensors/types.safetensors", &options, error);
    if (good)
        ast_input_close(&input);
    return good;
}

/* As from a pipe: read whole into memory that grows. */
static bool read_compressed_table(ast_format_error *error) {
    return open_points("table.fbin.gz", NULL, error);
}

static void every_allocation(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool (*call)(ast_format_error *error);
    } calls[] = {
        {"csv", read_csv},
        {"npy", read_npy},
        {"swapped", read_swapped},
        {"labels", read_labels},
        {"numbers", read_numbers},
        {"matrix", read_matrix},
        {"folder", list_folder},
        {"depth", read_depth},
        {"frames", read_frames},
        {"scene", read_scene},
        {"listed", read_listed},
        {"raw", read_raw},
        {"pcd", read_pcd},
        {"ply", read_ply},
        {"obj", read_obj},
        {"stl", read_stl},
        {"mtx", read_mtx},
        {"npz", read_npz},
        {"tables", read_tables},
#if ASTERISM_HAVE_ZLIB
        {"compressed table", read_compressed_table},
#endif
#if ASTERISM_HAVE_PNG
        {"depth png", read_depth_png},
        {"write png", write_png},
#endif
        {"output", write_file}
    };
    size_t entries = count_entries();
    for (size_t c = 0; c < ITEMS(calls); c++) {
        int failures = 0;
        for (long n = 1;; n++) {
            ast_format_error error = {""};
            atomic_store(&ast_test_countdown, n);
            bool good = calls[c].call(&error);
            bool reached = atomic_exchange(&ast_test_countdown, 0) <= 0;
            if (!good && error.text[0] == '\0')
                fail_msg("%s fails without a sentence at allocation %ld", calls[c].name, n);
            failures += !good;
            if (!reached) {
                if (!good)
                    fail_msg("%s fails although there is memory: %s", calls[c].name, error.text);
                break;
            }
            assert_true(n < 100);
            if (c + 1 < ITEMS(calls) || !good)
                assert_int_equal(count_entries(), entries);
        }
        if (failures == 0)
            fail_msg("%s never failed: the allocations are not wrapped", calls[c].name);
    }
}

static bool make_png_file(void) {
#if ASTERISM_HAVE_PNG
    ast_format_error error;
    ast_output *output = ast_output_open("frame.png", false, &error);
    return output && ast_write_depth(output, (const uint16_t[]){1, 2, 3, 4}, 2, 2, &error) &&
           ast_output_commit(output, &error);
#else
    return true;
#endif
}

static int make_files(void **state) {
    unsigned char bytes[512];
    if (enter_folder(state) != 0)
        return -1;
    write_text("points.csv", "x,y,z\n1,2,3\n4,5,6\n");
    write_text("labels.txt", "1\n2\n3\n");
    write_text("docs.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 3 1\n2 1 1\n2 3 4\n");
    const char *dictionary = "{'descr': '=f8', 'fortran_order': False, 'shape': (2, 4), }\n";
    write_bytes("points.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 64));
    dictionary = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                     ? "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 4), }\n"
                     : "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }\n";
    write_bytes("swapped.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 32));
    dictionary = "{'descr': '=f8', 'fortran_order': False, 'shape': (3,), }\n";
    write_bytes("weights.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 24));
    static const unsigned char table[] = {/* gzip, stored: an .fbin of one row, 2 2 */
                                          0x1f, 0x8b, 8, 0, 0,  0,    0,    0,    0,    3,  1, 16, 0,
                                          0xef, 0xff, 1, 0, 0,  0,    2,    0,    0,    0,  0, 0,  0,
                                          64,   0,    0, 0, 64, 0x82, 0x5d, 0xc7, 0x80, 16, 0, 0,  0};
    write_bytes("table.fbin.gz", table, sizeof table);
    write_text("cloud.pcd", "FIELDS x y z normal_x normal_y normal_z\nSIZE 4 4 4 4 4 4\nTYPE F F F F F F\nWIDTH 1\n"
                            "DATA ascii\n1 2 3 0 0 1\n");
    static const char packed[] = "FIELDS x y z\nSIZE 1 1 1\nTYPE U U U\nWIDTH 1\nDATA binary_compressed\n"
                                 "\4\0\0\0\3\0\0\0\2abc";
    write_bytes("packed.pcd", packed, sizeof packed - 1);
    write_text("mesh.ply",
               "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
               "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n"
               "0 1 0\n4 0 1 2 3\n");
    write_text("mesh.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1 2 3 4\n");
    write_text("mesh.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\n"
                           "endfacet\nendsolid\n");
    write_text("frame.pgm", "P2 2 1 300 1 2");
    mkdir("walk", 0777);
    mkdir("tum", 0777);
    mkdir("scene", 0777);
    mkdir("scene/depth", 0777);
    write_text("scene/sheet.pgm", "no frame, and never to be taken for one");
    write_text("scene/depth/1.pgm", "P2 2 1 300 1 2");
    write_text("walk/1.pgm", "P2 2 1 300 1 2");
    write_text("walk/2.pgm", "P2 3 1 300 1 2 3");
    write_text("tum/depth.txt", "1 ../frame.pgm\n2 ../frame.pgm\n3 ../frame.pgm\n");
    return symlink("target.txt", "link.txt") == 0 && make_png_file() ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, make_files, leave_folder);
}
