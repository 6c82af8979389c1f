/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * cuBLASLt: for products in double precision its heuristic always offers an emulated algorithm first, which
 * nobody may take; int8 products it serves in the one layout that the tensor cores like.
 */
#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "internal.h"

struct standin_lt {
    int device;
};

static const uint64_t integer = CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I |
                                CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I;
static const uint64_t native = CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F |
                               CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    const cublasStatus_t status = standin_blas_begin();
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    *handle = standin_blas_handle(sizeof **handle);
    (*handle)->device = standin_current();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    const cublasStatus_t status = standin_blas_begin();
    standin_blas_handle_free(handle);
    return status;
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType scale)
{
    *desc = (cublasLtMatmulDescOpaque_t){.compute = compute};
    const bool known = (compute == CUBLAS_COMPUTE_64F && scale == CUDA_R_64F) ||
                       (compute == CUBLAS_COMPUTE_32I && scale == CUDA_R_32I);
    return known ? standin_blas_begin() : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                                              const void *value, size_t bytes)
{
    cublasOperation_t op;
    if (bytes != sizeof op)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(&op, value, sizeof op);
    *(which == CUBLASLT_MATMUL_DESC_TRANSA ? &desc->transpose_a : &desc->transpose_b) = op == CUBLAS_OP_T;
    return standin_blas_begin();
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                        uint64_t cols, int64_t ld)
{
    *layout = (cublasLtMatrixLayoutOpaque_t){type, rows, cols, ld, 1, 0};
    return ld >= (int64_t)rows ? standin_blas_begin() : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, const void *value,
                                                size_t bytes)
{
    const bool count = which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
    if (bytes != (count ? sizeof layout->batch : sizeof layout->batch_stride))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(count ? (void *)&layout->batch : (void *)&layout->batch_stride, value, bytes);
    return standin_blas_begin();
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference)
{
    *preference = (cublasLtMatmulPreferenceOpaque_t){0, UINT64_MAX};
    return standin_blas_begin();
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which, const void *value,
                                                    size_t bytes)
{
    const bool wide = which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || which == CUBLASLT_MATMUL_PREF_IMPL_MASK;
    if (bytes != (wide ? sizeof(uint64_t) : sizeof(uint32_t)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (wide)
        memcpy(which == CUBLASLT_MATMUL_PREF_IMPL_MASK ? &preference->mask : &preference->workspace_bytes, value,
               bytes);
    return standin_blas_begin();
}

static bool same_layout(cublasLtMatrixLayout_t x, cublasLtMatrixLayout_t y)
{
    return x->type == y->type && x->rows == y->rows && x->cols == y->cols && x->ld == y->ld &&
           x->batch == y->batch && x->batch_stride == y->batch_stride;
}

static bool shapes_agree(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                         cublasLtMatrixLayout_t c)
{
    const uint64_t m = desc->transpose_a ? a->cols : a->rows, k = desc->transpose_a ? a->rows : a->cols;
    const uint64_t l = desc->transpose_b ? b->cols : b->rows, n = desc->transpose_b ? b->rows : b->cols;
    return k == l && c->rows == m && c->cols == n && a->batch == c->batch && b->batch == c->batch && c->batch >= 1;
}

static bool multiples_of_16(cublasLtMatrixLayout_t x)
{
    const uint64_t bits = x->rows | x->cols | (uint64_t)x->ld | (uint64_t)x->batch_stride;
    return bits % 16 == 0;
}

/** What runs at the tensor cores' full speed: transposed by plain, all sizes multiples of 16. */
static bool types_served(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                         cublasLtMatrixLayout_t c)
{
    if (desc->compute == CUBLAS_COMPUTE_64F)
        return a->type == CUDA_R_64F && b->type == CUDA_R_64F && c->type == CUDA_R_64F && c->batch == 1;
    return a->type == CUDA_R_8I && b->type == CUDA_R_8I && c->type == CUDA_R_32I && desc->transpose_a &&
           !desc->transpose_b && multiples_of_16(a) && multiples_of_16(b) && multiples_of_16(c);
}

/** The algorithm's one word says what it computes with. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int asked,
                                              cublasLtMatmulHeuristicResult_t results[], int *found)
{
    const cublasStatus_t status = standin_blas_begin();
    *found = 0;
    (void)handle;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!shapes_agree(desc, a, b, c) || !same_layout(c, d))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!types_served(desc, a, b, c))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const uint64_t offers[2] = {integer, native};
    const int known = standin.no_native || desc->compute == CUBLAS_COMPUTE_32I ? 1 : 2;
    for (int i = 0; i < known && *found < asked; i++) {
        memset(&results[*found], 0, sizeof *results);
        results[*found].algo.data[0] = offers[i];
        results[*found].workspaceSize = preference->workspace_bytes;
        results[(*found)++].state = CUBLAS_STATUS_SUCCESS;
    }
    return *found ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                 cublasLtMatmulAlgoCapAttributes_t which, void *value, size_t bytes,
                                                 size_t *written)
{
    if (which != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS || bytes != sizeof algo->data[0])
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, &algo->data[0], bytes);
    *written = bytes;
    return standin_blas_begin();
}

static cublasStatus_t multiply_f64(cublasLtMatmulDesc_t desc, const void *alpha, const double *a,
                                   cublasLtMatrixLayout_t layout_a, const double *b,
                                   cublasLtMatrixLayout_t layout_b, const void *beta, double *c,
                                   cublasLtMatrixLayout_t layout_c, cudaStream_t stream)
{
    standin_gemm g = {.transpose_a = desc->transpose_a,
                      .transpose_b = desc->transpose_b,
                      .m = (int64_t)layout_c->rows,
                      .n = (int64_t)layout_c->cols,
                      .k = (int64_t)(desc->transpose_a ? layout_a->rows : layout_a->cols),
                      .lda = layout_a->ld,
                      .ldb = layout_b->ld,
                      .ldc = layout_c->ld,
                      .a = a,
                      .b = b,
                      .c = c};
    memcpy(&g.alpha, alpha, sizeof g.alpha);
    memcpy(&g.beta, beta, sizeof g.beta);
    return standin_blas_gemm(stream, &g);
}

static cublasStatus_t multiply_i8(const void *alpha, const int8_t *a, cublasLtMatrixLayout_t layout_a,
                                  const int8_t *b, cublasLtMatrixLayout_t layout_b, const void *beta, int32_t *c,
                                  cublasLtMatrixLayout_t layout_c, cudaStream_t stream)
{
    standin_gemm_i8 g = {.m = (int64_t)layout_c->rows,
                         .n = (int64_t)layout_c->cols,
                         .k = (int64_t)layout_a->rows,
                         .lda = layout_a->ld,
                         .ldb = layout_b->ld,
                         .ldc = layout_c->ld,
                         .batch = layout_c->batch,
                         .a_step = layout_a->batch_stride,
                         .b_step = layout_b->batch_stride,
                         .c_step = layout_c->batch_stride,
                         .a = a,
                         .b = b,
                         .c = c};
    memcpy(&g.alpha, alpha, sizeof g.alpha);
    memcpy(&g.beta, beta, sizeof g.beta);
    return standin_blas_gemm_i8(stream, &g);
}

/** An algorithm must be given where one must be chosen with care. */
static bool algorithm_fits(cublasLtMatmulDesc_t desc, const cublasLtMatmulAlgo_t *algo)
{
    return desc->compute == CUBLAS_COMPUTE_64F ? algo && algo->data[0] == native
                                               : !algo || algo->data[0] == integer;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t layout_a, const void *b, cublasLtMatrixLayout_t layout_b,
                              const void *beta, const void *c, cublasLtMatrixLayout_t layout_c, void *d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream)
{
    const cublasStatus_t status = standin_blas_begin();
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!algorithm_fits(desc, algo))
        standin_mistake("a product by an algorithm that is not native to its type");
    if (c != d || !same_layout(layout_c, layout_d) || !shapes_agree(desc, layout_a, layout_b, layout_c))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!types_served(desc, layout_a, layout_b, layout_c))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    pthread_mutex_lock(&standin_lock);
    standin_bytes(handle->device, workspace, workspace_bytes, "cuBLASLt's workspace");
    pthread_mutex_unlock(&standin_lock);
    return desc->compute == CUBLAS_COMPUTE_64F
               ? multiply_f64(desc, alpha, a, layout_a, b, layout_b, beta, d, layout_d, stream)
               : multiply_i8(alpha, a, layout_a, b, layout_b, beta, d, layout_d, stream);
}
