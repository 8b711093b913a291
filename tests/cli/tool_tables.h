/* SPDX-License-Identifier: MIT */
#ifndef ASTERISM_TESTS_CLI_TOOL_TABLES_H
#define ASTERISM_TESTS_CLI_TOOL_TABLES_H

/* Writes rows of numbers from standard input to the file, as a table of the format. The exit code; 77 without libhdf5. */
int write_table(const char *format, const char *type, const char *path);

#endif
