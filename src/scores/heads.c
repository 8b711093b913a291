/* SPDX-License-Identifier: MIT
 *
 * Heads and tails of points and means.
 *
 * Let V be the axes as they are in memory, with |V'V - 1| <= skew, Q an orthonormal basis of the same space and
 * h = V'x the exact head. Then |Q'x|^2 >= |h|^2 / (1 + skew), and two heads' product differs from that along Q by at
 * most skew. A head is computed in float, in sums of BLOCK products, which bounds its error (ast_head_error). Rows and
 * means are unit vectors up to AST_UNIT_TOLERANCE. */
#include "heads.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIX AST_PRODUCT_ROWS
#define SOME 24  /* rows that fit into the cache, a multiple of SIX */
#define BLOCK 32 /* products per partial sum */

/* Products of up to SIX rows with the columns of a panel: to (SIX, width). */
static void project_six(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                        size_t panel, size_t width, float *to) {
    const float *columns = axes->panels + panel * axes->dimension * AST_PANEL, *six[SIX];
    float out[SIX * AST_PANEL], sums[SIX * AST_PANEL] = {0};
    for (size_t d = 0; d < axes->dimension; d += BLOCK) {
        size_t some = axes->dimension - d < BLOCK ? axes->dimension - d : BLOCK;
        for (size_t r = 0; r < SIX; r++)
            six[r] = rows[r < n ? r : n - 1] + d;
        kernels->panel_products(six, n, columns + d * AST_PANEL, some, out);
        for (size_t j = 0; j < n * AST_PANEL; j++)
            sums[j] += out[j];
    }
    for (size_t r = 0; r < n; r++)
        memcpy(to + r * width + panel * AST_PANEL, sums + r * AST_PANEL, AST_PANEL * sizeof *to);
}

/* SOME rows at a time, which stay in the cache while they are multiplied with all axes. */
void ast_heads_project(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                       size_t width, float *to) {
    assert(width % AST_PANEL == 0 && width <= axes->count);
    for (size_t first = 0; first < n; first += SOME)
        for (size_t p = 0; p < width / AST_PANEL; p++)
            for (size_t i = first; i < first + SOME && i < n; i += SIX)
                project_six(axes, kernels, rows + i, n - i < SIX ? n - i : SIX, p, width, to + i * width);
}

double ast_head_error(const ast_basis *axes, size_t width) {
    size_t block_count = axes->dimension / BLOCK + 1;
    double blocks = (double)block_count;
    return sqrt((double)width * (1 + axes->skew)) * ((double)ast_score_error(BLOCK) + (blocks + 1) * 0x1p-24);
}

float ast_tail_length(const ast_basis *axes, const float *head, size_t width) {
    assert(width % 4 == 0);
    double part[4] = {0};
    for (size_t j = 0; j < width; j += 4)
        for (size_t lane = 0; lane < 4; lane++)
            part[lane] += (double)head[j + lane] * (double)head[j + lane];
    double length = sqrt(part[0] + part[1] + part[2] + part[3]) * (1 - 0x1p-40);
    double inside = axes ? fmax(0, length - ast_head_error(axes, width)) : length;
    double outside = 1 + 2 * AST_UNIT_TOLERANCE - inside * inside / (1 + (axes ? axes->skew : 0));
    return outside > 0 ? (float)(sqrt(outside) * (1 + 0x1p-22)) : 0;
}

/* ---- Means ------------------------------------------------------------------------------------------------------- */

static void free_arrays(struct ast_mean_heads *h) {
    ast_packed_means *p = &h->packed;
    ast_free_all(p->bias, p->floats, p->errors, p->tails, p->bytes, p->shift, h->last_tails, h->rows, h->means);
}

void ast_mean_heads_free(struct ast_mean_heads *h) {
    if (!h)
        return;
    free_arrays(h);
    ast_free(h);
}

/* Memory for the means of a table; keeps the present ones. */
static bool reserve(struct ast_mean_heads *h, const ast_heads *heads, size_t dimension, size_t needed) {
    const ast_stages *s = &heads->stages;
    ast_packed_means *p = &h->packed;
    size_t old = h->capacity, room = needed < 2 * old ? 2 * old : (needed + AST_PANEL) / AST_PANEL * AST_PANEL;
    if (needed <= old)
        return true;
    const struct {
        void *array;
        size_t width; /* numbers of 4 bytes per mean */
    } arrays[] = {{&p->bias, 1},
                  {&p->floats, s->plain},
                  {&p->errors, 1},
                  {&p->tails, 1},
                  {&h->last_tails, 1},
                  {&p->shift, 1},
                  {&p->bytes, ast_byte_count(s) / 4},
                  {&h->rows, s->second},
                  {&h->means, dimension}};
    bool ready = true;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && ready; i++)
        ready = ast_grow_array(arrays[i].array, old, room, arrays[i].width * sizeof(float));
    h->capacity = ready ? room : old;
    return ready;
}

/* Makes column k of the first stage unused: its upper bound is below every score. */
static void clear_column(struct ast_mean_heads *h, size_t k) {
    size_t panel = k / AST_PANEL, column = k % AST_PANEL, plain = h->packed.plain, quads = h->packed.quads;
    h->packed.bias[k] = AST_NO_SCORE;
    h->packed.errors[k] = h->packed.tails[k] = h->last_tails[k] = 0;
    h->packed.shift[k] = 0;
    for (size_t d = 0; d < plain; d++)
        h->packed.floats[(panel * plain + d) * AST_PANEL + column] = 0;
    for (size_t q = 0; q < quads; q++)
        memset(h->packed.bytes + ((panel * quads + q) * AST_PANEL + column) * 4, 0, 4);
}

