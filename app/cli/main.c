/* SPDX-License-Identifier: MIT
 *
 * The command's way in. Everything it does is in ast_cli_main, so that other programs can be the same command. */
#include "cli.h"

#include <platform.h>

int main(int argc, char **argv) {
    char **arguments = ast_system_arguments(&argc, argv);
    return ast_cli_main(argc, arguments);
}
