/* SPDX-License-Identifier: MIT
 *
 * OBJ and STL files, polygons that are cut into triangles, names of files, and the real ones. */
#include "solid_helpers.h"

/* ---- OBJ --------------------------------------------------------------------------------------------------------- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0 1.0\nv 0 1 0 0.5 0.5 0.5\n"
static const float square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};

static void obj_files(void **state) {
    (void)state;
    const int32_t faces[] = {0, 1, 2, 0, 2, 3};
    expect_solid("obj", BYTES("# a square\nmtllib a.mtl\no part\n" SQUARE "s off\nf 1 2 3 4 # all\nl 1 2\n"), 4, square,
                 NULL, 2, faces);
    expect_solid("obj", BYTES(SQUARE "f 1/9 2/8 3/7 4/6\n"), 4, square, NULL, 2, faces);
    expect_solid("obj", BYTES(SQUARE "f -4 -3 -2 -1"), 4, square, NULL, 2, faces);
    expect_solid("obj", BYTES("f 1 2 \\\n 3\\\r\n 4\n" SQUARE), 4, square, NULL, 2, faces); /* before the points */
    expect_solid("obj", BYTES("v 0 0 0\rv 1\\\r0 0\rv 1 1 0\rv 0 1 0\rf 1 2 3\rf 1 3 4\r"), 4, square, NULL, 2, faces);
    expect_solid("obj", BYTES(SQUARE "# a comment \\\nf 1 2 3\nf 1 2 3\nf 1 3 4"), 4, square, NULL, 2, faces);
    const float normals[] = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1};
    expect_solid("obj", BYTES(SQUARE "vn 0 0 1\nvn 0 0 1\nvn 0 0 1\nvn 0 1 1\nf 1//1 2//2 3/5/3 4/5/4\n"), 4, square,
                 normals, 2, faces);
    expect_solid("obj", BYTES(SQUARE "vn 0 0 1\nvn 0 0 1\nvn 0 0 1\nvn 0 1 1\nf 1//4 2//2 3//3 4//4\n"), 4, square,
                 NULL, 2, faces);
    expect_solid("obj", BYTES("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\n"), 4, square, NULL, 0, NULL);
}

static void bad_objs(void **state) {
    (void)state;
    expect_bad_solid("obj", BYTES("# nothing\n"), "has not a single point");
    expect_bad_solid("obj", BYTES("v 1 2\n"), "line 1: ends where a number is needed");
    expect_bad_solid("obj", BYTES("v 1 2 x\n"), "line 1: 'x' is not a number");
    expect_bad_solid("obj", BYTES(SQUARE "\nf 1 2 5\nf 1 2 3"),
                     "line 6: the face names vertex 5, but there are 4, from 1");
    expect_bad_solid("obj", BYTES(SQUARE "f 1 2 -5\n"), "line 5: '-5' is no corner of a face");
    expect_bad_solid("obj", BYTES(SQUARE "f 0 1 2\n"), "'0' is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1 2 a\n"), "'a' is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1/ 2 3\n"), "'1/' is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1 2 3.5\n"), "'3.5' is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1 2 99999999999999999999999\n"), "is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1//-1 2//1 3//1\n"), "'1//-1' is no corner");
    expect_bad_solid("obj", BYTES(SQUARE "f 1 2\n"), "line 5: is a face of 2 corners");
    expect_bad_solid("obj", BYTES("\0\1\2\3"), "holds a NUL");
}

/* ---- Polygons ---------------------------------------------------------------------------------------------------- */

