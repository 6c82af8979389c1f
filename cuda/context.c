/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "context.h"

#include "errors.h"

/* The driver's functions as of CUDA 12.0, the oldest release supported. */
#define DRIVER_VERSION 12000

typedef CUresult (*device_get)(CUdevice *, int);
typedef CUresult (*primary_retain)(CUcontext *, CUdevice);
typedef CUresult (*context_push)(CUcontext);
typedef CUresult (*context_pop)(CUcontext *);

static device_get get_device;
static primary_retain retain_primary;
static context_push push_current;
static context_pop pop_current;

static cudaError_t entry_point(const char *name, void **function, enum cudaDriverEntryPointQueryResult *found)
{
#if CUDART_VERSION >= 12050
    return cudaGetDriverEntryPointByVersion(name, function, DRIVER_VERSION, cudaEnableDefault, found);
#else
    return cudaGetDriverEntryPoint(name, function, cudaEnableDefault, found);
#endif
}

/** `place` is the address of a function pointer: POSIX (dlsym) grants that it has the form of void *. */
static nmodgpu_status find(const char *name, void *place)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const nmodgpu_status status = nmodgpu_cuda_status(-1, entry_point(name, place, &found), name);
    if (status != NMODGPU_OK || found == cudaDriverEntryPointSuccess)
        return status;
    nmodgpu_cuda_host->log(NMODGPU_LOG_ERROR, "cuda entry point", "cuda: the driver has no %s; not used", name);
    return NMODGPU_ENODEV;
}

nmodgpu_status nmodgpu_cuda_context_find(void)
{
    nmodgpu_status status = find("cuDeviceGet", &get_device);
    if (status == NMODGPU_OK)
        status = find("cuDevicePrimaryCtxRetain", &retain_primary);
    if (status == NMODGPU_OK)
        status = find("cuCtxPushCurrent", &push_current);
    if (status == NMODGPU_OK)
        status = find("cuCtxPopCurrent", &pop_current);
    return status;
}

/** The driver's codes are the runtime's for all errors that these functions return. */
static nmodgpu_status driver_status(int32_t device, CUresult result, const char *call)
{
    return nmodgpu_cuda_status(device, (cudaError_t)result, call);
}

nmodgpu_status nmodgpu_cuda_context_retain(int32_t device, int ordinal, CUcontext *context)
{
    CUdevice handle;
    nmodgpu_status status = driver_status(device, get_device(&handle, ordinal), "cuDeviceGet");
    if (status == NMODGPU_OK)
        status = driver_status(device, retain_primary(context, handle), "cuDevicePrimaryCtxRetain");
    return status;
}

nmodgpu_status nmodgpu_cuda_context_push(int32_t device, CUcontext context)
{
    return driver_status(device, push_current(context), "cuCtxPushCurrent");
}

void nmodgpu_cuda_context_pop(int32_t device)
{
    CUcontext ours;
    (void)driver_status(device, pop_current(&ours), "cuCtxPopCurrent"); /* logged; nothing else can be done */
}
