/* SPDX-License-Identifier: MIT
 *
 * The footer of a Parquet file, which stands at its end: the tree of columns, and for each group of rows where the
 * pages of each column are. Everything in it is checked against the size of the file before it is used. */
#include "parquet.h"

#include "platform.h"
#include "thrift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL 8 /* bytes of the footer's size and the mark behind it */
#define DEPTH_MOST 16

/* A node of the tree of columns, as the file lists them. */
typedef struct node {
    int type, width, repetition, converted;
    int64_t children;
    int bits; /* of a whole number; 0: not said */
    bool is_half, is_signed;
    const unsigned char *name;
    size_t name_size;
} node;

/* The tree, walked depth first. */
typedef struct walk {
    ast_parquet_footer *footer;
    ast_thrift *thrift;
    size_t left; /* nodes */
    bool no_memory;
} walk;

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* The logical type is a struct with one field, whose id says which it is. */
static void read_logical(ast_thrift *thrift, node *n) {
    ast_thrift_field which = {0}, field;
    while (ast_thrift_next(thrift, &which)) {
        n->is_half |= which.id == 15;
        if (which.id != 10 || which.type != AST_THRIFT_STRUCT) {
            ast_thrift_skip(thrift, which.type);
            continue;
        }
        for (field = (ast_thrift_field){0}; ast_thrift_next(thrift, &field);) {
            if (field.id == 1)
                n->bits = (int)ast_thrift_integer(thrift, field.type);
            else if (field.id == 2)
                n->is_signed = field.type == AST_THRIFT_TRUE;
            else
                ast_thrift_skip(thrift, field.type);
        }
    }
}

static void read_node(ast_thrift *thrift, node *n) {
    *n = (node){.type = -1, .converted = -1, .is_signed = true};
    ast_thrift_field field = {0};
    while (ast_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 1:
            n->type = (int)ast_thrift_integer(thrift, field.type);
            break;
        case 2:
            n->width = (int)ast_thrift_integer(thrift, field.type);
            break;
        case 3:
            n->repetition = (int)ast_thrift_integer(thrift, field.type);
            break;
        case 4:
            n->name = ast_thrift_binary(thrift, field.type, &n->name_size);
            break;
        case 5:
            n->children = ast_thrift_integer(thrift, field.type);
            break;
        case 6:
            n->converted = (int)ast_thrift_integer(thrift, field.type);
            break;
        case 10:
            if (field.type == AST_THRIFT_STRUCT) {
                read_logical(thrift, n);
                break;
            } /* fall through */
        default:
            ast_thrift_skip(thrift, field.type);
        }
    }
    if (n->converted >= 11 && n->converted <= 18) { /* the older way to say so */
        n->bits = 8 << (n->converted - 11) % 4;
        n->is_signed = n->converted >= 15;
    }
}

static int points_of(const node *n) {
    if (n->type == AST_PARQUET_F4 || n->type == AST_PARQUET_F8)
        return n->type == AST_PARQUET_F4 ? AST_F4 : AST_F8;
    if (n->type == AST_PARQUET_FIXED && n->width == 2 && n->is_half)
        return AST_F2;
    if (n->type == AST_PARQUET_I32 && n->bits == 8)
        return n->is_signed ? AST_I1 : AST_U1;
    return -1;
}

static size_t width_of(const node *n) {
    switch (n->type) {
    case AST_PARQUET_I32:
    case AST_PARQUET_F4:
        return 4;
    case AST_PARQUET_I64:
    case AST_PARQUET_F8:
        return 8;
    case AST_PARQUET_FIXED:
        return n->width > 0 ? (size_t)n->width : 0;
    default:
        return 0;
    }
}

/* `above` describes the way to it. */
static void add_column(walk *w, const node *n, const ast_parquet_column *above, const node *outermost) {
    ast_parquet_footer *footer = w->footer;
    w->no_memory |=
        !ast_array_grow(&footer->columns, &footer->column_capacity, footer->column_count + 1, sizeof *footer->columns);
    char *name = w->no_memory ? NULL : strndup((const char *)outermost->name, outermost->name_size);
    w->no_memory |= !name;
    if (w->no_memory)
        return;
    ast_parquet_column *column = &footer->columns[footer->column_count++];
    *column = *above;
    column->name = name;
    column->type = n->type;
    column->width = width_of(n);
    column->points = column->most_repetition == 1 ? points_of(n) : -1;
    column->is_id = column->most_repetition == 0 && column->levels_deep == 1 &&
                    (n->type == AST_PARQUET_I32 || n->type == AST_PARQUET_I64 || n->type == AST_PARQUET_BYTES);
    column->is_signed = n->is_signed;
}

