/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The CUDA backend as the core sees it.
 */
#include "buffer.h"
#include "device.h"
#include "errors.h"
#include "operations.h"
#include "queue.h"

static const nmodgpu_backend cuda_backend = {
    .abi_version = NMODGPU_BACKEND_ABI,
    .size = sizeof(nmodgpu_backend),
    .name = "cuda",
    .priority = 100,
    .open = nmodgpu_cuda_open,
    .device_count = nmodgpu_cuda_device_count,
    .device_info = nmodgpu_cuda_device_info,
    .queue_open = nmodgpu_cuda_queue_open,
    .queue_close = nmodgpu_cuda_queue_close,
    .matrix_alloc = nmodgpu_cuda_matrix_alloc,
    .matrix_free = nmodgpu_cuda_matrix_free,
    .matrix_bytes = nmodgpu_cuda_matrix_bytes,
    .import_words = nmodgpu_cuda_import,
    .prepare = nmodgpu_cuda_prepare,
    .multiply_accumulate = nmodgpu_cuda_multiply,
    .reduce = nmodgpu_cuda_reduce,
    .prepare_winograd = nmodgpu_cuda_prepare_winograd,
    .reduce_winograd = nmodgpu_cuda_reduce_winograd,
    .export_words = nmodgpu_cuda_export,
    .submit = nmodgpu_cuda_submit,
    .queue_wait = nmodgpu_cuda_queue_wait,
    .wait = nmodgpu_cuda_wait,
    .event_free = nmodgpu_cuda_event_free,
    .event_seconds = nmodgpu_cuda_event_seconds,
    .buffer_open = nmodgpu_cuda_buffer_open,
    .buffer_close = nmodgpu_cuda_buffer_close,
    .buffer_copy = nmodgpu_cuda_buffer_copy,
    .buffer_wait = nmodgpu_cuda_buffer_wait,
};

NMODGPU_API nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host);

nmodgpu_status nmodgpu_module_entry(const nmodgpu_host_api *host)
{
    if (host->abi_version != NMODGPU_BACKEND_ABI)
        return NMODGPU_EABI;
    nmodgpu_cuda_host = host;
    return host->register_backend(&cuda_backend);
}
