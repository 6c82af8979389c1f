/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "memory.h"

#include <string.h>

#include "errors.h"

/** What the pool keeps for later calls when it is idle, as a share of the device: enough for the planes of a
 *  large product, without which each call would map its memory anew, and little enough for other programs. */
#define KEPT_SHARE 4

nmodgpu_status nmodgpu_cuda_memory_start(nmodgpu_cuda_device *device)
{
    struct cudaMemPoolProps props;
    cudaMemPool_t pool;
    uint64_t kept_bytes = device->info.memory_bytes / KEPT_SHARE;
    if (!device->pools_supported || device->pool)
        return NMODGPU_OK;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypeNone;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device->ordinal;
    nmodgpu_status status = CUDA_CALL(device->index, cudaMemPoolCreate, &pool, &props);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(device->index, cudaMemPoolSetAttribute, pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes);
    if (status == NMODGPU_OK)
        device->pool = pool;
    else
        (void)CUDA_CALL(device->index, cudaMemPoolDestroy, pool); /* already failing; logged */
    return status;
}

nmodgpu_status nmodgpu_cuda_memory_free_bytes(const nmodgpu_cuda_device *device, uint64_t *free_bytes)
{
    size_t free_now, total;
    uint64_t reserved = 0, used = 0;
    nmodgpu_status status = CUDA_CALL(device->index, cudaMemGetInfo, &free_now, &total);
    if (status == NMODGPU_OK && device->pool)
        status = CUDA_CALL(device->index, cudaMemPoolGetAttribute, device->pool, cudaMemPoolAttrReservedMemCurrent,
                           &reserved);
    if (status == NMODGPU_OK && device->pool)
        status =
            CUDA_CALL(device->index, cudaMemPoolGetAttribute, device->pool, cudaMemPoolAttrUsedMemCurrent, &used);
    if (status == NMODGPU_OK)
        *free_bytes = free_now + (reserved > used ? reserved - used : 0);
    return status;
}

nmodgpu_status nmodgpu_cuda_memory_take(const nmodgpu_cuda_device *device, cudaStream_t stream, uint64_t bytes,
                                        void **memory)
{
    if (bytes > SIZE_MAX)
        return NMODGPU_ENOMEM;
    if (device->pool)
        return CUDA_CALL(device->index, cudaMallocFromPoolAsync, memory, bytes, device->pool, stream);
    return CUDA_CALL(device->index, cudaMalloc, memory, bytes);
}

void nmodgpu_cuda_memory_give(const nmodgpu_cuda_device *device, cudaStream_t stream, void *memory)
{
    if (device->pool)
        (void)CUDA_CALL(device->index, cudaFreeAsync, memory, stream); /* failure is logged; nothing else helps */
    else
        (void)CUDA_CALL(device->index, cudaFree, memory); /* waits for the device, so for this stream too */
}
