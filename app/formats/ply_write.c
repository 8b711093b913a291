/* SPDX-License-Identifier: MIT
 *
 * Writes clouds and meshes as binary little-endian PLY, with a colour and a label for each point or each face. */
#include "bytes.h"
#include "solids.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool write_header(ast_output *output, const ast_ply_content *content, ast_format_error *error);
static bool write_points(ast_output *output, const ast_ply_content *content, ast_format_error *error);
static bool write_faces(ast_output *output, const ast_ply_content *content, ast_format_error *error);

bool ast_write_ply(ast_output *output, const ast_ply_content *content, ast_format_error *error) {
    return write_header(output, content, error) && write_points(output, content, error) &&
           (!content->faces || write_faces(output, content, error));
}

/* What a point or a face has besides its place or its corners. */
static const char *extras(const ast_ply_content *content, bool here, bool labels) {
    if (!here)
        return "";
    if (labels)
        return content->labels ? "property int label\n" : "";
    return content->rgb ? "property uchar red\nproperty uchar green\nproperty uchar blue\n" : "";
}

static bool is_moved(const ast_ply_content *content) {
    return content->origin[0] != 0 || content->origin[1] != 0 || content->origin[2] != 0;
}

static bool write_header(ast_output *output, const ast_ply_content *content, ast_format_error *error) {
    const char *type = is_moved(content) ? "double" : "float";
    char header[1024];
    bool mesh = content->faces != NULL;
    int length = snprintf(header, sizeof header,
                          "ply\nformat binary_little_endian 1.0\ncomment asterism\nelement vertex %zu\n"
                          "property %s x\nproperty %s y\nproperty %s z\n%s%s%s",
                          content->count, type, type, type,
                          content->normals ? "property float nx\nproperty float ny\nproperty float nz\n" : "",
                          extras(content, !mesh, false), extras(content, !mesh, true));
    if (mesh)
        length += snprintf(header + length, sizeof header - (size_t)length,
                           "element face %zu\nproperty list uchar int vertex_indices\n%s%s", content->face_count,
                           extras(content, true, false), extras(content, true, true));
    assert((size_t)length < sizeof header);
    return ast_output_write(output, header, (size_t)length, error) &&
           ast_output_write(output, "end_header\n", 11, error);
}

static unsigned char *put_words(unsigned char *place, const void *words, size_t count) {
    for (size_t i = 0; i < count; i++, place += 4) {
        uint32_t bits;
        memcpy(&bits, (const char *)words + 4 * i, sizeof bits);
        ast_put_little(place, bits, sizeof bits);
    }
    return place;
}

static unsigned char *put_extras(unsigned char *place, const ast_ply_content *content, size_t index) {
    if (content->rgb) {
        memcpy(place, content->rgb + 3 * index, 3);
        place += 3;
    }
    return content->labels ? put_words(place, content->labels + index, 1) : place;
}

/* Coordinates of the file. */
static unsigned char *put_moved(unsigned char *place, const float *point, const double *origin) {
    for (int c = 0; c < 3; c++, place += 8) {
        double value = point[c] + origin[c];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        ast_put_little(place, bits, sizeof bits);
    }
    return place;
}

static bool write_points(ast_output *output, const ast_ply_content *content, ast_format_error *error) {
    unsigned char row[64];
    bool moved = is_moved(content);
    for (size_t i = 0; i < content->count; i++) {
        const float *point = content->points + 3 * i;
        unsigned char *end = moved ? put_moved(row, point, content->origin) : put_words(row, point, 3);
        if (content->normals)
            end = put_words(end, content->normals + 3 * i, 3);
        if (!content->faces)
            end = put_extras(end, content, i);
        if (!ast_output_write(output, row, (size_t)(end - row), error))
            return false;
    }
    return true;
}

static bool write_faces(ast_output *output, const ast_ply_content *content, ast_format_error *error) {
    unsigned char row[32] = {3};
    for (size_t i = 0; i < content->face_count; i++) {
        unsigned char *end = put_words(row + 1, content->faces + 3 * i, 3);
        end = put_extras(end, content, i);
        if (!ast_output_write(output, row, (size_t)(end - row), error))
            return false;
    }
    return true;
}
