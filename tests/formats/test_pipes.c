/* SPDX-License-Identifier: MIT
 *
 * Inputs that are no regular files: standard input, named pipes, gzip; and what the name of an input alone tells. */
#include "helpers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if ASTERISM_HAVE_ZLIB
#include <zlib.h>
#endif

#define HEADER(descr, shape) "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

/* A child writes the bytes, in two parts, to the pipe. */
static pid_t feed(int descriptor, const void *bytes, size_t size) {
    pid_t child = fork();
    if (child == 0) {
        size_t half = size / 2;
        bool good = write(descriptor, bytes, half) == (ssize_t)half;
        usleep(2000);
        good = good && write(descriptor, (const char *)bytes + half, size - half) == (ssize_t)(size - half);
        _exit(!good);
    }
    return child;
}

/* Opens "-" while the bytes come in through standard input. */
static bool open_stdin(ast_input *input, const void *bytes, size_t size, const char *format, ast_format_error *error) {
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    pid_t child = feed(ends[1], bytes, size);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    bool opened = ast_input_open(input, "-", &(ast_input_options){.format = format}, error);
    assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1); /* it is not ours to close */
    dup2(kept, STDIN_FILENO);
    close(kept);
    waitpid(child, NULL, 0);
    return opened;
}

static void standard_input(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    if (!open_stdin(&input, "x,y\n1,2\n3,4\n", 12, "csv", &error))
        fail_msg("%s", error.text);
    assert_true(input.points.count == 2 && element(&input.points, 1, 1) == 4);
    ast_input_close(&input);
    assert_false(open_stdin(&input, "1,2\n3,x\n", 8, "csv", &error));
    assert_string_equal(error.text, "standard input: line 2, column 2: 'x' is not a number");
    unsigned char bytes[256];
    unsigned char data[16];
    for (size_t i = 0; i < 4; i++)
        put_number(data + 4 * i, '<', 'f', 4, (double)i);
    size_t size = make_npy(bytes, 1, HEADER("<f4", "(2, 2)"), data, sizeof data);
    assert_true(open_stdin(&input, bytes, size, "npy", &error));
    assert_true(input.points.count == 2 && element(&input.points, 1, 1) == 3);
    ast_input_close(&input);
    for (size_t cut = 0; cut < size; cut += 7)
        assert_false(open_stdin(&input, bytes, cut, "npy", &error));
    bytes[size] = 0;
    assert_false(open_stdin(&input, bytes, size + 1, "npy", &error));
    assert_non_null(strstr(error.text, "but more than 16 follow"));
}

static void promises_through_a_pipe(void **state) {
    (void)state;
    unsigned char bytes[256];
    ast_input input;
    ast_format_error error;
    struct rusage usage;
    size_t size = make_npy(bytes, 1, HEADER("<f4", "(274877906944, 4)"), NULL, 16);
    assert_false(open_stdin(&input, bytes, size, "npy", &error));
    assert_non_null(strstr(error.text, "4398046511104 bytes, but only 16 follow"));
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < 1 << 20);
}

static void large_arrays_through_a_pipe(void **state) {
    (void)state;
    size_t count = 700001, data_size = count * 2 * sizeof(float);
    float *data = malloc(data_size);
    unsigned char *bytes = malloc(data_size + 256);
    for (size_t i = 0; i < 2 * count; i++)
        data[i] = (float)i;
    size_t size = make_npy(bytes, 1, HEADER("=f4", "(700001, 2)"), data, data_size);
    ast_input input;
    ast_format_error error;
    if (!open_stdin(&input, bytes, size, "npy", &error))
        fail_msg("%s", error.text);
    assert_memory_equal(input.points.data, data, data_size);
    ast_input_close(&input);
    free(bytes);
    free(data);
}

