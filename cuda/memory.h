/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Device memory in stream order, from a pool of our own where the device has pools, so that neither a
 * matrix nor its end makes the host wait.
 */
#ifndef NMODGPU_CUDA_MEMORY_H
#define NMODGPU_CUDA_MEMORY_H

#include "device.h"

/** Makes the device's pool.  In the device's context. */
nmodgpu_status nmodgpu_cuda_memory_start(nmodgpu_cuda_device *device);
/** What could be allocated now: free on the device, or kept unused by our pool. */
nmodgpu_status nmodgpu_cuda_memory_free_bytes(const nmodgpu_cuda_device *device, uint64_t *free_bytes);

nmodgpu_status nmodgpu_cuda_memory_take(const nmodgpu_cuda_device *device, cudaStream_t stream, uint64_t bytes,
                                        void **memory);
void nmodgpu_cuda_memory_give(const nmodgpu_cuda_device *device, cudaStream_t stream, void *memory);

#endif
