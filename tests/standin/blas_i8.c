/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * cuBLASLt's int8 GEMM by plain loops: what the tensor cores take only at multiples of 16.
 */
#include <stdlib.h>

#include "blas.h"
#include "exact/passes_i8.h"
#include "internal.h"

static bool fits(int64_t x)
{
    return x >= INT32_MIN && x <= INT32_MAX;
}

static void run_one(const standin_gemm_i8 *g, const int8_t *a, const int8_t *b, int32_t *c)
{
    bool overflow = false;
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i++) {
            const int64_t dot = nmodgpu_host_dot_i8(a + i * g->lda, b + j * g->ldb, g->k);
            int32_t *to = &c[j * g->ldc + i];
            const int64_t x = g->alpha * dot + (g->beta ? (int64_t)g->beta * *to : 0);
            overflow = overflow || !fits(dot) || !fits(x);
            *to = (int32_t)x;
        }
    if (overflow)
        standin_mistake("a sum beyond int32 in a GEMM with k = %lld", (long long)g->k);
}

static void run_gemm(void *argument)
{
    const standin_gemm_i8 *g = argument;
    for (int64_t z = 0; z < g->batch; z++)
        run_one(g, g->a + z * g->a_step, g->b + z * g->b_step, g->c + z * g->c_step);
}

static void *operand(cudaStream_t s, const void *x, int64_t rows, int64_t cols, int64_t ld, int64_t step,
                     int64_t batch, uint32_t element_bytes, const char *who)
{
    if ((uintptr_t)x % 16)
        standin_mistake("%s: not at a multiple of 16 bytes", who);
    return standin_planes(s, x, ld, step, (uint32_t)batch, element_bytes, cols, rows, who);
}

cublasStatus_t standin_blas_gemm_i8(cudaStream_t stream, const standin_gemm_i8 *x)
{
    if (x->m == 0 || x->n == 0 || x->k == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    standin_gemm_i8 *g = malloc(sizeof *g);
    if (!g)
        abort();
    *g = *x;
    g->a = operand(stream, x->a, x->k, x->m, x->lda, x->a_step, x->batch, 1, "int8 GEMM's first operand");
    g->b = operand(stream, x->b, x->k, x->n, x->ldb, x->b_step, x->batch, 1, "int8 GEMM's second operand");
    g->c = operand(stream, x->c, x->m, x->n, x->ldc, x->c_step, x->batch, 4, "int8 GEMM's result");
    if (g->a && g->b && g->c)
        return standin_queue(stream, run_gemm, g) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                 : CUBLAS_STATUS_ALLOC_FAILED;
    free(g);
    return CUBLAS_STATUS_INVALID_VALUE;
}
