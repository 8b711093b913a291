/* SPDX-License-Identifier: MIT
 *
 * Zip archives from their end: the end record says where the central directory is, the directory where each member is
 * and how large. Every offset is checked against the file; a member grows as its bytes come, and ends where the
 * directory says, so that a size that lies costs nothing. Archives beyond 4 GiB have their numbers in extra fields
 * (zip64). */
#include "zip.h"

#include <stdlib.h>
#include <string.h>
#ifdef AST_HAVE_ZLIB
#include <zlib.h>
#endif

#define END_RECORD 22 /* bytes without the comment */
#define END64_LOCATOR 20
#define END64_RECORD 56
#define COMMENT_MOST 65535
#define DIRECTORY_ENTRY 46 /* bytes without name, extra and comment */
#define LOCAL_HEADER 30
#define IN_EXTRA 0xffffffffu /* the number is in the zip64 extra field */

static bool damaged(const ast_zip *zip, const char *what, ast_format_error *error) {
    return ast_format_fail(error, "%s: is no zip archive that can be read: %s", zip->name, what);
}

/* ---- The directory ---- */

/* The zip64 end record, if a locator before the end record at `end` leads to one. */
static bool find_end64(ast_zip *zip, size_t end) {
    if (end < END64_LOCATOR || memcmp(zip->bytes + end - END64_LOCATOR, "PK\6\7", 4) != 0)
        return false;
    uint64_t at = ast_little(zip->bytes + end - END64_LOCATOR + 8, 8);
    if (zip->size < END64_RECORD || at > zip->size - END64_RECORD || memcmp(zip->bytes + at, "PK\6\6", 4) != 0)
        return false;
    zip->members = (size_t)ast_little(zip->bytes + at + 32, 8);
    zip->directory = (size_t)ast_little(zip->bytes + at + 48, 8);
    return true;
}

static bool find_directory(ast_zip *zip, ast_format_error *error) {
    if (zip->size < END_RECORD)
        return damaged(zip, "it is too short", error);
    size_t end = zip->size - END_RECORD, least = end > COMMENT_MOST ? end - COMMENT_MOST : 0;
    while (end > least && memcmp(zip->bytes + end, "PK\5\6", 4) != 0)
        end--;
    if (memcmp(zip->bytes + end, "PK\5\6", 4) != 0)
        return damaged(zip, "its end is missing; it was cut short, or is no .npz file", error);
    zip->members = (size_t)ast_little(zip->bytes + end + 10, 2);
    zip->directory = (size_t)ast_little(zip->bytes + end + 16, 4);
    if (zip->members == 0xffff || zip->directory == IN_EXTRA)
        find_end64(zip, end);
    return zip->directory <= zip->size || damaged(zip, "its directory is beyond its end", error);
}

bool ast_zip_open(ast_zip *zip, ast_bytes *bytes, ast_format_error *error) {
    ast_buffer whole = {0};
    bool good = ast_bytes_fill(bytes, &whole, SIZE_MAX, error);
    *zip = (ast_zip){.name = bytes->name, .bytes = whole.place, .size = whole.filled};
    if (good && find_directory(zip, error))
        return true;
    ast_zip_close(zip);
    return false;
}

void ast_zip_close(ast_zip *zip) {
    free(zip->bytes);
    zip->bytes = NULL;
}

/* ---- Members ---- */

typedef struct zip_member {
    unsigned method; /* 0 stored, 8 deflated */
    uint32_t check;
    uint64_t packed, size, offset;
} zip_member;

/* Numbers that do not fit 32 bits stand in the extra field with the id 1, in this order. */
static void read_extra(zip_member *member, const unsigned char *extra, size_t length) {
    uint64_t *wide[] = {&member->size, &member->packed, &member->offset};
    for (size_t at = 0; at + 4 <= length;) {
        size_t id = ast_little(extra + at, 2), size = ast_little(extra + at + 2, 2), from = at + 4;
        if (size > length - from)
            return;
        for (size_t w = 0; id == 1 && w < 3; w++)
            if (*wide[w] == IN_EXTRA && from + 8 <= at + 4 + size) {
                *wide[w] = ast_little(extra + from, 8);
                from += 8;
            }
        at += 4 + size;
    }
}

/* The entry at `at` of the directory: fills the member in if it is called `name`. Returns where the next one begins, or
 * 0 if this one is damaged. */
