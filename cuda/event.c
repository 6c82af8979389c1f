/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Events, and waiting for them.
 */
#include <stdlib.h>

#include "errors.h"
#include "queue.h"

static nmodgpu_status record(nmodgpu_queue *queue, nmodgpu_event *e)
{
    const int32_t device = queue->device->index;
    nmodgpu_status status = CUDA_CALL(device, cudaEventCreateWithFlags, &e->event, cudaEventDefault);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(device, cudaEventRecord, e->event, queue->stream);
    if (status != NMODGPU_OK)
        (void)CUDA_CALL(device, cudaEventDestroy, e->event); /* already failing; logged */
    return status;
}

/* Work starts as soon as it is queued: there is nothing to flush. */
nmodgpu_status nmodgpu_cuda_submit(nmodgpu_queue *queue, nmodgpu_event **event)
{
    if (!event)
        return NMODGPU_OK;
    *event = NULL;
    nmodgpu_event *e = calloc(1, sizeof *e);
    if (!e)
        return NMODGPU_ENOMEM;
    e->device = queue->device;
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status == NMODGPU_OK) {
        status = record(queue, e);
        nmodgpu_cuda_leave(queue->device);
    }
    if (status == NMODGPU_OK)
        *event = e;
    else
        free(e);
    return status;
}

nmodgpu_status nmodgpu_cuda_queue_wait(nmodgpu_queue *queue, nmodgpu_event *event)
{
    nmodgpu_status status = nmodgpu_cuda_enter(queue->device);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(queue->device->index, cudaStreamWaitEvent, queue->stream, event->event, 0);
    nmodgpu_cuda_leave(queue->device);
    return status;
}

nmodgpu_status nmodgpu_cuda_wait(nmodgpu_queue *queue, nmodgpu_event *event)
{
    nmodgpu_cuda_device *device = event ? event->device : queue->device;
    nmodgpu_status status = nmodgpu_cuda_enter(device);
    if (status != NMODGPU_OK)
        return status;
    if (event)
        status = CUDA_CALL(device->index, cudaEventSynchronize, event->event);
    else
        status = CUDA_CALL(device->index, cudaStreamSynchronize, queue->stream);
    nmodgpu_cuda_leave(device);
    return status;
}

void nmodgpu_cuda_event_free(nmodgpu_event *event)
{
    if (!event)
        return;
    const bool inside = nmodgpu_cuda_enter(event->device) == NMODGPU_OK;
    (void)CUDA_CALL(event->device->index, cudaEventDestroy, event->event); /* logged; nothing else helps */
    if (inside)
        nmodgpu_cuda_leave(event->device);
    free(event);
}

nmodgpu_status nmodgpu_cuda_event_seconds(nmodgpu_event *from, nmodgpu_event *to, double *seconds)
{
    float milliseconds = 0;
    nmodgpu_status status = nmodgpu_cuda_enter(from->device);
    if (status != NMODGPU_OK)
        return status;
    status = CUDA_CALL(from->device->index, cudaEventElapsedTime, &milliseconds, from->event, to->event);
    nmodgpu_cuda_leave(from->device);
    *seconds = milliseconds / 1e3;
    return status;
}
