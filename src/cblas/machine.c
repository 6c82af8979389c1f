/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE
#include "machine.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

void cblas_cpu_name(char *text, size_t size)
{
    char line[256];
    snprintf(text, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        value += 1 + (value[1] == ' ');
        value[strcspn(value, "\n")] = 0;
        snprintf(text, size, "CPU %.80s", value);
        break;
    }
    fclose(file);
}

/** The first number in a file, or after the word `key` at the start of a line of it; UINT64_MAX without. */
static uint64_t number_in_file(const char *path, const char *key)
{
    char line[256];
    uint64_t value = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return value;
    while (fgets(line, sizeof line, file)) {
        const size_t skip = key ? strlen(key) : 0;
        if (key && strncmp(line, key, skip) != 0)
            continue;
        if (sscanf(line + skip, " %" SCNu64, &value) != 1)
            value = UINT64_MAX;
        break;
    }
    fclose(file);
    return value;
}

static void lower_to_group(const char *folder, const char *limit_name, const char *used_name, uint64_t *total,
                           uint64_t *available)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, limit_name);
    const uint64_t limit = number_in_file(path, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, used_name);
    const uint64_t used = number_in_file(path, NULL);
    if (limit < *total)
        *total = limit;
    if (limit != UINT64_MAX && used != UINT64_MAX) {
        snprintf(path, sizeof path, "%s/memory.stat", folder);
        const uint64_t cache = number_in_file(path, "inactive_file ");
        const uint64_t kept = cache < used ? used - cache : used;
        const uint64_t room = kept < limit ? limit - kept : 0;
        if (room < *available)
            *available = room;
    }
}

/** The folder of this process's control group (version 2); the mount's root where that is not to be seen. */
static void group_folder(char *folder, size_t size)
{
    char line[400];
    char path[512];
    snprintf(folder, size, "/sys/fs/cgroup");
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::/", 4) != 0)
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", line + 3);
        if (number_in_file(path, NULL) != UINT64_MAX)
            snprintf(folder, size, "/sys/fs/cgroup%s", line + 3);
        break;
    }
    fclose(file);
}

void cblas_memory(uint64_t *total_bytes, uint64_t *free_bytes)
{
    struct sysinfo system;
    char folder[480];
    *total_bytes = UINT64_MAX;
    *free_bytes = UINT64_MAX;
    if (sysinfo(&system) == 0) {
        *total_bytes = (uint64_t)system.totalram * system.mem_unit;
        *free_bytes = (uint64_t)system.freeram * system.mem_unit;
    }
    const uint64_t available = number_in_file("/proc/meminfo", "MemAvailable:"); /* counts droppable caches */
    if (available != UINT64_MAX)
        *free_bytes = available * 1024;
    group_folder(folder, sizeof folder);
    lower_to_group(folder, "memory.max", "memory.current", total_bytes, free_bytes);
    lower_to_group("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", total_bytes,
                   free_bytes);
}

static bool is_limited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* OpenBLAS 0.3.21 maps 128 MiB on x86-64; as much again because others may want some at the same time. */
#define BUFFER_BYTES ((size_t)256 << 20)

bool cblas_room_for_product(void)
{
    if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA))
        return true; /* address space is plenty, and pages are not asked for here */
    void *memory = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && munmap(memory, BUFFER_BYTES) == 0;
}

int cblas_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return get_nprocs(); /* more processors than a cpu_set_t holds */
}