static void named_pipes(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    assert_int_equal(mkfifo("pipe.txt", 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen("pipe.txt", "w");
        fputs("1 2 3\n4 5 6\n", file);
        _exit(fclose(file) != 0);
    }
    assert_true(ast_input_open(&input, "pipe.txt", NULL, &error));
    assert_int_equal(input.points.count, 2);
    ast_input_close(&input);
    waitpid(child, NULL, 0);
}

static void names(void **state) {
    (void)state;
    static const struct {
        const char *path, *format, *columns, *problem; /* NULL: none */
    } cases[] = {{"a.npy", NULL, NULL, NULL},
                 {"dir.x/A.CSV", NULL, "2-101", NULL},
                 {"a.txt.gz", NULL, NULL, NULL},
                 {"-", "tsv", NULL, NULL},
                 {"-", "csv.gz", NULL, NULL},
                 {"a.dat", "txt", NULL, NULL},
                 {"-", NULL, NULL, "the format must be given"},
                 {"a.dat", NULL, "dec,3-4,inc", NULL},
                 {"a.xy", NULL, NULL, "a.xy: the extension names no known format"},
                 {"a.gz", NULL, NULL, "no known format"},
                 {"csv", NULL, NULL, "no known format"},
                 {"a.csv", "xls", NULL, "'xls' is no known format; there are npy, csv, tsv, txt, dat, fbin, u8bin"},
                 {"a.csv", NULL, "1,,2", "'1,,2' is no list of columns"},
                 {"a.csv", NULL, "", "is no list"},
                 {"a.csv", NULL, "1-", "is no list"},
                 {"a.csv", NULL, "1-x", "is no list"},
                 {"a.csv", NULL, "-3", "is no list"},
                 {"a.csv", NULL, "1, 2", "is no list"},
                 {"a.csv", NULL, "99999999999999999999", "is no list"},
                 {"a.csv", NULL, "5-3", "runs backwards; 3-5 would be right"},
                 {"a.csv", NULL, "1-3,2", "names column 2 twice"},
                 {"a.csv", NULL, "1-16777216,1-16777216", "twice"}};
    for (size_t i = 0; i < ITEMS(cases); i++) {
        ast_format_error error = {""};
        ast_input_options options = {.format = cases[i].format, .columns = cases[i].columns};
        bool good = ast_input_check(cases[i].path, &options, &error);
        if (good != (cases[i].problem == NULL) || (!good && !strstr(error.text, cases[i].problem)))
            fail_msg("case %zu: %s", i, error.text);
    }
}

#if ASTERISM_HAVE_ZLIB
static size_t compress_text(const char *text, unsigned char *bytes, size_t capacity) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (unsigned)strlen(text);
    stream.next_out = bytes;
    stream.avail_out = (unsigned)capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

static void compressed(void **state) {
    (void)state;
    unsigned char bytes[1024];
    size_t first = compress_text("x,y\n1,2\n3,4\n", bytes, sizeof bytes);
    write_bytes("points.csv.gz", bytes, first);
    ast_input input;
    ast_format_error error;
    if (!ast_input_open(&input, "points.csv.gz", NULL, &error))
        fail_msg("%s", error.text);
    assert_true(input.points.count == 2 && element(&input.points, 1, 0) == 3);
    ast_input_close(&input);
    /* Two members, one after the other. */
    size_t both = first + compress_text("5,6\n", bytes + first, sizeof bytes - first);
    assert_true(open_stdin(&input, bytes, both, "csv.gz", &error));
    assert_true(input.points.count == 3 && element(&input.points, 2, 1) == 6);
    ast_input_close(&input);
    for (size_t cut = 0; cut < both; cut++) {
        ast_input_options options = {.format = "csv.gz"};
        bool opened = ast_input_open_memory(&input, "cut.csv.gz", bytes, cut, &options, &error);
        assert_true(opened == (cut == first));
        if (!opened)
            assert_string_equal(error.text, "cut.csv.gz: the compressed data end too early; the file was cut short");
        ast_input_close(&input);
    }
    bytes[first - 6] ^= 1; /* the checksum */
    write_bytes("points.csv.gz", bytes, first);
    assert_false(ast_input_open(&input, "points.csv.gz", NULL, &error));
    assert_non_null(strstr(error.text, "points.csv.gz: the compressed data are damaged"));
    write_text("points.csv.gz", "1,2\n3,4\n");
    assert_false(ast_input_open(&input, "points.csv.gz", NULL, &error));
    assert_non_null(strstr(error.text, "no gzip data"));
}
#else
static void compressed(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    write_text("points.csv.gz", "");
    assert_false(ast_input_open(&input, "points.csv.gz", NULL, &error));
    assert_non_null(strstr(error.text, "this build has no zlib"));
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(standard_input),
                                       cmocka_unit_test(promises_through_a_pipe),
                                       cmocka_unit_test(large_arrays_through_a_pipe),
                                       cmocka_unit_test(named_pipes),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(compressed)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
