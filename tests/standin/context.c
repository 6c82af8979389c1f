/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Devices, their traits, and the current context of a thread.
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct CUctx_st {
    int device;
};

static struct CUctx_st primary[STANDIN_DEVICES];
static _Thread_local CUcontext stack[16];
static _Thread_local int depth;
static _Thread_local int chosen;

int standin_context_depth(void)
{
    return depth;
}

int standin_current(void)
{
    return depth ? stack[depth - 1]->device : chosen;
}

static CUresult device_get(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return (CUresult)standin_begin();
}

static CUresult primary_retain(CUcontext *context, CUdevice device)
{
    const cudaError_t error = standin_begin();
    if (error != cudaSuccess)
        return (CUresult)error;
    primary[device].device = device;
    *context = &primary[device];
    return 0;
}

static CUresult push(CUcontext context)
{
    cudaError_t error = standin_begin();
    if (error == cudaSuccess && depth == (int)(sizeof stack / sizeof *stack))
        error = standin_mistake("contexts are pushed and never popped");
    if (error == cudaSuccess)
        stack[depth++] = context;
    return (CUresult)error;
}

static CUresult pop(CUcontext *context)
{
    const cudaError_t error = standin_begin();
    if (depth == 0)
        return (CUresult)standin_mistake("a context is popped that was not pushed");
    *context = stack[--depth];
    return (CUresult)error;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } known[] = {
        {"cuDeviceGet", (void (*)(void))device_get},
        {"cuDevicePrimaryCtxRetain", (void (*)(void))primary_retain},
        {"cuCtxPushCurrent", (void (*)(void))push},
        {"cuCtxPopCurrent", (void (*)(void))pop},
    };
    const cudaError_t error = standin_begin();
    (void)flags;
    *result = cudaDriverEntryPointSymbolNotFound;
    for (size_t i = 0; i < sizeof known / sizeof *known && error == cudaSuccess && version == 12000; i++)
        if (strcmp(known[i].name, symbol) == 0) {
            memcpy(function, &known[i].function, sizeof known[i].function);
            *result = cudaDriverEntryPointSuccess;
        }
    return standin_end(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    const cudaError_t error = standin_begin();
    *count = 0;
    if (error != cudaSuccess || standin.no_driver)
        return standin_end(error != cudaSuccess ? error : (cudaError_t)standin.no_driver);
    *count = standin.devices;
    return standin_end(standin.devices ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return standin_end(standin_begin());
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return standin_end(standin_begin());
}

/** An H200's figures but for the compute capability. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = standin_begin();
    if (error == cudaSuccess && (device < 0 || device >= standin.devices))
        error = cudaErrorInvalidDevice;
    switch (attribute) {
    case cudaDevAttrClockRate:
        *value = 1980000;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = 132;
        break;
    case cudaDevAttrComputeMode:
        *value = cudaComputeModeDefault;
        break;
    case cudaDevAttrMemoryClockRate:
        *value = 3201000;
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 6144;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = standin.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = 0;
        break;
    case cudaDevAttrMemoryPoolsSupported:
        *value = standin.pools;
        break;
    }
    return standin_end(error);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = standin_begin();
    if (error == cudaSuccess && (device < 0 || device >= standin.devices))
        error = cudaErrorInvalidDevice;
    snprintf(properties->name, sizeof properties->name, "stand-in device %d", device);
    properties->totalGlobalMem = standin.memory_bytes;
    return standin_end(error);
}

cudaError_t cudaGetDevice(int *device)
{
    *device = standin_current();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= standin.devices)
        return standin_end(cudaErrorInvalidDevice);
    if (depth) {
        primary[device].device = device;
        stack[depth - 1] = &primary[device];
    }
    chosen = device;
    return cudaSuccess;
}
