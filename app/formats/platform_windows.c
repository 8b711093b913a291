/* SPDX-License-Identifier: MIT
 *
 * The words of POSIX on Windows. Paths go through `wide`: UTF-8 to UTF-16, and beyond 247 characters into the form that
 * has no limit. Errors of Windows become those of C, so that sentences read alike everywhere. */
#include "platform.h"

#include <windows.h>
/* After windows.h: */
#include <bcrypt.h>
#include <math.h>
#include <psapi.h>
#include <shellapi.h>
#include <wchar.h>

#define SHORT_PATH 247 /* of a folder; longer names need a prefix */
#define PART ((size_t)1 << 30)

static int fail(int reason) {
    errno = reason;
    return -1;
}

static int fail_as_windows(void) {
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
    case ERROR_INVALID_DRIVE:
        return fail(ENOENT);
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
        return fail(EEXIST);
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:
        return fail(EACCES);
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
        return fail(ENOSPC);
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
        return fail(ENOMEM);
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
        return fail(EPIPE);
    default:
        return fail(EIO);
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static wchar_t *to_wide(const char *text) {
    int length = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *copy = length > 0 ? malloc((size_t)length * sizeof *copy) : NULL;
    if (copy)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, copy, length);
    return copy;
}

static char *to_utf8(const wchar_t *text) {
    int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *copy = length > 0 ? malloc((size_t)length) : NULL;
    if (copy)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, copy, length, NULL, NULL);
    return copy;
}

/* The whole path with the prefix \\?\, which allows 32767 characters. */
static wchar_t *lengthen(wchar_t *path) {
    DWORD room = GetFullPathNameW(path, 0, NULL, NULL);
    wchar_t *whole = room ? malloc((room + 4) * sizeof *whole) : NULL;
    if (!whole)
        return path;
    wmemcpy(whole, L"\\\\?\\", 4);
    GetFullPathNameW(path, room, whole + 4, NULL);
    if (whole[4] == L'\\') { /* a share has a prefix of its own; it is left as it is */
        free(whole);
        return path;
    }
    free(path);
    return whole;
}

static wchar_t *wide(const char *path) {
    wchar_t *copy = to_wide(path);
    if (!copy) {
        errno = ENOMEM;
        return NULL;
    }
    return wcslen(copy) > SHORT_PATH ? lengthen(copy) : copy;
}

static void use_slashes(char *path) {
    for (; *path; path++)
        if (*path == '\\')
            *path = '/';
}

/* ---- The command's start ----------------------------------------------------------------------------------------- */

static UINT code_page_before;

static void restore_code_page(void) {
    SetConsoleOutputCP(code_page_before);
}

