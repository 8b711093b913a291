/* SPDX-License-Identifier: MIT
 *
 * Runs a fuzzer's entry point over the files of a folder, without libFuzzer: the corpus in every build. */
#include "fuzz.h"

#include <stdio.h>

static bool replay(const char *path) {
    FILE *file = fopen(path, "rb");
    static uint8_t buffer[1 << 20];
    if (!file)
        return false;
    size_t size = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    /* A copy of just this size, so that a sanitizer sees the end of it. */
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes)
        return false;
    memcpy(bytes, buffer, size);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return true;
}

int main(int count, char **arguments) {
    ast_folder folder;
    ast_format_error error;
    if (count != 2 || !ast_folder_list(&folder, arguments[1], &error) || folder.count == 0) {
        fprintf(stderr, "a folder with files to replay is needed\n");
        return 2;
    }
    bool good = true;
    for (size_t i = 0; i < folder.count && good; i++) {
        good = replay(folder.paths[i]);
        if (!good)
            fprintf(stderr, "%s: cannot be replayed\n", folder.paths[i]);
    }
    printf("%zu files replayed\n", folder.count);
    ast_folder_free(&folder);
    return good ? 0 : 1;
}
