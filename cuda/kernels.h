/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The two kernels of the backend, as calls that C can make.  Both queue work on a stream and return what
 * the launch returned.  All pointers are device pointers; strides count elements; any stride and any
 * alignment of the elements' own size will do, 16-byte alignment of rows is fastest.
 */
#ifndef NMODGPU_CUDA_KERNELS_H
#define NMODGPU_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "exact/prepare.h"
#include "exact/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/** planes <- words: plane i of entry (r, c) at planes[i * plane_stride + r * stride + c]. */
typedef struct nmodgpu_prepare_pass {
    nmodgpu_preparer how;
    double *planes;
    int64_t stride, plane_stride;
    const void *words;
    int64_t words_stride;
    uint32_t words_bytes; /**< 4 or 8 */
    int64_t rows, cols;
} nmodgpu_prepare_pass;

/** out <- base + combination of sums; base is NULL for 0 and may be out. */
typedef struct nmodgpu_reduce_pass {
    nmodgpu_reducer how;
    const double *sums;
    int64_t stride, plane_stride;
    void *out;
    int64_t out_stride;
    const void *base;
    int64_t base_stride;
    uint32_t out_bytes, base_bytes; /**< 4 or 8 each */
    int64_t rows, cols;
} nmodgpu_reduce_pass;

cudaError_t nmodgpu_launch_prepare(cudaStream_t stream, const nmodgpu_prepare_pass *pass);
cudaError_t nmodgpu_launch_reduce(cudaStream_t stream, const nmodgpu_reduce_pass *pass);

/** Whether this build holds code for the current device: cudaSuccess, or what asking for it returned. */
cudaError_t nmodgpu_kernels_loadable(void);

#ifdef __cplusplus
}
#endif

#endif
