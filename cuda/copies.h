/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Copies between host words (u64, in either layout) and device words (4 or 8 bytes).
 */
#ifndef NMODGPU_CUDA_COPIES_H
#define NMODGPU_CUDA_COPIES_H

#include "queue.h"

/** Both in the device's context, both matrices of the same shape.  Wide words in rows that follow each other
 *  at a constant distance go as one copy; narrow words and scattered rows go through the queue's bounce
 *  buffer, where this thread packs or unpacks them.  A download of the latter kind is complete on return. */
nmodgpu_status nmodgpu_cuda_upload(nmodgpu_queue *queue, const nmodgpu_matrix *device, const nmodgpu_matrix *host);
nmodgpu_status nmodgpu_cuda_download(nmodgpu_queue *queue, const nmodgpu_matrix *host,
                                     const nmodgpu_matrix *device);

/** Queues the copy of all of a words matrix from or to host memory that holds its rows densely, entries as wide as
 *  the device's.  In the device's context. */
nmodgpu_status nmodgpu_cuda_copy_packed(nmodgpu_queue *queue, const nmodgpu_matrix *device, void *packed, bool up);

#endif