static void walk_node(walk *w, ast_parquet_column above, const node *outermost, int depth) {
    node n;
    w->thrift->bad |= w->left == 0 || depth > DEPTH_MOST;
    if (w->thrift->bad || w->no_memory)
        return;
    w->left--;
    read_node(w->thrift, &n);
    w->thrift->bad |= !n.name || n.repetition < 0 || n.repetition > 2 || n.children < 0;
    if (w->thrift->bad)
        return;
    above.levels_deep++;
    above.most_definition += n.repetition != 0;
    above.most_repetition += n.repetition == 2;
    if (n.repetition == 2)
        above.repeated_definition = above.most_definition;
    if (!outermost)
        outermost = &n;
    if (n.children == 0)
        add_column(w, &n, &above, outermost);
    for (int64_t i = 0; i < n.children && !w->thrift->bad && !w->no_memory; i++)
        walk_node(w, above, outermost, depth + 1);
}

/* The first node is the root, which is no column. */
static bool read_columns(ast_parquet_footer *footer, ast_thrift *thrift, int type) {
    int element;
    walk w = {footer, thrift, ast_thrift_list(thrift, type, &element), false};
    node root;
    thrift->bad |= w.left == 0 || element != AST_THRIFT_STRUCT;
    if (thrift->bad)
        return true;
    w.left--;
    read_node(thrift, &root);
    for (int64_t i = 0; i < root.children && !thrift->bad && !w.no_memory; i++)
        walk_node(&w, (ast_parquet_column){.points = -1}, NULL, 0);
    thrift->bad |= w.left > 0;
    return !w.no_memory;
}

/* ---- Groups of rows ---------------------------------------------------------------------------------------------- */

static uint64_t positive(ast_thrift *thrift, int type) {
    int64_t number = ast_thrift_integer(thrift, type);
    thrift->bad |= number < 0;
    return number < 0 ? 0 : (uint64_t)number;
}

static void read_encodings(ast_thrift *thrift, int type, ast_parquet_chunk *chunk) {
    int element;
    size_t count = ast_thrift_list(thrift, type, &element);
    for (size_t i = 0; i < count && !thrift->bad; i++) {
        int64_t encoding = ast_thrift_integer(thrift, element);
        chunk->encodings |= 1u << (encoding >= 0 && encoding < 31 ? encoding : 31);
    }
}

static void read_chunk_data(ast_thrift *thrift, ast_parquet_chunk *chunk) {
    ast_thrift_field field = {0};
    uint64_t dictionary = 0, size = 0;
    while (ast_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 2:
            read_encodings(thrift, field.type, chunk);
            break;
        case 4:
            chunk->codec = (int)ast_thrift_integer(thrift, field.type);
            break;
        case 5:
            chunk->values = positive(thrift, field.type);
            break;
        case 7:
            size = positive(thrift, field.type);
            break;
        case 9:
            chunk->begin = positive(thrift, field.type);
            break;
        case 11:
            dictionary = positive(thrift, field.type);
            break;
        default:
            ast_thrift_skip(thrift, field.type);
        }
    }
    if (dictionary > 0 && dictionary < chunk->begin)
        chunk->begin = dictionary;
    chunk->end = chunk->begin + size;
}

static void read_chunk(ast_thrift *thrift, ast_parquet_chunk *chunk) {
    ast_thrift_field field = {0};
    *chunk = (ast_parquet_chunk){0};
    while (ast_thrift_next(thrift, &field)) {
        if (field.id == 3 && field.type == AST_THRIFT_STRUCT)
            read_chunk_data(thrift, chunk);
        else
            ast_thrift_skip(thrift, field.type);
    }
}

static bool read_chunks(ast_parquet_footer *footer, ast_thrift *thrift, int type) {
    int element;
    size_t count = ast_thrift_list(thrift, type, &element), filled = footer->group_count * footer->column_count;
    thrift->bad |= element != AST_THRIFT_STRUCT || count != footer->column_count;
    if (thrift->bad)
        return true;
    if (!ast_array_grow(&footer->chunks, &footer->chunk_capacity, filled + count, sizeof *footer->chunks))
        return false;
    for (size_t i = 0; i < count; i++)
        read_chunk(thrift, &footer->chunks[filled + i]);
    return true;
}

static bool read_group(ast_parquet_footer *footer, ast_thrift *thrift) {
    ast_parquet_group group = {.first = footer->rows};
    ast_thrift_field field = {0};
    bool good = true, chunks = false;
    while (good && ast_thrift_next(thrift, &field)) {
        if (field.id == 1) {
            thrift->bad |= chunks;
            good = read_chunks(footer, thrift, field.type);
            chunks = true;
        } else if (field.id == 3) {
            group.rows = positive(thrift, field.type);
        } else {
            ast_thrift_skip(thrift, field.type);
        }
    }
    thrift->bad |= !chunks || __builtin_add_overflow(footer->rows, group.rows, &footer->rows);
    good = good &&
           ast_array_grow(&footer->groups, &footer->group_capacity, footer->group_count + 1, sizeof *footer->groups);
    if (good)
        footer->groups[footer->group_count++] = group;
    return good;
}