/* Output is binary and in UTF-8; a console shows colours if it can. */
static void prepare_output(void) {
    DWORD mode;
    _fmode = _O_BINARY;
    for (int descriptor = 0; descriptor < 3; descriptor++)
        _setmode(descriptor, _O_BINARY);
    HANDLE console = (HANDLE)_get_osfhandle(STDOUT_FILENO);
    if (GetConsoleMode(console, &mode))
        SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    code_page_before = GetConsoleOutputCP();
    if (code_page_before && code_page_before != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        atexit(restore_code_page);
}

/* Arguments are names of files more often than not, and their backslashes become slashes, which Windows takes as well.
 */
char **ast_system_arguments(int *argc, char **argv) {
    int count = 0;
    prepare_output();
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    char **arguments = words ? calloc((size_t)count + 1, sizeof *arguments) : NULL;
    for (int i = 0; arguments && i < count; i++) {
        arguments[i] = to_utf8(words[i]);
        if (!arguments[i])
            return argv;
        use_slashes(arguments[i]);
    }
    if (!arguments)
        return argv;
    *argc = count;
    return arguments;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

int ast_windows_open(const char *path, int flags, ...) {
    if (flags & O_DIRECTORY)
        return _wopen(L"NUL", _O_RDONLY | _O_NOINHERIT);
    wchar_t *name = wide(path);
    if (!name)
        return -1;
    int descriptor = _wopen(name, flags | _O_BINARY, _S_IREAD | _S_IWRITE);
    DWORD kind = descriptor < 0 ? GetFileAttributesW(name) : 0;
    if (descriptor < 0 && kind != INVALID_FILE_ATTRIBUTES && (kind & FILE_ATTRIBUTE_DIRECTORY))
        errno = EISDIR; /* Windows says that access is denied */
    free(name);
    return descriptor;
}

FILE *ast_windows_fopen(const char *path, const char *mode) {
    wchar_t *name = wide(path), how[16];
    FILE *file = NULL;
    size_t length = strlen(mode);
    for (size_t i = 0; i <= length; i++)
        how[i] = (wchar_t)mode[i];
    wcscpy(how + length, strchr(mode, 'b') ? L"" : L"b");
    if (name)
        file = _wfopen(name, how);
    free(name);
    return file;
}

static int status_of(HANDLE file, struct ast_windows_stat *status) {
    BY_HANDLE_FILE_INFORMATION found;
    *status = (struct ast_windows_stat){0};
    DWORD type = GetFileType(file);
    if (type == FILE_TYPE_PIPE || type == FILE_TYPE_CHAR) {
        status->st_mode = type == FILE_TYPE_PIPE ? _S_IFIFO : _S_IFCHR;
        return 0;
    }
    if (!GetFileInformationByHandle(file, &found))
        return fail_as_windows();
    bool folder = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    bool fixed = found.dwFileAttributes & FILE_ATTRIBUTE_READONLY;
    status->st_mode = (mode_t)((folder ? _S_IFDIR : _S_IFREG) | _S_IREAD | (fixed ? 0 : _S_IWRITE));
    status->st_size = (int64_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    status->st_dev = found.dwVolumeSerialNumber;
    status->st_ino = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    uint64_t ticks = (uint64_t)found.ftLastWriteTime.dwHighDateTime << 32 | found.ftLastWriteTime.dwLowDateTime;
    status->st_mtime = (time_t)(ticks / 10000000) - 11644473600;
    return 0;
}

int ast_windows_fstat(int descriptor, struct ast_windows_stat *status) {
    return status_of((HANDLE)_get_osfhandle(descriptor), status);
}

int ast_windows_stat(const char *path, struct ast_windows_stat *status) {
    wchar_t *name = wide(path);
    if (!name)
        return -1;
    HANDLE file = CreateFileW(name, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(name);
    if (file == INVALID_HANDLE_VALUE)
        return fail_as_windows();
    int result = status_of(file, status);
    CloseHandle(file);
    return result;
}

int ast_windows_access(const char *path, int mode) {
    wchar_t *name = wide(path);
    int result = name ? _waccess(name, mode & 6) : -1;
    free(name);
    return result;
}

int ast_windows_mkdir(const char *path, unsigned mode) {
    wchar_t *name = wide(path);
    int result = name ? _wmkdir(name) : -1;
    (void)mode;
    free(name);
    return result;
}

int ast_windows_unlink(const char *path) {
    wchar_t *name = wide(path);
    int result = name ? _wunlink(name) : -1;
    free(name);
    return result;
}

/* Replaces the target in one step. A program that looks at it, such as a virus scanner, holds it for a moment: then a
 * few more tries, for a second in all. */
int ast_windows_rename(const char *from, const char *to) {
    wchar_t *source = wide(from), *target = wide(to);
    bool good = false;
    for (int attempt = 0; source && target && !good && attempt < 10; attempt++) {
        good = MoveFileExW(source, target, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH);
        DWORD reason = good ? 0 : GetLastError();
        if (!good && reason != ERROR_SHARING_VIOLATION && reason != ERROR_ACCESS_DENIED)
            break;
        if (!good)
            Sleep(100);
        SetLastError(reason);
    }
    int result = good ? 0 : source && target ? fail_as_windows() : fail(ENOMEM);
    free(source);
    free(target);
    return result;
}

int ast_windows_fsync(int descriptor) {
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    return GetFileType(file) != FILE_TYPE_DISK || FlushFileBuffers(file) ? 0 : fail_as_windows();
}

int ast_windows_isatty(int descriptor) {
    DWORD mode; /* _isatty takes NUL for a terminal */
    return GetConsoleMode((HANDLE)_get_osfhandle(descriptor), &mode);
}

/* The file goes when it is closed, however that happens. */
int ast_windows_mkostemp(char *name, int flags) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *end = name + strlen(name) - 6;
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned char random[6];
        if (!ast_random_bytes(random, sizeof random))
            return fail(EIO);
        for (int i = 0; i < 6; i++)
            end[i] = letters[random[i] % (sizeof letters - 1)];
        int descriptor = ast_windows_open(name, flags | _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY);
        if (descriptor >= 0 || errno != EEXIST)
            return descriptor;
    }
    return -1;
}

char *ast_windows_realpath(const char *path, char *unused) {
    struct ast_windows_stat status;
    (void)unused;
    if (ast_windows_stat(path, &status) != 0)
        return NULL;
    wchar_t *name = wide(path), *whole = name ? _wfullpath(NULL, name, 0) : NULL;
    char *result = whole ? to_utf8(whole) : NULL;
    if (result)
        use_slashes(result);
    free(name);
    free(whole);
    return result;
}

/* Reading at an offset moves the place of the descriptor, which is put back. */
static ssize_t transfer(int descriptor, void *bytes, size_t size, int64_t offset, bool writes) {
    HANDLE file = (HANDLE)_get_osfhandle(descriptor);
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)((uint64_t)offset >> 32)};
    LARGE_INTEGER none = {0}, before;
    DWORD done = 0, part = (DWORD)(size < PART ? size : PART);
    bool seekable = SetFilePointerEx(file, none, &before, FILE_CURRENT);
    bool good = writes ? WriteFile(file, bytes, part, &done, &at) : ReadFile(file, bytes, part, &done, &at);
    DWORD reason = GetLastError();
    if (seekable)
        SetFilePointerEx(file, before, NULL, FILE_BEGIN);
    if (good || (!writes && reason == ERROR_HANDLE_EOF))
        return (ssize_t)done;
    SetLastError(reason);
    return fail_as_windows();
}

