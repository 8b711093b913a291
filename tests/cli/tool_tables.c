/* SPDX-License-Identifier: MIT
 *
 * Binary tables, written by hand: bin (rows, columns, numbers), vecs (each row behind its dimension), safetensors (the
 * tensor `rows`, and `ids` of one dimension before it; several: two tensors), h5 (the dataset /train, and /ids;
 * chunked: in pieces and compressed; big: in the byte order of few machines; several: /train and /test). Little-endian
 * only. */
#include "tool_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
    double *numbers;
    size_t rows, columns;
} table;

static int read_table(table *read) {
    char line[1 << 16];
    size_t count = 0, capacity = 0;
    *read = (table){0};
    while (fgets(line, sizeof line, stdin)) {
        for (char *word = strtok(line, " ,\t\n"); word; word = strtok(NULL, " ,\t\n")) {
            if (count == capacity) {
                capacity = 2 * capacity + 1024;
                read->numbers = realloc(read->numbers, capacity * sizeof *read->numbers);
            }
            read->numbers[count++] = strtod(word, NULL);
        }
        read->rows++;
    }
    read->columns = read->rows ? count / read->rows : 0;
    return count > 0;
}

/* Normal halves only, rounded towards zero, and bfloat16 cut off: exact for the small whole numbers of the tests. */
static uint16_t half(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    uint16_t sign = value < 0 ? 0x8000 : 0;
    return value == 0 ? sign : (uint16_t)(sign | (exponent + 14) << 10 | ((int)(fraction * 2048) & 0x3ff));
}

static size_t encode(const char *type, double value, unsigned char *bytes) {
    float single = (float)value;
    uint16_t two = half(value);
    uint32_t bits;
    int32_t whole = (int32_t)value;
    memcpy(&bits, &single, sizeof bits);
    if (strcmp(type, "bf16") == 0)
        two = (uint16_t)(bits >> 16);
    size_t size = strcmp(type, "f8") == 0 ? 8 : strcmp(type, "f2") == 0 || strcmp(type, "bf16") == 0 ? 2 : 4;
    size = type[1] == '1' ? 1 : size;
    memcpy(bytes,
           size == 8        ? (void *)&value
           : size == 2      ? (void *)&two
           : type[0] == 'f' ? (void *)&single
                            : &whole,
           size);
    return size;
}

static void put_rows(FILE *file, const table *t, const char *type, int counted) {
    unsigned char bytes[8];
    for (size_t i = 0; i < t->rows; i++) {
        uint32_t columns = (uint32_t)t->columns;
        if (counted)
            fwrite(&columns, sizeof columns, 1, file);
        for (size_t d = 0; d < t->columns; d++)
            fwrite(bytes, encode(type, t->numbers[i * t->columns + d], bytes), 1, file);
    }
}

static const char *dtype(const char *type) {
    static const char *const names[][2] = {{"f4", "F32"}, {"f8", "F64"}, {"f2", "F16"}, {"bf16", "BF16"},
                                           {"i1", "I8"},  {"u1", "U8"},  {"i4", "I32"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], type) == 0)
            return names[i][1];
    return "?";
}

static void put_safetensors(FILE *file, const table *t, const char *type, int several) {
    unsigned char bytes[8] = {0};
    size_t size = t->rows * t->columns * encode(type, 0, bytes);
    char header[512];
    int length =
        snprintf(header, sizeof header,
                 "{\"__metadata__\":{\"made\":\"by hand\"},\"ids\":{\"dtype\":\"I64\",\"shape\":[1],"
                 "\"data_offsets\":[0,8]},\"%s\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"data_offsets\":[8,%zu]}",
                 several ? "one" : "rows", dtype(type), t->rows, t->columns, 8 + size);
    if (several)
        length += snprintf(header + length, sizeof header - (size_t)length,
                           ",\"two\":{\"dtype\":\"%s\",\"shape\":[%zu,%zu],\"data_offsets\":[8,%zu]}", dtype(type),
                           t->rows, t->columns, 8 + size);
    length += snprintf(header + length, sizeof header - (size_t)length, "}");
    while (length % 8)
        header[length++] = ' ';
    uint64_t count = (uint64_t)length, ids = 7;
    fwrite(&count, sizeof count, 1, file);
    fwrite(header, (size_t)length, 1, file);
    fwrite(&ids, sizeof ids, 1, file);
    put_rows(file, t, type, 0);
}

