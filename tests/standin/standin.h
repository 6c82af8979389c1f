/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * A device that stands in for a GPU: the CUDA backend's host code runs on it unchanged, without CUDA.
 *
 * Device memory is host memory behind addresses that nobody may follow: a device pointer points into a
 * reserved range without access, so that host code which uses it is stopped by the processor; the bytes lie
 * elsewhere, filled with poison.  Every stream is a thread that runs what was queued, in order and later.
 * Copies from and to pageable memory return when CUDA's would.  GEMM is plain loops; the kernels are their
 * host twins.
 */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stdint.h>

/** How the device is made; in force from the next call of any function. */
typedef struct standin_settings {
    int devices;           /**< 0: as on a machine with a driver and no device */
    int major;             /**< compute capability; from 9 on the backend's workspaces are eight times as large */
    uint64_t memory_bytes; /**< of each device */
    bool pools;            /**< stream-ordered memory pools are supported */
    int cublas_major;      /**< what cuBLAS says of itself */
    int no_driver;         /**< the error that the first question about devices meets, or 0 */
    bool no_kernels;       /**< no machine code for this device in the build */
    bool no_native;        /**< cuBLASLt knows no native double-precision algorithm */
    bool no_fused;         /**< no int8 products with sums of one byte, which compute capability 9.0 has else */
    unsigned delay_us;     /**< each operation of a stream begins so much later */
} standin_settings;

/** 1 device with 1 GiB, pools, the cuBLAS of the build, no delay; each of NMODGPU_TEST_STANDIN_DEVICES,
 *  NMODGPU_TEST_STANDIN_MEMORY (bytes) and NMODGPU_TEST_STANDIN_FAIL (a call's number) overrides. */
extern standin_settings standin;

/** From now on, call number `call` (1 is the next one) fails with that CUDA error, or with cuBLAS's
 *  execution failure where it is one of cuBLAS's; with `onwards` so do all calls after it.  Calls that free
 *  something free it and fail all the same.  0 switches this off. */
void standin_fail_call(int64_t call, int error, bool onwards);
/** Calls made since standin_fail_call(). */
int64_t standin_calls(void);
/** Queued operation number `operation` from now fails when it runs, and its device is lost with that error. */
void standin_fail_operation(int64_t operation, int error);

/** What exists now.  Device memory counts what has been asked for and not given back. */
typedef struct standin_counts {
    int64_t allocations, pinned, pools, streams, events, handles;
    uint64_t bytes;
} standin_counts;
standin_counts standin_count(void);

/** Mistakes seen so far: copies and kernels outside an allocation, use after free, streams of another
 *  device, sums beyond 2^53 or not integers, sums beyond int32.  The first one's text is in
 * standin_first_mistake(). */
int64_t standin_mistakes(void);
const char *standin_first_mistake(void);

/** Contexts that this thread has pushed and not popped. */
int standin_context_depth(void);

#endif
