/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "queue.h"

#include <stdlib.h>

#include "errors.h"
#include "memory.h"

/** Idle queues kept on a device: each holds a workspace and a cuBLAS handle. */
#define KEPT_IDLE 8

/** What NVIDIA recommends for cublasSetWorkspace (cuBLAS documentation, that function's table). */
static uint64_t workspace_bytes(const nmodgpu_cuda_device *device)
{
    return (uint64_t)(device->major >= 9 ? 32 : 4) << 20;
}

static void destroy(nmodgpu_queue *q)
{
    const int32_t device = q->device->index;
    /* Failures are logged and the rest is released all the same. */
    if (q->blas)
        (void)CUBLAS_CALL(device, cublasDestroy, q->blas);
    if (q->gemm.handle)
        (void)CUBLAS_CALL(device, cublasLtDestroy, q->gemm.handle);
    if (q->workspace)
        nmodgpu_cuda_memory_give(q->device, q->stream, q->workspace);
    for (int i = 0; i < 2; i++) {
        if (q->bounce_done[i])
            (void)CUDA_CALL(device, cudaEventDestroy, q->bounce_done[i]);
        if (q->bounce[i])
            (void)CUDA_CALL(device, cudaFreeHost, q->bounce[i]);
    }
    if (q->stream)
        (void)CUDA_CALL(device, cudaStreamDestroy, q->stream);
    free(q);
}

/** cuBLAS never allocates while products run: the workspace is ours, and set after the stream, which resets
 *  it.  Pedantic mode also forbids what the compute type of the calls already excludes. */
static nmodgpu_status fill(nmodgpu_queue *q)
{
    const int32_t device = q->device->index;
    nmodgpu_status status = CUDA_CALL(device, cudaStreamCreateWithFlags, &q->stream, cudaStreamNonBlocking);
    q->workspace_bytes = workspace_bytes(q->device);
    if (status == NMODGPU_OK)
        status = nmodgpu_cuda_memory_take(q->device, q->stream, q->workspace_bytes, &q->workspace);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, cublasLtCreate, &q->gemm.handle);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, cublasCreate, &q->blas);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, cublasSetStream, q->blas, q->stream);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, cublasSetWorkspace, q->blas, q->workspace, q->workspace_bytes);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, cublasSetMathMode, q->blas, CUBLAS_PEDANTIC_MATH);
    return status;
}

static nmodgpu_status create(nmodgpu_cuda_device *device, nmodgpu_queue **queue)
{
    nmodgpu_queue *q = calloc(1, sizeof *q);
    if (!q)
        return NMODGPU_ENOMEM;
    q->device = device;
    const nmodgpu_status status = fill(q);
    if (status == NMODGPU_OK)
        *queue = q;
    else
        destroy(q);
    return status;
}

static nmodgpu_queue *take_idle(nmodgpu_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    nmodgpu_queue *q = device->idle;
    if (q) {
        device->idle = q->next;
        device->idle_count--;
        q->next = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    return q;
}

/** False when enough are kept. */
static bool keep_idle(nmodgpu_queue *q)
{
    nmodgpu_cuda_device *device = q->device;
    pthread_mutex_lock(&device->lock);
    const bool kept = device->idle_count < KEPT_IDLE;
    if (kept) {
        q->next = device->idle;
        device->idle = q;
        device->idle_count++;
    }
    pthread_mutex_unlock(&device->lock);
    return kept;
}

nmodgpu_status nmodgpu_cuda_queue_open(int32_t index, nmodgpu_queue **queue)
{
    nmodgpu_status status;
    *queue = NULL;
    nmodgpu_cuda_device *device = nmodgpu_cuda_device_start(index, &status);
    if (!device)
        return status;
    *queue = take_idle(device);
    if (*queue || (status = nmodgpu_cuda_enter(device)) != NMODGPU_OK)
        return status;
    status = create(device, queue);
    nmodgpu_cuda_leave(device);
    return status;
}

/** Waits until nothing of the queue runs any more, then ends it. */
static void drain_and_destroy(nmodgpu_queue *q)
{
    nmodgpu_cuda_device *device = q->device;
    const bool inside = nmodgpu_cuda_enter(device) == NMODGPU_OK;
    if (q->stream)
        (void)CUDA_CALL(device->index, cudaStreamSynchronize, q->stream);
    destroy(q);
    if (inside)
        nmodgpu_cuda_leave(device);
}

void nmodgpu_cuda_queue_close(nmodgpu_queue *queue, bool failed)
{
    if (queue && (failed || queue->device->given_up || !keep_idle(queue)))
        drain_and_destroy(queue);
}

void nmodgpu_cuda_queues_drop(int32_t index)
{
    nmodgpu_status status;
    nmodgpu_cuda_device *device = nmodgpu_cuda_device_start(index, &status);
    for (nmodgpu_queue *q; device && (q = take_idle(device));)
        drain_and_destroy(q);
}

nmodgpu_status nmodgpu_cuda_queue_need_bounce(nmodgpu_queue *q)
{
    const int32_t device = q->device->index;
    nmodgpu_status status = NMODGPU_OK;
    for (int i = 0; i < 2; i++) {
        if (status == NMODGPU_OK && !q->bounce[i])
            status = CUDA_CALL(device, cudaHostAlloc, (void **)&q->bounce[i], NMODGPU_CUDA_BOUNCE_BYTES,
                               cudaHostAllocDefault);
        if (status == NMODGPU_OK && !q->bounce_done[i])
            status = CUDA_CALL(device, cudaEventCreateWithFlags, &q->bounce_done[i], cudaEventDisableTiming);
    }
    return status;
}
