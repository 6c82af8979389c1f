/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The value of LD_PRELOAD that puts this installation's drop-in in front of a program's FLINT.
 */
#ifndef NMODGPU_CMD_PRELOAD_H
#define NMODGPU_CMD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/** What is in LD_PRELOAD now, then the drop-in, unless it is there already.  The caller frees *value.  False
 *  with a line for people in `why` when the drop-in cannot be preloaded. */
bool preload_value(char **value, char *why, size_t why_bytes);

#endif
