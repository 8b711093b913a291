/* SPDX-License-Identifier: MIT
 *
 * PLY files: text and both byte orders, any properties and elements, faces of any size, headers that lie; and what we
 * write reads back. */
#include "solid_helpers.h"

#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACES(count) "element face " count "\nproperty list uchar int vertex_indices\n"
#define ASCII "ply\nformat ascii 1.0\n"
#define LITTLE "ply\nformat binary_little_endian 1.0\n"
#define BIG "ply\nformat binary_big_endian 1.0\n"

static void text_files(void **state) {
    (void)state;
    const float two[] = {1, 2, 3, -4.5F, 0.5F, NAN}, missing[] = {1, 2, 3, NAN, NAN, NAN};
    expect_solid("ply", BYTES(ASCII "comment x\nelement vertex 2\n" XYZ "end_header\n1 2 3\n-4.5 .5 nan\n"), 2, missing,
                 NULL, 0, NULL);
    expect_solid("ply",
                 BYTES("ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty double z\r\nproperty uchar red\r\n"
                       "property list uchar float w\r\nproperty float32 x\r\nproperty int16 y\r\nend_header\r\n"
                       "3 255 2 7.5 8.5 1 2\r\n"),
                 1, two, NULL, 0, NULL);
    expect_solid("ply",
                 BYTES(ASCII "obj_info a b\nelement extra 2\nproperty int a\nelement vertex 1\nproperty float nx\n"
                             "property float ny\nproperty float nz\n" XYZ "end_header\n7\n8\n0 -1 0 1 2 3"),
                 1, two, (const float[]){0, -1, 0}, 0, NULL);
}

static void text_faces(void **state) {
    (void)state;
    const float square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    expect_solid("ply",
                 BYTES(ASCII "element vertex 4\n" XYZ FACES("2") "property uchar red\nend_header\n0 0 0\n1 0 0\n"
                                                                 "1 1 0\n0 1 0\n4 0 1 2 3 9\n3 2 1 0 9\n"),
                 4, square, NULL, 3, (const int32_t[]){0, 1, 2, 0, 2, 3, 2, 1, 0});
    /* Faces before their vertices, and the other name of the list. */
    expect_solid("ply",
                 BYTES(ASCII "element face 1\nproperty list uint8 uint32 vertex_index\nelement vertex 4\n" XYZ
                             "end_header\n3 0 3 2\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n"),
                 4, square, NULL, 1, (const int32_t[]){0, 3, 2});
}

/* ---- Binary ------------------------------------------------------------------------------------------------------ */

typedef struct made {
    unsigned char bytes[4096];
    size_t size;
    char order;
} made;

static void put_text(made *file, const char *text) {
    memcpy(file->bytes + file->size, text, strlen(text));
    file->size += strlen(text);
}

static void put(made *file, char kind, size_t item, double value) {
    put_number(file->bytes + file->size, file->order, kind, item, value);
    file->size += item;
}

/* Vertices (with a list of their own if `lists`), something in between, and faces with a property on either side. */
static made make_binary(char order, char kind, size_t item, const char *type, const char *index_type, bool lists) {
    made file = {.order = order};
    char header[1024];
    snprintf(header, sizeof header,
             "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty uchar red\nproperty %s x\nproperty %s y\n%s"
             "property %s z\nproperty ushort t\nelement edge 3\nproperty int a\nproperty list short double b\nelement "
             "face 2\nproperty short a\nproperty list %s %s vertex_indices\nproperty list uchar float c\nend_header\n",
             order == '<' ? "little" : "big", type, type, lists ? "property list uchar uchar l\n" : "", type,
             index_type, index_type);
    put_text(&file, header);
    size_t index_item = strcmp(index_type, "ushort") == 0 ? 2 : 4;
    char index_kind = *index_type == 'u' ? 'u' : 'i';
    for (int i = 0; i < 4; i++) {
        put(&file, 'u', 1, 77);
        put(&file, kind, item, i == 1 || i == 2);
        put(&file, kind, item, i >= 2);
        for (int k = 0; lists && k <= i; k++)
            put(&file, 'u', 1, k == 0 ? i : 99);
        put(&file, kind, item, 5);
        put(&file, 'u', 2, 999);
    }
    for (int i = 0; i < 3; i++) {
        put(&file, 'i', 4, i);
        put(&file, 'i', 2, i);
        for (int k = 0; k < i; k++)
            put(&file, 'f', 8, 1);
    }
    for (int i = 0; i < 2; i++) {
        put(&file, 'i', 2, -1);
        put(&file, index_kind, index_item, 4 - i);
        for (int k = 0; k < 4 - i; k++)
            put(&file, index_kind, index_item, k);
        put(&file, 'u', 1, 1);
        put(&file, 'f', 4, 1.5);
    }
    return file;
}

