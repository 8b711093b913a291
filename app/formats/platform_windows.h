/* SPDX-License-Identifier: MIT
 *
 * The words of POSIX that the command uses, for Windows. Paths are UTF-8, with either slash; offsets have 64 bits;
 * files are binary. Included through platform.h. */
#pragma once

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <locale.h>
#include <process.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define tell tell_reader /* io.h has a function of this name */

typedef int uid_t;
typedef int gid_t;

/* ---- Files ------------------------------------------------------------------------------------------------------- */

#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY 0
#define O_DIRECTORY 0x20000000 /* gives a descriptor that fsync accepts: folders need none here */
#define AT_FDCWD 0
#define AT_EACCESS 0
#define AT_SYMLINK_FOLLOW 0
#define F_GETFL 3
#ifndef NAME_MAX
#define NAME_MAX 255
#endif

struct ast_windows_stat {
    mode_t st_mode;
    int64_t st_size;
    uint64_t st_dev, st_ino;
    uid_t st_uid;
    gid_t st_gid;
    time_t st_mtime;
};

int ast_windows_open(const char *path, int flags, ...);
FILE *ast_windows_fopen(const char *path, const char *mode);
int ast_windows_stat(const char *path, struct ast_windows_stat *status);
int ast_windows_fstat(int descriptor, struct ast_windows_stat *status);
int ast_windows_access(const char *path, int mode);
int ast_windows_mkdir(const char *path, unsigned mode);
int ast_windows_unlink(const char *path);
int ast_windows_rename(const char *from, const char *to);
int ast_windows_fsync(int descriptor);
int ast_windows_isatty(int descriptor);
int ast_windows_mkostemp(char *name, int flags);
char *ast_windows_realpath(const char *path, char *unused);
ssize_t ast_windows_pread(int descriptor, void *bytes, size_t size, int64_t offset);
ssize_t ast_windows_pwrite(int descriptor, const void *bytes, size_t size, int64_t offset);

#undef stat
#undef fstat
#undef lstat
#undef fsync
#undef ftruncate
#undef open
#undef fopen
#undef access
#undef pread
#undef pwrite
#undef strndup
#define stat ast_windows_stat
#define lstat ast_windows_stat
#define fstat ast_windows_fstat
#define open ast_windows_open
#define fopen ast_windows_fopen
#define access ast_windows_access
#define faccessat(folder, path, mode, flags) ast_windows_access(path, mode)
#define mkdir ast_windows_mkdir
#define unlink ast_windows_unlink
#define rename ast_windows_rename
#define fsync ast_windows_fsync
#define isatty ast_windows_isatty
#define mkostemp ast_windows_mkostemp
#define realpath ast_windows_realpath
#define pread ast_windows_pread
#define pwrite ast_windows_pwrite
#define ftruncate(descriptor, size) _chsize_s(descriptor, size)
#define fchmod(descriptor, mode) (0)
#define fchown(descriptor, user, group) (0)
#define linkat(a, from, b, to, flags) (errno = ENOTSUP, -1)
#define readlink(path, place, size) (errno = EINVAL, (ssize_t)-1)
#define fcntl(descriptor, what) (0)
#undef S_ISLNK
#define S_ISLNK(mode) (0)

struct iovec {
    void *iov_base;
    size_t iov_len;
};
#define preadv(descriptor, parts, count, offset) ((ssize_t)-1) /* the caller reads the parts one by one then */
ssize_t ast_windows_writev(int descriptor, const struct iovec *parts, int count);
#define writev ast_windows_writev
#define fdatasync ast_windows_fsync

/* ---- Folders and patterns ---------------------------------------------------------------------------------------- */

#define DT_UNKNOWN 0
#define DT_REG 8
#define DT_DIR 4

struct ast_windows_entry {
    unsigned char d_type;
    char d_name[4 * 260];
};
typedef struct ast_windows_folder ast_windows_folder;
ast_windows_folder *ast_windows_opendir(const char *path);
struct ast_windows_entry *ast_windows_readdir(ast_windows_folder *folder);
int ast_windows_closedir(ast_windows_folder *folder);
#define DIR ast_windows_folder
#define dirent ast_windows_entry
#define opendir ast_windows_opendir
#define readdir ast_windows_readdir
#define closedir ast_windows_closedir

#define GLOB_APPEND 1
#define GLOB_NOSPACE 1
#define GLOB_NOMATCH 3
typedef struct glob_t {
    size_t gl_pathc;
    char **gl_pathv;
} glob_t;
int ast_windows_glob(const char *pattern, int flags, void *unused, glob_t *found);
void ast_windows_globfree(glob_t *found);
#define glob ast_windows_glob
#define globfree ast_windows_globfree

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

#define POLLIN 1
#define POLLOUT 2
#define POLLERR 4
#define POLLHUP 8
struct pollfd {
    int fd;
    short events, revents;
};
int ast_windows_poll(struct pollfd *list, unsigned count, int milliseconds);
#define poll ast_windows_poll

/* ---- Words that the C library lacks ------------------------------------------------------------------------------ */

#define CODESET 0
const char *ast_windows_codeset(void);
#define nl_langinfo(what) ast_windows_codeset()

#define aligned_alloc(alignment, size) malloc(size) /* alignment serves huge pages, which are not used here */

void *ast_windows_memmem(const void *bytes, size_t size, const void *wanted, size_t length);
char *ast_windows_strcasestr(const char *text, const char *wanted);
char *ast_windows_strndup(const char *text, size_t size);
ssize_t ast_windows_getline(char **line, size_t *room, FILE *file);
#define memmem ast_windows_memmem
#define strcasestr ast_windows_strcasestr
#define strndup ast_windows_strndup
#define getline ast_windows_getline

typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
#define RLIM_INFINITY UINT64_MAX
#define RLIMIT_DATA 0
#define RLIMIT_AS 1
#define getrlimit(resource, limit) ((void)(resource), (limit)->rlim_cur = RLIM_INFINITY, -1)
