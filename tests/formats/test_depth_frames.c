/* SPDX-License-Identifier: MIT
 *
 * Sequences of depth images: what an input stands for, the order, names and time stamps of frames, failures after the
 * whole frames before them, skipping, and a thread that ends whenever it is told to. Frames are PGM here, so that this
 * needs no library. */
#include "helpers.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A frame whose values all tell its number. */
static void write_frame(const char *path, unsigned number) {
    enum { WIDTH = 40, HEIGHT = 30 };
    unsigned char file[2 * WIDTH * HEIGHT + 32];
    int size = sprintf((char *)file, "P5 %d %d 65535\n", WIDTH, HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        file[size++] = (unsigned char)(number >> 8);
        file[size++] = (unsigned char)number;
    }
    write_bytes(path, file, (size_t)size);
}

static ast_frames *open_one(const char *path, const ast_frames_options *options) {
    ast_format_error error;
    ast_frames *frames = open_frames((const char *const[]){path, NULL}, AST_AS_DEPTH, options, &error);
    if (!frames)
        fail_msg("%s", error.text);
    return frames;
}

static void expect_frame(ast_frames *frames, const char *source, unsigned number) {
    ast_input_frame frame;
    ast_format_error error;
    int found = ast_frames_next(frames, &frame, &error);
    if (found <= 0)
        fail_msg("%s, not %s", found ? error.text : "the end", source);
    assert_string_equal(frame.source, source);
    assert_true(frame.image.width > 0 && frame.image.row_stride == (ptrdiff_t)(2 * frame.image.width));
    for (size_t i = 0; i < frame.image.width * frame.image.height; i++)
        assert_int_equal(frame.image.values[i], number);
}

static void expect_end(ast_frames *frames) {
    ast_input_frame frame;
    ast_format_error error;
    for (int i = 0; i < 2; i++)
        assert_int_equal(ast_frames_next(frames, &frame, &error), 0);
    close_frames(frames);
}

