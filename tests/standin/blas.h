/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * What cuBLAS and cuBLASLt share.
 */
#ifndef STANDIN_BLAS_H
#define STANDIN_BLAS_H

#include <cublas_v2.h>
#include <stdbool.h>

/** C <- alpha op(A) op(B) + beta C, column-major: C is m x n. */
typedef struct standin_gemm {
    bool transpose_a, transpose_b;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const double *a, *b;
    double *c;
} standin_gemm;

/** C <- alpha A^T B + beta C, column-major, int8 with int32 sums: C is m x n.  `batch` products, their matrices
 *  that many elements apart. */
typedef struct standin_gemm_i8 {
    int64_t m, n, k, lda, ldb, ldc;
    int64_t batch, a_step, b_step, c_step;
    int32_t alpha, beta;
    const int8_t *a, *b;
    int32_t *c;
} standin_gemm_i8;

cublasStatus_t standin_blas_begin(void);
/** Zeroed memory for a handle, counted until standin_blas_handle_free. */
void *standin_blas_handle(size_t bytes);
void standin_blas_handle_free(void *handle);
/** Checks that the operands are device memory and queues the product. */
cublasStatus_t standin_blas_gemm(cudaStream_t stream, const standin_gemm *gemm);
/** The same; notes a mistake where a sum does not fit in int32. */
cublasStatus_t standin_blas_gemm_i8(cudaStream_t stream, const standin_gemm_i8 *gemm);

#endif
