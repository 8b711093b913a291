/* SPDX-License-Identifier: MIT
 *
 * Thrift's compact protocol: integers are varints, the lowest seven bits first, signed ones in zigzag; a field is the
 * distance of its id to that before it and its type in one byte, and a zero byte ends a struct. */
#include "thrift.h"

#include <string.h>

#define DEPTH_MOST 24 /* structs in structs that are skipped */

static unsigned next_byte(ast_thrift *thrift) {
    if (thrift->at < thrift->end)
        return *thrift->at++;
    thrift->bad = true;
    return 0;
}

static uint64_t varint(ast_thrift *thrift) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        unsigned byte = next_byte(thrift);
        number |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (byte < 128)
            return number;
    }
    thrift->bad = true;
    return 0;
}

static int64_t zigzag(ast_thrift *thrift) {
    uint64_t number = varint(thrift);
    return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

bool ast_thrift_next(ast_thrift *thrift, ast_thrift_field *field) {
    unsigned head = next_byte(thrift);
    field->type = (int)(head & 15);
    if (thrift->bad || field->type == 0)
        return false;
    int64_t id = head >> 4 ? field->id + (int64_t)(head >> 4) : zigzag(thrift);
    thrift->bad |= id < 0 || id > INT16_MAX || field->type > AST_THRIFT_STRUCT;
    field->id = thrift->bad ? 0 : (int)id;
    return !thrift->bad;
}

int64_t ast_thrift_integer(ast_thrift *thrift, int type) {
    if (type == AST_THRIFT_I8)
        return (int8_t)next_byte(thrift);
    thrift->bad |= type != AST_THRIFT_I16 && type != AST_THRIFT_I32 && type != AST_THRIFT_I64;
    return thrift->bad ? 0 : zigzag(thrift);
}

const unsigned char *ast_thrift_binary(ast_thrift *thrift, int type, size_t *size) {
    thrift->bad |= type != AST_THRIFT_BINARY;
    uint64_t length = thrift->bad ? 0 : varint(thrift);
    thrift->bad |= length > (size_t)(thrift->end - thrift->at);
    *size = thrift->bad ? 0 : (size_t)length;
    const unsigned char *bytes = thrift->at;
    thrift->at += *size;
    return bytes;
}

size_t ast_thrift_list(ast_thrift *thrift, int type, int *element) {
    thrift->bad |= type != AST_THRIFT_LIST && type != AST_THRIFT_SET;
    unsigned head = next_byte(thrift);
    uint64_t count = head >> 4 == 15 ? varint(thrift) : head >> 4;
    *element = (int)(head & 15);
    thrift->bad |= count > (size_t)(thrift->end - thrift->at);
    return thrift->bad ? 0 : (size_t)count;
}

static void skip(ast_thrift *thrift, int type, bool element, int depth);

static void skip_struct(ast_thrift *thrift, int depth) {
    ast_thrift_field field = {0};
    while (ast_thrift_next(thrift, &field))
        skip(thrift, field.type, false, depth);
}

static void skip_list(ast_thrift *thrift, int type, int depth) {
    int element;
    size_t count = ast_thrift_list(thrift, type, &element);
    for (size_t i = 0; i < count && !thrift->bad; i++)
        skip(thrift, element, true, depth);
}

static void skip_map(ast_thrift *thrift, int depth) {
    uint64_t count = varint(thrift);
    unsigned types = count ? next_byte(thrift) : 0;
    thrift->bad |= count > (size_t)(thrift->end - thrift->at);
    for (uint64_t i = 0; i < count && !thrift->bad; i++) {
        skip(thrift, (int)(types >> 4), true, depth);
        skip(thrift, (int)(types & 15), true, depth);
    }
}

/* A truth value is in the type of a field, but takes a byte as an element. */
static void skip(ast_thrift *thrift, int type, bool element, int depth) {
    size_t size;
    thrift->bad |= depth > DEPTH_MOST;
    if (thrift->bad)
        return;
    switch (type) {
    case AST_THRIFT_TRUE:
    case AST_THRIFT_FALSE:
        if (element)
            next_byte(thrift);
        break;
    case AST_THRIFT_I8:
    case AST_THRIFT_I16:
    case AST_THRIFT_I32:
    case AST_THRIFT_I64:
        ast_thrift_integer(thrift, type);
        break;
    case AST_THRIFT_DOUBLE:
        for (int i = 0; i < 8; i++)
            next_byte(thrift);
        break;
    case AST_THRIFT_BINARY:
        ast_thrift_binary(thrift, type, &size);
        break;
    case AST_THRIFT_LIST:
    case AST_THRIFT_SET:
        skip_list(thrift, type, depth + 1);
        break;
    case AST_THRIFT_MAP:
        skip_map(thrift, depth + 1);
        break;
    case AST_THRIFT_STRUCT:
        skip_struct(thrift, depth + 1);
        break;
    default:
        thrift->bad = true;
    }
}

void ast_thrift_skip(ast_thrift *thrift, int type) {
    skip(thrift, type, false, 0);
}
