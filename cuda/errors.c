/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "errors.h"

#include <stdio.h>

#include "device.h"

const nmodgpu_host_api *nmodgpu_cuda_host;

/** Errors after which every later call in the context fails too ("sticky"; CUDA Runtime API, "CUDA Runtime
 *  error handling", and the description of each code): nothing but the end of the process helps. */
static bool destroys_context(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorDeviceUninitialized: /* the host program has reset the device */
    case cudaErrorContextIsDestroyed:
    case cudaErrorCudartUnloading:
    case cudaErrorUnknown:
        return true;
    default:
        return false;
    }
}

static nmodgpu_status status_of(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return NMODGPU_ENOMEM;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
        return NMODGPU_ENODEV;
    default:
        return NMODGPU_EBACKEND;
    }
}

nmodgpu_status nmodgpu_cuda_failed(int32_t device, cudaError_t error, const char *call)
{
    char cause[96];
    const bool fatal = destroys_context(error);
    (void)cudaGetLastError(); /* so that the host program does not find our error in its next check */
    snprintf(cause, sizeof cause, "cuda %s %d", call, (int)error);
    nmodgpu_cuda_host->log(NMODGPU_LOG_ERROR, cause, "cuda: %s failed on device %d: %s%s", call, (int)device,
                           cudaGetErrorString(error), fatal ? "; the device is not used any more" : "");
    if (fatal)
        nmodgpu_cuda_device_give_up(device);
    return status_of(error);
}

nmodgpu_status nmodgpu_cublas_failed(int32_t device, cublasStatus_t error, const char *call)
{
    char cause[96];
    const cudaError_t behind = cudaGetLastError(); /* what cuBLAS stumbled on, if it was CUDA */
    snprintf(cause, sizeof cause, "cublas %s %d", call, (int)error);
    nmodgpu_cuda_host->log(NMODGPU_LOG_ERROR, cause, "cuda: %s failed on device %d: %s%s%s", call, (int)device,
                           cublasGetStatusString(error), behind == cudaSuccess ? "" : ", ",
                           behind == cudaSuccess ? "" : cudaGetErrorString(behind));
    if (destroys_context(behind))
        nmodgpu_cuda_device_give_up(device);
    return error == CUBLAS_STATUS_ALLOC_FAILED ? NMODGPU_ENOMEM : NMODGPU_EBACKEND;
}
