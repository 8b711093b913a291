/* SPDX-License-Identifier: MIT
 *
 * Any bytes as one of scipy's .npz files. */
#include "fuzz_sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    read_sparse("npz", bytes, size, NULL, false);
    read_sparse("npz", bytes, size, NULL, true);
    read_sparse("npz", bytes, size, "1-2", false);
    return 0;
}
