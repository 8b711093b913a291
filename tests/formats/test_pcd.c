/* SPDX-License-Identifier: MIT
 *
 * PCD files: text, binary and compressed, fields of every type in any order, and headers that lie. */
#include "pcd.h"
#include "solid_helpers.h"

#define XYZ "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
#define TWO "WIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\n"

static void text_points(void **state) {
    (void)state;
    const float two[] = {1, 2, 3, -4.5F, 5e-3F, 6};
    expect_solid("pcd", BYTES("# .PCD v0.7\n" XYZ TWO "DATA ascii\n1 2 3\n-4.5 5e-3 6\n"), 2, two, NULL, 0, NULL);
    expect_solid("pcd", BYTES(XYZ TWO "DATA ascii\r\n1 2 3\r\n\r\n  -4.5\t5e-3 6  "), 2, two, NULL, 0, NULL);
    expect_solid("pcd", BYTES("VERSION .5\nCOLUMNS x y z\nSIZE 4 4 4\nTYPE F F F\nPOINTS 1\nDATA ascii\r1 2 3\r"), 1,
                 two, NULL, 0, NULL);
    expect_solid("pcd",
                 BYTES("fields rgb z _ normal_x x normal_y y normal_z\nSIZE 4 8 1 4 4 4 2 4\n"
                       "TYPE U F U F F F I F\nCOUNT 1 1 3 1 1 1 1 1\nWIDTH 1\nHEIGHT 1\nDATA ascii\n"
                       "4278190080 3 7 8 9 0.5 1 -0.5 2 nan\n"),
                 1, two, (const float[]){NAN, NAN, NAN}, 0, NULL);
}

