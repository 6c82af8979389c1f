/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The FLINTs of this machine as `nmodgpu info` shows them.
 */
#ifndef NMODGPU_CMD_FLINT_SEEN_H
#define NMODGPU_CMD_FLINT_SEEN_H

#include <stdbool.h>

/** Prints one FLINT, by its file or the name that the loader knows it by; false when it cannot be loaded. */
bool flint_seen_print(const char *file);

/** Prints those that a program would get from the loader by the names that FLINT's releases have had. */
void flint_seen_print_all(void);

#endif
