/* SPDX-License-Identifier: MIT
 *
 * LAS, the ASPRS format of laser scans, versions 1.0 to 1.4, without compression. A coordinate is a whole number of 32
 * bits, times a scale, plus an offset, both doubles; it becomes a float only after the origin is subtracted. Withheld
 * points, which the format says are not to be used, are missing. */
#include "solid_readers.h"

#include "bytes.h"

#include <math.h>
#include <string.h>

enum {
    HEADER = 227, /* bytes, the shortest header; that of version 1.4 is LONG_HEADER */
    LONG_HEADER = 375,
    FORMATS = 11,
    COMPRESSED = 0xC0 /* bits of the point format that LAZ files have */
};

/* Where a header has what is needed. */
enum {
    AT_MINOR = 25,
    AT_HEADER_SIZE = 94,
    AT_POINTS = 96,
    AT_FORMAT = 104,
    AT_RECORD = 105,
    AT_COUNT = 107,
    AT_SCALES = 131,
    AT_OFFSETS = 155,
    AT_LONG_COUNT = 247
};

typedef struct las {
    const ast_solid_file *file;
    unsigned format;
    size_t record, body; /* bytes of a point, and before the first */
    uint64_t count;
    double scale[3], offset[3];
} las;

static bool read_header(las *header);
static bool check_points(const las *header);
static bool is_withheld(const las *header, const char *point);

bool ast_las_solid(ast_solid *solid, const ast_solid_file *file) {
    ast_solid_file bytes = *file;
    bytes.binary = true;
    las header = {.file = &bytes};
    if (!read_header(&header) || !check_points(&header) ||
        !ast_solid_make_points(solid, (size_t)header.count, false, &bytes))
        return false;
    const ast_solid_type whole = {'i', 4, ast_solid_swapped(true)};
    const char *at = file->text + header.body;
    for (size_t i = 0; i < header.count; i++, at += header.record) {
        bool withheld = is_withheld(&header, at);
        for (int c = 0; c < 3; c++) {
            double value = ast_solid_load(at + 4 * c, whole) * header.scale[c] + header.offset[c];
            ast_solid_store(solid, c, i, withheld ? (double)NAN : value);
        }
    }
    return true;
}

/* ---- Header ------------------------------------------------------------------------------------------------------ */

static bool read_scales(las *header) {
    const ast_solid_type real = {'f', 8, ast_solid_swapped(true)};
    const char *text = header->file->text;
    for (int c = 0; c < 3; c++) {
        header->scale[c] = ast_solid_load(text + AT_SCALES + 8 * c, real);
        header->offset[c] = ast_solid_load(text + AT_OFFSETS + 8 * c, real);
        if (!isfinite(header->scale[c]) || header->scale[c] == 0 || !isfinite(header->offset[c]))
            return ast_solid_fail(header->file, NULL,
                                  "its LAS header has the scale %g and the offset %g for %c; both must be finite, and "
                                  "the scale not 0",
                                  header->scale[c], header->offset[c], "xyz"[c]);
    }
    return true;
}

/* Files of version 1.4 may have more points than 32 bits count. */
static bool read_header(las *header) {
    const char *text = header->file->text;
    size_t size = (size_t)(header->file->end - text);
    if (size < 4 || memcmp(text, "LASF", 4) != 0)
        return ast_solid_fail(header->file, NULL, "is no LAS file: it does not begin with LASF");
    if (size < HEADER)
        return ast_solid_fail(header->file, NULL, "is cut short: a LAS header has at least %d bytes, and it has %zu",
                              HEADER, size);
    unsigned format = (unsigned char)text[AT_FORMAT];
    if (format & COMPRESSED)
        return ast_solid_fail(header->file, NULL, "is compressed (LAZ); laszip or las2las makes a .las of it");
    if (format >= FORMATS)
        return ast_solid_fail(header->file, NULL, "has points of LAS format %u; formats 0 to 10 can be read", format);
    header->format = format;
    header->record = ast_little(text + AT_RECORD, 2);
    header->body = ast_little(text + AT_POINTS, 4);
    header->count = ast_little(text + AT_COUNT, 4);
    bool is_long = text[AT_MINOR] >= 4 && ast_little(text + AT_HEADER_SIZE, 2) >= LONG_HEADER && size >= LONG_HEADER;
    if (is_long && (header->count == 0 || format >= 6))
        header->count = ast_little(text + AT_LONG_COUNT, 8);
    return read_scales(header);
}

/* The header's promises against the bytes that are there. */
static bool check_points(const las *header) {
    static const unsigned least[FORMATS] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
    size_t size = (size_t)(header->file->end - header->file->text);
    if (header->record < least[header->format])
        return ast_solid_fail(header->file, NULL, "has %zu bytes a point; LAS format %u has at least %u",
                              header->record, header->format, least[header->format]);
    if (header->body < HEADER || header->body > size)
        return ast_solid_fail(header->file, NULL, "is cut short: its points begin at byte %zu, and it has %zu bytes",
                              header->body, size);
    if (header->count > (size - header->body) / header->record)
        return ast_solid_fail(header->file, NULL, "is cut short: %zu of its %llu points are there",
                              (size - header->body) / header->record, (unsigned long long)header->count);
    return header->count <= AST_SOLID_MOST ||
           ast_solid_fail(header->file, NULL, "promises %llu points; at most 2^31 - 1 can be read",
                          (unsigned long long)header->count);
}

static bool is_withheld(const las *header, const char *point) {
    unsigned flags = (unsigned char)point[15];
    return header->format < 6 ? flags & 0x80 : flags & 0x04;
}
