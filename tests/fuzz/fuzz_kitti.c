/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a scan of KITTI. */
#include "fuzz_solids.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return as_solid("kitti", bytes, size);
}
