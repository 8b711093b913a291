/* SPDX-License-Identifier: MIT
 *
 * Opens and reads files of any kind. It knows nothing of what is in them: readers ask for bytes, and learn the size
 * beforehand only where it can be trusted. */
#include "bytes.h"

#include "platform.h"

#include <errno.h>
#include <string.h>

/* Bytes that memory grows by at first. */
#ifndef AST_FIRST_PART
#define AST_FIRST_PART ((size_t)1 << 20)
#endif

static bool open_file(ast_bytes *bytes, const char *path, ast_format_error *error);
static bool wait_for_bytes(const ast_bytes *bytes, ast_format_error *error);

bool ast_bytes_open(ast_bytes *bytes, const char *path, bool compressed, int stop, ast_format_error *error) {
    bool standard = strcmp(path, "-") == 0;
    *bytes = (ast_bytes){.name = standard ? "standard input" : path, .descriptor = -1, .stop = stop};
    /* The size of standard input is unknown: another process may have read a part of it already. */
    if (standard)
        bytes->descriptor = STDIN_FILENO;
    else if (!open_file(bytes, path, error))
        return false;
    if (!compressed)
        return true;
    bytes->sized = false;
    bytes->gz = ast_gz_open(bytes->name, false, error);
    if (!bytes->gz)
        ast_bytes_close(bytes);
    return bytes->gz != NULL;
}

bool ast_bytes_open_memory(ast_bytes *bytes, const char *name, const void *memory, size_t size, bool compressed,
                           ast_format_error *error) {
    *bytes = (ast_bytes){
        .name = name, .descriptor = -1, .memory = memory, .sized = !compressed, .size = size, .stop = AST_NO_STOP};
    if (!compressed)
        return true;
    bytes->gz = ast_gz_open(name, false, error);
    return bytes->gz != NULL;
}

bool ast_bytes_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error) {
    size_t part;
    *got = 0;
    do {
        char *place = (char *)buffer + *got;
        bool good = bytes->gz ? ast_gz_read(bytes, place, capacity - *got, &part, error)
                              : ast_bytes_read_raw(bytes, place, capacity - *got, &part, error);
        if (!good)
            return false;
        *got += part;
    } while (part > 0 && *got < capacity);
    return true;
}

static bool over_budget(const ast_bytes *bytes, ast_format_error *error) {
    return ast_format_fail(
        error,
        "%s: does not fit into the memory budget of %llu bytes; only a table in a regular file that is "
        "not compressed may be larger",
        bytes->name, (unsigned long long)bytes->allowed);
}

bool ast_bytes_budget(const ast_bytes *bytes, uint64_t promised, ast_format_error *error) {
    return !bytes->allowed || promised <= bytes->allowed || promised == PTRDIFF_MAX || over_budget(bytes, error);
}

/* No more than `part`, and than may be in memory. */
static size_t within_budget(const ast_bytes *bytes, size_t part) {
    return bytes->allowed && part > bytes->allowed ? (size_t)bytes->allowed : part;
}

bool ast_bytes_fill(ast_bytes *bytes, ast_buffer *buffer, size_t size, ast_format_error *error) {
    while (buffer->filled < size) {
        size_t part = buffer->filled >= AST_FIRST_PART ? 2 * buffer->filled : AST_FIRST_PART, got;
        part = part < buffer->capacity ? buffer->capacity : part;
        part = within_budget(bytes, part < size ? part : size);
        if (part <= buffer->filled)
            return over_budget(bytes, error);
        if (!ast_array_grow(&buffer->place, &buffer->capacity, part, 1))
            return ast_format_no_memory(error, bytes->name);
        if (!ast_bytes_read(bytes, buffer->place + buffer->filled, part - buffer->filled, &got, error))
            return false;
        buffer->filled += got;
        if (buffer->filled < part)
            break;
    }
    return true;
}

void ast_bytes_close(ast_bytes *bytes) {
    ast_gz_close(bytes->gz);
    if (bytes->descriptor > STDIN_FILENO)
        close(bytes->descriptor);
    *bytes = (ast_bytes){.descriptor = -1};
}

bool ast_bytes_read_raw(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error) {
    if (bytes->descriptor < 0) {
        size_t left = (size_t)bytes->size - bytes->position;
        *got = left < capacity ? left : capacity;
        if (*got > 0)
            memcpy(buffer, bytes->memory + bytes->position, *got);
        bytes->position += *got;
        return true;
    }
    /* One call takes at most 1 GiB: Linux would cut it short at 2 anyway. */
    size_t most = (size_t)1 << 30;
    ssize_t part;
    do {
        if (bytes->stop >= 0 && !wait_for_bytes(bytes, error))
            return false;
        part = read(bytes->descriptor, buffer, capacity < most ? capacity : most);
    } while (part < 0 && (errno == EINTR || (bytes->stop >= 0 && errno == EAGAIN)));
    if (part < 0)
        return ast_format_fail(error, "%s: cannot be read: %s", bytes->name, strerror(errno));
    *got = (size_t)part;
    return true;
}

uint64_t ast_little(const void *bytes, size_t size) {
    uint64_t value = 0;
    while (size-- > 0)
        value = value << 8 | ((const unsigned char *)bytes)[size];
    return value;
}

void ast_put_little(void *bytes, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(number >> 8 * i);
}

int ast_read_at(int descriptor, uint64_t offset, void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t part = pread(descriptor, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (part == 0 || (part < 0 && errno != EINTR))
            return part < 0 ? errno : -1;
        done += part > 0 ? (size_t)part : 0;
    }
    return 0;
}

int ast_write_at(int descriptor, uint64_t offset, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t part = pwrite(descriptor, (const char *)bytes + done, size - done, (off_t)(offset + done));
        if (part < 0 && errno != EINTR)
            return errno;
        done += part > 0 ? (size_t)part : 0;
    }
    return 0;
}

static bool open_file(ast_bytes *bytes, const char *path, ast_format_error *error) {
    /* Opening a named pipe blocks until a writer opens it, and that wait could not be stopped. */
    int flags = O_RDONLY | O_CLOEXEC | (bytes->stop >= 0 ? O_NONBLOCK : 0);
    do
        bytes->descriptor = open(path, flags);
    while (bytes->descriptor < 0 && errno == EINTR);
    if (bytes->descriptor < 0)
        return ast_format_fail(error, "%s: cannot be opened: %s", path, strerror(errno));
    struct stat status;
    bool known = fstat(bytes->descriptor, &status) == 0;
    if (known && S_ISDIR(status.st_mode)) {
        ast_bytes_close(bytes);
        return ast_format_fail(error, "%s: is a folder; a file is needed", path);
    }
    bytes->sized = known && S_ISREG(status.st_mode);
    bytes->size = bytes->sized ? (uint64_t)status.st_size : 0;
    return true;
}

static bool wait_for_bytes(const ast_bytes *bytes, ast_format_error *error) {
    struct pollfd ready[2] = {{.fd = bytes->descriptor, .events = POLLIN}, {.fd = bytes->stop, .events = POLLIN}};
    int found;
    do
        found = poll(ready, 2, -1);
    while (found < 0 && errno == EINTR);
    if (found < 0)
        return ast_format_fail(error, "%s: cannot be waited for: %s", bytes->name, strerror(errno));
    return ready[1].revents == 0 || ast_format_fail(error, "%s: reading it was stopped", bytes->name);
}
