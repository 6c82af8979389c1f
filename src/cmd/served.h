/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Who served a process, from the line that NMODGPU_REPORT makes it write.
 */
#ifndef NMODGPU_CMD_SERVED_H
#define NMODGPU_CMD_SERVED_H

#include <limits.h>
#include <stdbool.h>

typedef struct served {
    char path[PATH_MAX]; /**< for NMODGPU_REPORT */
    char by[64];         /**< the backends, separated by ", "; "" for none */
    char declined[128];  /**< the reasons, likewise */
} served;

/** Makes an empty temporary file. */
bool served_begin(served *s);
/** Reads the first process's line; false with one line on standard error when there is none. */
bool served_read(served *s);
/** Removes the file. */
void served_end(served *s);

#endif
