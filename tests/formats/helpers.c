/* SPDX-License-Identifier: MIT */
#include "helpers.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int enter_folder(void **state) {
    const char *base = getenv("TMPDIR");
    char *path = malloc(4096);
    snprintf(path, 4096, "%s/asterism-formats-XXXXXX", base ? base : "/tmp");
    *state = path;
    return mkdtemp(path) && chdir(path) == 0 ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *walk) {
    (void)status, (void)flag, (void)walk;
    return remove(path);
}

int leave_folder(void **state) {
    int result = chdir("/") == 0 ? nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS) : -1;
    free(*state);
    return result;
}

void write_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *path, const char *text) {
    write_bytes(path, text, strlen(text));
}

char *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, (1 << 20) - 1, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

/* Linux: memory devices are major 1; null is 3 and full is 7. */
static const char *device(const char *own, const char *shared, unsigned minor_number) {
    if (geteuid() != 0)
        return shared;
    int descriptor = -1;
    if (access(own, F_OK) == 0 || mknod(own, S_IFCHR | 0666, makedev(1, minor_number)) == 0)
        descriptor = open(own, O_WRONLY);
    if (descriptor < 0) {
        print_message("skipped: root cannot make a device of its own here, and %s is not put at risk\n", shared);
        skip();
    }
    close(descriptor);
    return own;
}

const char *full_device(void) {
    return device("full", "/dev/full", 7);
}

const char *null_device(void) {
    return device("null", "/dev/null", 3);
}

size_t count_entries(void) {
    size_t count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

bool open_text(ast_input *input, const char *text, const char *columns, bool transpose, ast_format_error *error) {
    ast_input_options options = {.format = "csv", .columns = columns, .transpose = transpose};
    return ast_input_open_memory(input, "points.csv", text, strlen(text), &options, error);
}

void expect_problem(const char *text, const char *columns, const char *part) {
    ast_input input;
    ast_format_error error = {""};
    bool opened = open_text(&input, text, columns, false, &error);
    if (opened)
        fail_msg("opened, but a problem was expected: %s", part);
    if (!strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
    assert_null(input.body.owned);
    ast_input_close(&input);
}

void expect_table(const char *text, const char *columns, size_t rows, size_t width, const float *expected) {
    ast_input input;
    ast_format_error error = {""};
    if (!open_text(&input, text, columns, false, &error))
        fail_msg("%s", error.text);
    assert_int_equal(input.points.count, rows);
    assert_int_equal(input.points.dimension, width);
    assert_int_equal(input.points.type, AST_F4);
    assert_null(input.points.weights);
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < width; d++) {
            double found = element(&input.points, i, d), right = (double)expected[i * width + d];
            if (!(found == right || (isnan(found) && isnan(right))))
                fail_msg("(%zu, %zu) is %.9g and not %.9g", i, d, found, right);
        }
    ast_input_close(&input);
}

double element(const ast_points *points, size_t i, size_t d) {
    const char *place =
        (const char *)points->data + (ptrdiff_t)i * points->row_stride + (ptrdiff_t)d * points->column_stride;
    assert_int_not_equal(points->type, AST_F2);
    /* Dereferenced, not copied: a view that is not aligned must show under the sanitizer. */
    return points->type == AST_F4 ? (double)*(const float *)place : *(const double *)place;
}

size_t make_npy(unsigned char *bytes, int major, const char *dictionary, const void *data, size_t data_size) {
    size_t prelude = major == 1 ? 10 : 12;
    size_t length = strlen(dictionary);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)major;
    bytes[7] = 0;
    for (size_t i = 8; i < prelude; i++)
        bytes[i] = (unsigned char)(length >> (8 * (i - 8)));
    memcpy(bytes + prelude, dictionary, length);
    if (data)
        memcpy(bytes + prelude + length, data, data_size);
    else
        memset(bytes + prelude + length, 0, data_size);
    return prelude + length + data_size;
}

/* Half precision of a number that it can hold exactly: a sign, a power of two from 2^-14 and ten bits of fraction. */
static uint16_t half_bits(double value) {
    int exponent;
    if (value == 0)
        return 0;
    double fraction = frexp(fabs(value), &exponent);
    return (uint16_t)((value < 0) << 15 | (exponent + 14) << 10 | ((int)(fraction * 2048) & 1023));
}

static uint64_t number_bits(char kind, size_t item, double value) {
    uint64_t bits = 0;
    uint32_t single;
    float rounded = (float)value;
    if (kind != 'f')
        return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    if (item == 2)
        return half_bits(value);
    if (item == 4) {
        memcpy(&single, &rounded, sizeof single);
        return single;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void put_number(unsigned char *bytes, char order, char kind, size_t item, double value) {
    uint64_t bits = number_bits(kind, item, value);
    bool little = order == '<' || (order != '>' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    for (size_t i = 0; i < item; i++)
        bytes[little ? i : item - 1 - i] = (unsigned char)(bits >> (8 * i));
}

ast_frame_list opened_list;

ast_frames *open_frames(const char *const *inputs, ast_frame_kind kind, const ast_frames_options *options,
                        ast_format_error *error) {
    bool good = true;
    ast_frame_list_free(&opened_list);
    for (; *inputs && good; inputs++)
        good = ast_frame_list_add(&opened_list, *inputs, ast_format_of(*inputs, NULL), kind, error);
    ast_frames *frames = good ? ast_frames_open(&opened_list, options, error) : NULL;
    if (!frames)
        ast_frame_list_free(&opened_list);
    return frames;
}

void close_frames(ast_frames *frames) {
    ast_frames_close(frames);
    ast_frame_list_free(&opened_list);
}
