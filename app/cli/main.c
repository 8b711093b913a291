/* SPDX-License-Identifier: MIT
 *
 * The command's way in. Everything it does is in ast_cli_main, so that other programs can be the same command. */
#include "cli.h"

int main(int argc, char **argv) {
    return ast_cli_main(argc, argv);
}
