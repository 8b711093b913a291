/* SPDX-License-Identifier: MIT
 *
 * The files contain x, y and z only, as scanners write them. */
#include "cloud_files.h"

#include "solids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BINARY 500e6 /* the goals: bytes per second */
#define TEXT 100e6

static const struct {
    const char *file, *name;
    int text;
} kinds[BENCH_CLOUD_FILES] = {{"little.ply", "PLY, binary", 0},
                              {"big.ply", "PLY, binary, other byte order", 0},
                              {"binary.pcd", "PCD, binary", 0},
                              {"text.ply", "PLY, text", 1},
                              {"text.pcd", "PCD, text", 1}};

static void path_of(const bench_cloud_files *files, int kind, char path[512]) {
    snprintf(path, 512, "%s/%s", files->folder, kinds[kind].file);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_head(FILE *file, int kind, size_t count) {
    static const char *const orders[] = {"binary_little_endian", "binary_big_endian", "", "ascii"};
    if (kind == BENCH_PCD || kind == BENCH_PCD_TEXT)
        fprintf(file,
                "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH %zu\nHEIGHT 1\nPOINTS %zu\n"
                "DATA %s\n",
                count, count, kind == BENCH_PCD ? "binary" : "ascii");
    else
        fprintf(file,
                "ply\nformat %s 1.0\nelement vertex %zu\nproperty float x\nproperty float y\nproperty float z\n"
                "end_header\n",
                orders[kind], count);
}

static void write_point(FILE *file, int kind, const float *p) {
    uint32_t bits[3];
    if (kinds[kind].text) {
        fprintf(file, "%.7g %.7g %.7g\n", (double)p[0], (double)p[1], (double)p[2]);
        return;
    }
    memcpy(bits, p, sizeof bits);
    for (int c = 0; kind == BENCH_PLY_SWAPPED && c < 3; c++)
        bits[c] = __builtin_bswap32(bits[c]);
    fwrite(bits, sizeof bits, 1, file);
}

static size_t write_file(const bench_cloud_files *files, int kind, const float *points, size_t count) {
    char path[512];
    path_of(files, kind, path);
    FILE *file = fopen(path, "wb");
    if (!file)
        bench_die("%s cannot be written", path);
    write_head(file, kind, count);
    for (size_t i = 0; i < count; i++)
        write_point(file, kind, points + 3 * i);
    long size = ftell(file);
    if (fclose(file) != 0 || size < 0)
        bench_die("%s cannot be written", path);
    return (size_t)size;
}

void bench_cloud_files_open(bench_cloud_files *files, const float *points, size_t count) {
    const char *base = getenv("TMPDIR");
    snprintf(files->folder, sizeof files->folder, "%.200s/asterism-bench-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(files->folder))
        bench_die("cannot create a temporary folder: TMPDIR must name a writable folder");
    for (int kind = 0; kind < BENCH_CLOUD_FILES; kind++)
        files->bytes[kind] = write_file(files, kind, points, count);
}

void bench_cloud_files_free(bench_cloud_files *files) {
    char path[512];
    for (int kind = 0; files->folder[0] && kind < BENCH_CLOUD_FILES; kind++) {
        path_of(files, kind, path);
        unlink(path);
    }
    if (files->folder[0])
        rmdir(files->folder);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

void bench_cloud_files_repeat(bench_cloud_files *files) {
    for (int kind = 0; files->folder[0] && kind < BENCH_CLOUD_FILES; kind++) {
        char path[512];
        ast_format_error error;
        ast_solid solid;
        path_of(files, kind, path);
        double begin = bench_now();
        if (!ast_solid_read(&solid, path, ast_format_of(path, NULL), &error))
            bench_die("%s", error.text);
        bench_samples_add(&files->time[kind], bench_now() - begin);
        ast_solid_free(&solid);
    }
}

static double speed(const bench_cloud_files *files, int kind) {
    return (double)files->bytes[kind] / bench_samples_min(&files->time[kind]);
}

void bench_cloud_files_goals(const bench_cloud_files *files, bench_goals *goals) {
    for (int kind = 0; files->folder[0] && kind < BENCH_CLOUD_FILES; kind++)
        bench_goals_add(goals, (kinds[kind].text ? TEXT : BINARY) / 1e6, speed(files, kind) / 1e6, 1,
                        "cloud, reading %s: MB/s", kinds[kind].name);
}

void bench_cloud_files_print(const bench_cloud_files *files) {
    if (!files->folder[0])
        return;
    printf("\nReading clouds, one thread, from the page cache: milliseconds (median), MB/s\n");
    for (int kind = 0; kind < BENCH_CLOUD_FILES; kind++)
        printf("  %-30s %6.1f MB %8.1f (%7.1f) %8.0f\n", kinds[kind].name, (double)files->bytes[kind] / 1e6,
               1e3 * bench_samples_min(&files->time[kind]), 1e3 * bench_samples_median(&files->time[kind]),
               speed(files, kind) / 1e6);
}

void bench_cloud_files_write(const bench_cloud_files *files, ast_text *json) {
    if (!files->folder[0])
        return;
    ast_json_open(json, "cloud_files", '[');
    for (int kind = 0; kind < BENCH_CLOUD_FILES; kind++) {
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "file", kinds[kind].name);
        ast_json_number(json, "bytes", (double)files->bytes[kind], 9);
        ast_json_number(json, "seconds", bench_samples_min(&files->time[kind]), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