/* The area of all triangles, each with the sense of the whole: a wrong cut counts area twice, or backwards. */
static void expect_area(const char *file, size_t triangles, double area) {
    ast_solid solid = read_solid("obj", file, strlen(file));
    double sum = 0;
    assert_int_equal(solid.face_count, triangles);
    for (size_t i = 0; i < solid.face_count; i++) {
        const float *a = solid.points + 3 * solid.faces[3 * i], *b = solid.points + 3 * solid.faces[3 * i + 1],
                    *c = solid.points + 3 * solid.faces[3 * i + 2];
        double z = (double)((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
        assert_true(z == 0 || (z > 0) == (area > 0));
        sum += z;
    }
    if (fabs(sum - area) > 1e-6)
        fail_msg("the triangles have the area %g, not %g", sum, area);
    ast_solid_free(&solid);
}

static void polygons(void **state) {
    (void)state;
    expect_area(SQUARE "f 1 2 3 4", 2, 1);
    /* An L, from every corner, and the other way round. */
    for (int first = 0; first < 6; first++)
        for (int sense = -1; sense <= 1; sense += 2) {
            char file[256] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf";
            for (int i = 0; i < 6; i++)
                sprintf(file + strlen(file), " %d", (first + sense * i + 6) % 6 + 1);
            expect_area(file, 4, 3.0 * sense);
        }
    /* A ring: the hole is reached by a bridge, whose ends come twice. */
    expect_area("v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nv 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\nf 1 2 3 4 1 5 6 7 8 5\n", 8,
                8);
    /* A star of 400 corners, and one too large to be cut, which is whole all the same. */
    static char star[200000];
    int used = 0;
    for (int i = 0; i < 400; i++)
        used += sprintf(star + used, "v %.9f %.9f 0\n", (1 + 2 * (i % 2)) * cos(i * M_PI / 200),
                        (1 + 2 * (i % 2)) * sin(i * M_PI / 200));
    used += sprintf(star + used, "f");
    for (int i = 0; i < 400; i++)
        used += sprintf(star + used, " %d", i + 1);
    expect_area(star, 398, 200 * 3 * sin(M_PI / 200));
    used = sprintf(star, "%sf", SQUARE);
    for (int i = 0; i < 5000; i++)
        used += sprintf(star + used, " %d", i % 4 + 1);
    ast_solid solid = read_solid("obj", star, (size_t)used);
    assert_true(solid.face_count == 4998);
    ast_solid_free(&solid);
}

/* ---- STL --------------------------------------------------------------------------------------------------------- */

#define FACET "facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 1 1 0\n endloop\nendfacet\n"

static void text_stl(void **state) {
    (void)state;
    const int32_t face[] = {0, 1, 2, 3, 4, 5};
    const float two[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0};
    expect_solid("stl", BYTES("solid a part\n" FACET "endsolid a part\n"), 3, square, NULL, 1, face);
    expect_solid("stl", BYTES("solid\n" FACET FACET "endsolid"), 6, two, NULL, 2, face);
    expect_solid("stl", BYTES("solid a\n" FACET "endsolid a\nsolid facet\n" FACET "endsolid\n"), 6, two, NULL, 2, face);
    expect_solid("stl",
                 BYTES("  SOLID x\r\nFACET NORMAL nan nan nan\rOUTER LOOP\rVERTEX 0 0 0\r\n vertex 1\t0 0\r\n"
                       "vertex 1 1 0 ENDLOOP endfacet\rendsolid\r"),
                 3, square, NULL, 1, face);
    const float missing[] = {0, 0, 0, NAN, NAN, NAN, 1, 1, 0};
    expect_solid("stl",
                 BYTES("solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex nan 0 0\nvertex 1 1 0\n"
                       "endloop\nendfacet\nendsolid\n"),
                 3, missing, NULL, 1, face);
}

static size_t make_stl(unsigned char *file, const char *header, unsigned facets) {
    memset(file, ' ', 80);
    memcpy(file, header, strlen(header));
    put_number(file + 80, '<', 'u', 4, facets);
    for (unsigned i = 0; i < facets; i++)
        for (int n = 0; n < 12; n++)
            put_number(file + 84 + 50 * i + 4 * n, '<', 'f', 4, n < 3 ? 99 : (double)square[n - 3]);
    return 84 + 50 * facets;
}

static void binary_stl(void **state) {
    (void)state;
    unsigned char file[1024];
    const float two[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0};
    const int32_t faces[] = {0, 1, 2, 3, 4, 5};
    static const char *const headers[] = {"made by hand", "solid part", "solid facet normal", ""};
    for (size_t i = 0; i < ITEMS(headers); i++) {
        size_t size = make_stl(file, headers[i], 2);
        expect_solid("stl", file, size, 6, two, NULL, 2, faces);
        for (size_t cut = 0; cut < size; cut++)
            expect_bad_solid("stl", file, cut, "");
    }
    size_t size = make_stl(file, "a part", 2);
    expect_bad_solid("stl", file, size - 1, "promises 2 facets, which take 100 bytes behind its header, but has 99");
    expect_bad_solid("stl", file, size + 1, "promises 2 facets");
    put_number(file + 80, '<', 'u', 4, 4294967295.0);
    expect_bad_solid("stl", file, size, "promises 4294967295 facets");
    size = make_stl(file, "a part", 0);
    expect_bad_solid("stl", file, size, "has not a single point");
    expect_bad_solid("stl", file, 83, "is no STL file");
}

static void bad_stl(void **state) {
    (void)state;
    expect_bad_solid("stl", BYTES("solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\nvertex 1 2 3\nendloop\n"),
                     "line 6: has 'endloop' where 'vertex' is needed");
    expect_bad_solid("stl", BYTES("solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 x\n"),
                     "line 4: 'x' is not a number");
    expect_bad_solid("stl",
                     BYTES("solid\nfacet normal 0 0 1\nouter loop\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\n"
                           "vertex 1 2 3\n"),
                     "line 7: has 'vertex' where 'endloop' is needed");
    expect_bad_solid("stl", BYTES("solid a\n" FACET), "the file is cut short: it ends where 'endsolid' is needed");
    expect_bad_solid("stl", BYTES("solid a\n" FACET "endsolid\nmore\n"), "has 'more' where 'solid' is needed");
    expect_bad_solid("stl", BYTES("solid a\nendsolid\n"), "has not a single point");
    expect_bad_solid("stl", BYTES("hello"), "is no STL file");
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_solid(const char *path, const char *format) {
    return ast_format_of(path, format).holds & AST_HOLDS_SOLID;
}

static void names(void **state) {
    (void)state;
    assert_true(is_solid("a.pcd", NULL) && is_solid("a.PLY", NULL) && is_solid("b.Obj", NULL));
    assert_true(is_solid("a.STL.gz", NULL) && is_solid("-", "ply") && is_solid("-", "ply.gz"));
    assert_false(is_solid("a.npy", NULL) || is_solid("-", NULL) || is_solid(".ply", NULL));
    assert_false(is_solid("a.ply", "csv") || is_solid("-", "gz") || is_solid("x.gz", NULL));
    ast_solid solid;
    ast_format_error error;
    ast_input input;
    assert_false(ast_solid_read(&solid, "absent.ply", ast_format_of("absent.ply", NULL), &error));
    assert_string_equal(error.text, "absent.ply: cannot be opened: No such file or directory");
    assert_false(ast_solid_read(&solid, "a.npy", ast_format_of("a.npy", NULL), &error));
    assert_non_null(strstr(error.text, "a.npy: is no 3-D file by its name"));
    assert_false(ast_input_open(&input, "a.ply", NULL, &error));
    assert_non_null(strstr(error.text, "a.ply: is a 3-D file"));
    /* A file whose size is a number of pages has a NUL behind it too. */
    char *page = malloc(8192);
    memset(page, ' ', 8192);
    memcpy(page, "v 1 2 3\nv 4 5 6\n", 16);
    memcpy(page + 8192 - 8, "\nv 7 8 9", 8);
    write_bytes("page.obj", page, 8192);
    assert_true(ast_solid_read(&solid, "page.obj", ast_format_of("page.obj", NULL), &error));
    expect_floats(solid.points, (const float[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, 9);
    ast_solid_free(&solid);
    free(page);
}

/* ---- Real files -------------------------------------------------------------------------------------------------- */

static void real_files(void **state) {
    (void)state;
    static const struct {
        const char *path;
        size_t points, faces;
    } files[] = {{"pcl_clouds/room_scan1.pcd", 112586, 0},
                 {"pcl_clouds/region_growing_tutorial.pcd", 108104, 0},
                 {"pcl_clouds/lamppost.pcd", 1771, 0},
                 {"trimesh_meshes/fandisk.obj", 2877, 5750},
                 {"trimesh_meshes/wallhole.obj", 92, 66},
                 {"trimesh_meshes/featuretype.STL", 10428, 3476},
                 {"trimesh_meshes/1002_tray_bottom.STL", 13560, 4520},
                 {"trimesh_meshes/octagonal_pocket.stl", 9786, 3262}};
    for (size_t i = 0; i < ITEMS(files); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/data/%s", ASTERISM_SHARED, files[i].path);
        FILE *there = fopen(path, "rb");
        if (!there) {
            print_message("skipped: there is no %s\n", path);
            skip();
        }
        fclose(there);
        ast_solid solid;
        ast_format_error error;
        if (!ast_solid_read(&solid, path, ast_format_of(path, NULL), &error))
            fail_msg("%s", error.text);
        assert_int_equal(solid.count, files[i].points);
        assert_int_equal(solid.face_count, files[i].faces);
        for (size_t k = 0; k < 3 * solid.count; k++)
            assert_true(isfinite(solid.points[k]));
        ast_solid_free(&solid);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(obj_files),  cmocka_unit_test(bad_objs),
                                       cmocka_unit_test(polygons),   cmocka_unit_test(text_stl),
                                       cmocka_unit_test(binary_stl), cmocka_unit_test(bad_stl),
                                       cmocka_unit_test(names),      cmocka_unit_test(real_files)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
