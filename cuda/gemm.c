/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "gemm.h"

#include <string.h>

#include "errors.h"
#include "queue.h"

/* cuBLAS stores columns: what is row-major here is the transposed there, so it computes C^T = B^T A^T.  Below,
 * "first" is what cuBLAS calls A, our B. */

/** The machine types of one kind of product. */
typedef struct types {
    cublasComputeType_t compute;
    cudaDataType operand, sum; /* the sum's is also that of the factors alpha and beta */
    size_t operand_bytes, sum_bytes;
} types;

static types types_of(nmodgpu_number number)
{
    const types f64 = {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, sizeof(double), sizeof(double)};
    const types i8 = {CUBLAS_COMPUTE_32I, CUDA_R_8I, CUDA_R_32I, sizeof(int8_t), sizeof(int32_t)};
    return number == NMODGPU_I8 ? i8 : f64;
}

static uint32_t alignment(const void *address, int64_t stride, int64_t plane_stride, size_t element_bytes)
{
    const uint64_t bits = (uint64_t)(uintptr_t)address | (uint64_t)(stride | plane_stride) * element_bytes | 256;
    return (uint32_t)(bits & -bits);
}

static nmodgpu_gemm_class class_of(const nmodgpu_gemm *g)
{
    const types t = types_of(g->number);
    const bool many = g->batch > 1;
    nmodgpu_gemm_class c = {
        .m = g->m,
        .k = g->k,
        .n = g->n,
        .a_stride = g->a_stride,
        .b_stride = g->b_stride,
        .c_stride = g->c_stride,
        .a_plane_stride = many ? g->a_plane_stride : 0,
        .b_plane_stride = many ? g->b_plane_stride : 0,
        .c_plane_stride = many ? g->c_plane_stride : 0,
        .flags = (g->a_transposed ? 1u : 0u) | (g->b_transposed ? 2u : 0u) | (g->accumulate ? 4u : 0u) |
                 (uint32_t)g->number << 3,
        .batch = g->batch,
    };
    c.a_alignment = alignment(g->a, c.a_stride, c.a_plane_stride, t.operand_bytes);
    c.b_alignment = alignment(g->b, c.b_stride, c.b_plane_stride, t.operand_bytes);
    c.c_alignment = alignment(g->c, c.c_stride, c.c_plane_stride, t.sum_bytes);
    return c;
}

/** The descriptions that cuBLASLt wants; they own nothing. */
typedef struct description {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t first, second, result;
} description;

typedef struct shape {
    cudaDataType type;
    int64_t rows, cols; /* of ours, as stored plainly */
    bool transposed;
    int64_t stride, plane_stride;
} shape;

static cublasStatus_t layout(cublasLtMatrixLayoutOpaque_t *out, shape s, int32_t batch)
{
    cublasStatus_t status = cublasLtMatrixLayoutInit(out, s.type, (uint64_t)(s.transposed ? s.rows : s.cols),
                                                     (uint64_t)(s.transposed ? s.cols : s.rows), s.stride);
    if (batch > 1 && status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    if (batch > 1 && status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &s.plane_stride,
                                                  sizeof s.plane_stride);
    return status;
}

static cublasStatus_t set_operation(description *d, cublasLtMatmulDescAttributes_t which, bool transposed)
{
    const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return cublasLtMatmulDescSetAttribute(&d->operation, which, &op, sizeof op);
}

static nmodgpu_status describe(int32_t device, description *d, const nmodgpu_gemm *g)
{
    const types t = types_of(g->number);
    const shape first = {t.operand, g->k, g->n, g->b_transposed, g->b_stride, g->b_plane_stride};
    const shape second = {t.operand, g->m, g->k, g->a_transposed, g->a_stride, g->a_plane_stride};
    const shape result = {t.sum, g->m, g->n, false, g->c_stride, g->c_plane_stride};
    nmodgpu_status status = CUBLAS_CALL(device, cublasLtMatmulDescInit, &d->operation, t.compute, t.sum);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, set_operation, d, CUBLASLT_MATMUL_DESC_TRANSA, g->b_transposed);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, set_operation, d, CUBLASLT_MATMUL_DESC_TRANSB, g->a_transposed);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->first, first, g->batch);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->second, second, g->batch);
    if (status == NMODGPU_OK)
        status = CUBLAS_CALL(device, layout, &d->result, result, g->batch);
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
                             bool native_only, uint64_t workspace_bytes)
{
    const uint64_t native = CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA |
                            CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
    const struct {
        cublasLtMatmulPreferenceAttributes_t which;
        const void *value;
        size_t bytes;
    } wishes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &shape->b_alignment, sizeof shape->b_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &shape->a_alignment, sizeof shape->a_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &shape->c_alignment, sizeof shape->c_alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &shape->c_alignment, sizeof shape->c_alignment},
        {CUBLASLT_MATMUL_PREF_IMPL_MASK, &native, sizeof native}, /* the last one, left out for integers */
    };
    const size_t count = sizeof wishes / sizeof *wishes - (native_only ? 0 : 1);
    cublasStatus_t status = cublasLtMatmulPreferenceInit(preference);
    for (size_t i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++)
        status =
            cublasLtMatmulPreferenceSetAttribute(preference, wishes[i].which, wishes[i].value, wishes[i].bytes);
    return status;
}

