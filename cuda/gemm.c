/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "gemm.h"

#include <string.h>

#include "errors.h"
#include "queue.h"

/* cuBLAS stores columns: what is row-major here is the transposed there, so it computes C^T = B^T A^T.  Below,
 * "first" is what cuBLAS calls A, our B. */

static uint32_t alignment(const void *address, int64_t stride)
{
    const uint64_t bits = (uint64_t)(uintptr_t)address | (uint64_t)stride * sizeof(double) | 256;
    return (uint32_t)(bits & -bits);
}

static nmodgpu_gemm_class class_of(const nmodgpu_gemm *g)
{
    return (nmodgpu_gemm_class){
        .m = g->m,
        .k = g->k,
        .n = g->n,
        .a_stride = g->a_stride,
        .b_stride = g->b_stride,
        .c_stride = g->c_stride,
        .a_alignment = alignment(g->a, g->a_stride),
        .b_alignment = alignment(g->b, g->b_stride),
        .c_alignment = alignment(g->c, g->c_stride),
        .flags = (g->a_transposed ? 1u : 0u) | (g->b_transposed ? 2u : 0u) | (g->beta != 0 ? 4u : 0u),
    };
}

/** The descriptions that cuBLASLt wants; they own nothing. */
typedef struct description {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t first, second, result;
} description;

static cublasStatus_t layout(cublasLtMatrixLayoutOpaque_t *out, int64_t rows, int64_t cols, bool transposed,
                             int64_t stride)
{
    return cublasLtMatrixLayoutInit(out, CUDA_R_64F, (uint64_t)(transposed ? rows : cols),
                                    (uint64_t)(transposed ? cols : rows), stride);
}

static cublasStatus_t set_operation(description *d, cublasLtMatmulDescAttributes_t which, bool transposed)
{
    const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return cublasLtMatmulDescSetAttribute(&d->operation, which, &op, sizeof op);
}

static nmodgpu_status describe(int32_t device, description *d, const nmodgpu_gemm *g)
{
    nmodgpu_status status =
        CUBLAS_CALL(device, cublasLtMatmulDescInit, &d->operation, CUBLAS_COMPUTE_64F, CUDA_R_64F);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, set_operation, d, CUBLASLT_MATMUL_DESC_TRANSA, g->b_transposed);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, set_operation, d, CUBLASLT_MATMUL_DESC_TRANSB, g->a_transposed);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->first, g->k, g->n, g->b_transposed, g->b_stride);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->second, g->m, g->k, g->a_transposed, g->a_stride);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->result, g->m, g->n, false, g->c_stride);
    return status;
}

/** Whether the algorithm declares nothing but native double-precision arithmetic. */
static bool is_native(const cublasLtMatmulAlgo_t *algorithm)
{
    uint64_t flags = 0;
    size_t written;
    if (cublasLtMatmulAlgoCapGetAttribute(algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags,
                                          &written) != CUBLAS_STATUS_SUCCESS)
        return false;
    const uint64_t operation = flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_TYPE_MASK;
    return (operation == CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA || operation == CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA) &&
           (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK) ==
               CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F &&
           (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK) == CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F &&
           !(flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_GAUSSIAN);
}

static cublasStatus_t prefer(cublasLtMatmulPreferenceOpaque_t *preference, const nmodgpu_gemm_class *shape,
                             uint64_t workspace_bytes)
{
    const uint64_t native = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA |
                            CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
    const struct {
        cublasLtMatmulPreferenceAttributes_t which;
        const void *value;
        size_t bytes;
    } wishes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes},
        {CUBLASLT_MATMUL_PREF_IMPL_MASK, &native, sizeof native},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &shape->b_alignment, sizeof shape->b_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &shape->a_alignment, sizeof shape->a_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &shape->c_alignment, sizeof shape->c_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &shape->c_alignment, sizeof shape->c_alignment},
    };
    cublasStatus_t status = cublasLtMatmulPreferenceInit(preference);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes && status == CUBLAS_STATUS_SUCCESS; i++)
        status =
            cublasLtMatmulPreferenceSetAttribute(preference, wishes[i].which, wishes[i].value, wishes[i].bytes);
    return status;
}

/** The algorithm that cuBLASLt's heuristic likes best among the native ones. */
static bool find_native(nmodgpu_queue *queue, description *d, const nmodgpu_gemm_class *shape,
                        cublasLtMatmulAlgo_t *algorithm)
{
    enum { ASKED = 8 };
    cublasLtMatmulHeuristicResult_t found[ASKED];
    cublasLtMatmulPreferenceOpaque_t preference;
    int count = 0;
    /* A refusal is no error: the pedantic type serves then. */
    if (prefer(&preference, shape, queue->workspace_bytes) != CUBLAS_STATUS_SUCCESS ||
        cublasLtMatmulAlgoGetHeuristic(queue->gemm.handle, &d->operation, &d->first, &d->second, &d->result,
                                       &d->result, &preference, ASKED, found, &count) != CUBLAS_STATUS_SUCCESS)
        return false;
    for (int i = 0; i < count; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && is_native(&found[i].algo)) {
            *algorithm = found[i].algo;
            return true;
        }
    return false;
}

/** The remembered algorithm for a class, found now if need be; NULL where the pedantic type serves. */
static const cublasLtMatmulAlgo_t *recall(nmodgpu_queue *queue, description *d, const nmodgpu_gemm_class *shape)
{
    nmodgpu_gemm_memory *memory = &queue->gemm;
    for (int i = 0; i < NMODGPU_GEMM_KEPT; i++)
        if (memory->kept[i].used && memcmp(&memory->kept[i].shape, shape, sizeof *shape) == 0)
            return memory->kept[i].native ? &memory->kept[i].algorithm : NULL;
    const uint32_t place = memory->next++ % NMODGPU_GEMM_KEPT;
    memory->kept[place].used = true;
    memory->kept[place].shape = *shape;
    memory->kept[place].native = find_native(queue, d, shape, &memory->kept[place].algorithm);
    return memory->kept[place].native ? &memory->kept[place].algorithm : NULL;
}

static nmodgpu_status pedantic(nmodgpu_queue *queue, const nmodgpu_gemm *g)
{
    const double alpha = 1;
    return CUBLAS_CALL(queue->device->index, cublasGemmEx_64, queue->blas,
                       g->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, g->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       g->n, g->m, g->k, &alpha, g->b, CUDA_R_64F, g->b_stride, g->a, CUDA_R_64F, g->a_stride,
                       &g->beta, g->c, CUDA_R_64F, g->c_stride, CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_GEMM_DEFAULT);
}

nmodgpu_status nmodgpu_cuda_gemm(nmodgpu_queue *queue, const nmodgpu_gemm *g)
{
    const double alpha = 1;
    const int32_t device = queue->device->index;
    const nmodgpu_gemm_class shape = class_of(g);
    description d;
    const nmodgpu_status status = describe(device, &d, g);
    if (status != NMODGPU_OK)
        return status;
    const cublasLtMatmulAlgo_t *algorithm = recall(queue, &d, &shape);
    if (!algorithm)
        return pedantic(queue, g);
    return CUBLAS_CALL(device, cublasLtMatmul, queue->gemm.handle, &d.operation, &alpha, g->b, &d.first, g->a,
                       &d.second, &g->beta, g->c, &d.result, g->c, &d.result, algorithm, queue->workspace,
                       queue->workspace_bytes, queue->stream);
}
