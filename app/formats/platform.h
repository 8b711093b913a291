/* SPDX-License-Identifier: MIT
 *
 * The seam between the command and the operating system. Its words are those of POSIX: on Linux and macOS they are the
 * system's own, on Windows platform_windows.c implements the few that the command uses, with paths in UTF-8, 64-bit
 * offsets and no text mode. Functions that are not in POSIX are declared at the end and defined in platform_posix.c. No
 * other file of app includes a header of an operating system, but for the sockets of report/serve. */
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include "platform_windows.h"
#else
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#define fdatasync fsync
#endif
#endif

/* The arguments of the command in UTF-8; opens what Windows keeps closed. For main alone. */
char **ast_system_arguments(int *argc, char **argv);

/* Maps a file, read only, from its beginning; NULL if that is impossible, and it can be read then. `zeros`: at least
 * one zero byte follows the file. */
typedef struct ast_mapping {
    void *place;
    size_t size;
} ast_mapping;
bool ast_map_file(ast_mapping *mapping, int descriptor, size_t size, bool zeros);
void ast_unmap(ast_mapping *mapping);

/* Says that these bytes of a file are read soon. */
void ast_read_ahead(int descriptor, uint64_t offset, uint64_t size);

/* Asks for huge pages, which need fewer page faults. `memory` is at a multiple of their size. */
void ast_use_huge_pages(void *memory, size_t size);

/* A condition whose time-outs do not follow the time of day, and a wait on it; false: it timed out. */
int ast_condition_open(pthread_cond_t *condition);
typedef struct timespec ast_moment;
void ast_moment_after(ast_moment *moment, double seconds); /* from now on */
bool ast_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const ast_moment *until);

/* pthread_create; signals go to the other threads. */
int ast_start_thread(pthread_t *thread, void *(*start)(void *data), void *data);

/* A pipe that is not inherited by other programs. */
int ast_open_pipe(int ends[2]);

/* This thread, and those that it starts, run only while a processor is idle. */
void ast_run_when_idle(void);

/* Processors that this process may use, at least one. */
int ast_usable_processors(void);

/* Calls `stop` for the first signal that asks to end; a second one kills. Failed writes are no signals. */
void ast_watch_stop_signals(void (*stop)(int number));
void ast_ignore_write_signals(void);

/* Lets so many files be open, if that can be. */
void ast_allow_open_files(size_t count);

/* Bytes of memory that are free; NaN if the system does not say it in one call: Linux has files for it. */
double ast_system_free_memory(void);

/* A number in the notation of C, whatever the locale. */
double ast_parse_number(const char *text);

/* `size` random bytes for secrets. */
bool ast_random_bytes(void *bytes, size_t size);

/* A big-endian number of two bytes, read as one of this machine. */
static inline uint16_t ast_from_big_endian(uint16_t value) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(value) : value;
}

/* The last occurrence of a byte. */
const void *ast_last_byte(const void *bytes, int byte, size_t size);
