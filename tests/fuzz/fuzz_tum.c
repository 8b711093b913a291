/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the depth.txt of a TUM RGB-D folder. */
#include "frames.h"
#include "fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ast_frame_list list = {0};
    ast_format_error error = {""};
    bool good = ast_frame_list_tum(&list, "folder", "fuzz", bytes, size, &error);
    require(good ? list.count > 0 : strncmp(error.text, "fuzz: ", 6) == 0 && strchr(error.text, '\n') == NULL);
    for (size_t i = 0; i < list.count; i++) {
        const char *path = list.files[i].path;
        require(isfinite(list.files[i].seconds));
        require(*path == '/' || (strncmp(path, "folder/", 7) == 0 && path[7] != '\0'));
        require(strchr(path, '\n') == NULL);
    }
    ast_frame_list_free(&list);
    require(list.files == NULL && list.count == 0);
    return 0;
}
