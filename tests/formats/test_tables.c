/* SPDX-License-Identifier: MIT
 *
 * Binary tables: .fbin and its like, .fvecs, .bvecs, .safetensors. Their numbers come back as they were written, by
 * map, by memory and row by row; headers that lie are refused with a sentence; no cut file crashes. HDF5: cli/tables.
 */
#include "helpers.h"

#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, WIDTH = 3, MOST = 1024 };

static double value_at(size_t i, size_t d) {
    return (double)(7 * i + 2 * d + 1);
}

static size_t put_type(unsigned char *place, ast_type type, double value) {
    float single = (float)value;
    uint32_t bits;
    if (type == AST_B2) {
        memcpy(&bits, &single, sizeof bits);
        place[0] = (unsigned char)(bits >> 16);
        place[1] = (unsigned char)(bits >> 24);
        return 2;
    }
    size_t item = ast_number_type_of(type)->item;
    put_number(place, '<', type == AST_I1 ? 'i' : type == AST_U1 ? 'u' : 'f', item, value);
    return item;
}

static size_t put_little(unsigned char *place, uint64_t value, size_t size) {
    for (size_t b = 0; b < size; b++)
        place[b] = (unsigned char)(value >> 8 * b);
    return size;
}

static size_t put_rows(unsigned char *place, ast_type type, bool counted) {
    size_t used = 0;
    for (size_t i = 0; i < ROWS; i++) {
        used += counted ? put_little(place + used, WIDTH, 4) : 0;
        for (size_t d = 0; d < WIDTH; d++)
            used += put_type(place + used, type, value_at(i, d));
    }
    return used;
}

/* A header and five rows of numbers of the type, which begin `shift` bytes behind it. */
static size_t make_safetensors(unsigned char *bytes, const char *header, ast_type type, size_t shift) {
    size_t length = strlen(header);
    put_little(bytes, length, 8);
    memcpy(bytes + 8, header, length);
    memset(bytes + 8 + length, 0, shift);
    return 8 + length + shift + put_rows(bytes + 8 + length + shift, type, false);
}

static size_t make(unsigned char *bytes, const char *format, ast_type type) {
    static const char *const names[] = {"F32", "F64", "F16", "I8", "U8", "BF16"};
    char header[256];
    size_t item = ast_number_type_of(type)->item;
    if (strcmp(format, "safetensors") == 0) {
        snprintf(header, sizeof header,
                 "{\"a\" : {\"dtype\": \"%s\", \"data_offsets\":[3,%zu], \"shape\": [%d,%d] }}  ", names[type],
                 3 + ROWS * WIDTH * item, ROWS, WIDTH);
        return make_safetensors(bytes, header, type, 3);
    }
    bool counted = strstr(format, "vecs") != NULL;
    size_t used = counted ? 0 : put_little(bytes, ROWS, 4);
    used += counted ? 0 : put_little(bytes + 4, WIDTH, 4);
    return used + put_rows(bytes + used, type, counted);
}

static void check_points(const ast_points *points, ast_type type) {
    double row[WIDTH];
    assert_int_equal(points->type, type);
    assert_int_equal(points->count, ROWS);
    assert_int_equal(points->dimension, WIDTH);
    for (size_t i = 0; i < ROWS; i++) {
        ast_points_row(points, i, row);
        for (size_t d = 0; d < WIDTH; d++)
            assert_true(row[d] == value_at(i, d));
    }
}

/* Rows by twos, as a run that is larger than memory reads them. */
static void check_source(const char *path, ast_type type) {
    ast_format_error error;
    ast_input input;
    unsigned char rows[2 * WIDTH * 8];
    double row[WIDTH];
    assert_true(ast_input_begin(&input, &(ast_input_file){.path = (char *)path}, 1, NULL, &error));
    const ast_source *source = &input.source;
    assert_true(source->count == ROWS && source->dimension == WIDTH && source->type == type);
    assert_true(ast_input_by_rows(&input, &error));
    source->expect(0, ROWS, source->data);
    size_t item = ast_source_row(source) / WIDTH;
    for (size_t first = 0; first + 2 <= ROWS; first++) {
        assert_int_equal(source->read(first, 2, rows, source->data), 0);
        ast_points view = ast_points_view(rows, type, 2, WIDTH, (ptrdiff_t)(WIDTH * item), (ptrdiff_t)item);
        for (size_t i = 0; i < 2; i++) {
            ast_points_row(&view, i, row);
            for (size_t d = 0; d < WIDTH; d++)
                assert_true(row[d] == value_at(first + i, d));
        }
    }
    ast_input_close(&input);
}

static const struct {
    const char *format;
    ast_type type;
} tables[] = {{"fbin", AST_F4},        {"u8bin", AST_U1},       {"i8bin", AST_I1},       {"fvecs", AST_F4},
              {"bvecs", AST_U1},       {"safetensors", AST_F4}, {"safetensors", AST_F8}, {"safetensors", AST_F2},
              {"safetensors", AST_B2}, {"safetensors", AST_I1}, {"safetensors", AST_U1}};

