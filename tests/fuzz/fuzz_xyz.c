/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an XYZ file, and its columns by number and by name. */
#include "fuzz_solids.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    return as_solid("xyz", bytes, size) + as_solid_of("xyz", "3,1,2", bytes, size) +
           as_solid_of("xyz", "1-3,nx,ny,nz", bytes, size);
}
