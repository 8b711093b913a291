/* SPDX-License-Identifier: MIT
 *
 * Folders that files are written into. */
#ifndef AST_CLI_FOLDER_H
#define AST_CLI_FOLDER_H

/* Makes the folder that --`option` names, and those above it, where they are not there. -1 to go on, or the exit code
 * after printing the sentence. */
int ast_cli_make_folder(const char *option, const char *folder);

#endif
