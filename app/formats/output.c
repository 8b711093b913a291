/* SPDX-License-Identifier: MIT
 *
 * Every file that is written is written here. It knows bytes and no formats. The one idea: two phases. While outputs
 * are written and finished nothing that existed changes; once all of them are safe they are put in place, and that is
 * only renaming. */
#include "output.h"

#include "platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER ((size_t)1 << 16)

struct ast_output {
    char *name;
    ast_output_path path;
    ast_temporary temporary; /* AST_OUTPUT_FILE */
    int descriptor;          /* what is written to; -1 once finished */
    bool durable;
    bool finished;
    unsigned char *kept; /* AST_OUTPUT_MEMORY: what was written so far */
    size_t kept_size, kept_room;
    size_t used;
    unsigned char buffer[BUFFER];
};

static ast_output *make_output(const char *name, ast_output_kind kind, ast_format_error *error);
static bool open_path(ast_output *output);
static bool keep(ast_output *output, const unsigned char *bytes, size_t size, ast_format_error *error);
static bool write_out(ast_output *output, const unsigned char *bytes, size_t size, ast_format_error *error);

static bool no_memory(const char *name, ast_format_error *error) {
    return ast_format_fail(error, "%s: there is not enough memory to write it", name);
}

static bool cannot(const ast_output *output, ast_format_error *error) {
    return ast_format_fail(error, "%s: cannot be written: %s", output->name, strerror(errno));
}

ast_output *ast_output_open(const char *path, bool durable, ast_format_error *error) {
    ast_output *output = make_output(strcmp(path, "-") == 0 ? "standard output" : path, AST_OUTPUT_STDOUT, error);
    if (!output)
        return NULL;
    output->durable = durable;
    if (ast_output_path_find(&output->path, path, error) && (open_path(output) || cannot(output, error)))
        return output;
    ast_output_abandon(output);
    return NULL;
}

ast_output *ast_output_open_memory(const char *name, ast_format_error *error) {
    return make_output(name, AST_OUTPUT_MEMORY, error);
}

bool ast_output_take(ast_output *output, unsigned char **bytes, size_t *size, ast_format_error *error) {
    bool good = ast_output_finish(output, error) && keep(output, (const unsigned char *)"", 1, error);
    *bytes = good ? output->kept : NULL;
    *size = good ? output->kept_size - 1 : 0;
    if (good)
        output->kept = NULL;
    ast_output_abandon(output);
    return good;
}

static ast_output *make_output(const char *name, ast_output_kind kind, ast_format_error *error) {
    ast_output *output = calloc(1, sizeof *output);
    if (!output || !(output->name = strdup(name))) {
        free(output);
        no_memory(name, error);
        return NULL;
    }
    output->descriptor = output->temporary.descriptor = -1;
    output->path.kind = kind;
    return output;
}

ast_output *ast_output_open_sole(const char *path, bool durable, ast_format_error *error) {
    ast_output *output = ast_output_open(path, durable, error);
    if (output && output->path.kind == AST_OUTPUT_FILE)
        ast_temporary_for(&output->temporary, output->path.target);
    return output;
}

const char *ast_output_name(const ast_output *output) {
    return output->name;
}

bool ast_output_share(ast_output *output, char *name, size_t room, ast_format_error *error) {
    name[0] = 0;
    if (output->path.kind != AST_OUTPUT_FILE)
        return true;
    if (!ast_temporary_name(&output->temporary))
        return cannot(output, error);
    if (strlen(output->temporary.name) >= room)
        return ast_format_fail(error, "%s: its name is too long for several processes to write it", output->name);
    strcpy(name, output->temporary.name);
    return true;
}

bool ast_write_part(const char *name, uint64_t offset, const void *bytes, size_t size, ast_format_error *error) {
    int descriptor = open(name, O_WRONLY | O_CLOEXEC);
    int reason = descriptor < 0 ? errno : ast_write_at(descriptor, offset, bytes, size);
    if (descriptor >= 0 && close(descriptor) != 0 && !reason)
        reason = errno;
    return !reason || ast_format_fail(error, "%s: cannot be written: %s", name, strerror(reason));
}

