/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A queue: a stream with its cuBLAS and cuBLASLt handles and their workspace.  Making one takes milliseconds, so
 * queues that were given back whole are handed out again.
 */
#ifndef NMODGPU_CUDA_QUEUE_H
#define NMODGPU_CUDA_QUEUE_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "device.h"
#include "gemm.h"

/** Bytes of one half of the bounce buffer: large enough that a copy's start-up does not count, small enough
 *  to stay in a processor's cache. */
#define NMODGPU_CUDA_BOUNCE_BYTES ((int64_t)2 << 20)

struct nmodgpu_queue {
    nmodgpu_cuda_device *device;
    cudaStream_t stream;
    cublasHandle_t blas;
    void *workspace;
    uint64_t workspace_bytes;
    nmodgpu_gemm_memory gemm;
    char *bounce[2];            /**< pinned host memory for scattered rows; NULL until needed */
    cudaEvent_t bounce_done[2]; /**< the device is done with that half */
    nmodgpu_queue *next;        /**< in the list of idle ones */
};

struct nmodgpu_event {
    nmodgpu_cuda_device *device;
    cudaEvent_t event;
};

nmodgpu_status nmodgpu_cuda_queue_open(int32_t device, nmodgpu_queue **queue);
void nmodgpu_cuda_queue_close(nmodgpu_queue *queue, bool failed);
/** Ends the idle queues of a device; for tests that count what is left. */
void nmodgpu_cuda_queues_drop(int32_t device);

/** Makes the bounce buffer of a queue unless it is there.  In the device's context. */
nmodgpu_status nmodgpu_cuda_queue_need_bounce(nmodgpu_queue *queue);

nmodgpu_status nmodgpu_cuda_submit(nmodgpu_queue *queue, nmodgpu_event **event);
nmodgpu_status nmodgpu_cuda_queue_wait(nmodgpu_queue *queue, nmodgpu_event *event);
nmodgpu_status nmodgpu_cuda_wait(nmodgpu_queue *queue, nmodgpu_event *event);
void nmodgpu_cuda_event_free(nmodgpu_event *event);
nmodgpu_status nmodgpu_cuda_event_seconds(nmodgpu_event *from, nmodgpu_event *to, double *seconds);

#endif
