/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * From CUDA's and cuBLAS's status codes to ours, with one line for the user.
 */
#ifndef NMODGPU_CUDA_ERRORS_H
#define NMODGPU_CUDA_ERRORS_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "backend.h"

/** What the core offers; set before anything else runs. */
extern const nmodgpu_host_api *nmodgpu_cuda_host;

/** Logs the failure once per call and code, clears it, and marks the device unusable for the rest of the
 *  process where the error has destroyed its context.  device: our index, or -1 when none is concerned. */
nmodgpu_status nmodgpu_cuda_failed(int32_t device, cudaError_t error, const char *call);
nmodgpu_status nmodgpu_cublas_failed(int32_t device, cublasStatus_t error, const char *call);

static inline nmodgpu_status nmodgpu_cuda_status(int32_t device, cudaError_t error, const char *call)
{
    return error == cudaSuccess ? NMODGPU_OK : nmodgpu_cuda_failed(device, error, call);
}

static inline nmodgpu_status nmodgpu_cublas_status(int32_t device, cublasStatus_t error, const char *call)
{
    return error == CUBLAS_STATUS_SUCCESS ? NMODGPU_OK : nmodgpu_cublas_failed(device, error, call);
}

/* The status of function(arguments), whatever happened having been logged. */
#define CUDA_CALL(device, function, ...) nmodgpu_cuda_status(device, function(__VA_ARGS__), #function)
#define CUBLAS_CALL(device, function, ...) nmodgpu_cublas_status(device, function(__VA_ARGS__), #function)

#endif
