/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The program that `nmodgpu run` is to start: where it is, and whether the loader will heed LD_PRELOAD for it.
 */
#ifndef NMODGPU_CMD_TARGET_H
#define NMODGPU_CMD_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** The file that execvp() would take for a name, along PATH; false when there is none. */
bool target_find(const char *name, char path[PATH_MAX]);

/** True when a preloaded library will not get into that program, with a line for people that says why.  Scripts
 *  are followed to their interpreter, and through env.  What cannot be read is given the benefit of the doubt. */
bool target_refuses_preload(const char *path, char *why, size_t why_bytes);

#endif
