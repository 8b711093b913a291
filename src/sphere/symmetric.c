/* SPDX-License-Identifier: MIT
 *
 * Householder reflections make the matrix tridiagonal, implicit QL steps diagonal (Golub and Van Loan, Matrix
 * Computations, 8.3). Every inner loop runs along a row and adds element by element, so that compilers vectorise it
 * without changing the order of any sum. The rotations of QL are collected and applied to the eigenvectors block of
 * columns by block of columns, on all threads. */
#include "symmetric.h"

#include "memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 16384 /* rotations that are applied together */
#define COLUMNS 32  /* of a block: 768 rows of it fit into the second-level cache */
#define MOST_STEPS 60

/* Rows `row` and row + 1 become (c row - s next) and (s row + c next). */
typedef struct rotation {
    size_t row;
    double c, s;
} rotation;

typedef struct decomposition {
    ast_pool *pool;
    size_t n;
    double *a;           /* (n, n) the matrix; row k keeps reflection k behind its diagonal */
    double *diagonal;    /* (n) */
    double *beside;      /* (n) beside[k]: element (k, k + 1) */
    double *factors;     /* (n) reflection k is 1 - factor v v' */
    double *vectors;     /* (n, n) the product of the reflections, later its transpose */
    double *p;           /* (n) */
    rotation *rotations; /* (BATCH) */
    size_t collected;
} decomposition;

static bool is_stopped(const decomposition *t) {
    return t->pool && ast_pool_poll(t->pool);
}

static void add_multiple(double *to, const double *from, double factor, size_t n) {
    for (size_t j = 0; j < n; j++)
        to[j] += factor * from[j];
}

/* ---- Tridiagonal ------------------------------------------------------------------------------------------------- */

/* Makes x (m) a vector v whose reflection turns x into a multiple of the first axis; returns that multiple. The numbers
 * are divided by the largest one first: squares of tiny ones would vanish. */
static double make_reflection(double *x, size_t m, double *factor) {
    double largest = 0, squared = 0, first = x[0];
    for (size_t j = 1; j < m; j++)
        largest = fmax(largest, fabs(x[j]));
    *factor = 0;
    if (largest == 0)
        return first;
    largest = fmax(largest, fabs(first));
    for (size_t j = 0; j < m; j++)
        x[j] /= largest;
    for (size_t j = 1; j < m; j++)
        squared += x[j] * x[j];
    if (squared == 0)
        return first;
    double length = sqrt(x[0] * x[0] + squared), target = x[0] > 0 ? -length : length;
    x[0] -= target;
    *factor = 2 / (x[0] * x[0] + squared);
    return target * largest;
}

/* Reflects the rows and columns behind k: A - v w' - w v', where p = factor A v, w = p - (factor / 2 v'p) v. */
static void reflect_rest(decomposition *t, size_t k) {
    size_t n = t->n, m = n - k - 1;
    const double *v = t->a + k * n + k + 1;
    double *p = t->p, product = 0, factor = t->factors[k];
    memset(p, 0, m * sizeof *p);
    for (size_t i = 0; i < m; i++)
        add_multiple(p, t->a + (k + 1 + i) * n + k + 1, factor * v[i], m);
    for (size_t j = 0; j < m; j++)
        product += v[j] * p[j];
    add_multiple(p, v, -factor / 2 * product, m);
    for (size_t i = 0; i < m; i++) {
        double *row = t->a + (k + 1 + i) * n + k + 1, vi = v[i], wi = p[i];
        for (size_t j = 0; j < m; j++)
            row[j] -= vi * p[j] + wi * v[j];
    }
}

static void make_tridiagonal(decomposition *t) {
    size_t n = t->n;
    for (size_t k = 0; k < n && !is_stopped(t); k++) {
        double *row = t->a + k * n;
        t->diagonal[k] = row[k];
        t->factors[k] = 0;
        t->beside[k] = k + 1 < n ? row[k + 1] : 0;
        if (k + 2 >= n)
            continue;
        t->beside[k] = make_reflection(row + k + 1, n - k - 1, &t->factors[k]);
        if (t->factors[k] != 0)
            reflect_rest(t, k);
    }
}

