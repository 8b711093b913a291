/* SPDX-License-Identifier: MIT
 *
 * libhdf5 prints its errors unless it is told not to. Every call of it stands between these two. */
#ifndef ASTERISM_FORMATS_HDF5_ERRORS_H
#define ASTERISM_FORMATS_HDF5_ERRORS_H

#include <hdf5.h>

/* What it does with errors. */
typedef struct ast_hdf5_voice {
    H5E_auto2_t function;
    void *data;
} ast_hdf5_voice;

static inline ast_hdf5_voice ast_hdf5_silence(void) {
    ast_hdf5_voice before = {0};
    H5Eget_auto2(H5E_DEFAULT, &before.function, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static inline void ast_hdf5_restore(ast_hdf5_voice before) {
    H5Eset_auto2(H5E_DEFAULT, before.function, before.data);
}

#endif
