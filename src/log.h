/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Lines on standard error.  Every line starts with "nmodgpu: ", is bounded, holds printable ASCII only
 * (anything else becomes \xNN) and is written by one write(), so that lines of several threads and
 * processes do not mix.  Nothing here allocates, locks or changes errno.
 */
#ifndef NMODGPU_LOG_H
#define NMODGPU_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "backend.h"

/** Lines up to this level appear; NMODGPU_LOG_ERROR at the start. */
void nmodgpu_log_set_level(int level);

/** One line if its level is on.  With `cause` not NULL it appears once per process and cause. */
void nmodgpu_log(nmodgpu_log_level level, const char *cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** One line whatever the level. */
void nmodgpu_log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** write() all of it without SIGPIPE and without changing errno; false when it could not be written whole. */
bool nmodgpu_write_quietly(int fd, const char *data, size_t size_bytes);

#endif
