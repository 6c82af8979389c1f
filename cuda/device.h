/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The devices: found once, numbered 0, 1, ... by us; a context, a memory pool and idle queues each.
 */
#ifndef NMODGPU_CUDA_DEVICE_H
#define NMODGPU_CUDA_DEVICE_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

#include "backend.h"

#define NMODGPU_CUDA_MAX_DEVICES 64

typedef struct nmodgpu_cuda_device {
    int32_t index;            /**< ours */
    int ordinal;              /**< CUDA's */
    int major, minor;         /**< compute capability */
    int pools_supported;      /**< stream-ordered allocation */
    nmodgpu_device_info info; /**< free_bytes is asked for anew */
    _Atomic bool given_up;    /**< an error has destroyed its context */
    _Atomic bool started;     /**< the members below are valid */
    struct CUctx_st *context; /**< the primary one, which the runtime uses too */
    cudaMemPool_t pool;       /**< NULL where not supported */
    pthread_mutex_t lock;     /**< guards starting, and idle; held briefly */
    nmodgpu_queue *idle;      /**< queues given back */
    int idle_count;
} nmodgpu_cuda_device;

/** Finds libraries and devices; logs one line and returns NMODGPU_ENODEV when there is nothing to use. */
nmodgpu_status nmodgpu_cuda_open(void);
int32_t nmodgpu_cuda_device_count(void);
/** Makes no context: until a queue has been opened, free_bytes is all of the memory. */
nmodgpu_status nmodgpu_cuda_device_info(int32_t device, nmodgpu_device_info *info);

/** The device of that index, started (context, pool, kernels found); NULL with *status set otherwise. */
nmodgpu_cuda_device *nmodgpu_cuda_device_start(int32_t device, nmodgpu_status *status);
void nmodgpu_cuda_device_give_up(int32_t device);

/** Makes the device's context current in this thread; leave puts back what was there, also when that was
 *  no context or one that the host program made itself. */
nmodgpu_status nmodgpu_cuda_enter(const nmodgpu_cuda_device *device);
void nmodgpu_cuda_leave(const nmodgpu_cuda_device *device);

#endif