/** The algorithm that cuBLASLt's heuristic likes best: among the native ones for doubles, of all for integers. */
static bool find_algorithm(nmodgpu_queue *queue, description *d, const nmodgpu_gemm_class *shape,
                           cublasLtMatmulAlgo_t *algorithm)
{
    enum { ASKED = 8 };
    cublasLtMatmulHeuristicResult_t found[ASKED];
    cublasLtMatmulPreferenceOpaque_t preference;
    const bool native_only = shape->flags >> 3 == NMODGPU_F64;
    int count = 0;
    /* A refusal is no error: for doubles the pedantic type serves then. */
    if (prefer(&preference, shape, native_only, queue->workspace_bytes) != CUBLAS_STATUS_SUCCESS ||
        cublasLtMatmulAlgoGetHeuristic(queue->gemm.handle, &d->operation, &d->first, &d->second, &d->result,
                                       &d->result, &preference, ASKED, found, &count) != CUBLAS_STATUS_SUCCESS)
        return false;
    for (int i = 0; i < count; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && (!native_only || is_native(&found[i].algo))) {
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
            return memory->kept[i].found ? &memory->kept[i].algorithm : NULL;
    const uint32_t place = memory->next++ % NMODGPU_GEMM_KEPT;
    memory->kept[place].used = true;
    memory->kept[place].shape = *shape;
    memory->kept[place].found = find_algorithm(queue, d, shape, &memory->kept[place].algorithm);
    return memory->kept[place].found ? &memory->kept[place].algorithm : NULL;
}

/** Doubles, without a native algorithm: one product after another in the pedantic type. */
static nmodgpu_status pedantic(nmodgpu_queue *queue, const nmodgpu_gemm *g)
{
    const double alpha = 1, beta = g->accumulate ? 1 : 0;
    nmodgpu_status status = NMODGPU_OK;
    for (int32_t i = 0; i < g->batch && status == NMODGPU_OK; i++)
        status =
            CUBLAS_CALL(queue->device->index, cublasGemmEx_64, queue->blas,
                        g->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, g->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                        g->n, g->m, g->k, &alpha, (const double *)g->b + i * g->b_plane_stride, CUDA_R_64F,
                        g->b_stride, (const double *)g->a + i * g->a_plane_stride, CUDA_R_64F, g->a_stride, &beta,
                        (double *)g->c + i * g->c_plane_stride, CUDA_R_64F, g->c_stride,
                        CUBLAS_COMPUTE_64F_PEDANTIC, CUBLAS_GEMM_DEFAULT);
    return status;
}

nmodgpu_status nmodgpu_cuda_gemm(nmodgpu_queue *queue, const nmodgpu_gemm *g)
{
    static const double f64[2] = {0, 1};
    static const int32_t i32[2] = {0, 1};
    const bool integers = g->number == NMODGPU_I8;
    const void *one = integers ? (const void *)&i32[1] : &f64[1];
    const void *beta = integers ? (const void *)&i32[g->accumulate] : &f64[g->accumulate];
    const int32_t device = queue->device->index;
    const nmodgpu_gemm_class shape = class_of(g);
    description d;
    const nmodgpu_status status = describe(device, &d, g);
    if (status != NMODGPU_OK)
        return status;
    const cublasLtMatmulAlgo_t *algorithm = recall(queue, &d, &shape);
    if (!algorithm)
        return integers ? NMODGPU_DECLINED : pedantic(queue, g);
    return CUBLAS_CALL(device, cublasLtMatmul, queue->gemm.handle, &d.operation, one, g->b, &d.first, g->a,
                       &d.second, beta, g->c, &d.result, g->c, &d.result, algorithm, queue->workspace,
                       queue->workspace_bytes, queue->stream);
}
