/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <platform.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_FREE 0.9 /* of the free memory; the rest is left to other processes */

const char *ast_cli_bytes(double bytes, char *text) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, AST_CLI_BYTES, bytes < 10 && unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

/* The number behind `name` at the start of a line of the file; NAN if there is none. An empty name: the first line. */
static double number_in(const char *path, const char *name) {
    FILE *file = fopen(path, "r");
    char line[512];
    double number = NAN;
    size_t length = strlen(name);
    while (file && fgets(line, sizeof line, file)) {
        char *end, *at = line + length;
        if (strncmp(line, name, length) != 0)
            continue;
        number = strtod(at, &end);
        number = end == at ? NAN : number;
        break;
    }
    if (file)
        fclose(file);
    return number;
}

static double least(double a, double b) {
    return b < a ? b : a; /* b may be NaN: not known */
}

static double under_limit(int resource, const char *used) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    double kilobytes = number_in("/proc/self/status", used);
    return (double)limit.rlim_cur - (isnan(kilobytes) ? 0 : kilobytes * 1024);
}

/* Bytes left to a cgroup; the page cache counts as free. */
static double group_free(const char *folder, const char *limit, const char *used, const char *cached) {
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    double most = number_in(path, "");
    snprintf(path, sizeof path, "%s/%s", folder, used);
    double now = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    double files = number_in(path, cached);
    if (isnan(most) || most >= 0x1p60)
        return INFINITY;
    return most - (isnan(now) ? 0 : now) + (isnan(files) ? 0 : files);
}

/* The cgroup and its ancestors: each has its own limit. */
static double groups_free(const char *root, const char *path, bool second) {
    char folder[600];
    double room = INFINITY;
    snprintf(folder, sizeof folder, "%s%s", root, path);
    for (;;) {
        room =
            least(room, second ? group_free(folder, "memory.max", "memory.current", "file ")
                               : group_free(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache "));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(root) || !slash)
            return room;
        *slash = 0;
    }
}

static double all_groups_free(void) {
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[512];
    double room = INFINITY;
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *path = strrchr(line, ':');
        if (strncmp(line, "0::", 3) == 0)
            room = least(room, groups_free("/sys/fs/cgroup", path + 1, true));
        else if (strstr(line, ":memory:"))
            room = least(room, groups_free("/sys/fs/cgroup/memory", path + 1, false));
    }
    if (file)
        fclose(file);
    return room;
}

size_t ast_cli_memory_free(void) {
    double room = number_in("/proc/meminfo", "MemAvailable:") * 1024 * KEPT_FREE;
    room = isnan(room) ? ast_system_free_memory() * KEPT_FREE : room;
    room = isnan(room) ? 0x1p62 : room;
    room = least(room, under_limit(RLIMIT_DATA, "VmData:"));
    room = least(room, under_limit(RLIMIT_AS, "VmSize:"));
    room = least(room, all_groups_free());
    return room > 0 ? (size_t)room : 0;
}
