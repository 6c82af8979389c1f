/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

/** One who serves calls: a backend, or the host under some name. */
typedef struct server {
    _Atomic(const char *) name;
    _Atomic uint64_t backend_calls;
    _Atomic uint64_t nanoseconds;
} server;

#define SERVERS 24
static server servers[SERVERS];
static _Atomic uint64_t arrived;
static _Atomic uint64_t declined[NMODGPU_REASONS];

const char *nmodgpu_reason_name(nmodgpu_reason reason)
{
    static const char *const names[NMODGPU_REASONS] = {
        [NMODGPU_REASON_NONE] = "none",       [NMODGPU_REASON_SMALL] = "small",
        [NMODGPU_REASON_BACKEND] = "backend", [NMODGPU_REASON_UNSUPPORTED] = "unsupported",
        [NMODGPU_REASON_MEMORY] = "memory",   [NMODGPU_REASON_FORKED] = "forked",
        [NMODGPU_REASON_FAILED] = "failed",
    };
    return (unsigned)reason < NMODGPU_REASONS ? names[reason] : "none";
}

static uint64_t add(_Atomic uint64_t *counter, uint64_t amount)
{
    return atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

/** The place of a name, taken if it is new; NULL when there are too many. */
static server *find_server(const char *name)
{
    for (int i = 0; i < SERVERS; i++) {
        const char *taken = NULL;
        if (atomic_compare_exchange_strong(&servers[i].name, &taken, name) || strcmp(taken, name) == 0)
            return &servers[i];
    }
    return NULL;
}

static void add_time(server *who, double seconds)
{
    if (who && seconds > 0)
        add(&who->nanoseconds, (uint64_t)(seconds * 1e9));
}

void nmodgpu_report_arrived(void)
{
    add(&arrived, 1);
}

void nmodgpu_report_declined(nmodgpu_reason reason)
{
    add(&declined[(unsigned)reason < NMODGPU_REASONS ? reason : NMODGPU_REASON_NONE], 1);
}

void nmodgpu_report_served(const char *name, double seconds)
{
    server *who = find_server(name);
    if (who)
        add(&who->backend_calls, 1);
    add_time(who, seconds);
}

void nmodgpu_report_host(const char *name, double seconds)
{
    add_time(find_server(name), seconds);
}

uint64_t nmodgpu_report_count_served(const char *name)
{
    const server *who = find_server(name);
    return who ? atomic_load(&who->backend_calls) : 0;
}

uint64_t nmodgpu_report_count_declined(nmodgpu_reason reason)
{
    return atomic_load(&declined[reason]);
}

void nmodgpu_report_reset(void)
{
    atomic_store(&arrived, 0);
    for (int r = 0; r < NMODGPU_REASONS; r++)
        atomic_store(&declined[r], 0);
    for (int i = 0; i < SERVERS; i++) {
        atomic_store(&servers[i].backend_calls, 0);
        atomic_store(&servers[i].nanoseconds, 0);
    }
}

/** A text being built; once it is full, what does not fit is left out. */
typedef struct text {
    char *data;
    size_t used, capacity;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = t->capacity - t->used;
    const int length = vsnprintf(t->data + t->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        t->used += (size_t)length < room ? (size_t)length : room - 1;
}

/** Bytes of the UTF-8 sequence at s; 0 where there is none (RFC 3629: no overlong forms, no surrogates). */
static int utf8_length(const unsigned char *s)
{
    const int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/** A JSON string (RFC 8259); bytes that are not UTF-8 become U+FFFD. */
static void put_json(text *t, const char *value)
{
    put(t, "\"");
    for (const unsigned char *s = (const unsigned char *)value; *s;) {
        const int n = utf8_length(s);
        if (n == 0)
            put(t, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            put(t, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            put(t, "\\u%04x", *s);
        else
            put(t, "%.*s", n, (const char *)s);
        s += n ? n : 1;
    }
    put(t, "\"");
}

static void put_served(text *t)
{
    const char *separator = "";
    for (int i = 0; i < SERVERS; i++) {
        const char *name = atomic_load(&servers[i].name);
        const uint64_t calls = atomic_load(&servers[i].backend_calls);
        if (!name || !calls)
            continue;
        put(t, "%s", separator);
        put_json(t, name);
        put(t, ":%llu", (unsigned long long)calls);
        separator = ",";
    }
}

static void put_declined(text *t)
{
    const char *separator = "";
    for (int r = 0; r < NMODGPU_REASONS; r++) {
        const uint64_t calls = atomic_load(&declined[r]);
        if (!calls)
            continue;
        put(t, "%s\"%s\":%llu", separator, nmodgpu_reason_name((nmodgpu_reason)r), (unsigned long long)calls);
        separator = ",";
    }
}

static void put_seconds(text *t)
{
    const char *separator = "";
    for (int i = 0; i < SERVERS; i++) {
        const char *name = atomic_load(&servers[i].name);
        const uint64_t ns = atomic_load(&servers[i].nanoseconds);
        if (!name || !ns)
            continue;
        put(t, "%s", separator);
        put_json(t, name);
        /* integers only: a decimal comma of the program's locale would not be JSON */
        put(t, ":%llu.%06llu", (unsigned long long)(ns / 1000000000), (unsigned long long)(ns / 1000 % 1000000));
        separator = ",";
    }
}

size_t nmodgpu_report_format(char *line, size_t capacity)
{
    text t = {line, 0, capacity};
    char program[256];
    snprintf(program, sizeof program, "%s", program_invocation_short_name);
    put(&t, "{\"pid\":%ld,\"program\":", (long)getpid());
    put_json(&t, program);
    put(&t, ",\"arrived\":%llu,\"served\":{", (unsigned long long)atomic_load(&arrived));
    put_served(&t);
    put(&t, "},\"declined\":{");
    put_declined(&t);
    put(&t, "},\"seconds\":{");
    put_seconds(&t);
    put(&t, "}}\n");
    return t.used;
}

static _Atomic(char *) report_path;

/** Appends the line.  O_NONBLOCK: a named pipe that nobody reads must not hold the exit up. */
static void write_report(void)
{
    const char *path = atomic_load(&report_path);
    if (!*path)
        return;
    char line[8192];
    const size_t length = nmodgpu_report_format(line, sizeof line);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd < 0) {
        nmodgpu_log_line("NMODGPU_REPORT='%.200s' cannot be opened: %s", path, strerror(errno));
        return;
    }
    const bool whole = nmodgpu_write_quietly(fd, line, length);
    if (close(fd) != 0 || !whole)
        nmodgpu_log_line("NMODGPU_REPORT='%.200s' could not be written whole", path);
}

static char *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return strdup(path);
    const size_t size_bytes = strlen(folder) + strlen(path) + 2;
    char *joined = malloc(size_bytes);
    if (joined)
        snprintf(joined, size_bytes, "%s/%s", folder, path);
    return joined;
}

void nmodgpu_report_start(const char *path)
{
    if (!*path && !atomic_load(&report_path))
        return;
    char *kept = *path ? absolute(path) : strdup("");
    if (!kept) {
        nmodgpu_log_line("no memory for the report");
        return;
    }
    char *old = atomic_exchange(&report_path, kept);
    if (!old && atexit(write_report) != 0)
        nmodgpu_log_line("no report: atexit failed");
    free(old);
}
