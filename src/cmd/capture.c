/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_BYTES 65536

static void drop(int *fd)
{
    if (*fd >= 0)
        close(*fd); /* a copy of a descriptor, or memory */
    *fd = -1;
}

void capture_begin(capture *c)
{
    fflush(stderr);
    c->file = memfd_create("nmodgpu-lines", MFD_CLOEXEC);
    c->original = c->file < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (c->original < 0 || dup2(c->file, STDERR_FILENO) < 0) {
        drop(&c->file);
        drop(&c->original);
    }
}

char *capture_end(capture *c)
{
    if (c->file < 0)
        return NULL;
    fflush(stderr);
    dup2(c->original, STDERR_FILENO); /* both are open, which leaves no way to fail */
    char *text = malloc(MAX_BYTES + 1);
    if (text) {
        const ssize_t got = pread(c->file, text, MAX_BYTES, 0);
        text[got > 0 ? got : 0] = '\0';
    }
    drop(&c->file);
    drop(&c->original);
    return text;
}
