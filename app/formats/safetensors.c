/* SPDX-License-Identifier: MIT
 *
 * Safetensors files: eight bytes, the length of the header; the header, a JSON object with the type, the shape and the
 * place of every tensor; their bytes. libjansson reads the JSON; this file checks what it says: an object of objects of
 * three known keys, and `__metadata__`, an object of strings. */
#include "registry.h"

#include "platform.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define DIMENSIONS_MOST 64

#define LENGTH_SIZE 8 /* bytes of the number that says how long the header is */

/* The limit of the format itself. A header is not allocated for before the file is known to be longer. */
#define HEADER_MOST ((uint64_t)100000000)

static const ast_member_words words = {"tensor", "tensors", "--tensor NAME", "F64, F32, F16, BF16, I8 or U8",
                                       .rooted = false};

/* The header of a file. */
typedef struct header_text {
    const char *file;
    char *text;
    size_t size;
} header_text;

static bool read_members(ast_members *members, const header_text *header, ast_format_error *error);
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

static bool not_understood(const header_text *header, size_t byte, ast_format_error *error) {
    return ast_format_fail(error,
                           "%s: its header cannot be understood at byte %zu; it must be JSON with dtype, shape and "
                           "data_offsets of every tensor",
                           header->file, byte);
}

bool ast_safetensors_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_members members = {0};
    const ast_member *member;
    uint64_t offset;
    header_text header = {.file = bytes->name, .text = read_header(bytes, &offset, error)};
    if (!header.text)
        return false;
    header.size = offset - 8;
    bool good = read_members(&members, &header, error) &&
                ast_members_choose(&members, how->member, &words, bytes->name, &member, error) &&
                check_bytes(table, member, offset, bytes, error);
    ast_members_free(&members);
    free(header.text);
    return good;
}

/* The header is JSON of a known length, and the tensor that ends last ends the file. */
bool ast_safetensors_promise(ast_buffer *buffer, uint64_t *size, ast_bytes *bytes, const ast_resolved *how,
                             ast_format_error *error) {
    (void)how;
    ast_members members = {0};
    if (!ast_bytes_fill(bytes, buffer, LENGTH_SIZE, error))
        return false;
    uint64_t header = buffer->filled < LENGTH_SIZE ? 0 : ast_little(buffer->place, LENGTH_SIZE), end = 0;
    if (header <= HEADER_MOST && !ast_bytes_fill(bytes, buffer, LENGTH_SIZE + (size_t)header, error))
        return false;
    *size = buffer->filled;
    if (buffer->filled < LENGTH_SIZE || buffer->filled < LENGTH_SIZE + header)
        return true;
    header_text text = {bytes->name, (char *)buffer->place + LENGTH_SIZE, (size_t)header};
    bool good = read_members(&members, &text, error);
    for (size_t i = 0; good && i < members.count; i++)
        end = members.list[i].end > end ? members.list[i].end : end;
    ast_members_free(&members);
    *size += end < PTRDIFF_MAX - *size ? end : 0;
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

/* ---- The header -------------------------------------------------------------------------------------------------- */

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

/* A list of whole numbers that are not negative, of which the first two are kept. */
static bool whole_numbers(const json_t *list, uint64_t numbers[2]) {
    size_t i;
    json_t *number;
    json_array_foreach(list, i, number) {
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return false;
        if (i < 2)
            numbers[i] = (uint64_t)json_integer_value(number);
    }
    return json_is_array(list) && i <= DIMENSIONS_MOST;
}

/* The three things that are said of a tensor. */
static bool understand(ast_member *member, const json_t *tensor) {
    const json_t *type = json_object_get(tensor, "dtype"), *shape = json_object_get(tensor, "shape"),
                 *offsets = json_object_get(tensor, "data_offsets");
    uint64_t range[2];
    if (json_object_size(tensor) != 3 || !json_is_string(type) || !whole_numbers(shape, member->shape) ||
        !whole_numbers(offsets, range) || json_array_size(offsets) != 2)
        return false;
    ast_excerpt(member->type, json_string_value(type), json_string_length(type));
    member->known = type_called(json_string_value(type));
    member->dimensions = (int)json_array_size(shape);
    member->begin = range[0];
    member->end = range[1];
    return true;
}

/* `__metadata__` is not about tensors. */
static bool is_metadata(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (!json_is_string(value)) return false;
    return json_is_object(object);
}

static bool add_tensor(ast_members *members, const char *name, const json_t *tensor, const header_text *header,
                       ast_format_error *error) {
    char *copy = strdup(name);
    if (!copy || !ast_array_grow(&members->list, &members->capacity, members->count + 1, sizeof *members->list)) {
        free(copy);
        return ast_format_no_memory(error, header->file);
    }
    ast_member *member = &members->list[members->count++];
    *member = (ast_member){.name = copy};
    const char *at = memmem(header->text, header->size, name, strlen(name));
    return understand(member, tensor) || not_understood(header, at ? (size_t)(at - header->text) : 0, error);
}

/* Why the header is no JSON. If a name comes twice, libjansson quotes it, unless it is long. */
static bool no_json(const header_text *header, const json_error_t *why, ast_format_error *error) {
    static const char twice[] = "duplicate object key near '\"";
    const char *name = strncmp(why->text, twice, strlen(twice)) == 0 ? why->text + strlen(twice) : NULL;
    if (why->text[0] == 0) /* it says nothing if it has no memory */
        return ast_format_no_memory(error, header->file);
    if (!name || strcmp(name, "dtype\"'") == 0 || strcmp(name, "shape\"'") == 0 || strcmp(name, "data_offsets\"'") == 0)
        return not_understood(header, why->position > 0 ? (size_t)why->position : 0, error);
    return ast_format_fail(error, "%s: has more than one tensor '%.*s'; the file is damaged", header->file,
                           (int)strlen(name) - 2, name);
}

static bool read_members(ast_members *members, const header_text *header, ast_format_error *error) {
    json_error_t why = {0};
    json_t *object = json_loadb(header->text, header->size, JSON_REJECT_DUPLICATES, &why);
    bool good = object || no_json(header, &why, error);
    if (good && !json_is_object(object))
        good = not_understood(header, 0, error);
    for (void *at = json_object_iter(object); at && good; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        json_t *value = json_object_iter_value(at);
        if (strcmp(name, "__metadata__") == 0)
            good = is_metadata(value) || not_understood(header, 0, error);
        else
            good = add_tensor(members, name, value, header, error);
    }
    json_decref(object);
    return good;
}
