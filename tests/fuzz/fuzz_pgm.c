/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an image of netpbm. */
#include "fuzz_images.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_depth(bytes, size);
    return 0;
}
