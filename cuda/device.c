/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "device.h"

#include <cublas_v2.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "errors.h"
#include "kernels.h"
#include "kernels_i8.h"
#include "memory.h"
#include "rates.h"

static nmodgpu_cuda_device devices[NMODGPU_CUDA_MAX_DEVICES];
static int32_t device_count;
static int driver_version, runtime_version, cublas_version[3];

static nmodgpu_status decline(const char *why)
{
    nmodgpu_cuda_host->log(NMODGPU_LOG_ERROR, "cuda open", "cuda: %s; products are computed without it", why);
    return NMODGPU_ENODEV;
}

/** cuBLAS is a separate library: the one found at run time may not be the one built for. */
static nmodgpu_status check_cublas(void)
{
    static const libraryPropertyType parts[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
    char why[96];
    for (int i = 0; i < 3; i++)
        if (cublasGetProperty(parts[i], &cublas_version[i]) != CUBLAS_STATUS_SUCCESS)
            return decline("cuBLAS does not tell its version");
    if (cublas_version[0] == CUBLAS_VER_MAJOR)
        return NMODGPU_OK;
    snprintf(why, sizeof why, "built for cuBLAS %d but found cuBLAS %d", CUBLAS_VER_MAJOR, cublas_version[0]);
    return decline(why);
}

static cudaError_t attribute(int *value, enum cudaDeviceAttr which, int ordinal)
{
    *value = 0;
    return cudaDeviceGetAttribute(value, which, ordinal);
}

/** Whether products can run there at all: not on a device that the administrator has closed to computing. */
static bool read_traits(int ordinal, nmodgpu_cuda_device *d, nmodgpu_cuda_traits *t)
{
    int mode, kilohertz, memory_kilohertz, bits;
    if (attribute(&t->major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
        attribute(&t->minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess ||
        attribute(&t->processors, cudaDevAttrMultiProcessorCount, ordinal) != cudaSuccess ||
        attribute(&kilohertz, cudaDevAttrClockRate, ordinal) != cudaSuccess ||
        attribute(&memory_kilohertz, cudaDevAttrMemoryClockRate, ordinal) != cudaSuccess ||
        attribute(&bits, cudaDevAttrGlobalMemoryBusWidth, ordinal) != cudaSuccess ||
        attribute(&mode, cudaDevAttrComputeMode, ordinal) != cudaSuccess ||
        attribute(&d->pools_supported, cudaDevAttrMemoryPoolsSupported, ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    t->clock_hertz = 1e3 * kilohertz;
    t->memory_clock_hertz = 1e3 * memory_kilohertz;
    t->bus_bytes = bits / 8.0;
    t->fused = t->major == 9 && t->minor == 0 && nmodgpu_fused_available();
    d->major = t->major;
    d->minor = t->minor;
    return mode != cudaComputeModeProhibited && t->processors > 0 && kilohertz > 0;
}

static bool describe(int ordinal, nmodgpu_cuda_device *d)
{
    nmodgpu_cuda_traits traits;
    struct cudaDeviceProp properties;
    if (!read_traits(ordinal, d, &traits))
        return false;
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    d->ordinal = ordinal;
    d->info.memory_bytes = d->info.free_bytes = properties.totalGlobalMem;
    d->info.rates = nmodgpu_cuda_rates(&traits);
    snprintf(d->info.name, sizeof d->info.name, "%.90s", properties.name);
    snprintf(d->info.detail, sizeof d->info.detail,
             "compute capability %d.%d, %d processors, driver for CUDA %d.%d, runtime %d.%d, cuBLAS %d.%d.%d",
             traits.major, traits.minor, traits.processors, driver_version / 1000, driver_version % 1000 / 10,
             runtime_version / 1000, runtime_version % 1000 / 10, cublas_version[0], cublas_version[1],
             cublas_version[2]);
    return true;
}

static void find_devices(int found)
{
    for (int ordinal = 0; ordinal < found && device_count < NMODGPU_CUDA_MAX_DEVICES; ordinal++) {
        nmodgpu_cuda_device *d = &devices[device_count];
        if (!describe(ordinal, d))
            continue;
        if (pthread_mutex_init(&d->lock, NULL) != 0)
            continue;
        d->index = device_count++;
    }
}

nmodgpu_status nmodgpu_cuda_open(void)
{
    int found = 0;
    const cudaError_t error = cudaGetDeviceCount(&found);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        return decline(cudaGetErrorString(error));
    }
    if (cudaDriverGetVersion(&driver_version) != cudaSuccess ||
        cudaRuntimeGetVersion(&runtime_version) != cudaSuccess)
        return decline("the driver does not tell its version");
    if (check_cublas() != NMODGPU_OK || nmodgpu_cuda_context_find() != NMODGPU_OK)
        return NMODGPU_ENODEV;
    find_devices(found);
    return device_count ? NMODGPU_OK : decline("no device that can be used");
}

int32_t nmodgpu_cuda_device_count(void)
{
    return device_count;
}

nmodgpu_status nmodgpu_cuda_device_info(int32_t device, nmodgpu_device_info *info)
{
    if (device < 0 || device >= device_count)
        return NMODGPU_EINVAL;
    nmodgpu_cuda_device *d = &devices[device];
    *info = d->info;
    if (d->given_up)
        return NMODGPU_ENODEV;
    if (!d->started)
        return NMODGPU_OK;
    nmodgpu_status status = nmodgpu_cuda_enter(d);
    if (status != NMODGPU_OK)
        return status;
    status = nmodgpu_cuda_memory_free_bytes(d, &info->free_bytes);
    nmodgpu_cuda_leave(d);
    return status;
}

/** With the lock held.  What has been made stays for the next try when a later part fails. */
static nmodgpu_status start(nmodgpu_cuda_device *d)
{
    nmodgpu_status status = NMODGPU_OK;
    if (!d->context)
        status = nmodgpu_cuda_context_retain(d->index, d->ordinal, &d->context);
    if (status != NMODGPU_OK || (status = nmodgpu_cuda_enter(d)) != NMODGPU_OK)
        return status;
    status = CUDA_CALL(d->index, nmodgpu_kernels_loadable, );
    if (status == NMODGPU_OK)
        status = nmodgpu_cuda_memory_start(d);
    nmodgpu_cuda_leave(d);
    return status;
}

nmodgpu_cuda_device *nmodgpu_cuda_device_start(int32_t device, nmodgpu_status *status)
{
    *status = NMODGPU_EINVAL;
    if (device < 0 || device >= device_count)
        return NULL;
    nmodgpu_cuda_device *d = &devices[device];
    *status = d->given_up ? NMODGPU_ENODEV : NMODGPU_OK;
    if (*status == NMODGPU_OK && !d->started) {
        pthread_mutex_lock(&d->lock);
        if (!d->started)
            *status = start(d);
        d->started = *status == NMODGPU_OK;
        pthread_mutex_unlock(&d->lock);
    }
    return *status == NMODGPU_OK ? d : NULL;
}

void nmodgpu_cuda_device_give_up(int32_t device)
{
    if (device >= 0 && device < device_count)
        devices[device].given_up = true;
}

nmodgpu_status nmodgpu_cuda_enter(const nmodgpu_cuda_device *device)
{
    return nmodgpu_cuda_context_push(device->index, device->context);
}

void nmodgpu_cuda_leave(const nmodgpu_cuda_device *device)
{
    nmodgpu_cuda_context_pop(device->index);
}
