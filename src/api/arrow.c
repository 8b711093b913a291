/* SPDX-License-Identifier: MIT
 *
 * Points from Arrow arrays. A part is a chunk as the column sees it: where each list begins among its numbers, and
 * whether it is there. */
#include "arrow.h"

#include "context.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const struct ArrowArray *array; /* of lists */
    const uint8_t *valid;           /* bits, or NULL: every list is there */
    const uint8_t *batch_valid;     /* the same of the struct around it, from bit `batch_first` on */
    const uint8_t *numbers_valid;   /* the same of the numbers, from bit `numbers_first` on */
    const char *numbers;            /* number 0, to which the offsets refer */
    size_t first, batch_first, numbers_first, numbers_count;
    size_t before, count; /* rows of the parts before, and of this one */
} part;

struct ast_arrow {
    ast_arrow_column column;
    ast_fault *fault; /* of the context */
    part *parts;
    size_t part_count, count, dimension, missing;
    void *copy;
};

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

static bool bit(const uint8_t *bits, size_t i) {
    return !bits || (bits[i / 8] >> i % 8 & 1);
}

/* Buffers need not be aligned. */
static int64_t list_offset(const ast_arrow *a, const part *p, size_t at) {
    const char *offsets = p->array->buffers[1];
    int64_t wide = 0;
    int32_t narrow = 0;
    if (a->column.list == AST_ARROW_LARGE)
        memcpy(&wide, offsets + at * sizeof wide, sizeof wide);
    else
        memcpy(&narrow, offsets + at * sizeof narrow, sizeof narrow);
    return a->column.list == AST_ARROW_LARGE ? wide : narrow;
}

/* Numbers *first..*end-1 of list i, where 0 <= *first <= end; otherwise false. */
static bool list_range(const ast_arrow *a, const part *p, size_t i, size_t *first, size_t *end) {
    size_t at = p->first + i;
    if (a->column.list == AST_ARROW_FIXED) {
        *first = at * a->column.width;
        *end = *first + a->column.width;
        return *end <= p->numbers_count;
    }
    int64_t from = list_offset(a, p, at), to = list_offset(a, p, at + 1);
    *first = (size_t)from;
    *end = (size_t)to;
    return from >= 0 && from <= to && (uint64_t)to <= p->numbers_count;
}

static const part *part_of(const ast_arrow *a, size_t row) {
    size_t low = 0, high = a->part_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(a->parts[middle].before <= row ? &low : &high) = middle;
    }
    return &a->parts[low];
}

/* The numbers of list i of the part; NULL: the row is missing. Ranges have been checked. */
static const char *list_numbers(const ast_arrow *a, const part *p, size_t i) {
    size_t first = 0, end = 0;
    if (!bit(p->batch_valid, p->batch_first + i) || !bit(p->valid, p->first + i))
        return NULL;
    list_range(a, p, i, &first, &end);
    if (first == end)
        return NULL;
    for (size_t j = first; p->numbers_valid && j < end; j++)
        if (!bit(p->numbers_valid, p->numbers_first + j))
            return NULL;
    return p->numbers + first * a->column.element;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static ast_type type_of_rows(const ast_arrow *a) {
    bool whole = a->column.type == AST_I1 || a->column.type == AST_U1;
    return whole && a->missing ? AST_F4 : a->column.type;
}

static size_t element_of_rows(const ast_arrow *a) {
    return type_of_rows(a) == a->column.type ? a->column.element : sizeof(float);
}

static void write_missing(const ast_arrow *a, void *row) {
    ast_type type = type_of_rows(a);
    for (size_t d = 0; d < a->dimension; d++)
        if (type == AST_F8)
            ((double *)row)[d] = NAN;
        else if (type == AST_F4)
            ((float *)row)[d] = NAN;
        else
            ((uint16_t *)row)[d] = 0x7E00;
}

static void write_row(const ast_arrow *a, const char *numbers, void *row) {
    if (type_of_rows(a) == a->column.type) {
        memcpy(row, numbers, a->dimension * a->column.element);
        return;
    }
    for (size_t d = 0; d < a->dimension; d++)
        ((float *)row)[d] =
            a->column.type == AST_I1 ? (float)((const int8_t *)numbers)[d] : (float)((const uint8_t *)numbers)[d];
}

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const ast_arrow *a = data;
    size_t bytes = a->dimension * element_of_rows(a);
    for (size_t i = 0; i < count; i++) {
        const part *p = part_of(a, first + i);
        const char *numbers = list_numbers(a, p, first + i - p->before);
        void *row = (char *)rows + i * bytes;
        if (numbers)
            write_row(a, numbers, row);
        else
            write_missing(a, row);
    }
    return 0;
}