static void all_types(void **state) {
    (void)state;
    unsigned char bytes[MOST];
    ast_format_error error;
    ast_input input;
    char path[64];
    for (size_t t = 0; t < ITEMS(tables); t++) {
        size_t size = make(bytes, tables[t].format, tables[t].type);
        snprintf(path, sizeof path, "x.%s", tables[t].format);
        write_bytes(path, bytes, size);
        if (!ast_input_open(&input, path, NULL, &error))
            fail_msg("%s", error.text);
        assert_true(input.body.mapped || strcmp(tables[t].format, "safetensors") == 0);
        check_points(&input.points, tables[t].type);
        ast_input_close(&input);
        assert_true(ast_input_open_memory(&input, "memory", bytes, size,
                                          &(ast_input_options){.format = tables[t].format}, &error));
        check_points(&input.points, tables[t].type);
        ast_input_close(&input);
        check_source(path, tables[t].type);
        float *values;
        size_t rows, columns;
        assert_true(ast_read_matrix(path, NULL, &values, &rows, &columns, &error));
        assert_true(rows == ROWS && columns == WIDTH && values[4] == (float)value_at(1, 1));
        free(values);
    }
}

/* Any cut file is refused, and so is a byte too many; .safetensors may end with other tensors. */
static void cut_anywhere(void **state) {
    (void)state;
    unsigned char bytes[MOST];
    ast_format_error error;
    ast_input input;
    for (size_t t = 0; t < ITEMS(tables); t++) {
        ast_input_options options = {.format = tables[t].format};
        size_t size = make(bytes, tables[t].format, tables[t].type),
               row = 4 + WIDTH * (tables[t].type == AST_F4 ? 4 : 1);
        for (size_t cut = 0; cut <= size + 1; cut++) {
            bool counted = strstr(tables[t].format, "vecs") && cut % row == 0 && cut > 0;
            bool whole = cut == size || counted || (cut > size && tables[t].format[0] == 's');
            unsigned char *exact = malloc(cut + 1);
            memcpy(exact, bytes, cut);
            if (ast_input_open_memory(&input, "x", exact, cut, &options, &error) != whole)
                fail_msg("%s cut at %zu of %zu", tables[t].format, cut, size);
            assert_true(whole || strncmp(error.text, "x: ", 3) == 0);
            ast_input_close(&input);
            free(exact);
        }
    }
}

static void refuses(const char *format, const unsigned char *bytes, size_t size, const char *tensor, const char *part) {
    ast_format_error error = {""};
    ast_input input;
    ast_input_options options = {.format = format, .tensor = tensor};
    if (ast_input_open_memory(&input, "x", bytes, size, &options, &error))
        fail_msg("'%s' was expected", part);
    if (!strstr(error.text, part))
        fail_msg("'%s' is not in: %s", part, error.text);
}

static void refuses_header(const char *header, const char *tensor, const char *part) {
    unsigned char bytes[MOST];
    refuses("safetensors", bytes, make_safetensors(bytes, header, AST_F4, 0), tensor, part);
}

#define TENSOR(type, shape, offsets) "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void headers_of_tensors(void **state) {
    (void)state;
    unsigned char bytes[MOST];
    refuses_header("{\"a\":" TENSOR("I64", "[5,3]", "[0,60]") "}", NULL,
                   "tensor a holds numbers of type I64; points need F64, F32, F16, BF16, I8 or U8");
    refuses_header("{\"a\":" TENSOR("F32", "[15]", "[0,60]") "}", NULL,
                   "has no tensor of two dimensions, N x D; there are: a (1 dimension, F32)");
    refuses_header("{\"a\":" TENSOR("F32", "[5,3]", "[0,60]") ",\"b\":" TENSOR("F16", "[5,3]", "[0,30]") "}", NULL,
                   "has several tensors of points, of which --tensor NAME chooses one: a (5 x 3 F32), b (5 x 3 F16)");
    refuses_header("{\"a\":" TENSOR("F32", "[5,3]", "[0,60]") "}", "b", "has no tensor 'b'; there are: a (5 x 3 F32)");
    refuses_header("{\"a\":" TENSOR("F32", "[5,3]", "[0,60]") ",\"a\":" TENSOR("F32", "[5,3]", "[0,60]") "}", "a",
                   "more than one tensor 'a'");
    refuses_header("{\"a\":" TENSOR("F32", "[5,4]", "[0,60]") "}", NULL, "which are not the 60 bytes that it is given");
    refuses_header("{\"a\":" TENSOR("F32", "[5,3]", "[0,61]") "}", NULL,
                   "bytes 0 to 61, but the tensors have 60 bytes");
    refuses_header("{\"a\":" TENSOR("F32", "[5,3]", "[60,0]") "}", NULL, "promised at bytes 60 to 0");
    refuses_header("{\"a\":" TENSOR("F32", "[4611686018427387904,4]", "[0,0]") "}", NULL, "which are not the 0 bytes");
    refuses_header("{\"a\":" TENSOR("F32", "[0,3]", "[0,0]") "}", NULL, "0 x 3 and holds no points");
    refuses_header("{}", NULL, "holds no tensor");
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{\"a\":{}}",
                                        "{\"a\":" TENSOR("F32", "[5,3]", "[0,60]") ",}",
                                        "{\"a\":" TENSOR("F32", "[05,3]", "[0,60]") "}",
                                        "{\"a\":" TENSOR("F32", "[5,-3]", "[0,60]") "}",
                                        "{\"a\":" TENSOR("F32", "[5,3.0]", "[0,60]") "}",
                                        "{\"a\":" TENSOR("F32", "[5,99999999999999999999]", "[0,60]") "}",
                                        "{\"a\":" TENSOR("F32", "[5,3]", "[60]") "}",
                                        "{\"a\":7}",
                                        "{\"a\":" TENSOR("F32", "[5,3]", "[0,60]") "} x",
                                        "{\"\\q\":" TENSOR("F32", "[5,3]", "[0,60]") "}",
                                        "{\"\\udc00\":" TENSOR("F32", "[5,3]", "[0,60]") "}",
                                        "{\"\\u0000\":" TENSOR("F32", "[5,3]", "[0,60]") "}",
                                        "{\"__metadata__\":{\"a\":1}}",
                                        "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}"};
    for (size_t i = 0; i < ITEMS(wrong); i++)
        refuses_header(wrong[i], NULL, "its header cannot be understood at byte");
    put_little(bytes, (uint64_t)1 << 63, 8);
    refuses("safetensors", bytes, 100, NULL, "its header claims to be 9223372036854775808 bytes long");
    put_little(bytes, 93, 8);
    refuses("safetensors", bytes, 100, NULL, "93 bytes long, but only 92 follow");
}

