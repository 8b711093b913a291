/* SPDX-License-Identifier: MIT
 *
 * hallway_maker FRAMES FOLDER: writes the depth images of the walk through the hallway as 16-bit PGM files. */
#include <private/asterism_hallway.h>

#include <stdio.h>
#include <stdlib.h>

static int write_pgm(const char *path, const uint16_t *values, size_t width, size_t height) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    fprintf(file, "P5\n%zu %zu\n65535\n", width, height);
    for (size_t i = 0; i < width * height; i++) {
        putc(values[i] >> 8, file);
        putc(values[i] & 255, file);
    }
    return fclose(file) == 0;
}

int main(int argc, char **argv) {
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    hallway.frames = argc == 3 ? (size_t)atol(argv[1]) : 0;
    uint16_t *depth = malloc(hallway.width * hallway.height * sizeof *depth);
    ast_context *context = NULL;
    int good = depth && ast_open(&context, 0) == AST_OK;
    for (size_t i = 0; good && i < hallway.frames; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%06zu.pgm", argv[2], i);
        good = ast_hallway_render(context, &hallway, i, depth, NULL, NULL) == AST_OK &&
               write_pgm(path, depth, hallway.width, hallway.height);
    }
    ast_close(context);
    free(depth);
    return !good || hallway.frames == 0;
}
