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

cublasStatus_t standin_blas_begin(void);
/** Checks that the operands are device memory and queues the product. */
cublasStatus_t standin_blas_gemm(cudaStream_t stream, const standin_gemm *gemm);

#endif
