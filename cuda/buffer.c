/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "buffer.h"

#include <stdlib.h>

#include "copies.h"
#include "errors.h"
#include "matrix.h"

struct nmodgpu_buffer {
    nmodgpu_cuda_device *device;
    void *memory;
    uint64_t bytes;
    cudaEvent_t done; /**< the last copy */
};

static void destroy(nmodgpu_buffer *b)
{
    const int32_t device = b->device->index;
    /* Failures are logged and the rest is released all the same. */
    if (b->done)
        (void)CUDA_CALL(device, cudaEventDestroy, b->done);
    if (b->memory)
        (void)CUDA_CALL(device, cudaFreeHost, b->memory);
    free(b);
}

/** Threads that wait for a copy sleep: there may be as many as processors. */
static nmodgpu_status fill(nmodgpu_buffer *b)
{
    const int32_t device = b->device->index;
    const nmodgpu_status status =
        CUDA_CALL(device, cudaHostAlloc, &b->memory, (size_t)b->bytes, cudaHostAllocDefault);
    if (status != NMODGPU_OK)
        return status;
    return CUDA_CALL(device, cudaEventCreateWithFlags, &b->done, cudaEventDisableTiming | cudaEventBlockingSync);
}

nmodgpu_status nmodgpu_cuda_buffer_open(int32_t index, uint64_t bytes, nmodgpu_buffer **buffer, void **memory)
{
    nmodgpu_status status;
    nmodgpu_cuda_device *device = nmodgpu_cuda_device_start(index, &status);
    *buffer = NULL;
    if (!device || (status = nmodgpu_cuda_enter(device)) != NMODGPU_OK)
        return status;
    nmodgpu_buffer *b = calloc(1, sizeof *b);
    if (b) {
        b->device = device;
        b->bytes = bytes;
        status = fill(b);
    } else {
        status = NMODGPU_ENOMEM;
    }
    if (status == NMODGPU_OK) {
        *buffer = b;
        *memory = b->memory;
    } else if (b) {
        destroy(b);
    }
    nmodgpu_cuda_leave(device);
    return status;
}

void nmodgpu_cuda_buffer_close(nmodgpu_buffer *buffer)
{
    if (!buffer)
        return;
    const nmodgpu_cuda_device *device = buffer->device;
    const bool inside = nmodgpu_cuda_enter(device) == NMODGPU_OK;
    (void)CUDA_CALL(device->index, cudaEventSynchronize, buffer->done); /* logged; nothing else helps */
    destroy(buffer);
    if (inside)
        nmodgpu_cuda_leave(device);
}

nmodgpu_status nmodgpu_cuda_buffer_copy(nmodgpu_queue *queue, nmodgpu_buffer *buffer, const nmodgpu_matrix *words,
                                        bool up)
{
    if (!nmodgpu_cuda_is_words(queue, words) || queue->device != buffer->device || words->rows < 0 ||
        words->cols < 0 ||
        (unsigned __int128)words->rows * (uint64_t)words->cols * words->element_bytes > buffer->bytes)
        return NMODGPU_EINVAL;
    if (words->rows == 0 || words->cols == 0)
        return NMODGPU_OK;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = nmodgpu_cuda_copy_packed(queue, words, buffer->memory, up);
    if (status == NMODGPU_OK)
        status = CUDA_CALL(queue->device->index, cudaEventRecord, buffer->done, queue->stream);
    if (status != NMODGPU_OK) /* no event tells of what may have been queued */
        (void)CUDA_CALL(queue->device->index, cudaStreamSynchronize, queue->stream);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

nmodgpu_status nmodgpu_cuda_buffer_wait(nmodgpu_buffer *buffer)
{
    nmodgpu_status status = nmodgpu_cuda_enter(buffer->device);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(buffer->device->index, cudaEventSynchronize, buffer->done);
    nmodgpu_cuda_leave(buffer->device);
    return status;
}
