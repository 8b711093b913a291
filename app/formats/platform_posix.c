/* SPDX-License-Identifier: MIT
 *
 * What Linux, macOS and the other systems of POSIX do in different ways. Linux is tested; macOS is not. */
#include "platform.h"

#include <math.h>
#include <sched.h>
#include <sys/mman.h>

#ifdef __APPLE__
#include <mach/mach.h>
#else
#include <sys/random.h>
#endif

#ifndef MAP_POPULATE
#define MAP_POPULATE 0
#endif

char **ast_system_arguments(int *argc, char **argv) {
    (void)argc;
    return argv;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* A page more than the file needs is reserved, and the file put over the beginning: whatever its size, a zero follows.
 */
static bool map_with_zeros(ast_mapping *mapping, int descriptor, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size / page + 2) * page;
    char *place = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED)
        return false;
    if (mmap(place, size, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE, descriptor, 0) == MAP_FAILED) {
        munmap(place, room);
        return false;
    }
    *mapping = (ast_mapping){place, room};
    return true;
}

bool ast_map_file(ast_mapping *mapping, int descriptor, size_t size, bool zeros) {
    if (zeros)
        return map_with_zeros(mapping, descriptor, size);
    void *place = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (place == MAP_FAILED)
        return false;
    *mapping = (ast_mapping){place, size};
    return true;
}

void ast_unmap(ast_mapping *mapping) {
    if (mapping->place)
        munmap(mapping->place, mapping->size);
    *mapping = (ast_mapping){0};
}

void ast_read_ahead(int descriptor, uint64_t offset, uint64_t size) {
#ifdef POSIX_FADV_WILLNEED
    (void)posix_fadvise(descriptor, (off_t)offset, (off_t)size, POSIX_FADV_WILLNEED);
#else
    (void)descriptor, (void)offset, (void)size;
#endif
}

void ast_use_huge_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, size, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

int ast_open_pipe(int ends[2]) {
#ifdef __APPLE__
    if (pipe(ends) != 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#else
    return pipe2(ends, O_CLOEXEC);
#endif
}

void ast_allow_open_files(size_t count) {
    struct rlimit limit;
    rlim_t wanted = (rlim_t)count;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* whether it is enough shows on opening them */
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

int ast_condition_open(pthread_cond_t *condition) {
#ifdef __APPLE__
    return pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    int problem = pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
    return problem;
#endif
}

void ast_moment_after(ast_moment *moment, double seconds) {
    clock_gettime(CLOCK_MONOTONIC, moment);
    moment->tv_nsec += (long)(1e9 * seconds);
    moment->tv_sec += moment->tv_nsec / 1000000000;
    moment->tv_nsec %= 1000000000;
}

bool ast_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const ast_moment *until) {
#ifdef __APPLE__
    struct timespec now, left;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t wait = (int64_t)(until->tv_sec - now.tv_sec) * 1000000000 + (until->tv_nsec - now.tv_nsec);
    left.tv_sec = wait < 0 ? 0 : wait / 1000000000;
    left.tv_nsec = wait < 0 ? 0 : wait % 1000000000;
    return pthread_cond_timedwait_relative_np(condition, mutex, &left) != ETIMEDOUT;
#else
    return pthread_cond_timedwait(condition, mutex, until) != ETIMEDOUT;
#endif
}

int ast_start_thread(pthread_t *thread, void *(*start)(void *data), void *data) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(thread, NULL, start, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

void ast_run_when_idle(void) {
#ifdef SCHED_IDLE
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &(struct sched_param){0});
#endif
}

int ast_usable_processors(void) {
#ifdef __linux__
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) != 0 ? 1 : CPU_COUNT(&mine);
#else
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
#endif
}

/* ---- Signals ----------------------------------------------------------------------------------------------------- */

/* A signal that whoever started us has set to be ignored, as shells do for background jobs, stays ignored. */
static void watch(int number, void (*stop)(int number)) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void ast_watch_stop_signals(void (*stop)(int number)) {
    watch(SIGINT, stop);
    watch(SIGTERM, stop);
    watch(SIGHUP, stop);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write like any other, with its sentence */
}

void ast_ignore_write_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

double ast_system_free_memory(void) {
#ifdef __APPLE__
    vm_statistics64_data_t found;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&found, &count) == KERN_SUCCESS)
        return ((double)found.free_count + (double)found.inactive_count) * (double)sysconf(_SC_PAGESIZE);
#endif
    return NAN;
}

static locale_t c_locale; /* glibc and musl do not allocate it, so that it cannot fail */

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double ast_parse_number(const char *text) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return strtod_l(text, NULL, c_locale);
}

bool ast_random_bytes(void *bytes, size_t size) {
#ifdef __APPLE__
    arc4random_buf(bytes, size);
    return true;
#else
    return getrandom(bytes, size, 0) == (ssize_t)size;
#endif
}

const void *ast_last_byte(const void *bytes, int byte, size_t size) {
    const unsigned char *place = bytes;
    while (size > 0 && place[size - 1] != (unsigned char)byte)
        size--;
    return size > 0 ? place + size - 1 : NULL;
}