ssize_t ast_windows_pread(int descriptor, void *bytes, size_t size, int64_t offset) {
    return transfer(descriptor, bytes, size, offset, false);
}

ssize_t ast_windows_pwrite(int descriptor, const void *bytes, size_t size, int64_t offset) {
    return transfer(descriptor, (void *)(uintptr_t)bytes, size, offset, true);
}

/* In one piece, as on other systems: the process may be killed between two. */
ssize_t ast_windows_writev(int descriptor, const struct iovec *parts, int count) {
    size_t size = 0, used = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    char *whole = malloc(size + 1);
    if (!whole)
        return fail(ENOMEM);
    for (int i = 0; i < count; used += parts[i++].iov_len)
        if (parts[i].iov_len > 0)
            memcpy(whole + used, parts[i].iov_base, parts[i].iov_len);
    int written = size <= PART ? _write(descriptor, whole, (unsigned)size) : fail(EFBIG);
    free(whole);
    return written;
}

/* The rest of the last page is zero; a file that fills its pages has no zero behind it. */
bool ast_map_file(ast_mapping *mapping, int descriptor, size_t size, bool zeros) {
    enum { PAGE = 4096 };
    if (zeros && size % PAGE == 0)
        return false;
    HANDLE section = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
    void *place = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, size) : NULL;
    if (section)
        CloseHandle(section);
    *mapping = (ast_mapping){place, size};
    return place != NULL;
}

void ast_unmap(ast_mapping *mapping) {
    if (mapping->place)
        UnmapViewOfFile(mapping->place);
    *mapping = (ast_mapping){0};
}

void ast_read_ahead(int descriptor, uint64_t offset, uint64_t size) {
    (void)descriptor, (void)offset, (void)size;
}

void ast_use_huge_pages(void *memory, size_t size) {
    (void)memory, (void)size;
}

int ast_open_pipe(int ends[2]) {
    return _pipe(ends, 4096, _O_BINARY | _O_NOINHERIT);
}

void ast_allow_open_files(size_t count) {
    _setmaxstdio(count < 512 ? 512 : count > 2048 ? 2048 : (int)count);
}

/* ---- Folders and patterns ---------------------------------------------------------------------------------------- */

struct ast_windows_folder {
    HANDLE search;
    bool first; /* `found` has not been handed out */
    WIN32_FIND_DATAW found;
    struct ast_windows_entry entry;
};

ast_windows_folder *ast_windows_opendir(const char *path) {
    char *pattern;
    ast_windows_folder *folder = calloc(1, sizeof *folder);
    if (!folder || asprintf(&pattern, "%s/*", path) < 0) {
        free(folder);
        errno = ENOMEM;
        return NULL;
    }
    wchar_t *name = wide(pattern);
    folder->search = name ? FindFirstFileW(name, &folder->found) : INVALID_HANDLE_VALUE;
    folder->first = true;
    free(name);
    free(pattern);
    if (folder->search != INVALID_HANDLE_VALUE)
        return folder;
    fail_as_windows();
    free(folder);
    return NULL;
}

