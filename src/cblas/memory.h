/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Memory of matrices: rows and planes aligned to cache lines, and spread over the cache's sets.
 */
#ifndef NMODGPU_CBLAS_MEMORY_H
#define NMODGPU_CBLAS_MEMORY_H

#include "backend.h"

/** Fills stride, plane_stride and transposed; bytes taken, UINT64_MAX when that is more than there can be. */
uint64_t cblas_layout(nmodgpu_matrix *matrix);

/** Memory of that many bytes, aligned to 64; NULL when there is none. */
void *cblas_allocate(uint64_t bytes);

/** Gives it back; NULL is allowed.  Large blocks are kept for the next product of such a size, since fresh
 *  pages cost more than the passes that fill them: at most a sixteenth of `memory_bytes`, and 1 GiB. */
void cblas_release(void *memory, uint64_t memory_bytes);

/** Bytes that are kept and in no matrix. */
uint64_t cblas_kept_bytes(void);

#endif
