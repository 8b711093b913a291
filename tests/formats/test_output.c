/* SPDX-License-Identifier: MIT
 *
 * Outputs: nothing changes before the commit and everything at it, failures leave no trace, devices and pipes are
 * written in place, links are followed. Tests may run as root, so a place where nothing can be made is a path below a
 * regular file. */
#include "helpers.h"
#include "output.h"


#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static ast_output *must_open(const char *path) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    if (!output)
        fail_msg("%s", error.text);
    return output;
}

static void must_write(ast_output *output, const char *text) {
    ast_format_error error;
    if (!ast_output_write(output, text, strlen(text), &error))
        fail_msg("%s", error.text);
}

static void must_commit(ast_output *output) {
    ast_format_error error;
    if (!ast_output_commit(output, &error))
        fail_msg("%s", error.text);
}

static void expect_content(const char *path, const char *text) {
    size_t size;
    char *found = read_bytes(path, &size);
    assert_string_equal(found, text);
    free(found);
}

static mode_t mode_of(const char *path) {
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode;
}

static void new_file(void **state) {
    (void)state;
    mode_t before = umask(027);
    ast_output *output = must_open("new.txt");
    umask(before);
    must_write(output, "one\n");
    assert_int_equal(access("new.txt", F_OK), -1);
    must_commit(output);
    expect_content("new.txt", "one\n");
    assert_int_equal(mode_of("new.txt") & 07777, 0640);
    assert_int_equal(count_entries(), 1);
}

static void existing_file(void **state) {
    (void)state;
    write_text("old.txt", "old");
    chmod("old.txt", 0604);
    ast_output *output = must_open("old.txt");
    must_write(output, "new");
    expect_content("old.txt", "old");
    must_commit(output);
    expect_content("old.txt", "new");
    assert_int_equal(mode_of("old.txt") & 07777, 0604);
    output = must_open("old.txt");
    must_write(output, "never");
    ast_output_abandon(output);
    expect_content("old.txt", "new");
    assert_int_equal(count_entries(), 1);
    ast_output_abandon(NULL);
}

static void large_writes(void **state) {
    (void)state;
    size_t size = 300000, found;
    char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 % 251);
    ast_format_error error;
    ast_output *output = must_open("large.txt");
    for (size_t at = 0, part = 1; at < size; at += part, part = part * 3 % 150001) {
        part = part < size - at ? part : size - at;
        assert_true(ast_output_write(output, bytes + at, part, &error));
    }
    assert_true(ast_output_write(output, NULL, 0, &error));
    must_commit(output);
    char *back = read_bytes("large.txt", &found);
    assert_int_equal(found, size);
    assert_memory_equal(back, bytes, size);
    free(back);
    free(bytes);
}

static void links(void **state) {
    (void)state;
    assert_int_equal(mkdir("folder", 0755), 0);
    write_text("folder/real.txt", "old");
    assert_int_equal(symlink("folder/real.txt", "link.txt"), 0);
    assert_int_equal(symlink("link.txt", "second.txt"), 0);
    ast_output *output = must_open("second.txt");
    must_write(output, "new");
    must_commit(output);
    expect_content("folder/real.txt", "new");
    assert_true(S_ISLNK(mode_of("link.txt")) && S_ISLNK(mode_of("second.txt")));
    /* A link to a file that is yet to be made. */
    assert_int_equal(symlink("folder/later.txt", "dangling.txt"), 0);
    output = must_open("dangling.txt");
    must_write(output, "made");
    must_commit(output);
    expect_content("folder/later.txt", "made");
    assert_true(S_ISLNK(mode_of("dangling.txt")));
    ast_format_error error;
    assert_int_equal(symlink("loop.txt", "loop.txt"), 0);
    assert_null(ast_output_open("loop.txt", false, &error));
    assert_non_null(strstr(error.text, "loop.txt: cannot be written"));
}

