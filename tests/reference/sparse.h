/* SPDX-License-Identifier: MIT
 *
 * Dense cases as sparse ones: the same points twice, so that the reference reads one and the library the other. */
#ifndef REF_SPARSE_H
#define REF_SPARSE_H

#include "reference/cases.h"

typedef struct ref_sparse {
    ast_points view; /* compressed by rows; weights and type of the dense view */
    void *values, *starts, *columns;
} ref_sparse;

/* Sets every component of the view to zero with probability 1 - keep. */
void ref_thin_out(const ast_points *view, double keep, ast_random *random);

/* The view compressed: zeros are left out, but for a few, as users have them; -0 stays, which has bits of its own. The
 * index type and what stands before the first entry are drawn. */
void ref_compress(ref_sparse *sparse, const ast_points *view, ast_random *random);
void ref_sparse_free(ref_sparse *sparse);

#endif
