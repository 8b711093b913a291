/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an OBJ file. */
#include "fuzz_solids.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return as_solid("obj", bytes, size);
}
