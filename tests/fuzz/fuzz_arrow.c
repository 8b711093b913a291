/* SPDX-License-Identifier: MIT
 *
 * Arrow schemas and arrays of any kind. Counts are within the buffers, because no call can see that a buffer is shorter
 * than its array says; offsets of lists are anything. What is taken is read in both ways, which agree. */
#include "fuzz.h"

#include <asterism_arrow.h>

enum { LISTS = 24, NUMBERS = 96, CHUNKS = 3, COLUMNS = 3 };

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static unsigned pick(bytes *b, unsigned below) {
    return b->at < b->end ? *b->at++ % below : 0;
}

/* Within 0..most, or rarely nonsense that is less. */
static int64_t some_count(bytes *b, int64_t most) {
    static const int64_t wild[] = {-1, INT64_MIN, -65};
    unsigned byte = pick(b, 64);
    most = most > 0 ? most : 0;
    return byte < 60 ? most - (int64_t)byte % (most + 1) : byte < 63 ? wild[byte - 60] : 0;
}

/* ---- Schemas ---------------------------------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    array->release = NULL;
}

typedef struct table {
    struct ArrowSchema root, columns[COLUMNS], numbers[COLUMNS];
    struct ArrowSchema *column_pointers[COLUMNS], *number_pointers[COLUMNS];
    char names[COLUMNS][2];
} table;

static void make_schema(table *t, bytes *b) {
    static const char *const lists[] = {"+l", "+L", "+w:3", "+w:0", "+w:99999999999", "+w:", "+vl", "l", "u", "+s", ""};
    static const char *const kinds[] = {"f", "f", "e", "g", "c", "C", "l", "u", "+l", ""};
    for (size_t c = 0; c < COLUMNS; c++) {
        t->names[c][0] = (char)('a' + pick(b, 3));
        t->number_pointers[c] = pick(b, 60) == 59 ? NULL : &t->numbers[c];
        t->column_pointers[c] = &t->columns[c];
        t->numbers[c] = (struct ArrowSchema){.format = kinds[pick(b, 10)], .release = release_schema};
        t->columns[c] = (struct ArrowSchema){.format = lists[pick(b, 11)],
                                             .name = pick(b, 30) ? t->names[c] : NULL,
                                             .n_children = pick(b, 40) ? 1 : some_count(b, 1),
                                             .children = &t->number_pointers[c],
                                             .release = release_schema};
    }
    t->root = pick(b, 3) ? t->columns[0] : (struct ArrowSchema){.format = "+s", .release = release_schema};
    if (strcmp(t->root.format, "+s") == 0) {
        t->root.children = t->column_pointers;
        t->root.n_children = pick(b, 20) ? COLUMNS : some_count(b, COLUMNS);
    }
}

/* ---- Arrays ----------------------------------------------------------------------------------------------------- */

typedef struct chunk {
    struct ArrowArray root, lists[COLUMNS], numbers[COLUMNS];
    struct ArrowArray *list_pointers[COLUMNS], *number_pointers[COLUMNS];
    const void *root_buffers[1], *list_buffers[COLUMNS][2], *number_buffers[COLUMNS][2];
    uint8_t bits[COLUMNS + 1][NUMBERS / 8 + 1], values[COLUMNS][NUMBERS * 8 + 8];
    int64_t offsets[COLUMNS][LISTS + 2];
} chunk;

static struct ArrowArray make_array(bytes *b, int64_t most, const void **buffers, int64_t buffer_count,
                                    struct ArrowArray **children, int64_t child_count) {
    int64_t offset = pick(b, 4) ? 0 : some_count(b, most);
    return (struct ArrowArray){.length = some_count(b, offset > 0 ? most - offset : most),
                               .null_count = pick(b, 2) ? 0 : -1,
                               .offset = offset,
                               .n_buffers = pick(b, 60) ? buffer_count : some_count(b, 1),
                               .n_children = pick(b, 60) ? child_count : some_count(b, child_count),
                               .buffers = buffers,
                               .children = children,
                               .release = pick(b, 60) ? release_array : NULL};
}

