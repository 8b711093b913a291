/* SPDX-License-Identifier: MIT
 *
 * Laser scans: LAS of every point format, KITTI and XYZ; coordinates of maps, headers that lie, columns. */
#include "solid_helpers.h"

enum { LAS_ROOM = 4096, HEADER = 227, LONG_HEADER = 375 };

typedef struct las_file {
    unsigned char bytes[LAS_ROOM];
    size_t size;
} las_file;

static const unsigned least[] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};

/* A file of `count` points at (i, 10 i, -i) thousandths, beside 512702, 5403549, 301. */
static las_file make_las(unsigned format, size_t record, size_t count) {
    las_file f = {.size = format >= 6 ? LONG_HEADER : HEADER};
    memcpy(f.bytes, "LASF", 4);
    f.bytes[24] = 1;
    f.bytes[25] = format >= 6 ? 4 : 2;
    put_number(f.bytes + 94, '<', 'u', 2, (double)f.size);
    put_number(f.bytes + 96, '<', 'u', 4, (double)f.size);
    f.bytes[104] = (unsigned char)format;
    put_number(f.bytes + 105, '<', 'u', 2, (double)record);
    put_number(f.bytes + 107, '<', 'u', 4, format >= 6 ? 0 : (double)count);
    for (int c = 0; c < 3; c++) {
        static const double offsets[] = {512702, 5403549, 301};
        put_number(f.bytes + 131 + 8 * c, '<', 'f', 8, 0.001);
        put_number(f.bytes + 155 + 8 * c, '<', 'f', 8, offsets[c]);
    }
    if (format >= 6)
        put_number(f.bytes + 247, '<', 'u', 8, (double)count);
    for (size_t i = 0; i < count; i++, f.size += record) {
        double at = (double)i;
        put_number(f.bytes + f.size, '<', 'i', 4, at);
        put_number(f.bytes + f.size + 4, '<', 'i', 4, 10 * at);
        put_number(f.bytes + f.size + 8, '<', 'i', 4, -at);
    }
    return f;
}

static void las_formats(void **state) {
    (void)state;
    for (unsigned format = 0; format <= 10; format++)
        for (size_t more = 0; more < 6; more += 5) {
            las_file f = make_las(format, least[format] + more, 5);
            ast_solid solid = read_solid("las", f.bytes, f.size);
            assert_int_equal(solid.count, 5);
            assert_true(solid.origin[0] == 512702 && solid.origin[1] == 5403549 && solid.origin[2] == 0);
            for (size_t i = 0; i < 5; i++) {
                double at = 0.001 * (double)i;
                assert_true(fabs((double)solid.points[3 * i] - at) < 1e-6);
                assert_true(fabs((double)solid.points[3 * i + 1] - 10 * at) < 1e-6);
                assert_true(fabs((double)solid.points[3 * i + 2] + at - 301) < 1e-4);
            }
            ast_solid_free(&solid);
        }
}

static void withheld_points(void **state) {
    (void)state;
    for (unsigned format = 0; format <= 10; format++) {
        las_file f = make_las(format, least[format], 3);
        f.bytes[f.size - 2 * least[format] + 15] = format < 6 ? 0x80 : 0x04;
        ast_solid solid = read_solid("las", f.bytes, f.size);
        assert_true(!isnan(solid.points[0]) && isnan(solid.points[3]) && !isnan(solid.points[6]));
        ast_solid_free(&solid);
    }
}

static void bad_las(void **state) {
    (void)state;
    las_file f = make_las(3, 34, 2);
    for (size_t cut = 0; cut < f.size; cut++)
        expect_bad_solid("las", f.bytes, cut, cut == 0 ? "is empty" : cut < 4 ? "no LAS file" : "is cut short");
    expect_bad_solid("las", f.bytes, f.size - 1, "1 of its 2 points are there");
    f.bytes[104] = 3 | 0x80;
    expect_bad_solid("las", f.bytes, f.size, "is compressed (LAZ)");
    f.bytes[104] = 11;
    expect_bad_solid("las", f.bytes, f.size, "LAS format 11; formats 0 to 10 can be read");
    f = make_las(3, 33, 2);
    expect_bad_solid("las", f.bytes, f.size, "has 33 bytes a point; LAS format 3 has at least 34");
    f = make_las(0, 20, 2);
    put_number(f.bytes + 139, '<', 'f', 8, 0);
    expect_bad_solid("las", f.bytes, f.size, "the scale 0 and the offset 5.40355e+06 for y");
    f = make_las(0, 20, 0);
    expect_bad_solid("las", f.bytes, f.size, "has not a single point");
    put_number(f.bytes + 96, '<', 'u', 4, 12);
    expect_bad_solid("las", f.bytes, f.size, "points begin at byte 12");
}

