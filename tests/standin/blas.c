/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * cuBLAS's GEMM by plain loops, column-major.
 */
#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "internal.h"

struct standin_blas {
    int device;
    cudaStream_t stream;
    void *workspace;
    cublasMath_t math;
};

const char *cublasGetStatusString(cublasStatus_t status)
{
    static _Thread_local char text[64];
    snprintf(text, sizeof text, "stand-in cuBLAS status %d", (int)status);
    return text;
}

cublasStatus_t standin_blas_begin(void)
{
    const cudaError_t error = standin_begin();
    if (error == cudaSuccess)
        return CUBLAS_STATUS_SUCCESS;
    standin_end(error);
    return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    *value = type == MAJOR_VERSION ? standin.cublas_major : 1;
    return standin_blas_begin();
}

static void count_handles(int change)
{
    pthread_mutex_lock(&standin_lock);
    standin_now.handles += change;
    pthread_mutex_unlock(&standin_lock);
}

void *standin_blas_handle(size_t bytes)
{
    void *handle = calloc(1, bytes);
    if (!handle)
        abort();
    count_handles(1);
    return handle;
}

void standin_blas_handle_free(void *handle)
{
    free(handle);
    count_handles(-1);
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    const cublasStatus_t status = standin_blas_begin();
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    *handle = standin_blas_handle(sizeof **handle);
    (*handle)->device = standin_current();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    const cublasStatus_t status = standin_blas_begin();
    standin_blas_handle_free(handle);
    return status;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    handle->workspace = NULL; /* cuBLAS goes back to its own */
    return standin_blas_begin();
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    pthread_mutex_lock(&standin_lock);
    standin_bytes(handle->device, workspace, bytes, "cuBLAS's workspace");
    pthread_mutex_unlock(&standin_lock);
    handle->workspace = workspace;
    return standin_blas_begin();
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    handle->math = mode;
    return standin_blas_begin();
}

static double *transposed(const double *x, int64_t rows, int64_t cols, int64_t ld)
{
    double *t = malloc((size_t)rows * (size_t)cols * sizeof *t);
    if (!t)
        abort();
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            t[i * cols + j] = x[j * ld + i];
    return t;
}

static void column(const standin_gemm *g, int64_t j)
{
    double *c = g->c + j * g->ldc;
    const double *b = g->b + j * g->ldb;
    int64_t l = 0;
    for (int64_t i = 0; i < g->m; i++)
        c[i] = g->beta == 0 ? 0 : g->beta * c[i];
    for (; l + 4 <= g->k; l += 4) {
        const double *a = g->a + l * g->lda;
        const double b0 = g->alpha * b[l], b1 = g->alpha * b[l + 1], b2 = g->alpha * b[l + 2],
                     b3 = g->alpha * b[l + 3];
        for (int64_t i = 0; i < g->m; i++)
            c[i] += a[i] * b0 + a[i + g->lda] * b1 + a[i + 2 * g->lda] * b2 + a[i + 3 * g->lda] * b3;
    }
    for (; l < g->k; l++)
        for (int64_t i = 0; i < g->m; i++)
            c[i] += g->a[l * g->lda + i] * g->alpha * b[l];
}

/** What the planner promises of every sum; the opposite of the comparison, so that NaN is caught too. */
static void check_exact(const standin_gemm *g)
{
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i++) {
            const double x = g->c[j * g->ldc + i];
            if (!(fabs(x) <= 9007199254740992.0) || x != floor(x)) {
                standin_mistake("a sum of %.17g at (%lld, %lld) of a GEMM with k = %lld", x, (long long)j,
                                (long long)i, (long long)g->k);
                return;
            }
        }
}

static void run_gemm(void *argument)
{
    standin_gemm g = *(standin_gemm *)argument;
    double *a = g.transpose_a ? transposed(g.a, g.k, g.m, g.lda) : NULL;
    double *b = g.transpose_b ? transposed(g.b, g.n, g.k, g.ldb) : NULL;
    if (a) {
        g.a = a;
        g.lda = g.m;
    }
    if (b) {
        g.b = b;
        g.ldb = g.k;
    }
    for (int64_t j = 0; j < g.n; j++)
        column(&g, j);
    check_exact(&g);
    free(a);
    free(b);
}

static double *operand(cudaStream_t s, const void *x, int64_t rows, int64_t cols, int64_t ld, const char *who)
{
    const uint64_t bytes = rows && cols ? (uint64_t)((cols - 1) * ld + rows) * sizeof(double) : 0;
    pthread_mutex_lock(&standin_lock);
    double *at = standin_bytes(s->device, x, bytes, who);
    pthread_mutex_unlock(&standin_lock);
    return at;
}

cublasStatus_t standin_blas_gemm(cudaStream_t stream, const standin_gemm *x)
{
    standin_gemm *g = malloc(sizeof *g);
    if (!g)
        abort();
    *g = *x;
    g->a = operand(stream, x->a, x->transpose_a ? x->k : x->m, x->transpose_a ? x->m : x->k, x->lda,
                   "GEMM's first operand");
    g->b = operand(stream, x->b, x->transpose_b ? x->n : x->k, x->transpose_b ? x->k : x->n, x->ldb,
                   "GEMM's second operand");
    g->c = operand(stream, x->c, x->m, x->n, x->ldc, "GEMM's result");
    if (g->a && g->b && g->c)
        return standin_queue(stream, run_gemm, g) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                 : CUBLAS_STATUS_ALLOC_FAILED;
    free(g);
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m,
                               int64_t n, int64_t k, const void *alpha, const void *a, cudaDataType type_a,
                               int64_t lda, const void *b, cudaDataType type_b, int64_t ldb, const void *beta,
                               void *c, cudaDataType type_c, int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t algo)
{
    const bool ta = op_a == CUBLAS_OP_T, tb = op_b == CUBLAS_OP_T;
    const cublasStatus_t status = standin_blas_begin();
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (compute != CUBLAS_COMPUTE_64F_PEDANTIC || algo != CUBLAS_GEMM_DEFAULT || type_a != CUDA_R_64F ||
        type_b != CUDA_R_64F || type_c != CUDA_R_64F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (m < 0 || n < 0 || k < 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || lda < 1 || ldb < 1 ||
        ldc < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!h->workspace || h->math != CUBLAS_PEDANTIC_MATH)
        standin_mistake("a GEMM without a workspace of ours, or not in pedantic mode");
    standin_gemm g = {ta, tb, m, n, k, lda, ldb, ldc, 0, 0, a, b, c};
    memcpy(&g.alpha, alpha, sizeof g.alpha);
    memcpy(&g.beta, beta, sizeof g.beta);
    return standin_blas_gemm(h->stream, &g);
}
