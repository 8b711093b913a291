/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a depth image of floats: .npy, .pfm, .tiff. */
#include "fuzz_images.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_depth(bytes, size);
    return 0;
}
