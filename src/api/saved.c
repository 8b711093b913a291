/* SPDX-License-Identifier: MIT */
#include "saved.h"

#include "checksum.h"

#include <string.h>

static ast_status ends_early(const ast_saved_format *f, size_t size, ast_fault *fault) {
    return ast_fail(fault, AST_BAD_DATA, "the %s ends early: it has only %zu bytes", f->name, size);
}

ast_status ast_saved_check(const ast_saved_format *f, const void *bytes, size_t size, ast_fault *fault) {
    uint64_t start[3], sum; /* every version begins with the magic number and its own */
    if (size < 2 * sizeof *start)
        return ends_early(f, size, fault);
    memcpy(start, bytes, 2 * sizeof *start);
    if (start[0] != f->magic)
        return ast_fail(fault, AST_BAD_DATA, "%s", f->no_magic);
    if (start[1] != (uint64_t)f->version)
        return ast_fail(fault, AST_BAD_DATA, "the %s has version %llu; this library reads version %d%s", f->name,
                        (unsigned long long)start[1], f->version, f->on_version);
    if (size < f->head + sizeof sum || size % f->unit != 0)
        return ends_early(f, size, fault);
    memcpy(start, bytes, sizeof start);
    memcpy(&sum, (const char *)bytes + size - sizeof sum, sizeof sum);
    if (start[2] != size || sum != ast_checksum(bytes, size - sizeof sum))
        return ast_fail(fault, AST_BAD_DATA, "the %s is damaged: its checksum does not match", f->name);
    return AST_OK;
}

size_t ast_saved_size_of_first(const void *bytes, size_t size) {
    uint64_t start[3];
    if (size < sizeof start)
        return size;
    memcpy(start, bytes, sizeof start);
    return start[2] >= sizeof start && start[2] < size ? (size_t)start[2] : size;
}

unsigned char *ast_saved_put(unsigned char *at, const void *bytes, size_t size) {
    if (size)
        memcpy(at, bytes, size);
    return at + size;
}

unsigned char *ast_saved_close(const unsigned char *start, unsigned char *at) {
    uint64_t sum = ast_checksum(start, (size_t)(at - start));
    return ast_saved_put(at, &sum, sizeof sum);
}
