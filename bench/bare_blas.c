/* SPDX-License-Identifier: MIT
 *
 * The bare fused pass with sgemm of OpenBLAS, loaded at run time if installed: a second opinion on the speed of the
 * matrix multiplication. One OpenBLAS thread per thread of ours; the benchmark may set that for its process. */
#include "bare.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { ROWS = 512 }; /* per block: its scores stay in the cache */

typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);

/* NULL if not installed. The environment is set before loading, because its threads start then. */
static sgemm *find_sgemm(void) {
    static int looked;
    static sgemm *found;
    if (!looked) {
        looked = 1;
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (library)
            *(void **)&found = dlsym(library, "cblas_sgemm");
    }
    return found;
}

static int usable(size_t dimension) {
    return dimension >= 16 && find_sgemm() != NULL;
}

static size_t scratch_bytes(size_t clusters, size_t dimension) {
    (void)dimension;
    return ROWS * clusters * sizeof(float);
}

/* First the maximum, four lanes at a time, then its position: neither loop waits for a branch. */
static size_t arg_max(const float *score, size_t count) {
    typedef float four __attribute__((vector_size(16), aligned(4)));
    typedef int32_t mask __attribute__((vector_size(16)));
    four best = {-4, -4, -4, -4};
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        four s = *(const four *)(score + k);
        mask above = s > best;
        best = (four)(((mask)s & above) | ((mask)best & ~above));
    }
    float most = best[0];
    for (int j = 1; j < 4; j++)
        most = best[j] > most ? best[j] : most;
    for (; k < count; k++)
        most = score[k] > most ? score[k] : most;
    for (k = 0; score[k] != most;)
        k++;
    return k;
}

static void finish_rows(const bench_slice *s, size_t begin, size_t rows, const float *scores) {
    for (size_t r = 0; r < rows; r++) {
        const float *x = s->points + (begin + r) * s->dimension;
        size_t k = arg_max(scores + r * s->clusters, s->clusters);
        s->labels[begin + r] = (int32_t)k;
        s->counts[k]++;
        bench_add_row(x, s->dimension, s->sums + k * s->dimension);
    }
}

static void pass(const bench_slice *s, void *scratch) {
    enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };
    int clusters = (int)s->clusters, dimension = (int)s->dimension;
    for (size_t begin = 0; begin < s->count; begin += ROWS) {
        size_t rows = s->count - begin < ROWS ? s->count - begin : ROWS;
        find_sgemm()(ROW_MAJOR, PLAIN, TRANSPOSED, (int)rows, clusters, dimension, 1, s->points + begin * s->dimension,
                     dimension, s->means, dimension, 0, scratch, clusters);
        finish_rows(s, begin, rows, scratch);
    }
}

const bench_method bench_bare_blas = {
    .name = "openblas", .usable = usable, .scratch_bytes = scratch_bytes, .pass = pass};
