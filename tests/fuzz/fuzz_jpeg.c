/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a JPEG picture. */
#include "fuzz_images.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_picture(bytes, size);
    return 0;
}
