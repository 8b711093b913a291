/* SPDX-License-Identifier: MIT
 *
 * Safetensors files: eight bytes, the length of the header; the header, a JSON object with the type, the shape and the
 * place of every tensor; their bytes. This file understands just as much of JSON as that needs, strictly, from bytes
 * that may be anything: an object of objects of three known keys, and `__metadata__`, an object of strings. */
#include "registry.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* The limit of the format itself. A header is not allocated for before the file is known to be longer. */
#define HEADER_MOST ((uint64_t)100000000)

static const ast_member_words words = {"tensor", "tensors", "--tensor NAME", "F64, F32, F16, BF16, I8 or U8",
                                       .rooted = false};

/* Where the tensors of a header go. */
typedef struct header_members {
    ast_members *members;
    bool no_memory;
} header_members;

static bool parse_header(ast_scan *scan, header_members *found);
static bool check_bytes(ast_file_table *table, const ast_member *member, uint64_t offset, const ast_bytes *bytes,
                        ast_format_error *error);

/* The header, to free(), and where the bytes of the tensors begin. */
static char *read_header(const ast_bytes *bytes, uint64_t *offset, ast_format_error *error) {
    unsigned char length[8];
    const char *name = bytes->name;
    char *header = NULL;
    if (!ast_bytes_at(bytes, 0, length, sizeof length)) {
        ast_format_fail(error, "%s: is %s; a .safetensors file begins with the length of its header, 8 bytes", name,
                        bytes->size == 0 ? "empty" : "cut short");
        return NULL;
    }
    uint64_t size = ast_little(length, sizeof length);
    *offset = size + sizeof length;
    if (size > HEADER_MOST)
        ast_format_fail(error,
                        "%s: its header claims to be %llu bytes long; no .safetensors header is longer than %llu", name,
                        (unsigned long long)size, (unsigned long long)HEADER_MOST);
    else if (*offset > bytes->size)
        ast_format_fail(error,
                        "%s: its header claims to be %llu bytes long, but only %llu follow; the file is damaged "
                        "or cut short",
                        name, (unsigned long long)size, (unsigned long long)(bytes->size - sizeof length));
    else if (!(header = malloc(size + 1)))
        ast_format_no_memory(error, name);
    else if (!ast_bytes_at(bytes, sizeof length, header, size)) {
        ast_format_fail(error, "%s: its header cannot be read", name);
        free(header);
        header = NULL;
    }
    return header;
}

bool ast_safetensors_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_members members = {0};
    uint64_t offset;
    char *header = read_header(bytes, &offset, error);
    if (!header)
        return false;
    ast_scan scan = {header, header + (offset - 8)};
    header_members found = {&members, false};
    bool good = parse_header(&scan, &found);
    if (!good && found.no_memory)
        ast_format_no_memory(error, bytes->name);
    else if (!good)
        ast_format_fail(error,
                        "%s: its header cannot be understood at byte %zu; it must be JSON with dtype, shape and "
                        "data_offsets of every tensor",
                        bytes->name, (size_t)(scan.cursor - header));
    if (good) {
        const ast_member *member;
        good = ast_members_choose(&members, how->member, &words, bytes->name, &member, error) &&
               check_bytes(table, member, offset, bytes, error);
    }
    ast_members_free(&members);
    free(header);
    return good;
}

