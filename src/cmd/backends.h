/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The backends of this installation, loaded and opened, as the subcommands look at them.
 */
#ifndef NMODGPU_CMD_BACKENDS_H
#define NMODGPU_CMD_BACKENDS_H

#include <stdbool.h>
#include <stddef.h>

#include "introspect.h"

/** The backend that computes on the CPU; any other one is a device besides it. */
#define BACKENDS_ON_CPU "cblas"

#define BACKENDS_MAX 16

typedef struct backends {
    nmodgpu_backend_listing list[BACKENDS_MAX];
    size_t count;
    char *lines; /**< what loading them said on standard error, or NULL */
} backends;

void backends_open(backends *b);
void backends_free(backends *b);

/** The usable backend that products go to by NMODGPU, or by "auto" where that is off; with `name` not NULL that
 *  one.  NULL when there is none. */
const nmodgpu_backend_listing *backends_choose(const backends *b, const char *name);

/** Whether any backend but BACKENDS_ON_CPU can be used; asked in a child process, because a GPU may be set to
 *  serve one process at a time. */
bool backends_have_gpu(void);

#endif
