/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "processors.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

/** The numbers at the start of a group's file, at most two: how many there are.  "max" is none. */
static int read_numbers(const char *group, const char *name, long long *first, long long *second)
{
    char *path;
    int count = 0;
    if (asprintf(&path, "%s/%s", group, name) < 0)
        return 0;
    FILE *file = fopen(path, "re");
    if (file) {
        count = fscanf(file, "%lld %lld", first, second);
        fclose(file);
    }
    free(path);
    return count;
}

static int quota_of(const char *group)
{
    long long quota = 0, period = 0, other; /* microseconds of processor time in a period */
    const bool known = read_numbers(group, "cpu.max", &quota, &period) == 2 ||
                       (read_numbers(group, "cpu.cfs_quota_us", &quota, &other) == 1 &&
                        read_numbers(group, "cpu.cfs_period_us", &period, &other) == 1);
    if (!known || quota <= 0 || period <= 0) /* -1: none, in version 1 */
        return INT_MAX;
    const long long processors = quota / period + (quota % period != 0);
    return processors < INT_MAX ? (int)processors : INT_MAX;
}

/** The least quota of the group root/mount/path and all above it up to the mount; path is "" or begins with a
 * slash. */
static int quota_up_from(const char *root, const char *mount, const char *path)
{
    char *group;
    int least = INT_MAX;
    const int top = asprintf(&group, "%s/%s%s", root, mount, path) - (int)strlen(path);
    if (top < 0)
        return INT_MAX;
    for (char *slash = group; slash; slash = strrchr(group + top, '/')) {
        if (slash != group)
            *slash = '\0';
        least = lesser(least, quota_of(group));
    }
    free(group);
    return least;
}

static bool lists_cpu(const char *controllers)
{
    for (const char *c = controllers; *c; c += strcspn(c, ",") + (c[strcspn(c, ",")] == ','))
        if (strcspn(c, ",") == 3 && memcmp(c, "cpu", 3) == 0)
            return true;
    return false;
}

/** One line "number:controllers:path"; version 2 has no controllers. */
static int quota_of_line(const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return INT_MAX;
    *controllers++ = *path++ = '\0';
    if (path[1] == '\0')
        path++;
    if (!*controllers) /* alone, or beside version 1 */
        return lesser(quota_up_from(root, ".", path), quota_up_from(root, "unified", path));
    if (!lists_cpu(controllers))
        return INT_MAX;
    /* Mounted with others, as a rule with a link from the one name. */
    return lesser(quota_up_from(root, "cpu", path), quota_up_from(root, controllers, path));
}

int nmodgpu_group_processors(const char *root, const char *list)
{
    char *line = NULL;
    size_t size = 0;
    int least = INT_MAX;
    FILE *file = fopen(list, "re");
    if (!file)
        return INT_MAX;
    while (getline(&line, &size, file) > 0)
        least = lesser(least, quota_of_line(root, line));
    free(line);
    fclose(file);
    return least;
}

/** The kernel says EINVAL to a set smaller than its own. */
int nmodgpu_affinity_processors(void)
{
    for (int most = CPU_SETSIZE; most <= CPU_SETSIZE << 8; most *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        if (!set)
            break;
        const size_t bytes = CPU_ALLOC_SIZE((size_t)most);
        const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return get_nprocs();
}

int nmodgpu_processors(void)
{
    const int allowed = nmodgpu_affinity_processors();
    return lesser(allowed, nmodgpu_group_processors("/sys/fs/cgroup", "/proc/self/cgroup"));
}
