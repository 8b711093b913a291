/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a MatrixMarket file. */
#include "fuzz_sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    read_sparse("mtx", bytes, size, NULL, false);
    read_sparse("mtx", bytes, size, NULL, true);
    read_sparse("mtx", bytes, size, "1-2", false);
    return 0;
}