/* The failure, the end after it, and closing. */
static void expect_failure(ast_frames *frames, const char *part) {
    ast_input_frame frame;
    ast_format_error error = {""};
    assert_int_equal(ast_frames_next(frames, &frame, &error), -1);
    if (!strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
    expect_end(frames);
}

/* What an input is by its name, or by what the folder holds. */
static bool is_depth(const char *path) {
    ast_frame_list list = {0};
    ast_format_error error;
    bool depth = ast_frame_list_add(&list, path, ast_format_of(path, NULL), AST_AS_NAMED, &error) && list.depth;
    ast_frame_list_free(&list);
    return depth;
}

static void expect_refusal(const char *path, const char *part) {
    ast_format_error error = {""};
    assert_null(open_frames((const char *const[]){path, NULL}, AST_AS_DEPTH, NULL, &error));
    if (!strstr(error.text, part))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

static void files_and_folders(void **state) {
    (void)state;
    mkdir("walk", 0777);
    write_frame("walk/f10.pgm", 10);
    write_frame("walk/f9.PGM", 9);
    write_frame("walk/f101.pgm", 101);
    write_text("walk/notes.md", "not a frame");
    write_frame("single", 7);
    ast_format_error error;
    ast_frames *frames =
        open_frames((const char *const[]){"single", "walk", "walk/f9.PGM", NULL}, AST_AS_DEPTH, NULL, &error);
    assert_non_null(frames);
    assert_int_equal(ast_frames_count(frames), 5);
    assert_string_equal(opened_list.files[1].path, "walk/f9.PGM");
    assert_true(ast_frame_list_scale(&opened_list) == 0);
    ast_input_frame frame;
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    assert_true(frame.number == AST_WHOLE && frame.index == 0);
    assert_true(frame.image.width == 40 && frame.image.height == 30 && strcmp(frame.path, "single") == 0);
    expect_frame(frames, "walk/f9.PGM", 9);
    expect_frame(frames, "walk/f10.pgm", 10);
    expect_frame(frames, "walk/f101.pgm", 101);
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    assert_int_equal(frame.index, 4);
    expect_end(frames);
}

static void subfolder(void **state) {
    (void)state;
    mkdir("scene", 0777);
    mkdir("scene/depth", 0777);
    write_text("scene/poses.txt", "0 0 0 0 0 0 0 1\n");
    expect_refusal("scene", "scene/depth: the folder is empty");
    write_text("scene/depth/notes.md", "none yet\n");
    expect_refusal("scene", "scene: holds no depth image (.png, .pgm, .tiff, .pfm or .npy), no depth.txt and no folder \"depth\"");
    assert_false(is_depth("scene"));
    write_frame("scene/depth/000000.pgm", 3);
    write_frame("scene/sheet.pgm", 4);
    assert_true(is_depth("scene"));
    ast_frames *frames = open_one("scene/", NULL);
    expect_frame(frames, "scene/depth/000000.pgm", 3);
    expect_end(frames);
}

static void what_is_depth(void **state) {
    (void)state;
    assert_true(is_depth("some.png") && is_depth("x/y.pgm"));
    assert_false(is_depth("-") || is_depth("some.npy") || is_depth("absent"));
    mkdir("mixed", 0777);
    assert_false(is_depth("mixed"));
    write_frame("mixed/plot.pgm", 1);
    assert_true(is_depth("mixed"));
    write_text("mixed/points.csv", "1,2,3\n"); /* a frame with a table beside it, or a table with its plot? */
    assert_false(is_depth("mixed"));
    write_frame("mixed/2.pgm", 1);
    assert_true(is_depth("mixed"));
    remove("mixed/2.pgm");
    write_text("mixed/depth.txt", "1 plot.pgm\n");
    assert_true(is_depth("mixed"));
}

static void tum_folder(void **state) {
    (void)state;
    mkdir("tum", 0777);
    mkdir("tum/depth", 0777);
    write_frame("tum/depth/b.pgm", 2);
    write_frame("tum/depth/a.pgm", 1);
    write_frame("tum/depth/with blank.pgm", 3);
    write_frame("tum/depth/unlisted.pgm", 4);
    write_text("tum/depth.txt", "# depth maps\n# timestamp filename\n1305031453.374112 depth/b.pgm\r\n\n"
                                "\t1305031453.5 depth/a.pgm \n-1e1 ./depth/with blank.pgm");
    ast_frames *frames = open_one("tum", NULL);
    assert_int_equal(ast_frames_count(frames), 3);
    assert_true(ast_frame_list_scale(&opened_list) == 5000);
    ast_input_frame frame;
    ast_format_error error;
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    assert_string_equal(frame.source, "tum/depth/b.pgm");
    assert_true(frame.image.values[0] == 2);
    assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
    assert_true(frame.image.values[0] == 1);
    expect_frame(frames, "tum/./depth/with blank.pgm", 3);
    expect_end(frames);
    write_frame("plain.pgm", 5);
    frames = open_frames((const char *const[]){"tum", "plain.pgm", NULL}, AST_AS_DEPTH, NULL, &error);
    assert_true(ast_frame_list_scale(&opened_list) == 0 && ast_frames_count(frames) == 4);
    close_frames(frames);
}

static void bad_lists(void **state) {
    (void)state;
    mkdir("bad", 0777);
    static const char *const lists[][2] = {
        {"", "bad/depth.txt: names no frame"},
        {"# nothing\n\n", "bad/depth.txt: names no frame"},
        {"1 a.pgm\nb.pgm\n", "bad/depth.txt: line 2: 'b.pgm' is no time with a file name behind it"},
        {"1 a.pgm\n\n17.5\n", "bad/depth.txt: line 3: '17.5' is no time"},
        {"17.5 \n", "bad/depth.txt: line 1: '17.5' is no time"},
        {"1e999 a.pgm\n", "line 1: '1e999 a.pgm' is no time"},
        {"nan a.pgm\n", "line 1: 'nan a.pgm' is no time"},
        {"1,a.pgm\n", "line 1: '1,a.pgm' is no time"}};
    for (size_t i = 0; i < ITEMS(lists); i++) {
        write_text("bad/depth.txt", lists[i][0]);
        expect_refusal("bad", lists[i][1]);
    }
    write_bytes("bad/depth.txt", "1 a\0b\n", 6);
    expect_refusal("bad", "line 1: is no line of a text");
    char *line = malloc(6001);
    memset(line, 'x', 6000);
    line[6000] = '\0';
    write_text("bad/depth.txt", line);
    expect_refusal("bad", "line 1: is no line of a text");
    free(line);
    remove("bad/depth.txt");
    mkdir("bad/depth.txt", 0777);
    expect_refusal("bad", "bad/depth.txt: is a folder");
    ast_format_error error;
    assert_null(open_frames((const char *const[]){"-", "-", NULL}, AST_AS_DEPTH, NULL, &error));
    assert_string_equal(error.text, "standard input can be read once, but - is given twice");
}

/* ---- Failures and skipping --------------------------------------------------------------------------------------- */

static const char *const sequence[] = {"s0.pgm", "s1.pgm", "s2.pgm", "s3.pgm", "s4.pgm",
                                       "s5.pgm", "s6.pgm", "s7.pgm", "s8.pgm", NULL};

static void write_sequence(void) {
    for (unsigned i = 0; sequence[i]; i++)
        write_frame(sequence[i], i);
}

static void failures_in_order(void **state) {
    (void)state;
    ast_format_error error;
    for (unsigned bad = 0; sequence[bad]; bad++) {
        write_sequence();
        write_text(sequence[bad], "P5 4 4 65535 too short");
        ast_frames *frames = open_frames(sequence, AST_AS_DEPTH, NULL, &error);
        for (unsigned i = 0; i < bad; i++)
            expect_frame(frames, sequence[i], i);
        expect_failure(frames, "is cut short");
        remove(sequence[bad]);
        frames = open_frames(sequence, AST_AS_DEPTH, NULL, &error);
        for (unsigned i = 0; i < bad; i++)
            expect_frame(frames, sequence[i], i);
        expect_failure(frames, "cannot be opened: No such file");
    }
}

/* What is skipped is not even opened. */
static void skipped(void **state) {
    (void)state;
    ast_format_error error;
    for (unsigned count = 0; sequence[count]; count++) {
        write_sequence();
        for (unsigned i = 0; i < count; i++)
            remove(sequence[i]);
        ast_frames *frames = open_frames(sequence, AST_AS_DEPTH, NULL, &error);
        assert_true(ast_frames_skip(frames, count / 2, &error));
        assert_true(ast_frames_skip_files(frames, count - count / 2, false, &error));
        ast_input_frame frame;
        assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
        assert_true(frame.index == count && frame.image.values[0] == count);
        for (unsigned i = count + 1; sequence[i]; i++)
            expect_frame(frames, sequence[i], i);
        expect_end(frames);
    }
    ast_frames *frames = open_frames(sequence, AST_AS_DEPTH, NULL, &error);
    assert_true(ast_frames_skip(frames, UINT64_MAX, &error));
    expect_end(frames);
}

static void closed_early(void **state) {
    (void)state;
    ast_format_error error;
    write_sequence();
    ast_frames_close(NULL);
    for (unsigned n = 0; n < 60; n++) {
        ast_frames *frames = open_frames(sequence, AST_AS_DEPTH, NULL, &error);
        for (unsigned i = 0; i < n % 9; i++)
            expect_frame(frames, sequence[i], i);
        if (n % 2)
            usleep(100 * n); /* now and then the thread has filled its queue and waits */
        close_frames(frames);
    }
}

/* Frames of different sizes share the ring. */
static void sizes_change(void **state) {
    (void)state;
    write_text("small.pgm", "P2 1 1 300 5");
    write_frame("large.pgm", 6);
    const char *paths[] = {"small.pgm", "large.pgm", "small.pgm", "small.pgm",
                           "large.pgm", "small.pgm", "large.pgm", NULL};
    ast_format_error error;
    ast_frames *frames = open_frames(paths, AST_AS_DEPTH, NULL, &error);
    for (size_t i = 0; paths[i]; i++)
        expect_frame(frames, paths[i], paths[i][0] == 's' ? 5 : 6);
    expect_end(frames);
}

/* ---- Raw frames and pipes ---------------------------------------------------------------------------------------- */

/* `frames` raw frames of 3 x 2 pixels, of number first, first + 1, ... in little-endian order, and `extra` bytes. */
static size_t make_raw(unsigned char *bytes, unsigned first, unsigned frames, size_t extra) {
    size_t size = 0;
    for (unsigned i = 0; i < 6 * frames; i++) {
        bytes[size++] = (unsigned char)(first + i / 6);
        bytes[size++] = (unsigned char)((first + i / 6) >> 8);
    }
    memset(bytes + size, 0x55, extra);
    return size + extra;
}

static const ast_frames_options raw = {.raw_width = 3, .raw_height = 2};

static void raw_files(void **state) {
    (void)state;
    unsigned char bytes[256];
    ast_format_error error;
    write_bytes("a.raw", bytes, make_raw(bytes, 0x1234, 5, 0));
    write_bytes("b.raw", bytes, make_raw(bytes, 7, 2, 3));
    write_bytes("empty.raw", bytes, 0);
    const char *paths[] = {"a.raw", "empty.raw", "b.raw", NULL};
    for (unsigned skip = 0; skip <= 8; skip++) {
        ast_frames *frames = open_frames(paths, AST_AS_DEPTH, &raw, &error);
        assert_true(ast_frames_count(frames) == SIZE_MAX && ast_frame_list_scale(&opened_list) == 0);
        assert_int_equal(ast_frames_skip(frames, skip, &error), skip < 8); /* the eighth is not whole */
        if (skip == 8) {
            close_frames(frames);
            continue;
        }
        char name[32];
        for (unsigned i = skip; i < 7; i++) {
            ast_input_frame frame;
            assert_int_equal(ast_frames_next(frames, &frame, &error), 1);
            sprintf(name, "%s#%u", i < 5 ? "a.raw" : "b.raw", i % 5);
            assert_string_equal(frame.source, name);
            assert_true(frame.index == i && frame.number == i % 5);
            assert_true(frame.image.width == 3 && frame.image.height == 2);
            assert_int_equal(frame.image.values[5], i < 5 ? 0x1234 + i : 7 + i - 5);
        }
        expect_failure(frames, "b.raw: frame 2 is cut short: 3 of its 12 bytes are there");
    }
    assert_null(
        open_frames(paths, AST_AS_DEPTH, &(ast_frames_options){.raw_width = 1 << 20, .raw_height = 1 << 20}, &error));
    assert_non_null(strstr(error.text, "raw frames: is an image of 1048576 x 1048576 pixels; at most 2^27"));
    assert_null(open_frames(paths, AST_AS_DEPTH, &(ast_frames_options){.raw_width = 640}, &error));
    assert_non_null(strstr(error.text, "raw frames: is an image of 640 x 0 pixels, which shows nothing"));
    /* Memory comes with the bytes, not with the size that is asked for. */
    expect_failure(open_one("a.raw", &(ast_frames_options){.raw_width = 1 << 13, .raw_height = 1 << 14}),
                   "a.raw: frame 0 is cut short: 60 of its 268435456 bytes are there");
}

/* Puts a pipe in the place of standard input; the end to write to. */
static int standard_input(int *before) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *before = dup(STDIN_FILENO);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void restore_input(int before) {
    assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
    close(before);
}

static void raw_pipe(void **state) {
    (void)state;
    unsigned char bytes[256];
    int before, end = standard_input(&before);
    ast_frames *frames = open_one("-", &raw);
    size_t size = make_raw(bytes, 300, 2, 0);
    assert_int_equal(write(end, bytes, size), size);
    expect_frame(frames, "-#0", 300); /* as soon as it is there, while the pipe is open */
    expect_frame(frames, "-#1", 301);
    assert_int_equal(write(end, bytes, 5), 5);
    close(end);
    expect_failure(frames, "standard input: frame 2 is cut short: 5 of its 12 bytes are there");
    restore_input(before);
}

/* Nobody writes, and yet closing ends the thread. */
static void silent_pipe(void **state) {
    (void)state;
    unsigned char bytes[256];
    int before, end = standard_input(&before);
    ast_frames *frames = open_one("-", &raw);
    assert_int_equal(write(end, bytes, make_raw(bytes, 1, 1, 4)), 16);
    expect_frame(frames, "-#0", 1);
    usleep(2000);
    close_frames(frames);
    restore_input(before);
    close(end);
    mkfifo("fifo.pgm", 0666);
    write_frame("first.pgm", 9);
    ast_format_error error;
    frames = open_frames((const char *const[]){"first.pgm", "fifo.pgm", NULL}, AST_AS_DEPTH, NULL, &error);
    expect_frame(frames, "first.pgm", 9);
    usleep(2000);
    close_frames(frames);
}

/* An image that comes through a named pipe, from somebody who opens it after us. */
static void image_through_a_pipe(void **state) {
    (void)state;
    remove("fifo.pgm");
    mkfifo("fifo.pgm", 0666);
    pid_t writer = fork();
    if (writer == 0) {
        usleep(20000);
        write_frame("fifo.pgm", 77);
        _exit(0);
    }
    ast_frames *frames = open_one("fifo.pgm", NULL);
    expect_frame(frames, "fifo.pgm", 77);
    expect_end(frames);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    int before, end = standard_input(&before);
    assert_int_equal(write(end, "P2 1 1 999 42\n", 14), 14);
    close(end);
    frames = open_one("-", NULL);
    expect_frame(frames, "-", 42);
    expect_end(frames);
    restore_input(before);
}

static int questions;

static int interrupted(void) {
    return ++questions >= 2;
}

static void interruption(void **state) {
    (void)state;
    unsigned char bytes[256];
    int before, end = standard_input(&before);
    ast_frames_options options = raw;
    options.interrupted = interrupted;
    questions = 0;
    ast_frames *frames = open_one("-", &options);
    expect_end(frames);
    assert_int_equal(questions, 2);
    questions = -1000;
    frames = open_one("-", &options);
    assert_int_equal(write(end, bytes, make_raw(bytes, 5, 1, 0)), 12);
    expect_frame(frames, "-#0", 5);
    close(end);
    expect_end(frames);
    restore_input(before);
}

/* A frame that another file would not replace: no memory, no thread. */
static void lacks(void **state) {
    (void)state;
    ast_format_error error;
    assert_false(ast_format_no_memory(&error, "a.png"));
    assert_true(ast_format_is_lack(&error));
    assert_false(ast_format_no_thread(&error, "reads frames", EAGAIN));
    assert_true(ast_format_is_lack(&error));
    ast_format_fail(&error, "%s: is cut short", "a.png");
    assert_false(ast_format_is_lack(&error));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lacks),
                                       cmocka_unit_test(files_and_folders),
                                       cmocka_unit_test(subfolder),
                                       cmocka_unit_test(what_is_depth),
                                       cmocka_unit_test(tum_folder),
                                       cmocka_unit_test(bad_lists),
                                       cmocka_unit_test(failures_in_order),
                                       cmocka_unit_test(skipped),
                                       cmocka_unit_test(closed_early),
                                       cmocka_unit_test(sizes_change),
                                       cmocka_unit_test(raw_files),
                                       cmocka_unit_test(raw_pipe),
                                       cmocka_unit_test(silent_pipe),
                                       cmocka_unit_test(interruption),
                                       cmocka_unit_test(image_through_a_pipe)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
