/* SPDX-License-Identifier: MIT
 *
 * Rows of points from a column of lists, and ids from a flat column. Rows are decoded in order, by readers that
 * remember where they are: there are a few of them, so that threads that read different parts do not disturb each
 * other. */
#include "parquet.h"

#include "platform.h"
#include "registry.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READERS 4

/* A reader of the lists of a column. */
typedef struct list_reader {
    ast_parquet_pages pages;
    size_t group;
    uint64_t row;                 /* rows that are complete: the number of the row that comes next */
    size_t value;                 /* of the page, with those that are null, */
    size_t present;               /* and without */
    size_t filled;                /* values of the row that is being read */
    bool open;                    /* a row has begun */
    bool hole;                    /* and has a value that is null */
    bool begun;                   /* the group */
    const unsigned char *numbers; /* the present values of the page */
    ast_buffer joined;            /* if they are not plain */
    uint64_t used;                /* when it was used last */
} list_reader;

typedef struct parquet_table {
    ast_row_decoder decoder;
    const ast_bytes *bytes;
    ast_parquet_footer footer;
    size_t column, dimension, item;
    ast_type type;
    list_reader readers[READERS];
    uint64_t clock;
    pthread_mutex_t lock;
} parquet_table;

static const ast_member_words words = {"column", "columns", "--column NAME",
                                       "lists of floats of 2, 4 or 8 bytes or of integers of 1 byte", .rooted = false};

static bool read_rows(ast_row_decoder *decoder, size_t first, size_t count, void *place);
static bool read_names(ast_row_decoder *decoder, const char *wanted, ast_names *names, ast_format_error *error);
static void close_table(ast_row_decoder *decoder);

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void describe(const ast_parquet_footer *footer, size_t i, ast_member *member) {
    static const char *const names[] = {"bool", "int32", "int64", "int96", "float", "double", "string", "bytes"};
    const ast_parquet_column *column = &footer->columns[i];
    uint64_t values = footer->group_count ? footer->chunks[i].values : 0;
    uint64_t rows = footer->group_count && footer->groups[0].rows ? footer->groups[0].rows : 1;
    *member = (ast_member){.name = strdup(column->name),
                           .known = column->points,
                           .dimensions = column->most_repetition == 1 ? 2 : 1 + (int)column->most_repetition,
                           .shape = {footer->rows, values / rows + (values % rows > 0)}};
    snprintf(member->type, sizeof member->type, "%s",
             column->type >= 0 && column->type < 8 ? names[column->type] : "unknown");
}

static bool choose(parquet_table *table, const char *wanted, const char *name, ast_format_error *error) {
    const ast_parquet_footer *footer = &table->footer;
    ast_members members = {calloc(footer->column_count + 1, sizeof(ast_member)), 0, 0};
    const ast_member *chosen = NULL;
    bool memory = members.list;
    for (size_t i = 0; i < footer->column_count && memory; i++) {
        describe(footer, i, &members.list[members.count]);
        memory = members.list[members.count++].name;
    }
    bool good =
        memory ? ast_members_choose(&members, wanted, &words, name, &chosen, error) : ast_format_no_memory(error, name);
    if (good)
        table->column = (size_t)(chosen - members.list);
    ast_members_free(&members);
    return good;
}

static void begin_group(parquet_table *table, list_reader *reader, size_t group) {
    const ast_parquet_footer *footer = &table->footer;
    reader->group = group;
    reader->row = footer->groups[group].first;
    reader->value = reader->present = reader->filled = 0;
    reader->open = reader->hole = false;
    reader->begun = true;
    ast_parquet_pages_begin(&reader->pages, table->bytes, &footer->columns[table->column],
                            &footer->chunks[group * footer->column_count + table->column]);
}

static bool next_page(list_reader *reader) {
    reader->value = reader->present = 0;
    reader->numbers = NULL;
    if (!ast_parquet_pages_next(&reader->pages))
        return false;
    reader->numbers = ast_parquet_fixed(&reader->pages, &reader->joined);
    return reader->numbers;
}

static bool begins_row(const list_reader *reader) {
    return !reader->pages.repeats || reader->pages.repetition.place[reader->value] == 0;
}

/* The level that says what a place of the page holds. */
static unsigned level(const list_reader *reader) {
    return reader->pages.defines ? reader->pages.definition.place[reader->value]
                                 : reader->pages.column->most_definition;
}