static void binary_files(void **state) {
    (void)state;
    static const struct {
        char kind;
        size_t item;
        const char *name;
    } types[] = {{'f', 4, "float"}, {'f', 8, "float64"}, {'i', 1, "char"}, {'u', 1, "uint8"},
                 {'i', 2, "int16"}, {'u', 2, "ushort"},  {'i', 4, "int"},  {'u', 4, "uint32"}};
    static const char *const indices[] = {"int", "uint", "ushort"};
    const float points[] = {0, 0, 5, 1, 0, 5, 1, 1, 5, 0, 1, 5};
    for (size_t t = 0; t < ITEMS(types); t++)
        for (int n = 0; n < 12; n++) {
            made file =
                make_binary(n & 1 ? '>' : '<', types[t].kind, types[t].item, types[t].name, indices[n / 4], n & 2);
            expect_solid("ply", file.bytes, file.size, 4, points, NULL, 3,
                         (const int32_t[]){0, 1, 2, 0, 2, 3, 0, 1, 2});
            for (size_t cut = 0; cut < file.size; cut += t ? 7 : 1)
                expect_bad_solid("ply", file.bytes, cut, "");
            file.bytes[file.size] = 1;
            expect_bad_solid("ply", file.bytes, file.size + 1, "1 bytes follow the last element");
        }
}

/* The way for plain triangles, with faces of other sizes among them, and one that is wrong. */
static void plain_faces(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        made file = {.order = '<'};
        put_text(&file, LITTLE "element vertex 4\n" XYZ FACES("5") "end_header\n");
        for (int i = 0; i < 12; i++)
            put(&file, 'f', 4, i % 3 == 2 ? 0 : i % 3 ? i > 5 : i > 2 && i < 9);
        for (int i = 0; i < 5; i++) {
            int corners = i == 2 ? 4 : wrong == 1 && i == 4 ? 2 : 3;
            put(&file, 'u', 1, corners);
            for (int k = 0; k < corners; k++)
                put(&file, 'i', 4, wrong == 2 && i == 3 && k == 1 ? 4 : wrong == 3 && i == 1 && k == 2 ? -1 : k);
        }
        static const char *const parts[] = {NULL, "face 4 has 2 corners; it must have 3 or more",
                                            "face 3 names vertex 4, but there are 4, from 0", "face 1 names vertex -1"};
        if (wrong) {
            expect_bad_solid("ply", file.bytes, file.size, parts[wrong]);
            expect_bad_solid("ply", file.bytes, file.size, "at byte ");
            continue;
        }
        ast_solid solid = read_solid("ply", file.bytes, file.size);
        assert_true(solid.face_count == 6);
        assert_true(solid.faces[8] == 2 && solid.faces[11] == 3 && solid.faces[15] == 0);
        ast_solid_free(&solid);
        expect_bad_solid("ply", file.bytes, file.size - 1, "is cut short: at byte ");
        expect_bad_solid("ply", file.bytes, file.size - 1, "4 of its 5 faces are there");
    }
}

/* ---- Bad files --------------------------------------------------------------------------------------------------- */