static void missing_points(void **state) {
    (void)state;
    const float points[] = {1, 2, 3, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    expect_solid("pcd",
                 BYTES(XYZ "WIDTH 4\nHEIGHT 1\nPOINTS 4\nDATA ascii\n1 2 3\nnan NaN -nan(ind)\n1 inf nan\n"
                           "1.#QNAN 1 -1.#IND00\n"),
                 4, points, NULL, 0, NULL);
}

/* In text and binary, as a word and as a number that no float can hold. */
static void infinite_points(void **state) {
    (void)state;
    static const char *const numbers[] = {"inf", "-Infinity", "1.#INF", "1e39", "-1e400"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char file[256];
        int size = snprintf(file, sizeof file, XYZ "WIDTH 2\nDATA ascii\n1 2 3\n0 %s 0\n", numbers[i]);
        expect_bad_solid("pcd", file, (size_t)size, "vertex 2 (counting from 1) is infinite or too large");
    }
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nDATA binary\n\0\0\0\0\0\0\x80\x7F\0\0\0\0"), "vertex 1 (counting");
}

static void organised(void **state) {
    (void)state;
    ast_solid solid = read_solid("pcd", BYTES(XYZ "WIDTH 2\nHEIGHT 2\nVIEWPOINT 1 2 3 0.5 0.5 -0.5 0.5\nPOINTS 4\n"
                                                  "DATA ascii\n0 0 1\n0 0 2\n0 0 3\n0 0 4\n"));
    assert_true(solid.has_viewpoint);
    assert_true(solid.viewpoint[0] == 1 && solid.viewpoint[1] == 2 && solid.viewpoint[2] == 3);
    ast_solid_free(&solid);
    solid = read_solid("pcd", BYTES(XYZ "WIDTH 2\nDATA ascii\n0 0 1\n0 0 2\n"));
    assert_true(!solid.has_viewpoint && solid.viewpoint[0] == 0);
    ast_solid_free(&solid);
}

/* Every type there is for a coordinate, with fields before, between and behind; in rows, and in compressed columns. */
static size_t put_pcd(unsigned char *file, char kind, size_t item, bool columns, size_t points) {
    char name = (char)(kind - 'a' + 'A');
    int header = sprintf((char *)file,
                         "FIELDS i z k y x\nSIZE 1 %zu 2 4 %zu\nTYPE U %c I F %c\nCOUNT 3 1 2 1 1\nWIDTH %zu\nHEIGHT "
                         "1\nPOINTS %zu\nDATA %s\n",
                         item, item, name, name, points, points, columns ? "binary_compressed" : "binary");
    const size_t sizes[] = {1, item, 2, 4, item}, counts[] = {3, 1, 2, 1, 1};
    size_t row = 0, size = 0, offset = 0;
    for (size_t f = 0; f < 5; f++)
        row += sizes[f] * counts[f];
    unsigned char plain[4096];
    for (size_t f = 0; f < 5; f++) {
        for (size_t i = 0; i < points; i++) {
            size_t place = columns ? offset * points + i * sizes[f] * counts[f] : i * row + offset;
            memset(plain + place, 0xAA, sizes[f] * counts[f]);
            if (f == 1 || f == 4)
                put_number(plain + place, '<', kind, item, (double)(10 * i + (f == 1 ? 3 : 1)));
            else if (f == 3)
                put_number(plain + place, '<', 'f', 4, (double)(10 * i + 2));
        }
        offset += sizes[f] * counts[f];
    }
    unsigned char *body = file + header;
    if (!columns) {
        memcpy(body, plain, row * points);
        return (size_t)header + row * points;
    }
    /* Literal runs of up to 32 bytes are LZF too. */
    for (size_t at = 0; at < row * points; at += 32) {
        size_t run = row * points - at < 32 ? row * points - at : 32;
        body[8 + size++] = (unsigned char)(run - 1);
        memcpy(body + 8 + size, plain + at, run);
        size += run;
    }
    put_number(body, '<', 'u', 4, (double)size);
    put_number(body + 4, '<', 'u', 4, (double)(row * points));
    return (size_t)header + 8 + size;
}

static void binary_points(void **state) {
    (void)state;
    static const struct {
        char kind;
        size_t item;
    } types[] = {{'f', 4}, {'f', 8}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8}, {'u', 1}, {'u', 2}, {'u', 4}, {'u', 8}};
    unsigned char file[8192];
    float expected[30];
    for (int i = 0; i < 10; i++)
        for (int d = 0; d < 3; d++)
            expected[3 * i + d] = (float)(10 * i + d + 1);
    for (size_t t = 0; t < ITEMS(types); t++)
        for (int columns = 0; columns < 2; columns++) {
            size_t size = put_pcd(file, types[t].kind, types[t].item, columns, 10);
            expect_solid("pcd", file, size, 10, expected, NULL, 0, NULL);
            memset(file + size, 0, 100); /* padding */
            expect_solid("pcd", file, size + 100, 10, expected, NULL, 0, NULL);
            for (size_t cut = 0; cut < size; cut++)
                expect_bad_solid("pcd", file, cut, cut ? "" : "is empty");
            file[size] = 1;
            expect_bad_solid("pcd", file, size + 1, "1 bytes follow the points that it promises");
        }
}

static void bad_headers(void **state) {
    (void)state;
    expect_bad_solid("pcd", BYTES("x y z\n1 2 3\n"), "line 1: is no line of a PCD header");
    expect_bad_solid("pcd", BYTES(XYZ TWO), "is cut short: its PCD header has no line DATA");
    expect_bad_solid("pcd", BYTES("SIZE 4\nTYPE F\nWIDTH 1\nDATA ascii\n1"), "has no line FIELDS");
    expect_bad_solid("pcd", BYTES(XYZ "DATA ascii\n1 2 3"), "has no line WIDTH");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nWIDTH 2\nDATA ascii\n"), "line 7: WIDTH comes a second time");
    expect_bad_solid("pcd", BYTES("FIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 1\nDATA ascii\n1 2"), "must have x, y and z");
    expect_bad_solid("pcd", BYTES("FIELDS x y z x\nDATA ascii\n"), "FIELDS has 'x' twice");
    expect_bad_solid("pcd", BYTES("FIELDS x y z\nSIZE 4 4\nDATA ascii\n"), "line 2: SIZE has 2 words for 3 fields");
    expect_bad_solid("pcd", BYTES("FIELDS x y z\nSIZE 4 4 3\nDATA ascii\n"), "the SIZE of field 3 must be");
    expect_bad_solid("pcd", BYTES("FIELDS x y z\nSIZE 4 4 2\nTYPE F F F\nDATA ascii\n"),
                     "the TYPE of field 3 must be F");
    expect_bad_solid("pcd", BYTES("FIELDS x y z\nSIZE 4 4 4\nTYPE F Q F\nDATA ascii\n"), "the TYPE of field 2 must be");
    expect_bad_solid("pcd", BYTES("FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 2\nDATA ascii\n"),
                     "the COUNT of a coordinate must be 1");
    expect_bad_solid("pcd", BYTES("FIELDS x y z a\nSIZE 4 4 4 1\nTYPE F F F U\nCOUNT 1 1 1 0\nDATA ascii\n"),
                     "the COUNT of field 4 must be 1 to");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2\nHEIGHT 2\nPOINTS 5\nDATA ascii\n"),
                     "POINTS is 5, but WIDTH x HEIGHT is");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH two\nDATA ascii\n"), "line 6: WIDTH must be a whole number");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nVIEWPOINT 0 0 0\nDATA ascii\n"), "VIEWPOINT has 3 numbers");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nVIEWPOINT 0 0 nan 1 0 0 0\nDATA ascii\n"), "'nan' is not a number");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nDATA zip\n"), "DATA must be ascii, binary or binary_compressed");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 0\nDATA ascii\n"), "has not a single point");
}