/* vectors = the product of all reflections, from the last to the first, whose blocks grow. */
static void multiply_reflections(decomposition *t) {
    size_t n = t->n;
    memset(t->vectors, 0, n * n * sizeof *t->vectors);
    for (size_t i = 0; i < n; i++)
        t->vectors[i * n + i] = 1;
    for (size_t k = n; k-- > 0 && !is_stopped(t);) {
        size_t m = n - k - 1;
        const double *v = t->a + k * n + k + 1;
        if (t->factors[k] == 0)
            continue;
        memset(t->p, 0, m * sizeof *t->p);
        for (size_t i = 0; i < m; i++)
            add_multiple(t->p, t->vectors + (k + 1 + i) * n + k + 1, v[i], m);
        for (size_t i = 0; i < m; i++)
            add_multiple(t->vectors + (k + 1 + i) * n + k + 1, t->p, -t->factors[k] * v[i], m);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double other = t->vectors[i * n + j];
            t->vectors[i * n + j] = t->vectors[j * n + i];
            t->vectors[j * n + i] = other;
        }
}

/* ---- Diagonal ---------------------------------------------------------------------------------------------------- */

static void rotate_block(void *data, size_t block, int worker) {
    const decomposition *t = data;
    size_t n = t->n, first = block * COLUMNS, columns = n - first < COLUMNS ? n - first : COLUMNS;
    (void)worker;
    for (size_t r = 0; r < t->collected; r++) {
        double *row = t->vectors + t->rotations[r].row * n + first, *next = row + n;
        double c = t->rotations[r].c, s = t->rotations[r].s;
        for (size_t j = 0; j < columns; j++) {
            double x = row[j], y = next[j];
            row[j] = c * x - s * y;
            next[j] = s * x + c * y;
        }
    }
}

static void apply_rotations(decomposition *t) {
    size_t blocks = (t->n + COLUMNS - 1) / COLUMNS;
    for (size_t block = 0; !t->pool && block < blocks; block++)
        rotate_block(t, block, 0);
    if (t->pool)
        ast_pool_run(t->pool, blocks, rotate_block, t);
    t->collected = 0;
}

static void collect(decomposition *t, size_t row, double c, double s) {
    t->rotations[t->collected++] = (rotation){row, c, s};
    if (t->collected == BATCH)
        apply_rotations(t);
}

/* The end of the block from l on whose elements beside the diagonal are not negligible. */
static size_t block_end(const decomposition *t, size_t l) {
    size_t m = l;
    for (; m + 1 < t->n; m++) {
        double sum = fabs(t->diagonal[m]) + fabs(t->diagonal[m + 1]);
        if (fabs(t->beside[m]) <= 0x1p-52 * sum)
            break;
    }
    return m;
}

/* One implicit QL step of the block l..m: chases the bulge upwards from m. */
static void step(decomposition *t, size_t l, size_t m) {
    double *d = t->diagonal, *e = t->beside;
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1);
    double s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
    for (size_t i = m; i-- > l;) {
        double f = s * e[i], b = c * e[i];
        r = sqrt(f * f + g * g);
        if (i + 1 < m)
            e[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        collect(t, i, c, s);
    }
    d[l] -= p;
    e[l] = g;
    if (m + 1 < t->n)
        e[m] = 0;
}

static void make_diagonal(decomposition *t) {
    for (size_t l = 0; l < t->n && !is_stopped(t); l++)
        for (int steps = 0; steps < MOST_STEPS; steps++) {
            size_t m = block_end(t, l);
            if (m == l)
                break;
            step(t, l, m);
        }
    apply_rotations(t);
}

ast_status ast_symmetric_eigen(ast_pool *pool, size_t n, double *matrix, double *values, ast_fault *fault) {
    decomposition t = {.pool = pool, .n = n, .a = matrix, .diagonal = values};
    ast_status status = AST_OK;
    if (!ast_replace_arrays(AST_REQUEST(t.beside, n), AST_REQUEST(t.factors, n), AST_REQUEST(t.p, n),
                            AST_REQUEST(t.vectors, n * n), AST_REQUEST(t.rotations, BATCH)))
        return ast_fail_memory(fault);
    make_tridiagonal(&t);
    multiply_reflections(&t);
    make_diagonal(&t);
    memcpy(matrix, t.vectors, n * n * sizeof *matrix);
    if (pool && ast_pool_cancelled(pool))
        status = ast_fail_cancelled(fault);
    ast_free_all(t.beside, t.factors, t.p, t.vectors, t.rotations);
    return status;
}