/* The first row, if every other one lies behind the one before; otherwise NULL. */
static const char *contiguous(const ast_arrow *a) {
    const char *begin = NULL, *next = NULL;
    if (a->missing)
        return NULL;
    for (size_t k = 0; k < a->part_count; k++)
        for (size_t i = 0; i < a->parts[k].count; i++) {
            const char *numbers = list_numbers(a, &a->parts[k], i);
            if (begin && numbers != next)
                return NULL;
            begin = begin ? begin : numbers;
            if ((uintptr_t)begin % a->column.element != 0)
                return NULL;
            next = numbers + a->dimension * a->column.element;
        }
    return begin;
}

/* ---- Checking --------------------------------------------------------------------------------------------------- */

static bool is_sound(const struct ArrowArray *array, int64_t buffers, int64_t children) {
    const int64_t most = INT64_MAX / 16;
    if (!array || array->length < 0 || array->offset < 0 || array->length > most || array->offset > most ||
        array->n_buffers != buffers || array->n_children != children || array->dictionary ||
        (buffers > 0 && !array->buffers) || (children > 0 && !array->children))
        return false;
    for (int64_t i = 0; i < children; i++)
        if (!array->children[i])
            return false;
    return true;
}

/* The bitmap of an array; NULL: everything is there. */
static const uint8_t *bitmap(const struct ArrowArray *array) {
    return array->null_count == 0 ? NULL : array->buffers[0];
}

/* Whether list arrays have the buffers that they need, and as many numbers as lists of fixed size take. */
static bool has_lists(const ast_arrow *a, const struct ArrowArray *lists) {
    if (!is_sound(lists, a->column.list == AST_ARROW_FIXED ? 1 : 2, 1) || !is_sound(lists->children[0], 2, 0))
        return false;
    const struct ArrowArray *numbers = lists->children[0];
    size_t rows = (size_t)(lists->offset + lists->length);
    if (numbers->length > 0 && !numbers->buffers[1])
        return false;
    if (a->column.list != AST_ARROW_FIXED)
        return lists->length == 0 || lists->buffers[1];
    return a->column.width == 0 || rows <= (size_t)numbers->length / a->column.width;
}

static ast_status add_part(ast_arrow *a, const struct ArrowArray *chunk, size_t children) {
    part *p = &a->parts[a->part_count];
    *p = (part){.array = chunk, .before = a->count};
    bool inner = a->column.place != SIZE_MAX;
    bool sound = chunk && chunk->release && (!inner || is_sound(chunk, 1, (int64_t)children));
    if (sound && inner) {
        p->array = chunk->children[a->column.place];
        p->batch_valid = bitmap(chunk);
        p->batch_first = p->first = (size_t)chunk->offset;
    }
    if (sound && inner)
        sound = p->array->length >= 0 && chunk->offset + chunk->length <= p->array->length;
    if (!sound || !has_lists(a, p->array))
        return ast_fail(a->fault, AST_BAD_DATA,
                        "chunk %zu (counting from 1) is released, or is not what the schema says", a->part_count + 1);
    const struct ArrowArray *numbers = p->array->children[0];
    p->count = (size_t)chunk->length;
    p->first += (size_t)p->array->offset;
    p->valid = bitmap(p->array);
    p->numbers_valid = bitmap(numbers);
    p->numbers_first = (size_t)numbers->offset;
    p->numbers_count = (size_t)numbers->length;
    p->numbers = numbers->buffers[1];
    if (p->numbers)
        p->numbers += p->numbers_first * a->column.element;
    a->count += p->count;
    a->part_count++;
    return a->count <= INT32_MAX ? AST_OK : ast_fail(a->fault, AST_BAD_DATA, "there are more than 2147483647 rows");
}

