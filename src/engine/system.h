/* SPDX-License-Identifier: MIT
 *
 * What the library needs of the operating system and of its C library. Only system.c names one of them: every other
 * file of src is C17 with POSIX threads, which all of them have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory at a multiple of `alignment`, a power of two; bytes are a multiple of it. Some systems have a heap of their
 * own for it, so that only ast_system_release frees it. NULL: out of memory. */
void *ast_system_allocate(size_t alignment, size_t bytes);
void ast_system_release(void *memory);

/* Asks for huge pages, which need fewer page faults. `memory` is at a multiple of their size. */
void ast_system_use_huge_pages(void *memory, size_t bytes);

/* Physical memory of this machine in bytes; 0 if unknown. */
double ast_machine_memory(void);

/* Processors that this process may use, at least one: fewer than the machine has, in a container. */
int ast_system_processors(void);

/* Lets other threads have the processor. */
void ast_system_yield(void);

/* The number of this process; a forked child has another one. */
long ast_system_process(void);

/* Page faults of the calling thread so far, where the system counts them. */
uint32_t ast_system_page_faults(void);

/* Seconds of a clock that never goes back. */
double ast_seconds(void);

/* log Gamma(x), x > 0. */
double ast_log_gamma(double x);

/* Sorts by a comparison that sees `data`. It must be a total order: not every system sorts stably. */
typedef int ast_order_rule(const void *a, const void *b, void *data);
void ast_system_sort(void *array, size_t count, size_t size, ast_order_rule *compare, void *data);

/* Whether two words of `length` ASCII characters are equal, whatever their case and the locale. */
bool ast_same_word(const char *a, const char *b, size_t length);