static void kitti_scans(void **state) {
    (void)state;
    unsigned char bytes[48];
    float expected[9];
    for (size_t i = 0; i < 12; i++) {
        put_number(bytes + 4 * i, '<', 'f', 4, 0.5 * (double)i);
        if (i % 4 < 3)
            expected[3 * (i / 4) + i % 4] = 0.5F * (float)i;
    }
    expect_solid("kitti", bytes, 48, 3, expected, NULL, 0, NULL);
    expect_bad_solid("kitti", bytes, 47, "its 47 bytes are no whole number of points of 16 bytes");
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const float two[] = {1, 2, 3, -4.5F, 0.5F, 6};

static void xyz_texts(void **state) {
    (void)state;
    const float missing[] = {1, 2, 3, NAN, NAN, NAN};
    expect_solid("xyz", BYTES("1 2 3\n-4.5 .5 6\n"), 2, two, NULL, 0, NULL);
    expect_solid("xyz", BYTES("# made by hand\r\n 1\t2 3  255 0 0\r\n\r\n-4.5 5e-1 6 1 2 3"), 2, two, NULL, 0, NULL);
    expect_solid("xyz", BYTES("X,Y,Z,I\n1,2,3,9\n// more\n-4.5 ; .5;6;8\n"), 2, two, NULL, 0, NULL);
    expect_solid("xyz", BYTES("2\n1 2 3\n-4.5 .5 6\n"), 2, two, NULL, 0, NULL);
    expect_solid("xyz", BYTES("1 2 3\n4 nan 6\n"), 2, missing, NULL, 0, NULL);
    expect_bad_solid("xyz", BYTES("1 2 3\n4 5\n"), "line 2: has 2 columns, and column 3 is needed");
    expect_bad_solid("xyz", BYTES("1 2 3\n4 x 6\n"), "line 2: 'x' is not a number");
    expect_bad_solid("xyz", BYTES("1 2 3\n4,,6\n"), "line 2: ");
    expect_bad_solid("xyz", BYTES("# nothing\n"), "has not a single point");
    expect_bad_solid("xyz", BYTES("1 2 1e400\n"), "infinite or too large");
}

static void check_columns(const char *columns, const char *text, const float *normals, const char *problem) {
    ast_file_format how = ast_format_of("part.xyz", NULL);
    ast_format_error error = {""};
    ast_solid solid;
    how.columns = columns;
    bool good = ast_solid_read_memory(&solid, "part", how, text, strlen(text), &error);
    if (problem) {
        if (good || !strstr(error.text, problem))
            fail_msg("'%s' does not contain '%s'", error.text, problem);
        return;
    }
    if (!good)
        fail_msg("%s", error.text);
    assert_int_equal(solid.count, 2);
    expect_floats(solid.points, two, 6);
    assert_int_equal(solid.normals != NULL, normals != NULL);
    if (normals)
        expect_floats(solid.normals, normals, 6);
    ast_solid_free(&solid);
}

static void xyz_columns(void **state) {
    (void)state;
    static const float up[] = {0, 0, 1, 0, 1, 0};
    check_columns("2-4", "9 1 2 3\n8 -4.5 .5 6\n", NULL, NULL);
    check_columns("3,1,2", "2 3 1\n.5 6 -4.5\n", NULL, NULL);
    check_columns("1-3,5-7", "1 2 3 x 0 0 1\n-4.5 .5 6 y 0 1 0\n", up, NULL);
    check_columns("X,Y,Z,Nx,Ny,Nz", "//I X Y Z Nx Ny Nz\n7 1 2 3 0 0 1\n8 -4.5 .5 6 0 1 0\n", up, NULL);
    check_columns("1,2", "1 2 3\n", NULL, "--columns has 2 columns; a cloud has three");
    check_columns("X,Y,Z", "1 2 3\n", NULL, "has no line that names its columns");
    check_columns("X,Y,W", "X Y Z\n1 2 3\n", NULL, "part: ");
    check_columns("1,2,9", "1 2 3\n", NULL, "column 9 is needed");
}

/* A coordinate of a map keeps its digits. */
static void map_coordinates(void **state) {
    (void)state;
    ast_solid solid = read_solid("xyz", BYTES("512702.123 5403549.456 301.789\n512703.124 5403550.457 302.79\n"));
    static const double expected[] = {512702.123, 5403549.456, 301.789, 512703.124, 5403550.457, 302.79};
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs((double)solid.points[i] + solid.origin[i % 3] - expected[i]) < 1e-4);
    ast_solid_free(&solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(las_formats),     cmocka_unit_test(withheld_points), cmocka_unit_test(bad_las),
        cmocka_unit_test(kitti_scans),     cmocka_unit_test(xyz_texts),       cmocka_unit_test(xyz_columns),
        cmocka_unit_test(map_coordinates),
    };
    return cmocka_run_group_tests_name("scans", tests, NULL, NULL);
}