static void bad_headers(void **state) {
    (void)state;
    expect_bad_solid("ply", BYTES("plyx\n"), "is no PLY file");
    expect_bad_solid("ply", BYTES("ply"), "its PLY header has no line end_header");
    expect_bad_solid("ply", BYTES("ply\nformat ascii 2.0\n"), "line 2: must be format ascii 1.0");
    expect_bad_solid("ply", BYTES("ply\ncomment\nelement vertex 3\n"), "line 3: must be format");
    expect_bad_solid("ply", BYTES(ASCII "element vertex\n"), "line 3: must be element NAME COUNT");
    expect_bad_solid("ply", BYTES(ASCII "element vertex -1\n"), "must be element NAME COUNT");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\nelement vertex 2\n"), "there is such an element already");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1000000000000\n"), "line 3: promises 1000000000000 of them");
    expect_bad_solid("ply", BYTES(ASCII "element face 18446744073709551615\n"),
                     "line 3: promises 18446744073709551615 of them; at most 2^31 - 1 can be read");
    expect_bad_solid("ply",
                     BYTES(ASCII
                           "element vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty float "
                           "nx\nproperty float ny\nproperty float nz\nend_header\n0 0 0 0 0 1\n0 0 0 0 -inf 1\n"),
                     "the normal of vertex 2 (counting from 1) is infinite or too large");
    expect_bad_solid("ply", BYTES(ASCII "property float x\n"), "a property must follow an element");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\nproperty x\n"), "must be property TYPE NAME");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\nproperty real x\n"), "a type must be char, uchar");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\nproperty list float int x\n"), "a whole number");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ "property float x\n"), "such a property already");
    expect_bad_solid("ply", BYTES(ASCII "vertex 1\n"), "is no line of a PLY header");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\nproperty float x\nend_header\n1"),
                     "no element vertex with properties x, y and z");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 0\n" XYZ "end_header\n"), "has not a single point");
}

static void bad_bodies(void **state) {
    (void)state;
    expect_bad_solid("ply", BYTES(ASCII "element vertex 2000000000\n" XYZ "end_header\n1 2 3"),
                     "the 5 bytes behind its header cannot hold the 2000000000 elements that it promises");
    expect_bad_solid("ply", BYTES(BIG "element vertex 1\n" XYZ FACES("2000000000") "end_header\n123412341234"),
                     "cannot hold the 2000000000 elements");
    expect_bad_solid("ply",
                     BYTES(LITTLE "element other 999999999999999\nproperty float a\nelement vertex 1\n" XYZ
                                  "end_header\n123412341234"),
                     "cannot hold the 999999999999999 elements");
    expect_bad_solid("ply",
                     BYTES(LITTLE "element vertex 1\n" XYZ "element face 1\nproperty list uint int vertex_indices"
                                  "\nend_header\n123412341234\xFF\xFF\xFF\xFF\1\0\0\0"),
                     "is cut short: at byte ");
    expect_bad_solid("ply",
                     BYTES(LITTLE "element vertex 1\n" XYZ "element face 1\nproperty list int int vertex_indices"
                                  "\nend_header\n123412341234\xFF\xFF\xFF\xFF\1\0\0\0"),
                     "a list cannot have -1 numbers");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 2\n" XYZ "end_header\n1 2 3\n     \n      \n"),
                     "is cut short: 1 of its 2 vertices are there");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 2\n" XYZ "end_header\n1 2\n4 5 6 7\n"),
                     "line 8: ends before all properties of the element are there");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ "end_header\n1 2 3 4\n"), "line 8: has more numbers");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ "end_header\n1 two 3\n"), "'two' is not a number");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ "end_header\n1 2 3\n4\n"), "line 9: follows the last");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ FACES("1") "end_header\n1 2 3\n3 0 0 1\n"),
                     "line 11: face 0 names vertex 1, but there are 1, from 0");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ FACES("1") "end_header\n1 2 3\n3 0 -1 0\n"),
                     "face 0 names vertex -1");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ FACES("1") "end_header\n1 2 3\n2 0 0\n"),
                     "face 0 has 2 corners");
    expect_bad_solid("ply", BYTES(ASCII "element vertex 1\n" XYZ FACES("1") "end_header\n1 2 3\n900000000 0 0\n"),
                     "a list cannot have 900000000 numbers");
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static char *written(const ast_ply_content *content, size_t *size) {
    ast_format_error error;
    ast_output *output = ast_output_open("out.ply", false, &error);
    assert_non_null(output);
    assert_true(ast_write_ply(output, content, &error) && ast_output_commit(output, &error));
    return read_bytes("out.ply", size);
}

