/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Page-locked host memory for packed words.  Copies from and to it need no thread to attend to them.
 */
#ifndef NMODGPU_CUDA_BUFFER_H
#define NMODGPU_CUDA_BUFFER_H

#include "queue.h"

nmodgpu_status nmodgpu_cuda_buffer_open(int32_t device, uint64_t bytes, nmodgpu_buffer **buffer, void **memory);
void nmodgpu_cuda_buffer_close(nmodgpu_buffer *buffer);
nmodgpu_status nmodgpu_cuda_buffer_copy(nmodgpu_queue *queue, nmodgpu_buffer *buffer, const nmodgpu_matrix *words,
                                        bool up);
nmodgpu_status nmodgpu_cuda_buffer_wait(nmodgpu_buffer *buffer);

#endif
