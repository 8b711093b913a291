/* SPDX-License-Identifier: MIT
 *
 * Which ways does the surface of a mesh face? Reads a Wavefront .obj file, takes the normal of every face with its area
 * as the weight, and clusters them. Without a file it uses a house: a box with a gable roof.
 *
 *     mesh_directions [FILE.obj [DEGREES]] */
#include <asterism.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char house[] = "v 0 0 0\nv 8 0 0\nv 8 6 0\nv 0 6 0\n" /* floor */
                            "v 0 0 3\nv 8 0 3\nv 8 6 3\nv 0 6 3\n" /* eaves */
                            "v 0 3 5\nv 8 3 5\n"                   /* ridge */
                            "f 4 3 2 1\nf 1 2 6 5\nf 3 4 8 7\n"    /* floor, front, back */
                            "f 2 3 7 10 6\nf 4 1 5 9 8\n"          /* gables */
                            "f 5 6 10 9\nf 7 8 9 10\n";            /* roof */

/* Grows as it is filled; `width` doubles a row. */
typedef struct table {
    double *values;
    size_t rows, room, width;
} table;

static double *add_row(table *rows) {
    if (rows->rows == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 64;
        rows->values = realloc(rows->values, rows->room * rows->width * sizeof *rows->values);
        if (!rows->values) {
            fprintf(stderr, "no memory\n");
            exit(1);
        }
    }
    return rows->values + rows->width * rows->rows++;
}

/* Adds a triangle: its normal (the library scales it to length 1) and its area. */
static void add_triangle(table *faces, const double *a, const double *b, const double *c) {
    double *row = add_row(faces);
    for (int d = 0; d < 3; d++) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        row[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
    }
    row[3] = 0.5 * sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
}

/* A face is a list such as "1 2/5 3/6/7", counted from 1, or backwards from -1; it becomes a fan of triangles. */
static void add_face(table *faces, const table *vertices, char *line) {
    const double *corners[3] = {NULL, NULL, NULL};
    int count = 0;
    for (char *word = strtok(line, " \t\r\n"); word; word = strtok(NULL, " \t\r\n")) {
        long index = strtol(word, NULL, 10);
        if (index < 0)
            index += (long)vertices->rows + 1;
        if (index < 1 || (size_t)index > vertices->rows)
            continue;
        corners[count < 2 ? count : 2] = vertices->values + 3 * (index - 1);
        if (++count < 3)
            continue;
        add_triangle(faces, corners[0], corners[1], corners[2]);
        corners[1] = corners[2];
    }
}

static void read_mesh(FILE *file, table *faces) {
    table vertices = {.width = 3};
    char line[4096];
    while (fgets(line, sizeof line, file)) {
        double x, y, z;
        if (sscanf(line, "v %lf %lf %lf", &x, &y, &z) == 3)
            memcpy(add_row(&vertices), (double[]){x, y, z}, 3 * sizeof(double));
        else if (strncmp(line, "f ", 2) == 0)
            add_face(faces, &vertices, line + 2);
    }
    free(vertices.values);
}

/* Clusters the normals, weighted by area, and prints one line a direction. */
static int print_directions(const table *faces, double degrees) {
    int32_t *labels = malloc((faces->rows + 1) * sizeof *labels);
    double *areas = malloc((faces->rows + 1) * sizeof *areas);
    ast_context *context;
    ast_open(&context, 1);
    int failed = !labels || !areas || !context;
    if (!failed) {
        /* A view with strides: the normals are the first three of the four numbers in a row. */
        ast_points points = {.size = sizeof points,
                             .data = faces->values,
                             .type = AST_F8,
                             .count = faces->rows,
                             .dimension = 3,
                             .row_stride = 4 * sizeof(double),
                             .column_stride = sizeof(double),
                             .weights = areas};
        double total = 0;
        for (size_t i = 0; i < faces->rows; i++)
            total += areas[i] = faces->values[4 * i + 3];
        ast_options options;
        ast_options_init(&options);
        options.angle = degrees;
        ast_report report = {.size = sizeof report};
        failed = ast_cluster(context, &points, &options, labels, &report) != AST_OK;
        if (failed)
            fprintf(stderr, "%s\n", ast_message(context));
        size_t count;
        const ast_cluster_info *clusters = ast_clusters(context, &count);
        for (size_t k = 0; k < count; k++)
            printf("%5.1f%% of the area faces (%6.3f, %6.3f, %6.3f)\n", 100 * clusters[k].weight / total,
                   (double)clusters[k].mean[0], (double)clusters[k].mean[1], (double)clusters[k].mean[2]);
    }
    ast_close(context);
    free(areas);
    free(labels);
    return failed;
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : fmemopen((void *)house, sizeof house - 1, "r");
    if (!file) {
        perror(argc > 1 ? argv[1] : "house");
        return 1;
    }
    table faces = {.width = 4};
    read_mesh(file, &faces);
    fclose(file);
    int failed = print_directions(&faces, argc > 2 ? atof(argv[2]) : 20);
    free(faces.values);
    return failed;
}
