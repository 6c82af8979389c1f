/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dispatch.h"

#define PREFIX "nmodgpu: "
/* A line of RAW_BYTES, every byte escaped, still fits PIPE_BUF (4096): one write() to a pipe is then whole. */
#define RAW_BYTES 1000
#define LINE_BYTES 4096
_Static_assert(sizeof PREFIX + 4 * RAW_BYTES < LINE_BYTES, "an escaped line must fit");

static _Atomic int log_level = NMODGPU_LOG_ERROR;

void nmodgpu_log_set_level(int level)
{
    atomic_store(&log_level, level);
}

/* The causes seen, by hash, in an open-addressed table that is only added to.  A full table silences
 * further causes rather than repeating lines. */
#define CAUSES 512
static _Atomic uint64_t causes[CAUSES];

/** 64-bit FNV-1a (Fowler, Noll, Vo); never 0, which marks a free place. */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ? h : 1;
}

static bool first_time(const char *cause)
{
    const uint64_t h = hash(cause);
    for (uint64_t i = 0; i < CAUSES; i++) {
        _Atomic uint64_t *place = &causes[(h + i) % CAUSES];
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong(place, &seen, h))
            return true;
        if (seen == h)
            return false;
    }
    return false;
}

/** Holds SIGPIPE back around the write and takes away the one that the write may have raised. */
bool nmodgpu_write_quietly(int fd, const char *data, size_t size_bytes)
{
    const int saved_errno = errno;
    sigset_t pipe_only, old, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    if (pthread_sigmask(SIG_BLOCK, &pipe_only, &old) != 0) {
        errno = saved_errno;
        return false;
    }
    ssize_t written;
    do
        written = write(fd, data, size_bytes);
    while (written < 0 && errno == EINTR);
    if (written < 0 && errno == EPIPE && !was_pending) {
        const struct timespec now = {0, 0};
        while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved_errno;
    return written >= 0 && (size_t)written == size_bytes;
}

static size_t put_escaped(char *line, size_t used, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    if (c >= 0x20 && c < 0x7f) {
        line[used] = (char)c;
        return used + 1;
    }
    const char escaped[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
    memcpy(line + used, escaped, 4);
    return used + 4;
}

static void write_line(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
static void write_line(const char *format, va_list arguments)
{
    const int saved_errno = errno;
    char raw[RAW_BYTES];
    if (vsnprintf(raw, sizeof raw, format, arguments) < 0)
        raw[0] = '\0';
    char line[LINE_BYTES];
    size_t used = sizeof PREFIX - 1;
    memcpy(line, PREFIX, used);
    for (const char *c = raw; *c; c++)
        used = put_escaped(line, used, (unsigned char)*c);
    line[used++] = '\n';
    nmodgpu_write_quietly(STDERR_FILENO, line, used); /* a closed standard error is the program's choice */
    errno = saved_errno;
}

void nmodgpu_log(nmodgpu_log_level level, const char *cause, const char *format, ...)
{
    if ((int)level > atomic_load_explicit(&log_level, memory_order_relaxed) || (cause && !first_time(cause)))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void nmodgpu_log_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void nmodgpu_priv_log_once(const char *cause, const char *format, ...)
{
    if (!first_time(cause))
        return;
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}
