/* SPDX-License-Identifier: MIT
 *
 * A file for what has no room in memory. It has no name, so that nothing is left however the process ends. */
#include "output.h"

#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *choose_folder(const char *beside, ast_format_error *error) {
    ast_output_path place = {0};
    const char *folder = getenv("TMPDIR");
    char *chosen;
    if (beside && ast_output_path_find(&place, beside, error) && place.kind == AST_OUTPUT_FILE)
        folder = place.folder;
    chosen = strdup(folder && *folder ? folder : "/var/tmp");
    ast_output_path_free(&place);
    return chosen;
}

/* Where the file system has no files without a name, one loses it at once. */
static int open_nameless(const char *folder) {
    int descriptor = -1;
    char *name = NULL;
#ifdef O_TMPFILE
    descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (descriptor < 0 && asprintf(&name, "%s/.asterism-XXXXXX", folder) >= 0) {
        descriptor = mkostemp(name, O_CLOEXEC);
        if (descriptor >= 0)
            unlink(name);
        free(name);
    }
    return descriptor;
}

bool ast_scratch_open(ast_scratch *scratch, const char *beside, ast_format_error *error) {
    *scratch = (ast_scratch){.descriptor = -1};
    scratch->folder = choose_folder(beside, error);
    if (!scratch->folder)
        return ast_format_fail(error, "there is no memory to keep labels in a file");
    scratch->descriptor = open_nameless(scratch->folder);
    if (scratch->descriptor >= 0)
        return true;
    ast_format_fail(error, "%s: no file can be made there to keep labels in: %s", scratch->folder, strerror(errno));
    ast_scratch_close(scratch);
    return false;
}

static int outcome(ast_scratch *scratch, int reason) {
    if (reason)
        __atomic_store_n(&scratch->reason, reason, __ATOMIC_RELAXED);
    return reason != 0;
}

int ast_scratch_write(ast_scratch *scratch, uint64_t offset, const void *bytes, size_t size) {
    return outcome(scratch, ast_write_at(scratch->descriptor, offset, bytes, size));
}

int ast_scratch_read(ast_scratch *scratch, uint64_t offset, void *bytes, size_t size) {
    return outcome(scratch, ast_read_at(scratch->descriptor, offset, bytes, size));
}

bool ast_scratch_failed(const ast_scratch *scratch, ast_format_error *error) {
    if (!scratch->reason)
        return false;
    ast_format_fail(error, "%s: the file there that keeps labels, 4 bytes a row, cannot be written or read: %s",
                    scratch->folder, scratch->reason < 0 ? "it is cut short" : strerror(scratch->reason));
    return true;
}

void ast_scratch_close(ast_scratch *scratch) {
    if (scratch->folder && scratch->descriptor >= 0)
        close(scratch->descriptor);
    free(scratch->folder);
    *scratch = (ast_scratch){.descriptor = -1};
}