static size_t read_entry(const ast_zip *zip, size_t at, const char *name, zip_member *member, bool *found) {
    const unsigned char *entry = zip->bytes + at;
    if (zip->size - at < DIRECTORY_ENTRY || memcmp(entry, "PK\1\2", 4) != 0)
        return 0;
    size_t length = ast_little(entry + 28, 2), extra = ast_little(entry + 30, 2), comment = ast_little(entry + 32, 2);
    if (zip->size - at - DIRECTORY_ENTRY < length + extra + comment)
        return 0;
    *found = length == strlen(name) && memcmp(entry + DIRECTORY_ENTRY, name, length) == 0;
    if (*found) {
        *member = (zip_member){.method = (unsigned)ast_little(entry + 10, 2),
                               .check = (uint32_t)ast_little(entry + 16, 4),
                               .packed = ast_little(entry + 20, 4),
                               .size = ast_little(entry + 24, 4),
                               .offset = ast_little(entry + 42, 4)};
        read_extra(member, entry + DIRECTORY_ENTRY + length, extra);
    }
    return at + DIRECTORY_ENTRY + length + extra + comment;
}

/* The packed bytes of a member; NULL if they are not in the file. */
static const unsigned char *packed_bytes(const ast_zip *zip, const zip_member *member) {
    if (zip->size < LOCAL_HEADER || member->offset > zip->size - LOCAL_HEADER)
        return NULL;
    const unsigned char *header = zip->bytes + member->offset;
    if (memcmp(header, "PK\3\4", 4) != 0)
        return NULL;
    uint64_t begin = member->offset + LOCAL_HEADER + ast_little(header + 26, 2) + ast_little(header + 28, 2);
    return begin > zip->size || member->packed > zip->size - begin ? NULL : zip->bytes + begin;
}

/* The bytes of a member, stored or deflated. One byte more is asked for than the directory promises. */
static bool read_member(const ast_zip *zip, const zip_member *member, const unsigned char *packed,
                        unsigned char **bytes, ast_format_error *error) {
    ast_bytes source;
    ast_buffer buffer = {0};
    if (member->size >= SIZE_MAX / 2)
        return ast_format_no_memory(error, zip->name);
    if (!ast_bytes_open_memory(&source, zip->name, packed, (size_t)member->packed, false, error) ||
        (member->method != 0 && !(source.gz = ast_gz_open(zip->name, true, error))))
        return false;
    bool good = ast_bytes_fill(&source, &buffer, (size_t)member->size + 1, error);
    bool damaged_bytes = good ? buffer.filled != member->size : source.damaged;
    ast_bytes_close(&source);
    *bytes = buffer.place;
    if (damaged_bytes)
        return damaged(zip, member->method == 0 ? "a stored member has two sizes" : "its compressed data are damaged",
                       error);
    return good;
}

static bool is_whole(const zip_member *member, const unsigned char *bytes) {
#ifdef AST_HAVE_ZLIB
    return (uint32_t)crc32_z(0, bytes, (z_size_t)member->size) == member->check;
#else
    return member && bytes;
#endif
}

static bool unpack(const ast_zip *zip, const zip_member *member, unsigned char **bytes, ast_format_error *error) {
    const unsigned char *packed = packed_bytes(zip, member);
    if (!packed)
        return damaged(zip, "a member is not where the directory says", error);
    if (member->method != 0 && member->method != 8)
        return damaged(zip, "a member is neither stored nor deflated", error);
    bool good = read_member(zip, member, packed, bytes, error);
    if (good && !is_whole(member, *bytes))
        good = damaged(zip, "a check sum is wrong; the file is damaged", error);
    return good;
}

bool ast_zip_read(const ast_zip *zip, const char *name, unsigned char **bytes, size_t *size, bool *found,
                  ast_format_error *error) {
    zip_member member;
    size_t at = zip->directory;
    *bytes = NULL;
    *found = false;
    for (size_t m = 0; m < zip->members && !*found; m++) {
        at = read_entry(zip, at, name, &member, found);
        if (at == 0)
            return damaged(zip, "its directory is damaged", error);
    }
    if (!*found)
        return true;
    if (!unpack(zip, &member, bytes, error)) {
        free(*bytes);
        *bytes = NULL;
        return false;
    }
    *size = (size_t)member.size;
    return true;
}
