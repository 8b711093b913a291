/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an STL file. */
#include "fuzz_solids.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return as_solid("stl", bytes, size);
}