static void places_that_cannot_be_written(void **state) {
    (void)state;
    static const struct {
        const char *path, *part;
    } cases[] = {{"absent/out.npy", "absent/out.npy: cannot be written: the folder absent/: No such file"},
                 {"file/out.npy", "file/out.npy: cannot be written: Not a directory"},
                 {"folder", "folder: is a folder"},
                 {"folder/", "folder/: is a folder"},
                 {"new/", "the name of a file is needed"},
                 {"", "the name of a file is needed"}};
    ast_format_error error;
    write_text("file", "x");
    mkdir("folder", 0755);
    for (size_t i = 0; i < ITEMS(cases); i++) {
        assert_null(ast_output_open(cases[i].path, false, &error));
        if (!strstr(error.text, cases[i].part))
            fail_msg("\"%s\" lacks \"%s\"", error.text, cases[i].part);
    }
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_null(ast_output_open(name, false, &error));
    assert_non_null(strstr(error.text, "File name too long"));
    assert_int_equal(count_entries(), 2);
}

/* The target becomes a folder between opening and commit: the rename fails, and nothing stays behind. */
static void commit_that_fails(void **state) {
    (void)state;
    ast_format_error error;
    ast_output *output = must_open("out.txt");
    must_write(output, "text");
    mkdir("out.txt", 0755);
    assert_false(ast_output_commit(output, &error));
    assert_non_null(strstr(error.text, "out.txt: cannot be written: "));
    assert_int_equal(count_entries(), 1);
}

static void a_full_device(void **state) {
    (void)state;
    ast_format_error error = {""};
    const char *full = full_device();
    ast_output *output = must_open(full);
    must_write(output, "does not fit");
    assert_false(ast_output_commit(output, &error));
    assert_non_null(strstr(error.text, "full: cannot be written: No space left on device"));
    output = must_open(full);
    char *bytes = calloc(1, 100000);
    assert_false(ast_output_write(output, bytes, 100000, &error));
    free(bytes);
    ast_output_abandon(output);
    assert_true(S_ISCHR(mode_of(full)));
}

static void several_outputs(void **state) {
    (void)state;
    ast_format_error error;
    const char *full = full_device(), *null = null_device();
    write_text("a.txt", "old");
    size_t entries = count_entries();
    ast_output *first = must_open("a.txt"), *second = must_open(full), *third = must_open("b.txt");
    must_write(first, "new");
    must_write(second, "new");
    must_write(third, "new");
    assert_true(ast_output_finish(first, &error));
    assert_false(ast_output_finish(second, &error));
    assert_non_null(strstr(error.text, "full: cannot be written"));
    ast_output_abandon(first);
    ast_output_abandon(second);
    ast_output_abandon(third);
    expect_content("a.txt", "old");
    assert_int_equal(count_entries(), entries);
    ast_output *nowhere = must_open(null);
    must_write(nowhere, "nowhere");
    assert_true(ast_output_commit(nowhere, &error));
    assert_true(S_ISCHR(mode_of(null)));
}

static void named_pipe(void **state) {
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        char text[16] = "";
        int descriptor = open("pipe", O_RDONLY);
        _exit(read(descriptor, text, sizeof text - 1) != 5 || strcmp(text, "hello") != 0);
    }
    ast_output *output = must_open("pipe");
    must_write(output, "hello");
    must_commit(output);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(S_ISFIFO(mode_of("pipe")));
}

/* "-" and its other names go where standard output goes, and leave it open; a redirected file is not replaced. The
 * names in /dev are only looked up: a broken writer run by root must not get to them. */
static void standard_output(void **state) {
    (void)state;
    static const char *const names[] = {"-", "/proc/self/fd/1"};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int file = open("redirected", O_WRONLY | O_CREAT, 0644);
    dup2(file, STDOUT_FILENO);
    bool good = write(STDOUT_FILENO, "begin,", 6) == 6;
    ast_format_error error;
    for (size_t i = 0; i < ITEMS(names); i++) {
        ast_output *output = ast_output_open(names[i], true, &error);
        good = good && output && ast_output_write(output, "line,", 5, &error) && ast_output_commit(output, &error);
    }
    good = good && write(STDOUT_FILENO, "end", 3) == 3;
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    assert_true(good);
    ast_output_path place;
    assert_true(ast_output_path_find(&place, "/dev/stdout", &error) && place.kind == AST_OUTPUT_STDOUT);
    assert_true(ast_output_path_find(&place, "/dev/fd/1", &error) && place.kind == AST_OUTPUT_STDOUT);
    expect_content("redirected", "begin,line,line,end");
}