static void bad_promises(void **state) {
    (void)state;
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1000000000000\nHEIGHT 1\nDATA binary\nabc"),
                     "promises 1000000000000 of them");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 4000000000\nHEIGHT 99999999999999\nDATA ascii\n1"),
                     "line 6: promises 4000000000 of them; at most 2^31 - 1");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2000000000\nHEIGHT 2000000000\nDATA ascii\n1"),
                     "promises 4000000000000000000 points; at most 2^31 - 1");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2000000000\nDATA binary\nabc"),
                     "the 3 bytes behind its header cannot hold the 2000000000 points");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2000000000\nDATA ascii\n1 2 3"), "cannot hold the 2000000000 points");
    expect_bad_solid("pcd",
                     BYTES(XYZ "WIDTH 300000000\nDATA binary_compressed\n\x03\0\0\0\0\xA4\x93\xD6"
                               "abc"),
                     "cannot hold the 300000000 points");
    expect_bad_solid("pcd",
                     BYTES(XYZ "WIDTH 2\nDATA binary_compressed\n\x03\0\0\0\x17\0\0\0"
                               "abc"),
                     "has 23 bytes of compressed points, but its header promises 2 points of 12 bytes");
    expect_bad_solid("pcd",
                     BYTES(XYZ "WIDTH 2\nDATA binary_compressed\n\x04\0\0\0\x18\0\0\0"
                               "abc"),
                     "is cut short: 3 of its 4 compressed bytes are there");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2\nDATA binary_compressed\n\x03\0\0\0\x18\0\0\0\xFF\xFF\xFF"),
                     "its compressed points are damaged");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 3\nDATA ascii\n1 2 3\n4 5 6      \n   \n"),
                     "is cut short: 2 of its 3 points are there");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2\nDATA ascii\n1 2 3\n4.5 5\n"), "line 9: has 2 numbers; a point has 3");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2\nDATA ascii\n1 2 3 4\n5 6 7\n"), "line 8: has more than the 3 numbers");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 2\nDATA ascii\n1 2 3\n4 x5 6\n"), "line 9: 'x5' is not a number");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nDATA ascii\n1 2 3\n4 5 6\n"), "line 9: follows the 1 points");
    expect_bad_solid("pcd", BYTES(XYZ "WIDTH 1\nDATA ascii\n1 2 3z\n"), "'3z' is not a number");
}

/* ---- LZF --------------------------------------------------------------------------------------------------------- */

/* Compresses by looking everywhere for the longest match: slow, and plainly right. */
static size_t compress(unsigned char *place, const unsigned char *data, size_t size) {
    size_t used = 0, plain = 0;
    for (size_t at = 0; at < size;) {
        size_t best = 0, distance = 0;
        for (size_t from = at > 8192 ? at - 8192 : 0; from < at; from++) {
            size_t length = 0;
            while (at + length < size && length < 264 && data[from + length] == data[at + length])
                length++;
            if (length > best) {
                best = length;
                distance = at - from - 1;
            }
        }
        if (best >= 3 || plain == 32 || (plain > 0 && best == 0 && at + 1 == size))
            plain = 0;
        if (best >= 3) {
            size_t code = best - 2;
            place[used++] = (unsigned char)((code < 7 ? code : 7) << 5 | distance >> 8);
            if (code >= 7)
                place[used++] = (unsigned char)(code - 7);
            place[used++] = (unsigned char)distance;
            at += best;
        } else {
            if (plain++ == 0)
                place[used++] = 0;
            place[used - plain] = (unsigned char)(plain - 1);
            place[used++] = data[at++];
        }
    }
    return used;
}

static void lzf(void **state) {
    (void)state;
    static unsigned char data[3000], packed[2 * sizeof data], back[sizeof data + 1];
    uint32_t random = 1;
    for (int turn = 0; turn < 60; turn++) {
        size_t size = (size_t)turn * 50;
        for (size_t i = 0; i < size; i++) {
            random = random * 1664525 + 1013904223;
            /* Runs, repetitions at a distance, and noise. */
            data[i] = (unsigned char)(turn % 3 == 0 ? i / 300 : turn % 3 == 1 ? i % 37 : random >> 28);
        }
        size_t used = compress(packed, data, size);
        unsigned char *copy = calloc(used + 1, 1);
        memcpy(copy, packed, used);
        memset(back, 0xEE, sizeof back);
        assert_true(ast_lzf_decompress(back, size, copy, used));
        assert_memory_equal(back, data, size);
        assert_int_equal(back[size], 0xEE);
        for (size_t wrong = size > 20 ? size - 20 : 0; wrong < size; wrong++)
            assert_false(ast_lzf_decompress(back, wrong, copy, used));
        assert_false(ast_lzf_decompress(back, size + 1, copy, used));
        assert_true(used == 0 || !ast_lzf_decompress(back, size, copy, used - 1));
        free(copy);
    }
    assert_false(ast_lzf_decompress(back, 5,
                                    (const unsigned char *)"\x20\x00\x01"
                                                           "ab",
                                    5)); /* nothing to copy yet */
    assert_false(ast_lzf_decompress(back, 9,
                                    (const unsigned char *)"\x00"
                                                           "a\xE0",
                                    3));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_points),     cmocka_unit_test(missing_points),
                                       cmocka_unit_test(organised),       cmocka_unit_test(binary_points),
                                       cmocka_unit_test(bad_headers),     cmocka_unit_test(bad_promises),
                                       cmocka_unit_test(infinite_points), cmocka_unit_test(lzf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