#if ASTERISM_HAVE_HDF5

#include <hdf5.h>

/* Halves are floats with other fields. */
static hid_t type_called(const char *name, int big) {
    hid_t type = H5Tcopy(strcmp(name, "f8") == 0   ? H5T_IEEE_F64LE
                         : strcmp(name, "i1") == 0 ? H5T_STD_I8LE
                         : strcmp(name, "u1") == 0 ? H5T_STD_U8LE
                         : strcmp(name, "i4") == 0 ? H5T_STD_I32LE
                                                   : H5T_IEEE_F32LE);
    int brain = strcmp(name, "bf16") == 0;
    if (brain || strcmp(name, "f2") == 0) {
        H5Tset_fields(type, 15, brain ? 7 : 10, brain ? 8 : 5, 0, brain ? 7 : 10);
        H5Tset_size(type, 2);
        H5Tset_ebias(type, brain ? 127 : 15);
    }
    if (big)
        H5Tset_order(type, H5T_ORDER_BE);
    return type;
}

static int put_dataset(hid_t file, const char *name, const table *t, const char *type, const char *format) {
    hsize_t sizes[2] = {t->rows, t->columns}, chunk[2] = {t->rows / 7 + 1, t->columns / 2 + 1};
    hid_t space = H5Screate_simple(2, sizes, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    hid_t own = type_called(type, strstr(format, "big") != NULL);
    if (strstr(format, "chunked")) {
        H5Pset_chunk(made, 2, chunk);
        H5Pset_shuffle(made);
        if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
            H5Pset_deflate(made, 4);
    }
    hid_t set = H5Dcreate2(file, name, own, space, H5P_DEFAULT, made, H5P_DEFAULT);
    int good = set >= 0 && (strstr(format, "unwritten") ||
                            H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->numbers) >= 0);
    H5Dclose(set);
    H5Tclose(own);
    H5Pclose(made);
    H5Sclose(space);
    return good;
}

static int put_hdf5(const char *path, const table *t, const char *type, const char *format) {
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "more", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int good = put_dataset(file, "train", t, type, format) && put_dataset(group, "neighbours", t, "i4", "");
    if (strstr(format, "several"))
        good = good && put_dataset(group, "test", t, type, format);
    H5Gclose(group);
    return H5Fclose(file) >= 0 && good ? 0 : 1;
}

#else

static int put_hdf5(const char *path, const table *t, const char *type, const char *format) {
    (void)path, (void)t, (void)type, (void)format;
    return 77;
}

#endif

int write_table(const char *format, const char *type, const char *path) {
    table t;
    if (!read_table(&t))
        return 1;
    if (strncmp(format, "h5", 2) == 0) {
        int code = put_hdf5(path, &t, type, format);
        free(t.numbers);
        return code;
    }
    FILE *file = fopen(path, "wb");
    uint32_t sizes[2] = {(uint32_t)t.rows, (uint32_t)t.columns};
    if (!file) {
        free(t.numbers);
        return 1;
    }
    if (strcmp(format, "bin") == 0)
        fwrite(sizes, sizeof sizes, 1, file);
    if (strncmp(format, "safetensors", 11) == 0)
        put_safetensors(file, &t, type, strstr(format, "several") != NULL);
    else
        put_rows(file, &t, type, strcmp(format, "vecs") == 0);
    free(t.numbers);
    return fclose(file) == 0 ? 0 : 1;
}