/* Fills column k of the first stage. Returns an upper bound of the length of the byte coordinates. */
static float pack_mean(struct ast_mean_heads *h, const ast_heads *heads, const ast_kernels *kernels, size_t k,
                       const float *head) {
    const ast_stages *s = &heads->stages;
    const ast_basis *axes = s->raw ? NULL : &heads->axes;
    size_t panel = k / AST_PANEL, column = k % AST_PANEL, count = ast_byte_count(s);
    uint8_t bytes[AST_MOST_BYTES] = {0};
    ast_bytes_made made = kernels->heads.to_bytes(head + s->plain, s->first - s->plain, s->unit, 0, bytes);
    ast_packed_means *p = &h->packed;
    p->bias[k] = 0;
    p->errors[k] = count ? made.error : 0;
    p->shift[k] = -AST_BYTE * made.sum;
    p->tails[k] = ast_tail_length(axes, head, s->first);
    h->last_tails[k] = ast_tail_length(axes, head, s->raw ? s->first : s->second);
    for (size_t d = 0; d < s->plain; d++)
        p->floats[(panel * s->plain + d) * AST_PANEL + column] = head[d];
    for (size_t q = 0; q < count / 4; q++)
        memcpy(p->bytes + ((panel * (count / 4) + q) * AST_PANEL + column) * 4, bytes + 4 * q, 4);
    return made.length + made.error;
}

/* Means whose heads are computed together by tasks. */
typedef struct sync {
    struct ast_mean_heads *h;
    const ast_heads *heads;
    const ast_kernels *kernels;
    const ast_mean_table *table;
    size_t first;   /* first mean without a head */
    float *longest; /* (blocks) */
} sync;

static void take_block(void *data, size_t block) {
    const sync *y = data;
    struct ast_mean_heads *h = y->h;
    const ast_stages *s = &y->heads->stages;
    size_t dimension = y->table->dimension, first = y->first + block * SOME, last = first + SOME;
    const float *rows[SOME];
    last = last < y->table->count ? last : y->table->count;
    for (size_t k = first; k < last; k++) {
        rows[k - first] = h->means + k * dimension;
        ast_mean_table_read(y->table, k, h->means + k * dimension);
    }
    if (!s->raw)
        ast_heads_project(&y->heads->axes, y->kernels, rows, last - first, s->second, h->rows + first * s->second);
    y->longest[block] = 0;
    for (size_t k = first; k < last; k++) {
        const float *head = s->raw ? rows[k - first] : h->rows + k * s->second;
        float length = pack_mean(h, y->heads, y->kernels, k, head);
        y->longest[block] = length > y->longest[block] ? length : y->longest[block];
        if (y->table->ids[k] == AST_NOBODY)
            clear_column(h, k);
    }
}

/* Computes the heads of the means from y->first on. */
static void take_means(sync *y, ast_pool *pool) {
    struct ast_mean_heads *h = y->h;
    size_t blocks = (y->table->count - y->first + SOME - 1) / SOME;
    if (pool && blocks > 1)
        ast_pool_each(pool, blocks, 1, take_block, y);
    for (size_t b = 0; (!pool || blocks == 1) && b < blocks; b++)
        take_block(y, b);
    for (size_t b = 0; b < blocks; b++)
        h->longest_bytes = y->longest[b] > h->longest_bytes ? y->longest[b] : h->longest_bytes;
    for (size_t k = y->table->count; k % AST_PANEL; k++)
        clear_column(h, k);
}

/* Drops all heads if the stages have changed. */
static void reset_if_outdated(struct ast_mean_heads *h, const ast_heads *heads, bool axial) {
    const ast_stages *s = &heads->stages;
    if (h->layout != heads->layout) {
        free_arrays(h);
        *h = (struct ast_mean_heads){.layout = heads->layout};
    }
    if (h->packed.count == 0)
        h->longest_bytes = 0;
    h->packed.plain = s->plain;
    h->packed.quads = ast_byte_count(s) / 4;
    h->packed.axial = axial;
}

bool ast_mean_heads_sync(const ast_heads *heads, const ast_kernels *kernels, ast_mean_table *table, ast_pool *pool) {
    if (!table->heads)
        table->heads = ast_allocate_zero(1, sizeof *table->heads);
    struct ast_mean_heads *h = table->heads;
    if (!h)
        return false;
    if (h->layout == heads->layout && h->packed.count == table->count)
        return true; /* threads that share the table may call this at the same time */
    reset_if_outdated(h, heads, table->axial);
    sync y = {h, heads, kernels, table, h->packed.count, NULL};
    y.longest = ast_allocate((table->count - y.first) / SOME + 1, sizeof *y.longest);
    bool ready = y.longest && reserve(h, heads, table->dimension, table->count);
    if (ready)
        take_means(&y, pool);
    ast_free(y.longest);
    h->packed.count = ready ? table->count : 0;
    return ready;
}

void ast_mean_heads_invalidate_from(struct ast_mean_heads *h, size_t k) {
    if (k < h->packed.count)
        h->packed.count = k / AST_PANEL * AST_PANEL; /* panels are filled from their first column */
}

void ast_mean_heads_clear_entry(struct ast_mean_heads *h, size_t k) {
    if (k < h->packed.count)
        clear_column(h, k);
}

void ast_heads_free(ast_heads *h) {
    ast_basis_free(&h->axes);
    ast_free_all(h->kept.rows, h->kept.versions);
    *h = (ast_heads){0};
}
