/* SPDX-License-Identifier: MIT
 *
 * asterism-dedup [ROWS [DIMENSION [COSINE [THREADS]]]]: ast_dedup on four kinds of rows, against the blocked float
 * product of all pairs with the library's own kernel, on as many threads. The product is timed on a part of the rows
 * and scaled by the number of pairs. Times are processor seconds of all threads. One row in twenty is a near-duplicate.
 */
#include <asterism.h>

#include "kernels.h"
#include "pool.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PART = 20000, TILE = 96, PANELS = 4 };

typedef struct rows_kind {
    const char *name;
    double exponent; /* of the spectrum: standard deviations i^-exponent */
    double noise;    /* around the centres, relative to them; infinite: no centres */
    size_t per_topic;
} rows_kind;

static const rows_kind kinds[] = {{"topics, power-law spectrum", 0.6, 0.8, 400},
                                  {"no topics, power-law spectrum", 0.6, INFINITY, 0},
                                  {"topics in all directions alike", 0, 0.8, 400},
                                  {"no topics, uniform", 0, INFINITY, 0}};

static void draw(float *row, const float *centre, double noise, const rows_kind *kind, size_t dimension,
                 ast_random *random) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++) {
        double g = pow((double)(d + 1), -kind->exponent) * ast_random_normal(random);
        row[d] = (float)(centre ? (double)centre[d] + noise * g : g);
        square += (double)row[d] * (double)row[d];
    }
    for (size_t d = 0; d < dimension; d++)
        row[d] = (float)((double)row[d] / sqrt(square));
}

static void fill(float *rows, size_t count, size_t dimension, const rows_kind *kind) {
    size_t topics = kind->per_topic ? count / kind->per_topic + 1 : 0;
    float *centres = malloc((topics + 1) * dimension * sizeof *centres);
    ast_random random;
    ast_random_seed(&random, 7, 0);
    for (size_t k = 0; k < topics; k++) {
        draw(centres + k * dimension, NULL, 0, kind, dimension, &random);
        double scale = 0;
        for (size_t d = 0; d < dimension; d++)
            scale += pow((double)(d + 1), -2 * kind->exponent);
        for (size_t d = 0; d < dimension; d++) /* as long as the noise would be at noise 1 */
            centres[k * dimension + d] *= (float)sqrt(scale);
    }
    for (size_t i = 0; i < count; i++) {
        const float *centre = topics ? centres + ast_random_below(&random, topics) * dimension : NULL;
        if (i > 0 && i % 20 == 0) {
            const float *near = rows + ast_random_below(&random, i) * dimension;
            rows_kind flat = {.exponent = 0};
            draw(rows + i * dimension, near, 0.3 / sqrt((double)dimension), &flat, dimension, &random);
        } else {
            draw(rows + i * dimension, centre, kind->noise, kind, dimension, &random);
        }
    }
    free(centres);
}

/* ---- All pairs --------------------------------------------------------------------------------------------------- */

/* Of all threads: other programs on the machine do not count. */
static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct product {
    const ast_kernels *kernels;
    const float *rows, *panels;
    size_t count, dimension;
    double limit;
    _Atomic uint64_t pairs;
} product;

/* A tile of rows with all panels from the tile's own on, a few panels at a time so that they stay in the cache. */
static void multiply_tile(void *data, size_t tile, int worker) {
    product *p = data;
    size_t first = tile * TILE, last = first + TILE < p->count ? first + TILE : p->count;
    uint64_t pairs = 0;
    (void)worker;
    for (size_t panel = first / AST_PANEL; panel * AST_PANEL < p->count; panel++)
        for (size_t i = first; i < last; i += AST_PRODUCT_ROWS) {
            const float *six[AST_PRODUCT_ROWS];
            float out[AST_PRODUCT_ROWS * AST_PANEL];
            size_t n = last - i < AST_PRODUCT_ROWS ? last - i : AST_PRODUCT_ROWS;
            for (size_t r = 0; r < AST_PRODUCT_ROWS; r++)
                six[r] = p->rows + (i + (r < n ? r : n - 1)) * p->dimension;
            p->kernels->panel_products(six, n, p->panels + panel * AST_PANEL * p->dimension, p->dimension, out);
            for (size_t r = 0; r < n; r++)
                for (size_t j = 0; j < AST_PANEL; j++)
                    pairs += (double)out[r * AST_PANEL + j] >= p->limit && panel * AST_PANEL + j > i + r;
        }
    p->pairs += pairs;
}

static double time_products(const float *rows, size_t count, size_t dimension, double cosine, int threads,
                            uint64_t *pairs) {
    ast_pool *pool;
    size_t panels = (count + AST_PANEL - 1) / AST_PANEL;
    float *packed = calloc(panels * dimension * AST_PANEL, sizeof *packed);
    if (!packed || ast_pool_open(&pool, threads) != AST_OK)
        exit(1);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dimension; d++)
            packed[(i / AST_PANEL * dimension + d) * AST_PANEL + i % AST_PANEL] = rows[i * dimension + d];
    product p = {ast_kernels_choose(NULL), rows, packed, count, dimension, cosine, 0};
    double start = processor_seconds();
    ast_pool_run(pool, (count + TILE - 1) / TILE, multiply_tile, &p);
    double seconds = processor_seconds() - start;
    *pairs = p.pairs;
    ast_pool_close(pool);
    free(packed);
    return seconds;
}

static ast_dedup_report run(ast_context *context, const float *rows, size_t count, size_t dimension, double cosine) {
    ast_dedup_options options;
    ast_dedup_options_init(&options);
    options.cosine = cosine;
    ast_points points = ast_points_f4(rows, count, dimension);
    ast_dedup_report report = {.size = sizeof report};
    int32_t *groups = malloc(count * sizeof *groups);
    if (!groups || ast_dedup(context, &points, &options, groups, NULL, &report) != AST_OK) {
        fprintf(stderr, "asterism-dedup: %s\n", ast_message(context));
        exit(1);
    }
    free(groups);
    return report;
}

int main(int argc, char **argv) {
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000,
           dimension = argc > 2 ? strtoul(argv[2], NULL, 10) : 256;
    double cosine = argc > 3 ? strtod(argv[3], NULL) : 0.9;
    int threads = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 2;
    size_t part = count < PART ? count : PART;
    float *rows = malloc(count * dimension * sizeof *rows);
    ast_context *context;
    if (!rows || ast_open(&context, threads) != AST_OK)
        return 1;
    printf("%zu x %zu, cosine %g, %d threads\n", count, dimension, cosine, threads);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t pairs;
        fill(rows, count, dimension, &kinds[k]);
        double all = time_products(rows, part, dimension, cosine, threads, &pairs);
        ast_dedup_report check = run(context, rows, part, dimension, cosine);
        all *= (double)count / (double)part * ((double)count / (double)part);
        double start = processor_seconds();
        ast_dedup_report found = run(context, rows, count, dimension, cosine);
        double own = processor_seconds() - start;
        printf("%-32s all pairs %8.2f s  dedup %7.2f s  ratio %6.1f  pairs %llu  (part: %llu, by products %llu)\n",
               kinds[k].name, all, own, all / own, (unsigned long long)found.pairs, (unsigned long long)check.pairs,
               (unsigned long long)pairs);
        fflush(stdout);
    }
    ast_close(context);
    free(rows);
    return 0;
}
