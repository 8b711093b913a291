/* SPDX-License-Identifier: MIT
 *
 * What the command-line tests cannot do in sh:
 *     tool json PATH < text
 *         checks that the text is one JSON value and prints what is at a path such as cluster.0.size
 *     tool npy TYPE ORDER [SHAPE] < text > file.npy
 *         writes rows of numbers as f2, f4, f8 or i4, in C or Fortran order; a SHAPE makes the header lie
 *     tool table FORMAT TYPE FILE < text
 *         writes rows of numbers as a binary table: tool_tables.c; exits with 77 for h5 where there is no libhdf5
 *     tool nyu FILE.mat IMAGE.pgm...
 *         writes depth images (P2, in units of 1/5000 m) as scenes in the layout of the NYU v2 data set; exits with 77
 *         where there is no libhdf5
 *     tool ids LABELS.npy TRUTH.npy COUNT
 *         for each true label with at least 1% of the COUNT pixels, that label and the one most of them got */
#include <jansson.h>

#include "tool_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 20 };

static int fail(const char *what, const char *detail) {
    fprintf(stderr, "tool: %s %s\n", what, detail);
    return 1;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static int print_json(char *path) {
    json_error_t error;
    json_t *root = json_loadf(stdin, 0, &error);
    if (!root)
        return fail("not JSON:", error.text);
    json_t *value = root;
    for (char *key = strtok(path, "."); key && value; key = strtok(NULL, "."))
        value = json_is_array(value) ? json_array_get(value, (size_t)atol(key)) : json_object_get(value, key);
    if (value) {
        json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9) | JSON_COMPACT);
        putchar('\n');
    }
    json_decref(root);
    return value ? 0 : fail("there is no such key", "");
}

/* ---- npy -------------------------------------------------------------------------------------------------------- */

/* Normal halves only, rounded towards zero: enough for the numbers of the tests. */
static uint16_t half(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    uint16_t sign = value < 0 ? 0x8000 : 0;
    if (value == 0 || exponent < -13)
        return sign;
    return (uint16_t)(sign | ((exponent + 14) << 10) | ((int)(fraction * 2048) & 0x3ff));
}

static void write_number(const char *type, double value) {
    float single = (float)value;
    uint16_t two = half(value);
    int32_t whole = (int32_t)value;
    if (strcmp(type, "f8") == 0)
        fwrite(&value, sizeof value, 1, stdout);
    else if (strcmp(type, "f4") == 0)
        fwrite(&single, sizeof single, 1, stdout);
    else if (strcmp(type, "f2") == 0)
        fwrite(&two, sizeof two, 1, stdout);
    else
        fwrite(&whole, sizeof whole, 1, stdout);
}

static void write_header(const char *type, int fortran, const char *shape) {
    char text[118];
    int length = snprintf(text, sizeof text, "{'descr': '<%s', 'fortran_order': %s, 'shape': %s, }", type,
                          fortran ? "True" : "False", shape);
    printf("\x93NUMPY%c%c%c%c%s%*s\n", 1, 0, (int)sizeof text, 0, text, (int)sizeof text - 1 - length, "");
}

static int write_npy(const char *type, const char *order, const char *pretended) {
    double *numbers = malloc(MOST_NUMBERS * sizeof *numbers);
    char line[1 << 16];
    size_t count = 0, rows = 0;
    while (numbers && fgets(line, sizeof line, stdin)) {
        for (char *word = strtok(line, " ,\t\n"); word && count < MOST_NUMBERS; word = strtok(NULL, " ,\t\n"))
            numbers[count++] = strtod(word, NULL);
        rows++;
    }
    if (!count) {
        free(numbers);
        return fail("no numbers", "");
    }
    size_t columns = count / rows;
    int fortran = strcmp(order, "fortran") == 0;
    char shape[64];
    snprintf(shape, sizeof shape, "(%zu, %zu)", rows, columns);
    write_header(type, fortran, pretended ? pretended : shape);
    for (size_t i = 0; i < count; i++)
        write_number(type, fortran ? numbers[i % rows * columns + i / rows] : numbers[i]);
    free(numbers);
    return 0;
}

/* ---- Labels ----------------------------------------------------------------------------------------------------- */

enum { MOST_LABELS = 64 };