static void durable(void **state) {
    (void)state;
    ast_format_error error;
    ast_output *output = ast_output_open("durable.txt", true, &error);
    assert_non_null(output);
    must_write(output, "kept");
    assert_true(ast_output_finish(output, &error));
    assert_int_equal(access("durable.txt", F_OK), -1);
    must_commit(output);
    expect_content("durable.txt", "kept");
}

/* Killed while writing: nothing is left where files can be unnamed, and never half a target. */
static void killed_writer(void **state) {
    (void)state;
    write_text("out.txt", "old");
    pid_t child = fork();
    if (child == 0) {
        ast_format_error error;
        ast_output *output = ast_output_open("out.txt", false, &error);
        char bytes[100000] = {0};
        if (output && ast_output_write(output, bytes, sizeof bytes, &error))
            raise(SIGKILL);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    expect_content("out.txt", "old");
    int probe = open(".", O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0)
        print_message("this file system has no unnamed files: a killed writer leaves its temporary file\n");
    else
        assert_int_equal(count_entries(), 1);
    close(probe);
}

/* Both kinds of temporary file, whatever the file system would choose. */
static void temporary_files(void **state) {
    (void)state;
    for (int unnamed = 0; unnamed < 2; unnamed++) {
        ast_temporary temporary, other;
        assert_true(ast_temporary_open(&temporary, "./", unnamed));
        assert_true(ast_temporary_open(&other, "./", unnamed));
        assert_int_equal(write(temporary.descriptor, "text", 4), 4);
        assert_true(ast_temporary_close(&temporary));
        assert_true(temporary.named && strncmp(temporary.name, "./.asterism-", 12) == 0);
        assert_true(ast_temporary_move(&temporary, "moved"));
        ast_temporary_drop(&temporary);
        ast_temporary_drop(&other);
        expect_content("moved", "text");
        assert_int_equal(count_entries(), 1);
        remove("moved");
        assert_false(ast_temporary_open(&temporary, "./absent/", unnamed));
        assert_int_equal(errno, ENOENT);
    }
}

/* Every test in a folder of its own, so that it can count what is left in it. */
/* Bytes in memory, in small and large pieces; nothing in the folder. */
static void memory(void **state) {
    (void)state;
    enum { LARGE = 200000 };
    ast_format_error error;
    unsigned char *bytes, *large = malloc(LARGE);
    size_t size;
    memset(large, 'x', LARGE);
    ast_output *output = ast_output_open_memory("memory", &error);
    assert_true(ast_output_write(output, "abc", 3, &error));
    assert_true(ast_output_write(output, large, LARGE, &error));
    assert_true(ast_output_write(output, "def", 3, &error));
    assert_true(ast_output_take(output, &bytes, &size, &error));
    assert_int_equal(size, LARGE + 6);
    assert_memory_equal(bytes, "abc", 3);
    assert_memory_equal(bytes + 3, large, LARGE);
    assert_string_equal((char *)bytes + 3 + LARGE, "def");
    free(bytes);
    assert_true(ast_output_take(ast_output_open_memory("memory", &error), &bytes, &size, &error));
    assert_true(size == 0 && bytes[0] == 0);
    free(bytes);
    output = ast_output_open_memory("memory", &error);
    assert_true(ast_output_write(output, large, LARGE, &error));
    ast_output_abandon(output);
    assert_int_equal(count_entries(), 0);
    free(large);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(new_file),          IN_FOLDER(existing_file),
        IN_FOLDER(large_writes),      IN_FOLDER(links),
        IN_FOLDER(commit_that_fails), IN_FOLDER(places_that_cannot_be_written),
        IN_FOLDER(a_full_device),     IN_FOLDER(several_outputs),
        IN_FOLDER(named_pipe),        IN_FOLDER(standard_output),
        IN_FOLDER(durable),           IN_FOLDER(killed_writer),
        IN_FOLDER(temporary_files),   IN_FOLDER(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
