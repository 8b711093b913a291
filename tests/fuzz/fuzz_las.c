/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a LAS file. */
#include "fuzz_solids.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return as_solid("las", bytes, size);
}