/* Checks that the shape and the type give the promised number of bytes, and that the file has them. */
static bool check_bytes(ast_file_table *table, const ast_member *member, uint64_t offset, const ast_bytes *bytes,
                        ast_format_error *error) {
    uint64_t size = bytes->size - offset;
    char name[AST_EXCERPT];
    ast_excerpt(name, member->name, strlen(member->name));
    if (member->begin > member->end || member->end > size)
        return ast_format_fail(error,
                               "%s: tensor %s is promised at bytes %llu to %llu, but the tensors have %llu bytes; the "
                               "file is damaged or cut short",
                               bytes->name, name, (unsigned long long)member->begin, (unsigned long long)member->end,
                               (unsigned long long)size);
    if (!ast_table_set(table, (ast_type)member->known, member->shape[0], member->shape[1], offset + member->begin) ||
        table->row_stride * table->count != member->end - member->begin)
        return ast_format_fail(error,
                               "%s: tensor %s has the shape %llu x %llu of %s, which are not the %llu bytes that it is "
                               "given; the file is damaged",
                               bytes->name, name, (unsigned long long)member->shape[0],
                               (unsigned long long)member->shape[1], member->type,
                               (unsigned long long)(member->end - member->begin));
    return true;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static bool parse_hex(ast_scan *scan, uint32_t *code) {
    *code = 0;
    if (scan->end - scan->cursor < 4)
        return false;
    for (int i = 0; i < 4; i++, scan->cursor++) {
        char digit = *scan->cursor, lower = (char)(digit | 0x20);
        bool decimal = digit >= '0' && digit <= '9';
        if (!decimal && !(lower >= 'a' && lower <= 'f'))
            return false;
        *code = *code << 4 | (uint32_t)(decimal ? digit - '0' : lower - 'a' + 10);
    }
    return true;
}

/* A character behind "\u", or two of them that are one; in UTF-8. */
static bool parse_code(ast_scan *scan, char **place) {
    uint32_t code, low;
    if (!parse_hex(scan, &code) || code == 0)
        return false;
    if (code >= 0xD800 && code < 0xE000) {
        if (code >= 0xDC00 || scan->end - scan->cursor < 2 || scan->cursor[0] != '\\' || scan->cursor[1] != 'u')
            return false;
        scan->cursor += 2;
        if (!parse_hex(scan, &low) || low < 0xDC00 || low >= 0xE000)
            return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    *(*place)++ = (char)(leads[more] | code >> 6 * more);
    while (more-- > 0)
        *(*place)++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return true;
}

static bool parse_escape(ast_scan *scan, char **place) {
    const char *names = "\"\\/bfnrt", *found;
    if (scan->cursor == scan->end || !*scan->cursor)
        return false;
    if (*scan->cursor == 'u') {
        scan->cursor++;
        return parse_code(scan, place);
    }
    found = strchr(names, *scan->cursor);
    if (!found)
        return false;
    scan->cursor++;
    *(*place)++ = "\"\\/\b\f\n\r\t"[found - names];
    return true;
}

/* A string, decoded where it stands: it never becomes longer. It ends with a zero. */
static bool parse_string(ast_scan *scan, char **text) {
    if (!ast_scan_accept(scan, '"'))
        return false;
    char *place = *text = scan->cursor;
    while (scan->cursor < scan->end && *scan->cursor != '"') {
        if ((unsigned char)*scan->cursor < 0x20)
            return false;
        if (*scan->cursor != '\\')
            *place++ = *scan->cursor++;
        else if (scan->cursor++, !parse_escape(scan, &place))
            return false;
    }
    if (!ast_scan_accept(scan, '"'))
        return false;
    *place = 0;
    return true;
}

/* A number of JSON has no zeros before it. */
static bool parse_number(ast_scan *scan, uint64_t *number) {
    ast_scan_blanks(scan);
    const char *start = scan->cursor;
    return ast_scan_number(scan, number) && (scan->cursor == start + 1 || *start != '0');
}

/* A list of numbers, of which the first two are kept. */
static bool parse_list(ast_scan *scan, uint64_t numbers[2], int *count) {
    uint64_t number;
    *count = 0;
    if (!ast_scan_accept(scan, '['))
        return false;
    if (ast_scan_accept(scan, ']'))
        return true;
    do {
        if (!parse_number(scan, &number) || *count == 64)
            return false;
        if (*count < 2)
            numbers[*count] = number;
        ++*count;
    } while (ast_scan_accept(scan, ','));
    return ast_scan_accept(scan, ']');
}

static int type_called(const char *name) {
    static const struct {
        const char *name;
        ast_type type;
    } types[] = {{"F64", AST_F8}, {"F32", AST_F4}, {"F16", AST_F2}, {"BF16", AST_B2}, {"I8", AST_I1}, {"U8", AST_U1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return (int)types[i].type;
    return -1;
}

/* What follows a key and its colon. */
typedef bool value_function(ast_scan *scan, char *key, void *data);

static bool parse_object(ast_scan *scan, value_function *value, void *data) {
    char *key;
    if (!ast_scan_accept(scan, '{'))
        return false;
    if (ast_scan_accept(scan, '}'))
        return true;
    do {
        if (!parse_string(scan, &key) || !ast_scan_accept(scan, ':') || !value(scan, key, data))
            return false;
    } while (ast_scan_accept(scan, ','));
    return ast_scan_accept(scan, '}');
}

/* A tensor, and which of its properties have been seen. */
typedef struct tensor {
    ast_member *member;
    unsigned seen;
} tensor;

/* One of the three things that are said of a tensor, each once. */
static bool parse_property(ast_scan *scan, char *key, void *data) {
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    tensor *of = data;
    uint64_t offsets[2];
    char *type;
    int count;
    unsigned which = 0;
    while (which < 3 && strcmp(key, keys[which]) != 0)
        which++;
    if (which == 3 || of->seen & 1u << which)
        return false;
    of->seen |= 1u << which;
    if (which == 1)
        return parse_list(scan, of->member->shape, &of->member->dimensions);
    if (which == 0) {
        if (!parse_string(scan, &type))
            return false;
        ast_excerpt(of->member->type, type, strlen(type));
        of->member->known = type_called(type);
        return true;
    }
    if (!parse_list(scan, offsets, &count) || count != 2)
        return false;
    of->member->begin = offsets[0];
    of->member->end = offsets[1];
    return true;
}

/* `__metadata__`, which is not about tensors, is an object of strings. */
static bool parse_metadata(ast_scan *scan, char *key, void *data) {
    (void)key, (void)data;
    char *text;
    return parse_string(scan, &text);
}

static bool parse_tensor(ast_scan *scan, char *name, void *data) {
    header_members *found = data;
    ast_members *members = found->members;
    if (strcmp(name, "__metadata__") == 0)
        return parse_object(scan, parse_metadata, NULL);
    char *copy = strdup(name);
    found->no_memory =
        !copy || !ast_array_grow(&members->list, &members->capacity, members->count + 1, sizeof *members->list);
    if (found->no_memory) {
        free(copy);
        return false;
    }
    tensor of = {&members->list[members->count++], 0};
    *of.member = (ast_member){.name = copy};
    return parse_object(scan, parse_property, &of) && of.seen == 7;
}

static bool parse_header(ast_scan *scan, header_members *found) {
    if (!parse_object(scan, parse_tensor, found))
        return false;
    ast_scan_blanks(scan); /* padding */
    return scan->cursor == scan->end;
}