struct ast_windows_entry *ast_windows_readdir(ast_windows_folder *folder) {
    if (!folder->first && !FindNextFileW(folder->search, &folder->found))
        return NULL; /* errno stays, as at the end of a folder */
    folder->first = false;
    struct ast_windows_entry *entry = &folder->entry;
    entry->d_type = folder->found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? DT_DIR : DT_REG;
    WideCharToMultiByte(CP_UTF8, 0, folder->found.cFileName, -1, entry->d_name, sizeof entry->d_name, NULL, NULL);
    return entry;
}

int ast_windows_closedir(ast_windows_folder *folder) {
    FindClose(folder->search);
    free(folder);
    return 0;
}

/* A set such as [a-z] or [!0-9], behind its bracket; *end: behind the closing one. */
static bool in_set(const char *set, char letter, const char **end) {
    bool without = *set == '!', found = false;
    const char *at = set += without;
    for (; *at && (*at != ']' || at == set); at++) {
        char last = at[1] == '-' && at[2] && at[2] != ']' ? at[2] : *at;
        found = found || (*at <= letter && letter <= last);
        at += last != *at ? 2 : 0;
    }
    *end = *at ? at + 1 : at;
    return found != without;
}

static bool matches(const char *pattern, const char *name) {
    const char *end;
    for (; *pattern; name++) {
        if (*pattern == '*') {
            for (;; name++)
                if (matches(pattern + 1, name))
                    return true;
                else if (!*name)
                    return false;
        }
        if (!*name)
            return false;
        if (*pattern == '[' && strchr(pattern, ']')) {
            if (!in_set(pattern + 1, *name, &end))
                return false;
            pattern = end;
        } else if (*pattern++ != '?' && pattern[-1] != *name) {
            return false;
        }
    }
    return !*name;
}

static bool add_found(glob_t *found, const char *pattern, size_t folder, const char *name) {
    char **more = realloc(found->gl_pathv, (found->gl_pathc + 2) * sizeof *more);
    if (!more)
        return false;
    found->gl_pathv = more;
    if (asprintf(&more[found->gl_pathc], "%.*s%s", (int)folder, pattern, name) < 0)
        return false;
    more[++found->gl_pathc] = NULL;
    return true;
}

/* Patterns within the last part of the path. */
int ast_windows_glob(const char *pattern, int flags, void *unused, glob_t *found) {
    const char *slash = strrchr(pattern, '/'), *last = slash ? slash + 1 : pattern;
    size_t folder = (size_t)(last - pattern), before = flags & GLOB_APPEND ? found->gl_pathc : 0;
    (void)unused;
    if (!(flags & GLOB_APPEND))
        *found = (glob_t){0};
    char *path = folder ? strndup(pattern, folder) : strdup(".");
    ast_windows_folder *open = path ? ast_windows_opendir(path) : NULL;
    bool good = path != NULL;
    for (struct ast_windows_entry *entry; good && open && (entry = ast_windows_readdir(open));)
        if ((entry->d_name[0] != '.' || *last == '.') && matches(last, entry->d_name))
            good = add_found(found, pattern, folder, entry->d_name);
    if (open)
        ast_windows_closedir(open);
    free(path);
    return !good ? GLOB_NOSPACE : found->gl_pathc == before ? GLOB_NOMATCH : 0;
}

