/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What has to be had before libraries are loaded that take it for granted.
 */
#ifndef NMODGPU_ROOM_H
#define NMODGPU_ROOM_H

#include <stdbool.h>

/** Whether this process may now start a thread a processor, each with the address space that a BLAS wants for it.
 *  OpenBLAS starts them while it is loaded; where it can't, it raises SIGINT and its first product never ends, and
 *  where a thread can't map its buffer, the thread tries for ever. */
bool nmodgpu_room_for_threads(void);

#endif