/* The length of the first list that has one; 0: there is none, or the file is damaged. */
static size_t find_dimension(parquet_table *table) {
    list_reader *reader = &table->readers[0];
    const ast_parquet_column *column = &table->footer.columns[table->column];
    size_t length = 0;
    for (size_t g = 0; g < table->footer.group_count; g++) {
        begin_group(table, reader, g);
        while (ast_parquet_pages_next(&reader->pages))
            for (reader->value = 0; reader->value < reader->pages.count; reader->value++) {
                if (length > 0 && begins_row(reader))
                    return length;
                length += level(reader) >= column->repeated_definition;
            }
        if (length > 0 || reader->pages.left > 0)
            break;
    }
    return reader->pages.left > 0 ? 0 : length;
}

static bool describe_table(parquet_table *table, ast_file_table *file, ast_format_error *error) {
    const ast_parquet_column *column = &table->footer.columns[table->column];
    const char *name = table->bytes->name;
    table->dimension = find_dimension(table);
    table->readers[0].begun = false;
    if (table->dimension == 0)
        return table->readers[0].pages.left > 0
                   ? ast_format_fail(error, "%s: cannot be read: its pages are damaged", name)
                   : ast_format_fail(error, "%s: every row of column %.60s is null or empty", name, column->name);
    table->type = (ast_type)column->points;
    table->item = ast_number_type_of(table->type)->item;
    if (!ast_table_set(file, table->type, table->footer.rows, table->dimension, 0))
        return ast_format_fail(error, "%s: promises more rows than any memory holds", name);
    file->swapped = false;
    return true;
}

bool ast_parquet_table(ast_file_table *file, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    if (bytes->size == 0 || (!bytes->memory && !bytes->sized))
        return ast_format_fail(error,
                               "%s: is empty, or no regular file; Parquet is read from files only, which are neither "
                               "pipes nor compressed",
                               bytes->name);
    parquet_table *table = calloc(1, sizeof *table);
    if (!table)
        return ast_format_no_memory(error, bytes->name);
    *file = (ast_file_table){0};
    table->decoder = (ast_row_decoder){.rows = read_rows, .names = read_names, .close = close_table};
    table->bytes = bytes;
    pthread_mutex_init(&table->lock, NULL);
    bool good =
        ast_parquet_footer_read(&table->footer, bytes, error) && choose(table, how->member, bytes->name, error) &&
        ast_parquet_known(&table->footer, table->column, bytes->name, error) && describe_table(table, file, error);
    if (good)
        file->decoder = &table->decoder;
    else
        close_table(&table->decoder);
    return good;
}

