/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The few functions of the CUDA driver that the runtime has no counterpart for: pushing a context leaves
 * the host program's choice of device untouched, where cudaSetDevice() would replace it, and restoring with
 * cudaSetDevice() would start a context on a device that the program may never use.
 */
#ifndef NMODGPU_CUDA_CONTEXT_H
#define NMODGPU_CUDA_CONTEXT_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "backend.h"

/** Finds the functions in the driver that the runtime has loaded. */
nmodgpu_status nmodgpu_cuda_context_find(void);
/** The primary context of a device; retained for the rest of the process. */
nmodgpu_status nmodgpu_cuda_context_retain(int32_t device, int ordinal, CUcontext *context);
nmodgpu_status nmodgpu_cuda_context_push(int32_t device, CUcontext context);
void nmodgpu_cuda_context_pop(int32_t device);

#endif