/* The last `count` int32 of a file, to free(). */
static int32_t *read_labels(const char *path, size_t count) {
    int32_t *labels = malloc(count * sizeof *labels);
    FILE *file = fopen(path, "rb");
    int good = labels && file && fseek(file, -(long)(count * sizeof *labels), SEEK_END) == 0 &&
               fread(labels, sizeof *labels, count, file) == count;
    if (file)
        fclose(file);
    if (!good) {
        free(labels);
        fail("cannot read", path);
        return NULL;
    }
    return labels;
}

static int print_ids(const char *labels_path, const char *truth_path, size_t count) {
    static size_t counts[MOST_LABELS][MOST_LABELS];
    int32_t *labels = read_labels(labels_path, count), *truth = read_labels(truth_path, count);
    for (size_t i = 0; labels && truth && i < count; i++) {
        if (labels[i] >= 0 && labels[i] < MOST_LABELS && truth[i] >= 0 && truth[i] < MOST_LABELS)
            counts[truth[i]][labels[i]]++;
    }
    for (int t = 0; t < MOST_LABELS; t++) {
        int best = 0;
        size_t sum = 0;
        for (int z = 0; z < MOST_LABELS; z++) {
            sum += counts[t][z];
            best = counts[t][z] > counts[t][best] ? z : best;
        }
        if (sum >= count / 100)
            printf("%d %d\n", t, best);
    }
    int code = !labels || !truth;
    free(labels);
    free(truth);
    return code;
}

/* ---- NYU -------------------------------------------------------------------------------------------------------- */

#if ASTERISM_HAVE_HDF5

#include <hdf5.h>

/* The next number of a P2 image, beyond comments. */
static int next_number(FILE *file, int *number) {
    while (fscanf(file, " #%*[^\n]") == 0 && ungetc(getc(file), file) == '#')
        ;
    return fscanf(file, "%d", number) == 1;
}

/* MATLAB has (row, column, scene) and stores the first index fastest: HDF5 sees (scene, column, row). */
static int read_scene(const char *path, float *depths, int *width, int *height) {
    FILE *file = fopen(path, "r");
    int most, value,
        good = file && fscanf(file, "P2") == 0 && next_number(file, width) && next_number(file, height) &&
               next_number(file, &most) && *width * *height <= MOST_NUMBERS;
    for (int y = 0; good && y < *height; y++)
        for (int x = 0; good && x < *width; x++) {
            good = next_number(file, &value);
            depths[x * *height + y] = (float)(value / 5000.0);
        }
    if (file)
        fclose(file);
    return good;
}

static int write_nyu(char **names, int count) {
    float *scene = malloc(MOST_NUMBERS * sizeof *scene);
    int width = 0, height = 0, good = scene && read_scene(names[1], scene, &width, &height);
    hsize_t sizes[3] = {(hsize_t)count, (hsize_t)width, (hsize_t)height}, first[3] = {0},
            one[3] = {1, sizes[1], sizes[2]};
    hid_t file = good ? H5Fcreate(names[0], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) : -1;
    hid_t space = H5Screate_simple(3, sizes, NULL), memory = H5Screate_simple(3, one, NULL);
    hid_t set = H5Dcreate2(file, "depths", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; good && i < count; i++) {
        first[0] = (hsize_t)i;
        good = read_scene(names[1 + i], scene, &width, &height) &&
               H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, one, NULL) >= 0 &&
               H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, scene) >= 0;
    }
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    free(scene);
    return good ? 0 : fail("cannot write", names[0]);
}

#else

static int write_nyu(char **names, int count) {
    (void)names;
    (void)count;
    return 77;
}

#endif

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "json") == 0)
        return print_json(argv[2]);
    if (argc >= 4 && strcmp(argv[1], "npy") == 0)
        return write_npy(argv[2], argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "table") == 0)
        return write_table(argv[2], argv[3], argv[4]);
    if (argc >= 4 && strcmp(argv[1], "nyu") == 0)
        return write_nyu(argv + 2, argc - 3);
    if (argc == 5 && strcmp(argv[1], "ids") == 0)
        return print_ids(argv[2], argv[3], (size_t)atol(argv[4]));
    return fail("json PATH, npy TYPE ORDER [SHAPE], table FORMAT TYPE FILE, nyu FILE IMAGE..., or ids LABELS TRUTH COUNT", "");
}