/* The length of the lists that are there is the dimension; counts those that are not. */
static ast_status check_lists(ast_arrow *a, const part *p) {
    for (size_t i = 0; i < p->count; i++) {
        size_t first = 0, end = 0, row = p->before + i + 1;
        bool there = bit(p->batch_valid, p->batch_first + i) && bit(p->valid, p->first + i);
        if (there && !list_range(a, p, i, &first, &end))
            return ast_fail_row(a->fault, AST_BAD_DATA, row, "lies outside of the numbers of its array");
        if (there && end > first && a->dimension && end - first != a->dimension)
            return ast_fail_row(a->fault, AST_BAD_DATA, row,
                                "has %zu numbers, but the first has %zu; all rows need the same number", end - first,
                                a->dimension);
        a->dimension = there && end > first ? end - first : a->dimension;
        a->missing += !there || !list_numbers(a, p, i);
    }
    return AST_OK;
}

static ast_status read_chunks(ast_arrow *a, const struct ArrowSchema *schema, const struct ArrowArray *const *chunks,
                              size_t chunk_count) {
    ast_status status = AST_OK;
    a->parts = ast_allocate_zero(chunk_count, sizeof *a->parts);
    if (!a->parts)
        return ast_fail_memory(a->fault);
    for (size_t k = 0; k < chunk_count && status == AST_OK; k++)
        status = add_part(a, chunks[k], (size_t)schema->n_children);
    for (size_t k = 0; k < chunk_count && status == AST_OK; k++)
        status = check_lists(a, &a->parts[k]);
    if (status == AST_OK && (a->dimension < 2 || a->dimension > 4096))
        status = ast_fail(a->fault, AST_BAD_DATA,
                          a->dimension ? "rows have %zu numbers; directions have 2 to 4096"
                                       : "there are no rows, or all are null or empty (%zu numbers)",
                          a->dimension);
    return status;
}

/* ---- The interface ---------------------------------------------------------------------------------------------- */

static ast_status set_points(ast_arrow *a, ast_points *points) {
    const char *data = contiguous(a);
    size_t element = element_of_rows(a);
    if (!data) {
        data = a->copy = ast_allocate(a->count * a->dimension, element);
        if (!a->copy)
            return ast_fail_memory(a->fault);
        read_rows(0, a->count, a->copy, a);
    }
    *points = ast_points_dense(data, type_of_rows(a), element, a->count, a->dimension);
    return AST_OK;
}

static void set_source(ast_arrow *a, ast_source *source) {
    *source = (ast_source){.size = sizeof *source,
                           .count = a->count,
                           .dimension = a->dimension,
                           .type = type_of_rows(a),
                           .read = read_rows,
                           .data = a};
}

ast_status ast_points_arrow(ast_arrow **rows, ast_context *context, const struct ArrowSchema *schema,
                            const struct ArrowArray *const *chunks, size_t chunk_count, const char *column,
                            ast_points *points, ast_source *source) {
    const char *problem = !rows                    ? "rows: the pointer is NULL"
                          : chunk_count && !chunks ? "chunks: the pointer is NULL"
                                                   : NULL;
    ast_status status = ast_open_handle(rows, sizeof **rows, context, problem);
    if (status != AST_OK)
        return status;
    ast_arrow *a = *rows;
    a->fault = &context->fault;
    status = ast_arrow_find_column(schema, column, &a->column, a->fault);
    if (status == AST_OK)
        status = read_chunks(a, schema, chunks, chunk_count);
    if (status == AST_OK && points)
        status = set_points(a, points);
    if (status == AST_OK && source)
        set_source(a, source);
    if (status != AST_OK) {
        ast_arrow_close(a);
        *rows = NULL;
    }
    return status;
}

int ast_arrow_copied(const ast_arrow *a) {
    return a && a->copy;
}

void ast_arrow_close(ast_arrow *a) {
    if (a)
        ast_free_all(a->parts, a->copy, a);
}
