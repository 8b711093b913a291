/* SPDX-License-Identifier: MIT
 *
 * Writing a state file. A frame that changes little of a large state is added at the end of the file, in one piece.
 * When the frames have become as large as the state, it is written anew, which is a rename. So a frame costs what it
 * changed, a file is at most twice as large as its state, and a kill at any moment leaves the state of the last frame
 * or of the one before. */
#include "stream_state.h"

#include <bytes.h>
#include <fnv.h>
#include <platform.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream_state_layout.h"
#include "terminal.h"

enum { LEAST_FRAMES = 1 << 18 }; /* bytes of frames that are worth writing a small state anew */

/* ---- The whole state --------------------------------------------------------------------------------------------- */

typedef struct sink {
    ast_output *output;
    ast_format_error error;
    uint64_t sum, size;
} sink;

static bool put(sink *to, const void *bytes, size_t size) {
    to->sum = ast_fnv(to->sum, bytes, size);
    to->size += size;
    return ast_output_write(to->output, bytes, size, &to->error);
}

static int put_state(void *data, const void *bytes, size_t size) {
    sink *to = data;
    to->size += size;
    return !ast_output_write(to->output, bytes, size, &to->error);
}

static bool put_head(sink *to, const ast_cli_saved_stream *saved) {
    static const unsigned char zeros[8];
    unsigned char head[HEAD_SIZE], sum[CHECKSUM_SIZE];
    size_t name = strlen(saved->path) + 1, whole = strlen(saved->whole_path) + 1;
    size_t size = HEAD_SIZE + name + whole + saved->planes_size;
    memcpy(head, ast_cli_state_magic, MAGIC_SIZE);
    ast_put_little(head + 8, STATE_VERSION, 4);
    ast_put_little(head + 12, (uint64_t)saved->posed, 4);
    const uint64_t numbers[] = {saved->dimension, saved->frames, saved->number, name, whole, saved->planes_size};
    for (int i = 0; i < 6; i++)
        ast_put_little(head + 16 + 8 * i, numbers[i], 8);
    bool good = put(to, head, HEAD_SIZE) && put(to, saved->path, name) && put(to, saved->whole_path, whole) &&
                put(to, saved->planes, saved->planes_size) && put(to, zeros, ast_cli_state_padded(size) - size);
    ast_put_little(sum, to->sum, CHECKSUM_SIZE);
    return good && put(to, sum, sizeof sum);
}

static int write_whole(ast_cli_state_file *file, ast_stream *stream, const ast_cli_saved_stream *saved) {
    sink to = {.sum = AST_FNV_START};
    ast_cli_state_close(file);
    to.output = ast_output_open_sole(file->path, file->durable, &to.error);
    bool good = to.output && put_head(&to, saved) && ast_stream_write(stream, put_state, &to) == AST_OK;
    file->whole = file->size = to.size;
    return ast_output_close(to.output, good, &to.error)
               ? -1
               : ast_cli_fail("%s; the state is that of the frame before", to.error.text);
}

/* ---- A frame behind it ------------------------------------------------------------------------------------------- */

void ast_cli_state_close(ast_cli_state_file *file) {
    if (file->open)
        close(file->descriptor);
    file->open = 0;
}

/* Opens the file at its end, if it is a regular one that has at least the size that we know: where a kill cut off a
 * frame, that part goes. Whether frames can be added. */
static bool open_end(ast_cli_state_file *file) {
    file->descriptor = open(file->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    file->open = file->descriptor >= 0;
    bool good = file->open && fstat(file->descriptor, &file->status) == 0 && S_ISREG(file->status.st_mode) &&
                (uint64_t)file->status.st_size >= file->size &&
                ((uint64_t)file->status.st_size == file->size || ftruncate(file->descriptor, (off_t)file->size) == 0);
    if (!good)
        ast_cli_state_close(file);
    return good;
}

/* Whether the file is still the one that we have written. */
static bool is_ours(const ast_cli_state_file *file) {
    struct stat now;
    return stat(file->path, &now) == 0 && now.st_dev == file->status.st_dev && now.st_ino == file->status.st_ino &&
           (uint64_t)now.st_size == file->size;
}

static size_t frame_head(unsigned char *frame, const ast_cli_saved_stream *saved, size_t name, size_t whole,
                         size_t changes) {
    const size_t names = name + whole;
    memcpy(frame, ast_cli_frame_magic, MAGIC_SIZE);
    ast_put_little(frame + 8, saved->frames, 8);
    ast_put_little(frame + 16, saved->number, 8);
    ast_put_little(frame + 24, name, 4);
    ast_put_little(frame + 28, whole, 4);
    ast_put_little(frame + 32, changes, 8);
    ast_put_little(frame + 40, ast_fnv(AST_FNV_START, frame, 40), CHECKSUM_SIZE);
    memcpy(frame + FRAME_SIZE, saved->path, name);
    memcpy(frame + FRAME_SIZE + name, saved->whole_path, whole);
    ast_put_little(frame + FRAME_SIZE + names, ast_fnv(AST_FNV_START, frame + FRAME_SIZE, names), CHECKSUM_SIZE);
    return FRAME_SIZE + names + CHECKSUM_SIZE;
}

/* Adds the frame in one call, or takes back what was written of it. */
static int append(ast_cli_state_file *file, const ast_cli_saved_stream *saved, const void *changes, size_t size) {
    size_t name = strlen(saved->path) + 1, whole = strlen(saved->whole_path) + 1;
    unsigned char *frame = malloc(FRAME_SIZE + name + whole + CHECKSUM_SIZE);
    if (!frame)
        return ast_cli_no_memory(file->path);
    size_t head = frame_head(frame, saved, name, whole, size);
    const struct iovec parts[] = {{frame, head}, {(void *)(uintptr_t)changes, size}};
    ssize_t written;
    do
        written = writev(file->descriptor, parts, 2);
    while (written < 0 && errno == EINTR);
    int reason = written < 0 ? errno : written == (ssize_t)(head + size) ? 0 : ENOSPC;
    if (!reason && file->durable && fdatasync(file->descriptor) != 0)
        reason = errno;
    free(frame);
    if (!reason) {
        file->size += head + size;
        return -1;
    }
    (void)!ftruncate(file->descriptor, (off_t)file->size);
    return ast_cli_fail("%s: cannot be written: %s; the state is that of the frame before", file->path,
                        strerror(reason));
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

void ast_cli_state_resume(ast_cli_state_file *file, const ast_cli_saved_stream *saved) {
    file->whole = saved->whole_size;
    file->size = saved->file_size;
    file->planes = saved->planes != NULL;
}

int ast_cli_state_save(ast_cli_state_file *file, ast_stream *stream, const ast_cli_saved_stream *saved) {
    const uint64_t most = file->whole > LEAST_FRAMES ? file->whole : LEAST_FRAMES;
    size_t size = 0;
    const void *changes = NULL;
    bool adds = file->size > 0 && !file->planes && !saved->planes && (file->open || open_end(file)) && is_ours(file);
    if (adds)
        changes = ast_stream_save_changes(stream, &size);
    file->planes = saved->planes != NULL;
    return changes && file->size - file->whole + size <= most ? append(file, saved, changes, size)
                                                              : write_whole(file, stream, saved);
}
