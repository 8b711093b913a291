/* SPDX-License-Identifier: MIT
 *
 * Reading a state file: a head of fixed size, two names, the planes, a checksum over all of it, and the bytes of
 * ast_stream_write. Then the frames since: each has a small head, two names, a checksum, and the bytes of
 * ast_stream_save_changes. Numbers are little-endian. What the library wrote has its own checksums. A process that is
 * killed while it adds a frame leaves a part of it at the end of the file: that frame was not saved. Any other file
 * that is not wholly as we wrote it is refused before anything is taken from it. */
#include "stream_state.h"

#include <platform.h>
#include <bytes.h>
#include <fnv.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream_state_layout.h"
#include "terminal.h"

static int damaged(const char *path) {
    return ast_cli_fail("%s: the state is damaged; delete the file to start anew", path);
}

/* The names are stored with the NUL that ends them. */
static int is_name(const unsigned char *place, uint64_t size) {
    return size > 0 && memchr(place, 0, (size_t)size) == place + size - 1;
}

static int is_sum(const unsigned char *bytes, size_t size) {
    return ast_fnv(AST_FNV_START, bytes, size) == ast_little(bytes + size, CHECKSUM_SIZE);
}

/* The head and what belongs to it; *at: where the library's bytes begin. */
static int read_head(const char *path, const unsigned char *bytes, size_t size, ast_cli_saved_stream *saved,
                     size_t *at) {
    if (size < MAGIC_SIZE || memcmp(bytes, ast_cli_state_magic, MAGIC_SIZE) != 0)
        return ast_cli_fail("%s: is no state of asterism stream, so it is not touched", path);
    if (size < HEAD_SIZE + CHECKSUM_SIZE)
        return damaged(path);
    if (ast_little(bytes + 8, 4) != STATE_VERSION)
        return ast_cli_fail("%s: is a state of version %u; this program knows version %d", path,
                            (unsigned)ast_little(bytes + 8, 4), STATE_VERSION);
    uint64_t names = ast_little(bytes + 40, 8), whole_names = ast_little(bytes + 48, 8),
             planes = ast_little(bytes + 56, 8);
    size_t body = size - HEAD_SIZE - CHECKSUM_SIZE;
    if (names > body || whole_names > body - names || planes > body - names - whole_names)
        return damaged(path);
    *at = ast_cli_state_padded(HEAD_SIZE + names + whole_names + planes) + CHECKSUM_SIZE;
    if (*at > size || !is_sum(bytes, *at - CHECKSUM_SIZE) || !is_name(bytes + HEAD_SIZE, names) ||
        !is_name(bytes + HEAD_SIZE + names, whole_names))
        return damaged(path);
    saved->posed = (int)ast_little(bytes + 12, 4);
    saved->dimension = ast_little(bytes + 16, 8);
    saved->frames = ast_little(bytes + 24, 8);
    saved->number = ast_little(bytes + 32, 8);
    saved->path = (const char *)bytes + HEAD_SIZE;
    saved->whole_path = saved->path + names;
    saved->planes = planes ? saved->whole_path + whole_names : NULL;
    saved->planes_size = (size_t)planes;
    return -1;
}

/* The frame at `at`: its size in the file; 0: it is not complete; SIZE_MAX: it is damaged. */
static size_t frame_size(const unsigned char *at, size_t left) {
    if (memcmp(at, ast_cli_frame_magic, left < MAGIC_SIZE ? left : MAGIC_SIZE) != 0)
        return SIZE_MAX;
    if (left < FRAME_SIZE)
        return 0;
    uint64_t names = ast_little(at + 24, 4), whole_names = ast_little(at + 28, 4), changes = ast_little(at + 32, 8);
    if (!is_sum(at, FRAME_SIZE - CHECKSUM_SIZE) || changes > SIZE_MAX / 2)
        return SIZE_MAX;
    uint64_t size = FRAME_SIZE + names + whole_names + CHECKSUM_SIZE + changes;
    if (size > left)
        return 0;
    const unsigned char *name = at + FRAME_SIZE;
    bool good = is_sum(name, names + whole_names) && is_name(name, names) && is_name(name + names, whole_names);
    return good ? (size_t)size : SIZE_MAX;
}