static void close_table(ast_row_decoder *decoder) {
    parquet_table *table = (parquet_table *)decoder;
    for (size_t i = 0; i < READERS; i++) {
        ast_parquet_pages_free(&table->readers[i].pages);
        free(table->readers[i].joined.place);
    }
    ast_parquet_footer_free(&table->footer);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool fail(parquet_table *table, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int used = snprintf(table->decoder.wrong.text, sizeof table->decoder.wrong.text, "%s: ", table->bytes->name);
    if (used > 0 && (size_t)used < sizeof table->decoder.wrong.text)
        vsnprintf(table->decoder.wrong.text + used, sizeof table->decoder.wrong.text - (size_t)used, format, list);
    va_end(list);
    return false;
}

/* A missing row is all NaN. */
static bool put_missing(parquet_table *table, const list_reader *reader, unsigned char *place) {
    static const float nan4 = NAN;
    static const double nan8 = NAN;
    static const uint16_t nan2 = 0x7e00;
    const void *nan = table->type == AST_F4 ? (const void *)&nan4 : table->type == AST_F8 ? (const void *)&nan8 : &nan2;
    if (table->item == 1)
        return fail(table, "row %llu is null or has a null; lists of whole numbers must have all of them",
                    (unsigned long long)reader->row + 1);
    for (size_t d = 0; d < table->dimension && place; d++)
        memcpy(place + d * table->item, nan, table->item);
    return true;
}

/* The row ends. */
static bool close_row(parquet_table *table, list_reader *reader, unsigned char *place) {
    bool good = true;
    if (reader->filled == 0 || (reader->hole && reader->filled == table->dimension))
        good = put_missing(table, reader, place);
    else if (reader->filled != table->dimension)
        good = fail(table, "row %llu has %zu numbers, but the first has %zu; all rows need the same number",
                    (unsigned long long)reader->row + 1, reader->filled, table->dimension);
    reader->row++;
    reader->filled = 0;
    reader->open = reader->hole = false;
    return good;
}

static bool put_value(parquet_table *table, list_reader *reader, unsigned char *place) {
    const unsigned char *from = reader->numbers + reader->present++ * reader->pages.column->width;
    if (reader->filled >= table->dimension || !place)
        return true;
    unsigned char *to = place + reader->filled * table->item;
    if (table->item != 1) {
        memcpy(to, from, table->item);
        return true;
    }
    int32_t number;
    memcpy(&number, from, sizeof number);
    *to = (unsigned char)number;
    return (number >= -128 && number <= 127) || (table->type == AST_U1 && number >= 0 && number <= 255) ||
           fail(table, "row %llu holds %d, which is no integer of 1 byte", (unsigned long long)reader->row + 1, number);
}

/* How many whole rows begin here and have nothing special about them, without the last of the page, whose end the next
 * page shows. */
static size_t plain_rows(const parquet_table *table, const list_reader *reader, size_t most) {
    const ast_parquet_pages *pages = &reader->pages;
    size_t dimension = table->dimension, rows = 0;
    if (reader->open || pages->defines || table->item == 1 || !pages->repeats || reader->value >= pages->count)
        return 0;
    const unsigned char *at = pages->repetition.place + reader->value;
    for (size_t left = pages->count - reader->value; left > dimension && rows < most; left -= dimension, rows++) {
        if (at[0] != 0 || memchr(at + 1, 0, dimension - 1) || at[dimension] != 0)
            break;
        at += dimension;
    }
    return rows;
}

/* One place of the page after the other, until `end` rows are complete or the page ends. */
static bool read_page(parquet_table *table, list_reader *reader, uint64_t end, unsigned char **place) {
    size_t row_size = table->dimension * table->item;
    const ast_parquet_pages *pages = &reader->pages;
    while (reader->value < pages->count) {
        size_t plain = plain_rows(table, reader, (size_t)(end - reader->row));
        if (plain > 0) {
            if (*place)
                memcpy(*place, reader->numbers + reader->present * table->item, plain * row_size);
            *place = *place ? *place + plain * row_size : NULL;
            reader->row += plain;
            reader->value += plain * table->dimension;
            reader->present += plain * table->dimension;
            if (reader->row == end)
                return true;
            continue;
        }
        if (begins_row(reader) && reader->open) {
            if (!close_row(table, reader, *place))
                return false;
            *place = *place ? *place + row_size : NULL;
            if (reader->row == end)
                return true;
            continue; /* the next rows may be plain */
        }
        unsigned own = level(reader);
        reader->open = true;
        if (own == pages->column->most_definition) {
            if (!put_value(table, reader, *place))
                return false;
            reader->filled++;
        } else if (own >= pages->column->repeated_definition) {
            reader->hole = true;
            reader->filled++;
        }
        reader->value++;
    }
    return true;
}

/* Reads on until row `end`, which is in the group or its end. */
static bool read_group(parquet_table *table, list_reader *reader, uint64_t end, unsigned char **place) {
    const ast_parquet_group *group = &table->footer.groups[reader->group];
    size_t row_size = table->dimension * table->item;
    while (reader->row < end) {
        if (reader->value < reader->pages.count) {
            if (!read_page(table, reader, end, place))
                return false;
        } else if (!next_page(reader)) {
            /* at the end of the group the last row ends */
            if (reader->pages.left > 0 || !reader->open || reader->row + 1 != group->first + group->rows)
                return false;
            if (!close_row(table, reader, *place))
                return false;
            *place = *place ? *place + row_size : NULL;
        }
    }
    return true;
}

static size_t group_of(const ast_parquet_footer *footer, uint64_t row) {
    size_t group = 0;
    while (row >= footer->groups[group].first + footer->groups[group].rows)
        group++;
    return group;
}

/* The reader that has the shortest way to the row; if none is on the way, the one that was not used for longest. */
static list_reader *reader_for(parquet_table *table, uint64_t row, size_t group) {
    list_reader *best = NULL, *oldest = &table->readers[0];
    for (list_reader *reader = table->readers; reader < table->readers + READERS; reader++) {
        if (reader->begun && reader->group == group && reader->row <= row && (!best || reader->row > best->row))
            best = reader;
        if (reader->used < oldest->used)
            oldest = reader;
    }
    if (!best) {
        best = oldest;
        begin_group(table, best, group);
    }
    best->used = ++table->clock;
    return best;
}

static bool read_rows(ast_row_decoder *decoder, size_t first, size_t count, void *place) {
    parquet_table *table = (parquet_table *)decoder;
    uint64_t row = first, end = (uint64_t)first + count;
    bool good = true;
    pthread_mutex_lock(&table->lock);
    while (row < end && good) {
        size_t group = group_of(&table->footer, row);
        const ast_parquet_group *own = &table->footer.groups[group];
        uint64_t stop = end < own->first + own->rows ? end : own->first + own->rows;
        list_reader *reader = reader_for(table, row, group);
        unsigned char *skipped = NULL,
                      *cursor = (unsigned char *)place + (row - first) * table->dimension * table->item;
        good = read_group(table, reader, row, &skipped) && read_group(table, reader, stop, &cursor);
        reader->begun = good;
        if (reader->pages.no_memory)
            fail(table, "there is no memory for a page of it");
        row = stop;
    }
    pthread_mutex_unlock(&table->lock);
    return good;
}

/* ---- Ids --------------------------------------------------------------------------------------------------------- */

static bool find_ids(const parquet_table *table, const char *wanted, size_t *found, ast_format_error *error) {
    const ast_parquet_footer *footer = &table->footer;
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < footer->column_count; i++) {
        const ast_parquet_column *column = &footer->columns[i];
        char quoted[AST_EXCERPT];
        ast_excerpt(quoted, column->name, strlen(column->name));
        if (strcmp(column->name, wanted) == 0) {
            *found = i;
            return column->is_id || ast_format_fail(error,
                                                    "%s: column %s holds neither whole numbers nor strings, so "
                                                    "it cannot be the id",
                                                    table->bytes->name, quoted);
        }
        if (column->is_id && used + strlen(quoted) + 3 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", quoted);
    }
    char quoted[AST_EXCERPT];
    ast_excerpt(quoted, wanted, strlen(wanted));
    return ast_format_fail(error, "%s: has no column '%s'; those of whole numbers or strings are: %s",
                           table->bytes->name, quoted, used ? list : "none");
}

static char *number_text(const ast_parquet_column *column, const unsigned char *bytes) {
    char text[24];
    int64_t number = 0;
    int32_t small;
    memcpy(&small, bytes, sizeof small);
    if (column->width == 8)
        memcpy(&number, bytes, sizeof number);
    else
        number = column->is_signed ? small : (int64_t)(uint32_t)small;
    if (column->is_signed || column->width == 4)
        snprintf(text, sizeof text, "%lld", (long long)number);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return strdup(text);
}

/* The ids of a page; one that is null is empty. */
static bool add_page(ast_parquet_pages *pages, ast_buffer *place, ast_parquet_strings *strings, ast_names *names) {
    const ast_parquet_column *column = pages->column;
    const unsigned char *numbers = NULL;
    bool text = column->type == AST_PARQUET_BYTES;
    if (text ? !ast_parquet_take_strings(pages, strings) : !(numbers = ast_parquet_fixed(pages, place)))
        return false;
    for (size_t i = 0, at = 0; i < pages->count; i++) {
        bool there = !pages->defines || pages->definition.place[i] == column->most_definition;
        char *name = !there ? strdup("")
                     : text ? strndup((const char *)strings->begins[at], strings->lengths[at])
                            : number_text(column, numbers + at * column->width);
        at += there;
        if (!name || !ast_names_add(names, name)) {
            pages->no_memory = true;
            return false;
        }
    }
    return true;
}

static bool read_names(ast_row_decoder *decoder, const char *wanted, ast_names *names, ast_format_error *error) {
    parquet_table *table = (parquet_table *)decoder;
    const ast_parquet_footer *footer = &table->footer;
    ast_parquet_pages pages = {0};
    ast_parquet_strings strings = {0};
    ast_buffer place = {0};
    size_t column = 0, before = names->count;
    if (!find_ids(table, wanted, &column, error) || !ast_parquet_known(footer, column, table->bytes->name, error))
        return false;
    bool good = true;
    for (size_t g = 0; g < footer->group_count && good; g++) {
        ast_parquet_pages_begin(&pages, table->bytes, &footer->columns[column],
                                &footer->chunks[g * footer->column_count + column]);
        while (good && ast_parquet_pages_next(&pages))
            good = add_page(&pages, &place, &strings, names);
        good = good && pages.left == 0;
    }
    good = good && names->count - before == footer->rows;
    if (!good && pages.no_memory)
        ast_format_no_memory(error, table->bytes->name);
    else if (!good)
        ast_format_fail(error, "%s: its ids cannot be read: the pages are damaged", table->bytes->name);
    ast_parquet_pages_free(&pages);
    ast_parquet_strings_free(&strings);
    free(place.place);
    return good;
}
