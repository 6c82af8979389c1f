/* SPDX-License-Identifier: LGPL-3.0-or-later */
#define _GNU_SOURCE 1
#include "preload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

/** Whether a path is one of the entries, which the loader separates at spaces and colons. */
static bool holds(const char *entries, const char *path)
{
    const size_t length = strlen(path);
    for (const char *entry = entries; *entry;) {
        const size_t entry_length = strcspn(entry, " :");
        if (entry_length == length && memcmp(entry, path, length) == 0)
            return true;
        entry += entry_length + (entry[entry_length] != '\0');
    }
    return false;
}

/** Others' libraries stay in front: some (sanitizers) insist on being first, and none of them has to give way,
 *  because only FLINT's own names are taken. */
static char *joined(const char *present, const char *path)
{
    char *value = NULL;
    if (!present || !*present)
        return strdup(path);
    if (holds(present, path))
        return strdup(present);
    return asprintf(&value, "%s:%s", present, path) < 0 ? NULL : value;
}

bool preload_value(char **value, char *why, size_t why_bytes)
{
    char path[PATH_MAX], safe[PATH_MAX];
    if (!place_dropin(path)) {
        snprintf(why, why_bytes, "libnmodgpu-flint.so is not beside libnmodgpu.so: the installation is incomplete");
        return false;
    }
    if (!place_without_separators(path, safe)) {
        snprintf(why, why_bytes,
                 "%s has a space, ':' or '$' in its path, which LD_PRELOAD cannot hold, and no link to it could be "
                 "made in $XDG_RUNTIME_DIR or /tmp",
                 path);
        return false;
    }
    *value = joined(secure_getenv("LD_PRELOAD"), safe);
    if (!*value)
        snprintf(why, why_bytes, "no memory for the environment");
    return *value != NULL;
}
