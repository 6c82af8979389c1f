/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * Products by cuBLASLt: of double-precision matrices, held to native double-precision arithmetic, and of int8
 * matrices with int32 sums, where any algorithm is exact.
 *
 * cuBLAS 13 can be told by environment variables to emulate double precision, which is not exact.  Its
 * pedantic compute type excludes that, but also the fastest kernels: on an H200, n = 8192, it ran at 50
 * TFLOP/s where the plain compute type ran at 64.  So we ask cuBLASLt for its algorithms and take only one
 * that declares native arithmetic: FMA or DMMA, 64-bit inputs, 64-bit accumulators
 * (cublasLtNumericalImplFlags_t, cuBLASLt documentation).  Without such an algorithm the pedantic type serves.
 */
#ifndef NMODGPU_CUDA_GEMM_H
#define NMODGPU_CUDA_GEMM_H

#include <cublasLt.h>

#include "backend.h"

/** Row-major C (m x n) <- (accumulate ? C : 0) + A (m x k) * B (k x n); strides in elements.  A transposed
 *  operand is stored by columns.  `batch` such products, the matrices of each `*_plane_stride` elements on.
 *  int8: the tensor cores want A plain, B transposed, and m, k, n, strides and addresses in multiples of 16
 *  (measured: every other layout is about ten times slower). */
typedef struct nmodgpu_gemm {
    nmodgpu_number number;
    int64_t m, k, n;
    const void *a, *b;
    void *c;
    int64_t a_stride, b_stride, c_stride;
    bool a_transposed, b_transposed;
    bool accumulate;
    int32_t batch;
    int64_t a_plane_stride, b_plane_stride, c_plane_stride; /**< batch > 1 */
} nmodgpu_gemm;

/** What an algorithm was chosen for.  No padding inside, so that memcmp compares. */
typedef struct nmodgpu_gemm_class {
    int64_t m, k, n;
    int64_t a_stride, b_stride, c_stride;
    int64_t a_plane_stride, b_plane_stride, c_plane_stride; /**< 0 without a batch */
    uint32_t a_alignment, b_alignment, c_alignment;         /**< bytes, powers of two up to 256 */
    uint32_t flags;                                         /**< transposed operands, accumulate, number */
    int64_t batch;
} nmodgpu_gemm_class;

enum { NMODGPU_GEMM_KEPT = 16 };

/** The algorithms that a queue remembers, with its handle. */
typedef struct nmodgpu_gemm_memory {
    cublasLtHandle_t handle;
    uint32_t next; /**< the place that is overwritten next */
    struct {
        bool used, found; /**< found: `algorithm` holds; else the pedantic type serves doubles of this class */
        nmodgpu_gemm_class shape;
        cublasLtMatmulAlgo_t algorithm;
    } kept[NMODGPU_GEMM_KEPT];
} nmodgpu_gemm_memory;

/** Queues the product.  In the device's context. */
nmodgpu_status nmodgpu_cuda_gemm(nmodgpu_queue *queue, const nmodgpu_gemm *gemm);

#endif
