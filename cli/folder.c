/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "terminal.h"

int ast_cli_make_folder(const char *option, const char *folder) {
    struct stat status;
    char *path = strdup(folder);
    if (!path)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the name of the folder %s", folder);
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        mkdir(path, 0777); /* whether it worked shows at the end */
        *slash = '/';
    }
    free(path);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ast_cli_fail(AST_CLI_FAILED, "--%s: the folder %s cannot be made: %s", option, folder, strerror(errno));
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return ast_cli_fail(AST_CLI_FAILED, "--%s: %s is no folder", option, folder);
    return -1;
}