void ast_windows_globfree(glob_t *found) {
    for (size_t i = 0; i < found->gl_pathc; i++)
        free(found->gl_pathv[i]);
    free(found->gl_pathv);
    *found = (glob_t){0};
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static short events_of(const struct pollfd *one) {
    HANDLE handle = (HANDLE)_get_osfhandle(one->fd);
    DWORD waiting = 0;
    switch (GetFileType(handle)) {
    case FILE_TYPE_PIPE:
        if (one->events & POLLOUT)
            return POLLOUT;
        return !PeekNamedPipe(handle, NULL, 0, NULL, &waiting, NULL) ? POLLHUP : waiting > 0 ? POLLIN : 0;
    case FILE_TYPE_CHAR:
        return one->events & POLLOUT || WaitForSingleObject(handle, 0) == WAIT_OBJECT_0 ? one->events : 0;
    default:
        return one->events;
    }
}

/* Windows cannot wait for a pipe, so that it is asked every few milliseconds. */
int ast_windows_poll(struct pollfd *list, unsigned count, int milliseconds) {
    enum { STEP = 5 };
    for (int waited = 0;; waited += STEP) {
        int ready = 0;
        for (unsigned i = 0; i < count; i++)
            ready += (list[i].revents = events_of(&list[i])) != 0;
        if (ready || (milliseconds >= 0 && waited >= milliseconds))
            return ready;
        Sleep(STEP);
    }
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

int ast_condition_open(pthread_cond_t *condition) {
    return pthread_cond_init(condition, NULL);
}

void ast_moment_after(ast_moment *moment, double seconds) {
    clock_gettime(CLOCK_REALTIME, moment);
    moment->tv_nsec += (long)(1e9 * seconds);
    moment->tv_sec += moment->tv_nsec / 1000000000;
    moment->tv_nsec %= 1000000000;
}

bool ast_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const ast_moment *until) {
    return pthread_cond_timedwait(condition, mutex, until) != ETIMEDOUT;
}

int ast_start_thread(pthread_t *thread, void *(*start)(void *data), void *data) {
    return pthread_create(thread, NULL, start, data);
}

void ast_run_when_idle(void) {
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_IDLE);
}

int ast_usable_processors(void) {
    DWORD_PTR own = 0, all;
    GetProcessAffinityMask(GetCurrentProcess(), &own, &all);
    int count = __builtin_popcountll((unsigned long long)own);
    return count < 1 ? 1 : count;
}

/* ---- Ctrl-C, Ctrl-Break, and the window that is closed ----------------------------------------------------------- */

static void (*stop_asked)(int number);

/* On a thread of its own. The second time Windows ends the process. */
static BOOL WINAPI stop(DWORD event) {
    void (*call)(int number) = stop_asked;
    (void)event;
    stop_asked = NULL;
    if (!call)
        return FALSE;
    call(SIGINT);
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT)
        Sleep(5000); /* the process ends when this returns, and it is writing its state */
    return TRUE;
}

void ast_watch_stop_signals(void (*call)(int number)) {
    stop_asked = call;
    SetConsoleCtrlHandler(stop, TRUE);
}

void ast_ignore_write_signals(void) {
}

/* ---- Numbers and text -------------------------------------------------------------------------------------------- */

double ast_system_free_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (double)status.ullAvailPhys : NAN;
}

double ast_parse_number(const char *text) {
    return strtod(text, NULL); /* the command never sets LC_NUMERIC */
}

bool ast_random_bytes(void *bytes, size_t size) {
    return BCryptGenRandom(NULL, bytes, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

const void *ast_last_byte(const void *bytes, int byte, size_t size) {
    const unsigned char *place = bytes;
    while (size > 0 && place[size - 1] != (unsigned char)byte)
        size--;
    return size > 0 ? place + size - 1 : NULL;
}

const char *ast_windows_codeset(void) {
    return GetConsoleOutputCP() == CP_UTF8 || !GetConsoleOutputCP() ? "UTF-8" : "";
}

void *ast_windows_memmem(const void *bytes, size_t size, const void *wanted, size_t length) {
    const char *at = bytes, *end = at + size;
    if (length == 0)
        return (void *)(uintptr_t)at;
    for (; (size_t)(end - at) >= length && (at = memchr(at, *(const char *)wanted, (size_t)(end - at) - length + 1));
         at++)
        if (memcmp(at, wanted, length) == 0)
            return (void *)(uintptr_t)at;
    return NULL;
}

char *ast_windows_strcasestr(const char *text, const char *wanted) {
    size_t length = strlen(wanted);
    for (; *text || length == 0; text++)
        if (strncasecmp(text, wanted, length) == 0)
            return (char *)(uintptr_t)text;
    return NULL;
}

char *ast_windows_strndup(const char *text, size_t size) {
    size_t length = strnlen(text, size);
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

ssize_t ast_windows_getline(char **line, size_t *room, FILE *file) {
    size_t used = 0;
    for (int byte = 0; byte != '\n' && (byte = getc(file)) != EOF;) {
        if (used + 2 > *room) {
            size_t more = 2 * *room + 128;
            char *longer = realloc(*line, more);
            if (!longer)
                return fail(ENOMEM);
            *line = longer;
            *room = more;
        }
        (*line)[used++] = (char)byte;
        (*line)[used] = 0;
    }
    return used > 0 ? (ssize_t)used : -1;
}
