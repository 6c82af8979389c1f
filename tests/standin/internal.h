/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Shared by the parts of the stand-in device.
 */
#ifndef STANDIN_INTERNAL_H
#define STANDIN_INTERNAL_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>

#include "standin.h"

#define STANDIN_DEVICES 16

/** One lock and one condition for everything: simple, and fast enough for tests. */
extern pthread_mutex_t standin_lock;
extern pthread_cond_t standin_changed;

/* faults.c */

/** Begins a call: the error it must return, injected or because the device is lost. */
cudaError_t standin_begin(void);
/** Remembers the error for cudaGetLastError and returns it. */
cudaError_t standin_end(cudaError_t error);
/** Counts a mistake of the backend's; the text of the first one is kept.  Returns cudaErrorInvalidValue. */
cudaError_t standin_mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Whether the operation that runs now must fail, and with what. */
int standin_operation_fault(void);
extern _Atomic int standin_lost[STANDIN_DEVICES]; /* error that destroyed the context, or 0 */

/** The counters behind standin_count(); with the lock held. */
extern standin_counts standin_now;

/* context.c */

/** The device that calls of this thread go to. */
int standin_current(void);

/* memory.c */

/** The bytes behind a device address range of that device, or NULL with a mistake noted.  Lock held. */
void *standin_bytes(int device, const void *address, uint64_t bytes, const char *who);
/** Whether the address was given out by cudaHostAlloc. */
bool standin_is_pinned(const void *address);

/** The bytes behind `planes` planes of `rows` stored rows with `cols` entries each; NULL with a mistake noted. */
void *standin_planes(cudaStream_t stream, const void *data, int64_t stride, int64_t plane_stride, uint32_t planes,
                     uint32_t element_bytes, int64_t rows, int64_t cols, const char *who);

/* stream.c */

struct standin_stream {
    int device;
    pthread_t thread;
    struct standin_operation *first, *last;
    bool busy, ending;
    struct standin_stream *next;
};

typedef void (*standin_function)(void *argument);

/** Queues function(argument) and afterwards free(argument). */
cudaError_t standin_queue(cudaStream_t stream, standin_function function, void *argument);
/** As standin_queue, and it runs although the device is lost. */
cudaError_t standin_queue_always(cudaStream_t stream, standin_function function, void *argument);
/** Blocks until everything queued has run. */
cudaError_t standin_drain(cudaStream_t stream);
/** The same for all streams of a device. */
void standin_drain_device(int device);

#endif