static void make_offsets(chunk *k, size_t c, bytes *b, bool large) {
    int64_t at = 0;
    for (size_t i = 0; i < LISTS + 2; i++) {
        int64_t value = pick(b, 50) ? at : some_count(b, NUMBERS * 3);
        if (large)
            k->offsets[c][i] = value;
        else
            ((int32_t *)k->offsets[c])[i] = (int32_t)value;
        at += pick(b, 20) ? 3 : 0;
    }
}

static void make_column(chunk *k, size_t c, const table *t, bytes *b) {
    bool fixed = t->columns[c].format[0] == '+' && t->columns[c].format[1] == 'w';
    for (size_t i = 0; i < sizeof k->bits[c]; i++)
        k->bits[c][i] = pick(b, 8) ? 0xFF : (uint8_t)pick(b, 256);
    for (size_t i = 0; i < NUMBERS * 8; i += 1 + pick(b, 40))
        k->values[c][i] = (uint8_t)pick(b, 256);
    make_offsets(k, c, b, strcmp(t->columns[c].format, "+L") == 0);
    k->list_buffers[c][0] = pick(b, 2) ? k->bits[c] : NULL;
    k->list_buffers[c][1] = pick(b, 60) ? k->offsets[c] : NULL;
    k->number_buffers[c][0] = pick(b, 3) ? NULL : k->bits[c];
    k->number_buffers[c][1] = pick(b, 60) ? k->values[c] + (pick(b, 9) == 8) : NULL;
    k->number_pointers[c] = pick(b, 60) ? &k->numbers[c] : NULL;
    k->list_pointers[c] = pick(b, 60) ? &k->lists[c] : NULL;
    k->numbers[c] = make_array(b, NUMBERS, k->number_buffers[c], 2, NULL, 0);
    k->lists[c] = make_array(b, LISTS, k->list_buffers[c], fixed ? 1 : 2, &k->number_pointers[c], 1);
}

static void make_chunk(chunk *k, const table *t, bytes *b) {
    memset(k, 0, sizeof *k);
    for (size_t c = 0; c < COLUMNS; c++)
        make_column(k, c, t, b);
    memset(k->bits[COLUMNS], 0xFD, sizeof k->bits[COLUMNS]);
    k->root_buffers[0] = pick(b, 2) ? k->bits[COLUMNS] : NULL;
    k->root = strcmp(t->root.format, "+s") != 0
                  ? k->lists[0]
                  : make_array(b, LISTS, k->root_buffers, 1, k->list_pointers, t->root.n_children);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static void compare(const ast_points *points, const ast_source *source) {
    static const size_t elements[] = {4, 8, 2, 1, 1};
    require(points->count == source->count && points->dimension == source->dimension && points->type == source->type);
    require(points->count <= CHUNKS * LISTS && points->dimension <= NUMBERS && points->type <= AST_U1);
    size_t size = points->count * points->dimension * elements[points->type];
    void *rows = malloc(size + 1);
    require(rows && source->read(0, source->count, rows, source->data) == 0);
    require(size == 0 || memcmp(rows, points->data, size) == 0);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ast_context *context;
    static table t;
    static chunk chunks[CHUNKS];
    bytes b = {data, data + size};
    const struct ArrowArray *pointers[CHUNKS];
    ast_arrow *rows;
    ast_points points;
    ast_source source;
    require(context || ast_open(&context, 1) == AST_OK);
    make_schema(&t, &b);
    for (size_t k = 0; k < CHUNKS; k++) {
        make_chunk(&chunks[k], &t, &b);
        pointers[k] = &chunks[k].root;
    }
    const char *column = pick(&b, 2) ? NULL : "a";
    ast_status status =
        ast_points_arrow(&rows, context, &t.root, pointers, 1 + pick(&b, CHUNKS), column, &points, &source);
    require((status == AST_OK) == (rows != NULL));
    require(status == AST_OK || (*ast_message(context) && !strchr(ast_message(context), '\n')));
    if (rows)
        compare(&points, &source);
    ast_arrow_close(rows);
    return 0;
}
