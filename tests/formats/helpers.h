/* SPDX-License-Identifier: MIT
 *
 * What the tests of this room share: a folder that is removed afterwards, files made of given bytes, and .npy files
 * put together by hand, so that reader and writer are not tested with each other only. */
#ifndef ASTERISM_TESTS_FORMATS_HELPERS_H
#define ASTERISM_TESTS_FORMATS_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frames.h"

#define ITEMS(array) (sizeof(array) / sizeof *(array))

/* Group setup and teardown: makes a folder of our own and goes there, so that tests use plain names. */
int enter_folder(void **state);
int leave_folder(void **state);

void write_bytes(const char *path, const void *bytes, size_t size);
void write_text(const char *path, const char *text);

/* The whole file, with a NUL behind it; to free(). */
char *read_bytes(const char *path, size_t *size);

/* A device that is always full, or one that swallows everything. Root gets a node of its own in the current folder: a
 * broken writer that renames over devices would otherwise destroy the machine's. Others cannot, and get /dev's. Skips
 * the test where neither can be had. */
const char *full_device(void);
const char *null_device(void);

/* The number of entries in the current folder, hidden ones too. */
size_t count_entries(void);

/* Opens text from memory; the format is "csv". */
bool open_text(ast_input *input, const char *text, const char *columns, bool transpose, ast_format_error *error);

/* Fails the test unless the text cannot be opened and the sentence contains `part`. */
void expect_problem(const char *text, const char *columns, const char *part);

/* Fails the test unless the text becomes these rows x columns; NAN means missing. */
void expect_table(const char *text, const char *columns, size_t rows, size_t width, const float *expected);

/* Element (i, d) of a view. */
double element(const ast_points *points, size_t i, size_t d);

/* An .npy file in `bytes`; returns its size. `dictionary` is the header's text; NULL data are zeros. */
size_t make_npy(unsigned char *bytes, int major, const char *dictionary, const void *data, size_t data_size);

/* The bytes of a number in a given type and byte order: type 'f', 'i', 'u'. */
void put_number(unsigned char *bytes, char order, char kind, size_t item, double value);

/* The frames of inputs (NULL-terminated) that are taken for `kind`, one sequence at a time; NULL and the sentence if
 * they cannot be listed or opened. */
ast_frames *open_frames(const char *const *inputs, ast_frame_kind kind, const ast_frames_options *options,
                        ast_format_error *error);
extern ast_frame_list opened_list; /* of the sequence that was opened last */
void close_frames(ast_frames *frames);

#endif