static bool read_groups(ast_parquet_footer *footer, ast_thrift *thrift, int type) {
    int element;
    size_t count = ast_thrift_list(thrift, type, &element);
    bool good = true;
    thrift->bad |= count > 0 && (element != AST_THRIFT_STRUCT || footer->column_count == 0);
    for (size_t i = 0; i < count && good && !thrift->bad; i++)
        good = read_group(footer, thrift);
    return good;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool read_all(ast_parquet_footer *footer, ast_thrift *thrift) {
    ast_thrift_field field = {0};
    bool good = true;
    while (good && ast_thrift_next(thrift, &field)) {
        if (field.id == 2 && footer->column_count == 0)
            good = read_columns(footer, thrift, field.type);
        else if (field.id == 4 && footer->group_count == 0)
            good = read_groups(footer, thrift, field.type);
        else
            ast_thrift_skip(thrift, field.type);
    }
    return good;
}

static bool within(const ast_parquet_footer *footer, uint64_t size) {
    for (size_t i = 0; i < footer->group_count * footer->column_count; i++)
        if (footer->chunks[i].begin > size || footer->chunks[i].end > size ||
            footer->chunks[i].end < footer->chunks[i].begin)
            return false;
    return footer->rows <= PTRDIFF_MAX;
}

bool ast_parquet_footer_read(ast_parquet_footer *footer, const ast_bytes *bytes, ast_format_error *error) {
    unsigned char mark[4], tail[TAIL];
    const char *name = bytes->name;
    *footer = (ast_parquet_footer){0};
    if (!ast_bytes_at(bytes, 0, mark, sizeof mark) || bytes->size < sizeof mark + TAIL ||
        !ast_bytes_at(bytes, bytes->size - TAIL, tail, TAIL) || memcmp(mark, "PAR", 3) != 0)
        return ast_format_fail(error, "%s: is no Parquet file, or cut short: it does not begin with PAR1", name);
    if (memcmp(tail + 4, "PARE", 4) == 0)
        return ast_format_fail(error, "%s: is an encrypted Parquet file, which cannot be read", name);
    uint64_t size = ast_little(tail, 4), most = bytes->size - TAIL - sizeof mark;
    if (memcmp(tail + 4, "PAR1", 4) != 0 || size > most)
        return ast_format_fail(error, "%s: is cut short: a Parquet file ends with its footer and PAR1", name);
    unsigned char *text = malloc(size + 1);
    bool good = text && ast_bytes_at(bytes, bytes->size - TAIL - size, text, size);
    ast_thrift thrift = {text, text + size, false};
    good = good && read_all(footer, &thrift);
    free(text);
    if (!good)
        return ast_format_no_memory(error, name);
    if (thrift.bad || !within(footer, bytes->size - TAIL - size))
        return ast_format_fail(error, "%s: its footer is damaged", name);
    return true;
}

void ast_parquet_footer_free(ast_parquet_footer *footer) {
    for (size_t i = 0; i < footer->column_count; i++)
        free(footer->columns[i].name);
    free(footer->columns);
    free(footer->groups);
    free(footer->chunks);
    *footer = (ast_parquet_footer){0};
}

static const char *encoding_name(int encoding) {
    static const char *const names[] = {
        "PLAIN",          "of number 1",         "PLAIN_DICTIONARY",        "RLE",
        "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
        "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};
    return encoding < (int)(sizeof names / sizeof *names) ? names[encoding] : "of an unknown number";
}

bool ast_parquet_known(const ast_parquet_footer *footer, size_t column, const char *name, ast_format_error *error) {
    const uint32_t known = 1u << AST_PARQUET_PLAIN | 1u << AST_PARQUET_PLAIN_DICTIONARY | 1u << AST_PARQUET_RLE |
                           1u << AST_PARQUET_BIT_PACKED | 1u << AST_PARQUET_RLE_DICTIONARY | 1u << AST_PARQUET_SPLIT;
    char quoted[AST_EXCERPT];
    ast_excerpt(quoted, footer->columns[column].name, strlen(footer->columns[column].name));
    for (size_t g = 0; g < footer->group_count; g++) {
        const ast_parquet_chunk *chunk = &footer->chunks[g * footer->column_count + column];
        uint32_t strange = chunk->encodings & ~known;
        if (strange)
            return ast_format_fail(error,
                                   "%s: column %s has the encoding %s; PLAIN, RLE_DICTIONARY and BYTE_STREAM_SPLIT can "
                                   "be read",
                                   name, quoted, encoding_name(__builtin_ctz(strange)));
        if (!ast_parquet_has_codec(chunk->codec))
            return ast_format_fail(error,
                                   "%s: column %s is compressed with %s; this build can read none, snappy, gzip, zstd "
                                   "and lz4_raw, as far as their libraries were there when it was made",
                                   name, quoted, ast_parquet_codec_name(chunk->codec));
    }
    return true;
}
