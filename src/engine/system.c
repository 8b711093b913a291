/* SPDX-License-Identifier: MIT */
#include "system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _WIN32
#include <malloc.h>
#include <process.h>
#include <windows.h>
#else
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

static int at_least_one(long count) {
    return count < 1 ? 1 : count > 1 << 20 ? 1 << 20 : (int)count;
}

#ifdef _WIN32

void *ast_system_allocate(size_t alignment, size_t bytes) {
    return _aligned_malloc(bytes, alignment);
}

void ast_system_release(void *memory) {
    _aligned_free(memory);
}

/* Windows has huge pages only for processes with a privilege. */
void ast_system_use_huge_pages(void *memory, size_t bytes) {
    (void)memory, (void)bytes;
}

double ast_machine_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.ullTotalPhys : 0;
}

/* A process belongs to one group of at most 64 processors. */
int ast_system_processors(void) {
    DWORD_PTR own, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        return 1;
    return at_least_one(__builtin_popcountll((unsigned long long)own));
}

void ast_system_yield(void) {
    SwitchToThread();
}

long ast_system_process(void) {
    return _getpid();
}

uint32_t ast_system_page_faults(void) {
    return 0;
}

double ast_seconds(void) {
    LARGE_INTEGER now, each_second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&each_second);
    return (double)now.QuadPart / (double)each_second.QuadPart;
}

double ast_log_gamma(double x) {
    return lgamma(x); /* has no global sign here */
}

#else

void *ast_system_allocate(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, bytes);
}

void ast_system_release(void *memory) {
    free(memory);
}

void ast_system_use_huge_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE); /* failure is harmless */
#else
    (void)memory, (void)bytes;
#endif
}

double ast_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}

int ast_system_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) != 0 ? 1 : at_least_one(CPU_COUNT(&set));
#else
    return at_least_one(sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

void ast_system_yield(void) {
    sched_yield();
}

long ast_system_process(void) {
    return getpid();
}

uint32_t ast_system_page_faults(void) {
#ifdef RUSAGE_THREAD
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint32_t)(usage.ru_minflt + usage.ru_majflt) : 0;
#else
    return 0;
#endif
}

double ast_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double ast_log_gamma(double x) {
    int sign; /* lgamma would write a global */
    return lgamma_r(x, &sign);
}

#endif

#ifdef __linux__ /* glibc and musl */

void ast_system_sort(void *array, size_t count, size_t size, ast_order_rule *compare, void *data) {
    qsort_r(array, count, size, compare, data);
}

#else /* Windows and macOS pass `data` first, under different names */

typedef struct sorting {
    ast_order_rule *compare;
    void *data;
} sorting;

static int compare_with_data(void *given, const void *a, const void *b) {
    const sorting *c = given;
    return c->compare(a, b, c->data);
}

void ast_system_sort(void *array, size_t count, size_t size, ast_order_rule *compare, void *data) {
    sorting c = {compare, data};
#ifdef _WIN32
    qsort_s(array, count, size, compare_with_data, &c);
#else
    qsort_r(array, count, size, &c, compare_with_data);
#endif
}

#endif

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool ast_same_word(const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}