bool ast_output_write(ast_output *output, const void *bytes, size_t size, ast_format_error *error) {
    if (output->used + size > BUFFER || size > BUFFER) {
        size_t used = output->used;
        output->used = 0;
        if (!write_out(output, output->buffer, used, error))
            return false;
    }
    if (size >= BUFFER)
        return write_out(output, bytes, size, error);
    if (size > 0)
        memcpy(output->buffer + output->used, bytes, size);
    output->used += size;
    return true;
}

/* Makes the bytes as safe as was asked for. A pipe or terminal cannot be synced, which is no error. */
static bool make_durable(int descriptor) {
    return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

bool ast_output_finish(ast_output *output, ast_format_error *error) {
    if (output->finished)
        return true;
    size_t used = output->used;
    output->used = 0;
    if (!write_out(output, output->buffer, used, error))
        return false;
    if (output->durable && !make_durable(output->descriptor))
        return cannot(output, error);
    int descriptor = output->descriptor;
    output->descriptor = -1;
    output->finished = true;
    if (output->path.kind == AST_OUTPUT_FILE && !ast_temporary_close(&output->temporary))
        return cannot(output, error);
    if (output->path.kind == AST_OUTPUT_DIRECT && close(descriptor) != 0)
        return cannot(output, error);
    return true;
}

/* After the rename: syncs the folder, so that the new name survives a power cut too. */
static bool sync_folder(const ast_output *output) {
    int folder = open(output->path.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && make_durable(folder);
    if (folder >= 0)
        close(folder);
    return good;
}

bool ast_output_commit(ast_output *output, ast_format_error *error) {
    bool good = ast_output_finish(output, error);
    if (good && output->path.kind == AST_OUTPUT_FILE) {
        good = ast_temporary_move(&output->temporary, output->path.target) && (!output->durable || sync_folder(output));
        if (!good)
            cannot(output, error);
    }
    ast_output_abandon(output);
    return good;
}

void ast_output_abandon(ast_output *output) {
    if (!output)
        return;
    if (output->path.kind == AST_OUTPUT_DIRECT && output->descriptor >= 0)
        close(output->descriptor);
    ast_temporary_drop(&output->temporary);
    ast_output_path_free(&output->path);
    free(output->name);
    free(output->kept);
    free(output);
}

bool ast_output_close(ast_output *output, bool good, ast_format_error *error) {
    if (output && good)
        return ast_output_commit(output, error);
    ast_output_abandon(output);
    return false;
}

/* A replaced file keeps its permissions, and its owner where we may set that: if not, the new one is ours. */
static bool keep_permissions(const ast_output *output) {
    const ast_output_path *path = &output->path;
    struct stat status;
    if (fstat(output->descriptor, &status) != 0)
        return false;
    if (status.st_uid != path->user || status.st_gid != path->group) {
        int unchanged = fchown(output->descriptor, path->user, path->group);
        (void)unchanged;
    }
    return fchmod(output->descriptor, path->mode) == 0;
}

static bool open_path(ast_output *output) {
    const ast_output_path *path = &output->path;
    if (path->kind == AST_OUTPUT_FILE) {
        if (!ast_temporary_open(&output->temporary, path->folder, true))
            return false;
        output->descriptor = output->temporary.descriptor;
        return !path->exists || keep_permissions(output);
    }
    output->descriptor = STDOUT_FILENO;
    while (path->kind == AST_OUTPUT_DIRECT) {
        output->descriptor = open(path->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        if (output->descriptor >= 0 || errno != EINTR)
            break;
    }
    return output->descriptor >= 0;
}

static bool keep(ast_output *output, const unsigned char *bytes, size_t size, ast_format_error *error) {
    if (!ast_array_grow(&output->kept, &output->kept_room, output->kept_size + size, 1))
        return no_memory(output->name, error);
    if (size > 0)
        memcpy(output->kept + output->kept_size, bytes, size);
    output->kept_size += size;
    return true;
}

static bool write_out(ast_output *output, const unsigned char *bytes, size_t size, ast_format_error *error) {
    if (output->path.kind == AST_OUTPUT_MEMORY)
        return keep(output, bytes, size, error);
    while (size > 0) {
        ssize_t part = write(output->descriptor, bytes, size < ((size_t)1 << 30) ? size : (size_t)1 << 30);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return cannot(output, error);
        bytes += part;
        size -= (size_t)part;
    }
    return true;
}
