/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

bool served_begin(served *s)
{
    const char *folder = secure_getenv("TMPDIR");
    memset(s, 0, sizeof *s);
    if (!folder || folder[0] != '/')
        folder = "/tmp";
    if (snprintf(s->path, sizeof s->path, "%s/nmodgpu-report-XXXXXX", folder) >= (int)sizeof s->path)
        return false;
    const int fd = mkstemp(s->path);
    if (fd >= 0)
        close(fd); /* empty */
    return fd >= 0;
}

/** The keys of the flat object that follows "member":, separated by ", ".  The line is the core's own, and none of
 *  these keys needs an escape. */
static void copy_keys(const char *line, const char *member, char *keys, size_t keys_bytes)
{
    char start[64];
    size_t used = 0;
    keys[0] = '\0';
    snprintf(start, sizeof start, "\"%s\":{", member);
    const char *c = strstr(line, start);
    for (c = c ? c + strlen(start) : ""; *c && *c != '}'; c += strcspn(c, ",}"), c += *c == ',') {
        const char *key = c + (*c == '"');
        const int length = (int)strcspn(key, "\"");
        const int wrote = snprintf(keys + used, keys_bytes - used, "%s%.*s", used ? ", " : "", length, key);
        if (wrote < 0 || (size_t)wrote >= keys_bytes - used)
            return;
        used += (size_t)wrote;
    }
}

bool served_read(served *s)
{
    FILE *file = fopen(s->path, "re");
    char *line = NULL;
    size_t capacity = 0;
    const bool got = file && getline(&line, &capacity, file) > 0;
    if (file)
        fclose(file); /* read only */
    if (got) {
        copy_keys(line, "served", s->by, sizeof s->by);
        copy_keys(line, "declined", s->declined, sizeof s->declined);
    } else {
        cmd_fail("the program wrote no report: NMODGPU is off, or libnmodgpu-flint.so could not be preloaded");
    }
    free(line);
    return got;
}

void served_end(served *s)
{
    unlink(s->path); /* best effort: a temporary file */
}
