/* SPDX-License-Identifier: MIT
 *
 * Depth and colour of one moment have the same name in most collections (000017.png and 000017.png, or 000017.jpg), and
 * there may be fewer pictures than frames; in others both are named by their own time stamps, and only their order says
 * what belongs together, if there are as many of both. */
#include "overlay_pictures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "frame_files.h"
#include "terminal.h"

/* In place of a picture's number: the frame has none. */
#define NONE SIZE_MAX

/* Of a folder the pictures alone; a file is taken as it is. */
static int list_pictures(ast_cli_overlay *overlay) {
    ast_format_error error;
    ast_folder *pictures = &overlay->pictures;
    size_t kept = 0;
    if (!ast_is_folder(overlay->given)) {
        pictures->paths = calloc(1, sizeof *pictures->paths);
        pictures->count = pictures->paths && (pictures->paths[0] = strdup(overlay->given));
        return pictures->count ? -1 : ast_cli_no_memory("the list of pictures");
    }
    if (!ast_folder_list(pictures, overlay->given, &error))
        return ast_cli_fail("--overlay: %s", error.text);
    for (size_t i = 0; i < pictures->count; i++) {
        if (ast_picture_extension(pictures->paths[i]))
            pictures->paths[kept++] = pictures->paths[i];
        else
            free(pictures->paths[i]);
    }
    pictures->count = kept;
    return kept ? -1 : ast_cli_fail("--overlay: %s holds no picture (png, ppm, pgm or jpg)", overlay->given);
}

/* ---- Which belongs to which -------------------------------------------------------------------------------------- */

typedef struct named {
    const char *path; /* first, for ast_cli_compare_stems */
    size_t index;
} named;

/* Fills in of_frame, and returns how many frames have a picture of their name. */
static size_t match_names(ast_cli_overlay *overlay, const ast_input_file *frames, named *sorted) {
    size_t matches = 0;
    for (size_t i = 0; i < overlay->pictures.count; i++)
        sorted[i] = (named){overlay->pictures.paths[i], i};
    qsort(sorted, overlay->pictures.count, sizeof *sorted, ast_cli_compare_stems);
    for (size_t i = 0; i < overlay->frames; i++) {
        named wanted = {frames[i].path, 0};
        const named *found = bsearch(&wanted, sorted, overlay->pictures.count, sizeof *sorted, ast_cli_compare_stems);
        overlay->of_frame[i] = found ? found->index : NONE;
        matches += found != NULL;
    }
    return matches;
}

static int match(ast_cli_overlay *overlay, const ast_cli_frames *inputs) {
    overlay->frames = ast_frames_count(inputs->frames);
    if (ast_frames_numbered(inputs->frames)) /* raw frames and scenes have no names */
        return -1;
    overlay->of_frame = calloc(overlay->frames + 1, sizeof *overlay->of_frame);
    named *sorted = calloc(overlay->pictures.count, sizeof *sorted);
    size_t matches = overlay->of_frame && sorted ? match_names(overlay, inputs->list->files, sorted) : 0;
    free(sorted);
    if (!overlay->of_frame || !sorted)
        return ast_cli_no_memory("the list of pictures");
    if (matches > 0)
        return -1;
    free(overlay->of_frame);
    overlay->of_frame = NULL;
    if (overlay->pictures.count == overlay->frames)
        return -1;
    return ast_cli_fail("--overlay: %s has %zu picture%s for %zu frame%s and none is called as its frame; they must "
                        "match by name, or one by one in order",
                        overlay->given, overlay->pictures.count, overlay->pictures.count == 1 ? "" : "s",
                        overlay->frames, overlay->frames == 1 ? "" : "s");
}

int ast_cli_overlay_open(ast_cli_overlay *overlay, const char *given, const ast_cli_frames *inputs) {
    overlay->given = given;
    int code = list_pictures(overlay);
    return code < 0 ? match(overlay, inputs) : code;
}

int ast_cli_overlay_read(const ast_cli_overlay *overlay, const ast_cli_frames *inputs, ast_picture *picture,
                         int *found) {
    ast_format_error error;
    uint64_t index = overlay->of_frame ? overlay->of_frame[inputs->frame.index] : inputs->frame.index;
    *found = index != NONE;
    if (!*found)
        return -1;
    if (index >= overlay->pictures.count)
        return ast_cli_fail("--overlay: %s has %zu pictures, and there is none for frame %" PRIu64, overlay->given,
                            overlay->pictures.count, inputs->frame.index + 1);
    const char *path = overlay->pictures.paths[index];
    if (!ast_picture_read(picture, path, &error))
        return ast_cli_fail("%s", error.text);
    if (picture->width != inputs->width || picture->height != inputs->height)
        return ast_cli_fail("%s is %zu x %zu pixels, but %s is %zu x %zu; they must match", path, picture->width,
                            picture->height, inputs->frame.source, inputs->width, inputs->height);
    return -1;
}

void ast_cli_overlay_free(ast_cli_overlay *overlay) {
    ast_folder_free(&overlay->pictures);
    free(overlay->of_frame);
}
