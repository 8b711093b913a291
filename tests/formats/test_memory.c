/* SPDX-License-Identifier: MIT
 *
 * The n-th allocation fails, for every n: each call then fails with a sentence, leaks nothing (the address sanitizer
 * looks) and leaves no file behind; and with enough memory it works. The linker sends the room's allocations here
 * (--wrap), those of the test itself are let through. */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long allowed = -1; /* allocations until the failure; negative: all */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
char *__wrap_strdup(const char *text);

static bool fails(void) {
    return allowed >= 0 && allowed-- == 0;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size) {
    return fails() ? NULL : __real_realloc(pointer, size);
}

char *__wrap_strdup(const char *text) {
    return fails() ? NULL : __real_strdup(text);
}

static bool open_points(const char *path, const char *columns, ast_format_error *error) {
    ast_input input;
    bool good = ast_input_open(&input, path, &(ast_input_options){.columns = columns}, error);
    ast_input_close(&input);
    return good;
}

static bool read_csv(ast_format_error *error) {
    return open_points("points.csv", "1,3", error);
}

static bool read_npy(ast_format_error *error) {
    return open_points("points.npy", "1,2,4", error);
}

static bool read_swapped(ast_format_error *error) {
    return open_points("swapped.npy", NULL, error);
}

static bool read_labels(ast_format_error *error) {
    int32_t *labels;
    size_t count;
    bool good = ast_read_labels("labels.txt", NULL, &labels, &count, error);
    free(labels);
    return good;
}

static bool read_numbers(ast_format_error *error) {
    double *numbers;
    size_t count;
    bool good = ast_read_numbers("weights.npy", NULL, &numbers, &count, error);
    free(numbers);
    return good;
}

static bool read_matrix(ast_format_error *error) {
    float *values;
    size_t rows, columns;
    bool good = ast_read_matrix("points.csv", NULL, &values, &rows, &columns, error);
    free(values);
    return good;
}

static bool list_folder(ast_format_error *error) {
    ast_folder folder;
    bool good = ast_folder_list(&folder, ".", error);
    ast_folder_free(&folder);
    return good;
}

static bool write_file(ast_format_error *error) {
    ast_output *output = ast_output_open("link.txt", false, error);
    return output && ast_output_write(output, "text", 4, error) && ast_output_commit(output, error);
}

static void every_allocation(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool (*call)(ast_format_error *error);
    } calls[] = {{"csv", read_csv},         {"npy", read_npy},       {"swapped", read_swapped}, {"labels", read_labels},
                 {"numbers", read_numbers}, {"matrix", read_matrix}, {"folder", list_folder},   {"output", write_file}};
    size_t entries = count_entries();
    for (size_t c = 0; c < ITEMS(calls); c++) {
        int failures = 0;
        for (long n = 0;; n++) {
            ast_format_error error = {""};
            allowed = n;
            bool good = calls[c].call(&error);
            bool reached = allowed < 0;
            allowed = -1;
            if (!good && error.text[0] == '\0')
                fail_msg("%s fails without a sentence at allocation %ld", calls[c].name, n);
            failures += !good;
            if (!reached)
                break;
            assert_true(n < 100);
            if (c + 1 < ITEMS(calls) || !good)
                assert_int_equal(count_entries(), entries);
        }
        if (failures == 0)
            fail_msg("%s never failed: the allocations are not wrapped", calls[c].name);
    }
}

static int make_files(void **state) {
    unsigned char bytes[512];
    if (enter_folder(state) != 0)
        return -1;
    write_text("points.csv", "x,y,z\n1,2,3\n4,5,6\n");
    write_text("labels.txt", "1\n2\n3\n");
    const char *dictionary = "{'descr': '=f8', 'fortran_order': False, 'shape': (2, 4), }\n";
    write_bytes("points.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 64));
    dictionary = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                     ? "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 4), }\n"
                     : "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }\n";
    write_bytes("swapped.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 32));
    dictionary = "{'descr': '=f8', 'fortran_order': False, 'shape': (3,), }\n";
    write_bytes("weights.npy", bytes, make_npy(bytes, 1, dictionary, NULL, 24));
    return symlink("target.txt", "link.txt");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, make_files, leave_folder);
}