static void writing(void **state) {
    (void)state;
    const float points[] = {1, 2, 3, NAN, NAN, NAN, 7, 8, 9}, normals[] = {0, 0, 1, 0, 1, 0, 1, 0, 0};
    const unsigned char rgb[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int32_t faces[] = {0, 1, 2, 2, 1, 0}, labels[] = {-1, 5, 1 << 20};
    size_t size;
    char *file = written(&(ast_ply_content){.points = points, .count = 3, .rgb = rgb, .labels = labels}, &size);
    const char *body = strstr(file, "end_header\n") + 11;
    assert_non_null(strstr(file, "property uchar blue\nproperty int label\nend_header\n"));
    assert_int_equal(file + size - body, 3 * 19);
    assert_memory_equal(body + 12, "\1\2\3\xFF\xFF\xFF\xFF", 7);
    assert_memory_equal(body + 2 * 19 + 12, "\7\x08\x09\0\0\x10\0", 7);
    expect_solid("ply", file, size, 3, points, NULL, 0, NULL);
    free(file);
    file = written(&(ast_ply_content){.points = points,
                                      .normals = normals,
                                      .count = 3,
                                      .faces = faces,
                                      .face_count = 2,
                                      .rgb = rgb,
                                      .labels = labels},
                   &size);
    assert_memory_equal(file + size - 20, "\3\2\0\0\0\1\0\0\0\0\0\0\0\4\5\6\5\0\0\0", 20);
    expect_solid("ply", file, size, 3, points, normals, 2, faces);
    free(file);
    file = written(&(ast_ply_content){.points = points, .count = 3, .faces = faces, .face_count = 1}, &size);
    expect_solid("ply", file, size, 3, points, NULL, 1, faces);
    free(file);
}

/* Coordinates of a map: what is read is relative to an origin, what is written are doubles, to a tenth of a millimetre.
 * Floats are taken as they are. */
static void far_from_zero(void **state) {
    (void)state;
    static const char header[] = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\n"
                                 "property float z\nend_header\n";
    char text[400];
    snprintf(text, sizeof text, "%snan 5403549.1237 301.25\n512702.0014 5403549.5 302\n512703.5 5403560 303\n", header);
    ast_solid solid = read_solid("ply", text, strlen(text));
    static const float relative[] = {NAN, NAN, NAN, 0.0014f, 0.5f, 302, 1.5f, 11, 303};
    for (int i = 3; i < 9; i++)
        assert_true(fabsf(solid.points[i] - relative[i]) < 1e-5f);
    assert_true(isnan(solid.points[0]) && isnan(solid.points[1]) && isnan(solid.points[2]));
    assert_true(solid.origin[0] == 512702 && solid.origin[1] == 5403549 && solid.origin[2] == 0);
    ast_ply_content content = {.points = solid.points, .origin = {512702, 5403549, 0}, .count = 3};
    size_t size;
    char *file = written(&content, &size);
    assert_non_null(strstr(file, "property double x\nproperty double y\nproperty double z\n"));
    double value;
    memcpy(&value, file + size - 48, sizeof value);
    assert_true(fabs(value - 512702.0014) < 1e-4);
    ast_solid again = read_solid("ply", file, size);
    assert_true(again.origin[0] == 512702 && again.origin[1] == 5403549);
    expect_floats(again.points, solid.points, 9);
    free(file);
    ast_solid_free(&solid);
    ast_solid_free(&again);
    static const char obj[] = "v -2000000.75 0 5000\nv -2000001 1 5000.5\n";
    solid = read_solid("obj", BYTES(obj));
    expect_floats(solid.points, (float[]){-0.75f, 0, 0, -1, 1, 0.5f}, 6);
    assert_true(solid.origin[0] == -2000000 && solid.origin[1] == 0 && solid.origin[2] == 5000);
    ast_solid_free(&solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(far_from_zero), cmocka_unit_test(text_files),
                                       cmocka_unit_test(text_faces),    cmocka_unit_test(binary_files),
                                       cmocka_unit_test(plain_faces),   cmocka_unit_test(bad_headers),
                                       cmocka_unit_test(bad_bodies),    cmocka_unit_test(writing)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
