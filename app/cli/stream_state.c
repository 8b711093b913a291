/* SPDX-License-Identifier: MIT
 *
 * A state file is a head of fixed size, two names, the bytes of ast_stream_save, and a checksum over all of it. Numbers
 * are little-endian. It changes by a rename only, so that a kill at any moment leaves the old one or the new one; and a
 * file that is not wholly as we wrote it is refused before anything is taken from it. */
#include "stream_state.h"

#include <bytes.h>
#include <fnv.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal.h"

/* magic 8, version 4, posed 4, dimension 8, frames 8, number 8, path's size 8, whole path's size 8, state's size 8,
 * planes' size 8 */
enum { MAGIC_SIZE = 8, HEAD_SIZE = 72, CHECKSUM_SIZE = 8, VERSION = 2 };
static const char magic[MAGIC_SIZE] = "astream\n";

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int damaged(const char *path) {
    return ast_cli_fail("%s: the state is damaged; delete the file to start anew", path);
}

/* The names are stored with the NUL that ends them. */
static int is_name(const unsigned char *place, uint64_t size) {
    return size > 0 && memchr(place, 0, (size_t)size) == place + size - 1;
}

static int understand(const char *path, const unsigned char *bytes, size_t size, ast_cli_saved_stream *saved) {
    if (size < MAGIC_SIZE || memcmp(bytes, magic, MAGIC_SIZE) != 0)
        return ast_cli_fail("%s: is no state of asterism stream, so it is not touched", path);
    if (size < HEAD_SIZE + CHECKSUM_SIZE)
        return damaged(path);
    if (ast_little(bytes + 8, 4) != VERSION)
        return ast_cli_fail("%s: is a state of version %u; this program knows version %d", path,
                            (unsigned)ast_little(bytes + 8, 4), VERSION);
    uint64_t names = ast_little(bytes + 40, 8), whole_names = ast_little(bytes + 48, 8),
             state = ast_little(bytes + 56, 8), planes = ast_little(bytes + 64, 8);
    size_t body = size - HEAD_SIZE - CHECKSUM_SIZE;
    if (names > body || whole_names > body - names || state > body - names - whole_names ||
        planes != body - names - whole_names - state ||
        ast_fnv(AST_FNV_START, bytes, size - CHECKSUM_SIZE) != ast_little(bytes + size - CHECKSUM_SIZE, 8) ||
        !is_name(bytes + HEAD_SIZE, names) || !is_name(bytes + HEAD_SIZE + names, whole_names))
        return damaged(path);
    saved->posed = (int)ast_little(bytes + 12, 4);
    saved->dimension = ast_little(bytes + 16, 8);
    saved->frames = ast_little(bytes + 24, 8);
    saved->number = ast_little(bytes + 32, 8);
    saved->path = (const char *)bytes + HEAD_SIZE;
    saved->whole_path = saved->path + names;
    saved->state = saved->whole_path + whole_names;
    saved->state_size = (size_t)state;
    saved->planes = planes ? (const char *)saved->state + state : NULL;
    saved->planes_size = (size_t)planes;
    return -1;
}

int ast_cli_state_read(const char *path, unsigned char **bytes, ast_cli_saved_stream *saved) {
    ast_format_error error;
    struct stat status;
    size_t size;
    *bytes = NULL;
    if (stat(path, &status) != 0 && errno == ENOENT)
        return -1;
    if (!ast_read_file(path, bytes, &size, &error))
        return ast_cli_fail("%s", error.text);
    return understand(path, *bytes, size, saved);
}

/* Where the last line of the file begins. */
static off_t last_line(int file, off_t end) {
    char block[4096];
    while (end > 0) {
        size_t size = end < (off_t)sizeof block ? (size_t)end : sizeof block;
        if (pread(file, block, size, end - (off_t)size) != (ssize_t)size)
            return -1;
        const char *newline = memrchr(block, '\n', size);
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

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct part {
    const void *bytes;
    size_t size;
} part;

int ast_cli_state_write(const char *path, int durable, const ast_cli_saved_stream *saved) {
    unsigned char head[HEAD_SIZE], sum[CHECKSUM_SIZE];
    const part parts[] = {{head, HEAD_SIZE},
                          {saved->path, strlen(saved->path) + 1},
                          {saved->whole_path, strlen(saved->whole_path) + 1},
                          {saved->state, saved->state_size},
                          {saved->planes, saved->planes_size}};
    memcpy(head, magic, MAGIC_SIZE);
    ast_put_little(head + 8, VERSION, 4);
    ast_put_little(head + 12, (uint64_t)saved->posed, 4);
    ast_put_little(head + 16, saved->dimension, 8);
    ast_put_little(head + 24, saved->frames, 8);
    ast_put_little(head + 32, saved->number, 8);
    for (int i = 0; i < 4; i++)
        ast_put_little(head + 40 + 8 * i, parts[i + 1].size, 8);

    ast_format_error error;
    ast_output *output = ast_output_open_sole(path, durable, &error);
    int good = output != NULL;
    uint64_t total = AST_FNV_START;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && good; i++) {
        total = ast_fnv(total, parts[i].bytes, parts[i].size);
        good = ast_output_write(output, parts[i].bytes, parts[i].size, &error);
    }
    ast_put_little(sum, total, CHECKSUM_SIZE);
    good = good && ast_output_write(output, sum, sizeof sum, &error);
    return ast_output_close(output, good, &error)
               ? -1
               : ast_cli_fail("%s; the state is that of the frame before", error.text);
}
