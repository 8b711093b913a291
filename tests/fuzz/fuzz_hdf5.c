/* SPDX-License-Identifier: MIT
 *
 * Any bytes as .h5 and .mat. libhdf5 takes the file apart, and it does not promise to survive every file: a finding
 * within it is its own (docs/RELIABILITY.md). */
#include "fuzz_memory_file.h"
#include "nyu.h"

static void as_table_of(const char *path, const char *dataset) {
    ast_input_options options = {.format = "h5", .dataset = dataset};
    ast_format_error error = {""};
    ast_input input;
    if (ast_input_open(&input, path, &options, &error))
        touch_points(&input.points);
    else
        require(error.text[0] && !strchr(error.text, '\n'));
    ast_input_close(&input);
}

static void as_scenes(const char *path) {
    ast_format_error error = {""};
    ast_nyu *nyu = ast_nyu_open(path, &error);
    require(nyu || (error.text[0] && !strchr(error.text, '\n')));
    float *metres =
        nyu && nyu->width * nyu->height <= 1 << 20 ? malloc(nyu->width * nyu->height * sizeof *metres) : NULL;
    if (metres && nyu->count > 0)
        (void)!ast_nyu_depth(nyu, nyu->count - 1, metres, &error);
    free(metres);
    ast_nyu_close(nyu);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static memory_file file;
    const char *path = as_file(&file, bytes, size);
    as_table_of(path, NULL);
    as_table_of(path, "/rows");
    as_scenes(path);
    return 0;
}