/* Names are what the escapes say, and the sentence shows no control characters. */
static void names_of_tensors(void **state) {
    (void)state;
    unsigned char bytes[MOST];
    ast_format_error error;
    ast_input input;
    const char *header = "{\"__metadata__\":{\"format\":\"pt\"},\"\\u00e9\\n\\ud83d\\ude00\":" TENSOR(
        "F32", "[5,3]", "[0,60]") ",\"b\":" TENSOR("F32", "[5,3]", "[0,60]") "}";
    size_t size = make_safetensors(bytes, header, AST_F4, 0);
    ast_input_options options = {.format = "safetensors", .tensor = "\xC3\xA9\n\xF0\x9F\x98\x80"};
    assert_true(ast_input_open_memory(&input, "x", bytes, size, &options, &error));
    ast_input_close(&input);
    refuses("safetensors", bytes, size, NULL, "chooses one: \xC3\xA9?\xF0\x9F\x98\x80 (5 x 3 F32), b (5 x 3 F32)");
}

static void rows_of_other_dimensions(void **state) {
    (void)state;
    unsigned char bytes[MOST], rows[MOST];
    ast_format_error error;
    ast_input input;
    const char *path = "odd.fvecs";
    size_t size = make(bytes, "fvecs", AST_F4);
    put_little(bytes + 3 * 16, 2, 4);
    refuses("fvecs", bytes, size, NULL, "x: row 4 has 2 numbers, but row 1 has 3; all rows need the same number");
    write_bytes(path, bytes, size);
    assert_true(ast_input_begin(&input, &(ast_input_file){.path = (char *)path}, 1, NULL, &error));
    assert_int_equal(input.source.read(0, 3, rows, input.source.data), 0);
    assert_false(ast_input_failed(&input, &error));
    assert_int_not_equal(input.source.read(0, ROWS, rows, input.source.data), 0);
    assert_true(ast_input_failed(&input, &error));
    assert_string_equal(error.text, "odd.fvecs: row 4 has 2 numbers, but row 1 has 3; all rows need the same number");
    ast_input_close(&input);
    memmove(bytes + 3 * 16 + 12, bytes + 4 * 16, 16); /* as long as it says */
    refuses("fvecs", bytes, size - 4, NULL, "x: row 4 has 2 numbers, but row 1 has 3");
    put_little(bytes, 0, 4);
    refuses("fvecs", bytes, size, NULL, "row 1 has 0 numbers");
}

static void only_of_their_formats(void **state) {
    (void)state;
    ast_format_error error;
    assert_false(ast_input_check("a.npy", &(ast_input_options){.tensor = "a"}, &error));
    assert_string_equal(error.text, "--tensor is for .safetensors files, and a.npy is none");
    assert_false(ast_input_check("a.safetensors", &(ast_input_options){.dataset = "a"}, &error));
    assert_true(ast_input_check("a.HDF5", &(ast_input_options){.dataset = "a"}, &error));
    assert_true(ast_input_check("a.safetensors.gz", &(ast_input_options){.tensor = "a"}, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_types),
                                       cmocka_unit_test(cut_anywhere),
                                       cmocka_unit_test(headers_of_tensors),
                                       cmocka_unit_test(names_of_tensors),
                                       cmocka_unit_test(rows_of_other_dimensions),
                                       cmocka_unit_test(only_of_their_formats)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
