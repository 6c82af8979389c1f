/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The CPU as a device: its name, its memory, its threads and what its BLAS does.
 */
#ifndef NMODGPU_CBLAS_MACHINE_H
#define NMODGPU_CBLAS_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** "CPU <model>" as the system names it. */
void cblas_cpu_name(char *text, size_t size);

/** Memory of this machine, or of the control group this process is confined to, whichever is less: in all,
 *  and what can still be taken without paging. */
void cblas_memory(uint64_t *total_bytes, uint64_t *free_bytes);

/** Whether the BLAS can have a buffer for one more product: OpenBLAS tries for ever to get one. */
bool cblas_room_for_product(void);

/** How many processors this thread may run on; at least 1. */
int cblas_processors(void);

#endif
