/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Words on their way between host matrices and a device: packed to the device's width and unpacked by all helper
 * threads (workers.h), through page-locked buffers that are kept and shared by all products of a process.
 */
#ifndef NMODGPU_STREAM_H
#define NMODGPU_STREAM_H

#include "backend.h"

/** Device words <- host words of the same shape, in queue order.  Small matrices, and backends without buffers, are
 *  left to import_words: as there, the host memory may still be read until wait(). */
nmodgpu_status nmodgpu_stream_import(const nmodgpu_backend *backend, nmodgpu_queue *queue, nmodgpu_matrix *words,
                                     const nmodgpu_matrix *host);
/** Host words <- device words.  Complete after wait(); but for small matrices and backends without buffers it waits
 *  for all that is queued itself. */
nmodgpu_status nmodgpu_stream_export(const nmodgpu_backend *backend, nmodgpu_queue *queue,
                                     const nmodgpu_matrix *host, const nmodgpu_matrix *words);

/** Gives back the buffers that no product uses; for tests that count what is left. */
void nmodgpu_stream_drop_buffers(void);

#endif
