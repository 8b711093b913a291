/* SPDX-License-Identifier: MIT
 *
 * Depth images in, the ids of their surface directions out: `asterism segment --camera kinect --angle 60` as a program.
 *     depth LABELS FRAME.pgm...
 * reads 16-bit PGM images of a Kinect, prints the directions of each, and writes the id of every pixel to LABELS: (H,
 * W) int32 per image, -1 where there is no surface. */
#include <asterism_depth.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct tracker {
    ast_context *context;
    ast_depth *depth;
    ast_depth_frame *frame;
    ast_stream *stream;
    uint16_t *values;
    float *normals;
    int32_t *labels;
} tracker;

static int open_tracker(tracker *t) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    ast_camera_named("kinect", &options.camera, &options.units_per_metre);
    ast_stream_options tracking;
    ast_depth_stream_options_init(&tracking);
    tracking.angle = 60; /* walls that meet at 90 degrees are often seen 76 to 81 degrees apart */
    return ast_open(&t->context, 0) == AST_OK && ast_depth_open(&t->depth, t->context, &options) == AST_OK &&
           ast_depth_frame_open(&t->frame, t->context) == AST_OK &&
           ast_stream_open(&t->stream, t->context, &tracking) == AST_OK;
}

static void close_tracker(tracker *t) {
    ast_stream_close(t->stream);
    ast_depth_frame_close(t->frame);
    ast_depth_close(t->depth);
    ast_close(t->context);
    free(t->values);
    free(t->normals);
    free(t->labels);
}

/* Binary PGM with two bytes per pixel, the high byte first. */
static int read_pgm(tracker *t, const char *path, size_t *width, size_t *height) {
    FILE *file = fopen(path, "rb");
    int most = 0, good = file && fscanf(file, "P5 %zu %zu %d", width, height, &most) == 3 && most > 255 &&
                         fgetc(file) != EOF && *width < 10000 && *height < 10000;
    size_t pixels = good ? *width * *height : 0;
    free(t->values);
    free(t->normals);
    free(t->labels);
    t->values = malloc(pixels * sizeof *t->values + 1);
    t->normals = malloc(pixels * 3 * sizeof *t->normals + 1);
    t->labels = malloc(pixels * sizeof *t->labels + 1);
    good = good && t->values && t->normals && t->labels && fread(t->values, 2, pixels, file) == pixels;
    for (size_t i = 0; good && i < pixels; i++) {
        const unsigned char *bytes = (const unsigned char *)&t->values[i];
        t->values[i] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    }
    if (file)
        fclose(file);
    return good;
}

/* The ids of one image, in t->labels. */
static ast_status segment(tracker *t, size_t width, size_t height) {
    ast_depth_image image = {sizeof image, t->values, width, height, (ptrdiff_t)(width * sizeof *t->values)};
    ast_depth_report report = {.size = sizeof report};
    ast_frame step = {.size = sizeof step};
    ast_status status = ast_depth_compute(t->depth, &image, NULL, NULL, t->normals, t->frame);
    if (status == AST_OK)
        status = ast_depth_describe(t->frame, &report);
    ast_points points = ast_points_f4(t->normals, width * height, 3);
    points.late = report.late; /* what lies on no plane gets a label, and starts no cluster */
    return status == AST_OK ? ast_stream_step(t->stream, &points, t->labels, &step) : status;
}

static void print_directions(const tracker *t, const char *path) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(t->stream, &count);
    printf("%s:", path);
    for (size_t i = 0; i < count; i++)
        if (clusters[i].count > 0)
            printf("  %d %.0f%%", (int)clusters[i].id, 100 * clusters[i].share);
    printf("\n");
}

int main(int argc, char **argv) {
    tracker t = {0};
    FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
    int good = out && open_tracker(&t);
    for (int i = 2; good && i < argc; i++) {
        size_t width, height;
        good = read_pgm(&t, argv[i], &width, &height) && segment(&t, width, height) == AST_OK &&
               fwrite(t.labels, sizeof *t.labels, width * height, out) == width * height;
        if (good)
            print_directions(&t, argv[i]);
        else
            fprintf(stderr, "%s: %s\n", argv[i], ast_message(t.context)[0] ? ast_message(t.context) : "cannot be read");
    }
    good = good && fclose(out) == 0;
    if (argc < 3)
        fprintf(stderr, "depth LABELS FRAME.pgm...\n");
    close_tracker(&t);
    return !good;
}