/* Puts the library's bytes of the frames behind its state, which ends at `end`. They move towards the front: what is
 * read of a frame is read before anything is put in its place. */
static int read_frames(const char *path, size_t size, size_t end, ast_cli_saved_stream *saved) {
    unsigned char *bytes = saved->bytes;
    size_t at = end, to = end, frame;
    for (; at < size && (frame = frame_size(bytes + at, size - at)) > 0; at += frame) {
        if (frame == SIZE_MAX)
            return damaged(path);
        size_t changes = (size_t)ast_little(bytes + at + 32, 8), names = frame - FRAME_SIZE - CHECKSUM_SIZE - changes;
        char *copy = realloc(saved->names, names);
        if (!copy)
            return ast_cli_no_memory(path);
        saved->names = memcpy(copy, bytes + at + FRAME_SIZE, names);
        saved->path = saved->names;
        saved->whole_path = saved->names + ast_little(bytes + at + 24, 4);
        saved->frames = ast_little(bytes + at + 8, 8);
        saved->number = ast_little(bytes + at + 16, 8);
        memmove(bytes + to, bytes + at + frame - changes, changes);
        to += changes;
    }
    saved->file_size = at; /* what is behind it was cut off by a kill */
    saved->state_size += to - end;
    return -1;
}

static int understand(const char *path, size_t size, ast_cli_saved_stream *saved) {
    size_t at = 0;
    int code = read_head(path, saved->bytes, size, saved, &at);
    if (code >= 0)
        return code;
    uint64_t state = size - at < 24 ? 0 : ast_little(saved->bytes + at + 16, 8); /* as every saved object has it */
    if (state < 24 || state > size - at)
        return damaged(path);
    saved->state = saved->bytes + at;
    saved->state_size = (size_t)state;
    saved->whole_size = at + (size_t)state;
    return read_frames(path, size, saved->whole_size, saved);
}

int ast_cli_state_read(const char *path, ast_cli_saved_stream *saved) {
    ast_format_error error;
    struct stat status;
    size_t size;
    *saved = (ast_cli_saved_stream){0};
    if (stat(path, &status) != 0 && errno == ENOENT)
        return -1;
    if (!ast_read_file(path, &saved->bytes, &size, &error))
        return ast_cli_fail("%s", error.text);
    return understand(path, size, saved);
}

void ast_cli_state_free(ast_cli_saved_stream *saved) {
    free(saved->bytes);
    free(saved->names);
    *saved = (ast_cli_saved_stream){0};
}

/* Where the last line of the file begins. */
static off_t last_line(int file, off_t end) {
    char block[4096];
    while (end > 0) {
        size_t size = end < (off_t)sizeof block ? (size_t)end : sizeof block;
        if (pread(file, block, size, end - (off_t)size) != (ssize_t)size)
            return -1;
        const char *newline = ast_last_byte(block, '\n', size);
        if (newline)
            return end - (off_t)size + (newline - block) + 1;
        end -= (off_t)size;
    }
    return 0;
}

void ast_cli_state_drop_half_line(void) {
    static const char begin[] = "{\"frame\": ";
    char found[sizeof begin - 1];
    struct stat status;
    if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode) || !(fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND))
        return;
    int file = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
    off_t line = file < 0 ? -1 : last_line(file, status.st_size);
    ssize_t size = line < 0 ? 0 : pread(file, found, sizeof found, line);
    if (size > 0 && memcmp(found, begin, (size_t)size) == 0)
        (void)!ftruncate(STDOUT_FILENO, line);
    if (file >= 0)
        close(file);
}
